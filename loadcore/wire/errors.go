package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// FrameError says why a stream of frames cannot be followed any further. Protocol reply code 501.
type FrameError struct {
	Reason  string // what is wrong, for people
	Type    byte   // as in the frame's head
	Channel uint16
	Size    uint32 // payload bytes as the head claims
	Limit   uint32 // frame-max in bytes, FrameOverhead included; 0: none
	Offset  int    // of the offending octet from the frame's first
}

func (e *FrameError) Error() string {
	if e.Offset == 0 { // no frame at all: what its head says of channel and size means nothing
		return fmt.Sprintf("cannot follow the AMQP frames: type octet %#02x: %s", e.Type, e.Reason)
	}
	where := fmt.Sprintf("frame of type %d on channel %d with %d payload bytes", e.Type, e.Channel, e.Size)
	if e.Limit != 0 {
		where += fmt.Sprintf(" (frame-max %d)", e.Limit)
	}
	return fmt.Sprintf("cannot follow the AMQP frames: %s: offset %d: %s", where, e.Offset, e.Reason)
}

// ReplyCode is the code that a peer closes the connection with because of this error.
func (e *FrameError) ReplyCode() ReplyCode { return ReplyFrameError }

type frameFault int

const (
	faultType frameFault = iota
	faultSize
	faultEnd
	faultHeartbeatChannel
	faultHeartbeatPayload
)

// newFrameError is kept out of line: NextFrame is on the hot path, errors are not.
//
//go:noinline
func newFrameError(buf []byte, limit uint32, fault frameFault) error {
	e := &FrameError{
		Type:    buf[0],
		Channel: binary.BigEndian.Uint16(buf[1:]),
		Size:    binary.BigEndian.Uint32(buf[3:]),
		Limit:   limit,
	}
	switch fault {
	case faultType:
		e.Reason = strangerReason(buf)
	case faultSize:
		e.Offset, e.Reason = 3, "larger than the negotiated frame-max allows"
		if limit == 0 {
			e.Reason = "larger than any peer has reason to send"
		}
	case faultEnd:
		e.Offset = frameHead + int(e.Size)
		e.Reason = fmt.Sprintf("end octet is %#02x, not %#02x", buf[e.Offset], FrameEnd)
	case faultHeartbeatChannel:
		e.Offset, e.Reason = 1, "a heartbeat belongs on channel 0"
	case faultHeartbeatPayload:
		e.Offset, e.Reason = 3, "a heartbeat has no payload"
	}
	return e
}

// strangerReason recognizes what peers of other protocols say first, because "unknown frame type 72" helps nobody.
func strangerReason(buf []byte) string {
	switch {
	case bytes.HasPrefix(buf, ProtocolHeader[:4]):
		return fmt.Sprintf("the peer answered with the protocol header AMQP %d-%d-%d: it wants another version of the protocol", buf[4], buf[5], buf[6])
	case bytes.HasPrefix(buf, []byte("HTTP")):
		return "the peer speaks HTTP: this is not an AMQP port"
	case buf[1] == 3 && (buf[0] == 0x15 || buf[0] == 0x16):
		return "the peer speaks TLS: this is a TLS port"
	}
	return "unknown frame type"
}

// SyntaxError says that a frame was whole, but not what is inside it. Protocol reply code 502.
type SyntaxError struct {
	Where  string // the method, "content header", "properties" or "field table"
	Field  string // the argument or property, if known
	Offset int    // bytes from the beginning of the arguments, the header or the table
	Reason string // what is wrong, for people
}

func (e *SyntaxError) Error() string {
	where := e.Where
	if e.Field != "" {
		where += ": " + e.Field
	}
	return fmt.Sprintf("cannot read AMQP data: %s: offset %d: %s", where, e.Offset, e.Reason)
}

// ReplyCode is the code that a peer closes the connection with because of this error.
func (e *SyntaxError) ReplyCode() ReplyCode { return ReplySyntaxError }

// UnknownMethodError is a method that this package has no structure for. Protocol reply code 540.
type UnknownMethodError struct{ ID MethodID }

func (e *UnknownMethodError) Error() string {
	return fmt.Sprintf("cannot read AMQP data: class %d has no method %d in this program", e.ID.Class(), e.ID.Method())
}

// ReplyCode is the code that a peer closes the connection with because of this error.
func (e *UnknownMethodError) ReplyCode() ReplyCode { return ReplyNotImplemented }

// LengthError is a value that the protocol has no room for.
type LengthError struct {
	What  string // the argument or property
	Bytes int    // its length
	Limit int    // the most that fits
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("cannot send over AMQP: %s: %d bytes, at most %d are possible", e.What, e.Bytes, e.Limit)
}

// ValueError is a value in a field table that AMQP has no type for.
type ValueError struct {
	What  string // path of the field, such as "arguments: x-max-length"
	Value any
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("cannot send over AMQP: %s: a field table cannot hold a value of Go type %T", e.What, e.Value)
}
