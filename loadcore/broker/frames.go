package broker

import (
	"encoding/binary"
	"errors"
	"fmt"

	"leveret/loadcore/wire"
)

// errFull cannot happen while frames are checked against frame-max before the buffer is filled; it keeps a mistake there
// from becoming an endless loop.
var errFull = errors.New("a frame is larger than the read buffer")

// frameError turns a stream that cannot be followed into the error that RabbitMQ closes the connection with. buf begins with
// the offending frame.
func frameError(buf []byte, err error) *amqpError {
	var fe *wire.FrameError
	if !errors.As(err, &fe) {
		return hard(wire.ReplyFrameError, "%v", err)
	}
	switch {
	case fe.Type == wire.FrameHeartbeat && fe.Channel != 0:
		return hard(wire.ReplyUnexpectedFrame, "type %d, %s", fe.Type, snippet(nil))
	case fe.Limit != 0 && uint64(fe.Size)+wire.FrameOverhead > uint64(fe.Limit):
		return hard(wire.ReplyFrameError, "type %d, %s: {frame_too_large,%d,%d}", fe.Type, snippet(nil), fe.Size, fe.Limit-wire.FrameOverhead)
	case fe.Offset == int(fe.Size)+wire.FrameOverhead-1 && fe.Offset < len(buf):
		return hard(wire.ReplyFrameError, "type %d, %s: {invalid_frame_end_marker,%d}", fe.Type, snippet(buf[wire.FrameOverhead-1:fe.Offset]), buf[fe.Offset])
	}
	return hard(wire.ReplyFrameError, "type %d, %s: unknown_frame", fe.Type, snippet(nil))
}

// unexpectedFrame is for a good frame in a bad place.
func unexpectedFrame(f wire.Frame) *amqpError {
	return hard(wire.ReplyUnexpectedFrame, "type %d, %s", f.Type, snippet(f.Payload))
}

// methodError is for a method frame whose inside is no method that the broker knows.
func methodError(payload []byte, err error) *amqpError {
	id := methodOf(payload)
	var unknown *wire.UnknownMethodError
	if errors.As(err, &unknown) {
		return hard(wire.ReplyCommandInvalid, "unimplemented method").by(id)
	}
	return hard(wire.ReplyFrameError, "cannot decode %s", listText(payload[min(4, len(payload)):])).by(id)
}

func methodOf(payload []byte) wire.MethodID {
	if len(payload) < 4 {
		return 0
	}
	return wire.MethodID(binary.BigEndian.Uint32(payload))
}

// listText is a byte string as Erlang's ~w prints it: numbers always.
func listText(b []byte) string {
	s := make([]byte, 0, 4*len(b)+4)
	s = append(s, "<<"...)
	for i, c := range b {
		if i > 0 {
			s = append(s, ',')
		}
		s = fmt.Append(s, c)
	}
	return string(append(s, ">>"...))
}
