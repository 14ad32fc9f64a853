package wire

import (
	"encoding/binary"
	"math"
	"slices"
)

// Frame types, AMQP 0-9-1 section 2.3.5.
const (
	FrameMethod    byte = 1
	FrameHeader    byte = 2
	FrameBody      byte = 3
	FrameHeartbeat byte = 8
)

const (
	// FrameEnd is the octet behind every payload.
	FrameEnd = 0xCE
	// FrameOverhead is what a frame adds to its payload: a head of 7 bytes and the end octet. A frame-max counts it.
	FrameOverhead = 8
	// FrameMinSize is the protocol's frame-min-size: no peer may refuse a frame of this many bytes or fewer.
	FrameMinSize = 4096

	frameHead  = 7
	maxPayload = math.MaxInt32 - FrameOverhead // so that a whole frame has a length that fits an int everywhere
)

// ProtocolHeader is what a client sends first: "AMQP", then protocol id 0 and version 0-9-1. A server that does not
// speak this version answers with the header of one that it speaks and closes.
var ProtocolHeader = [8]byte{'A', 'M', 'Q', 'P', 0, 0, 9, 1}

// Frame is one frame. Payload aliases the buffer that it was found in, with its capacity capped, and is valid as long as
// the owner of that buffer does not move or overwrite the bytes.
type Frame struct {
	Type    byte
	Channel uint16
	Payload []byte
}

// NextFrame parses the frame that begins at buf[0] and returns it with its whole length n. With n == 0 and no error
// more bytes are needed. Whatever the 7-byte head alone betrays is refused at once, before the payload has come: an
// unknown type, a frame of more than maxFrame bytes, a heartbeat with a payload or on a channel other than 0.
//
// maxFrame is the negotiated frame-max in bytes, FrameOverhead included; 0 means no limit, and then frames up to 2 GiB
// are asked for, so the caller has to bound its own buffer. The error is always a *FrameError, and nothing behind it in
// the stream can be trusted.
func NextFrame(buf []byte, maxFrame uint32) (f Frame, n int, err error) {
	if len(buf) < frameHead {
		return Frame{}, 0, nil
	}
	size := binary.BigEndian.Uint32(buf[3:])
	typ := buf[0]
	if typ-FrameMethod > FrameBody-FrameMethod || size > maxPayload || (maxFrame != 0 && uint64(size)+FrameOverhead > uint64(maxFrame)) {
		if err := checkHead(buf, maxFrame); err != nil {
			return Frame{}, 0, err
		}
	}
	end := frameHead + int(size)
	if len(buf) <= end {
		return Frame{}, 0, nil
	}
	if buf[end] != FrameEnd {
		return Frame{}, 0, newFrameError(buf, maxFrame, faultEnd)
	}
	return Frame{Type: typ, Channel: binary.BigEndian.Uint16(buf[1:]), Payload: buf[frameHead:end:end]}, end + 1, nil
}

// checkHead decides on every head that is not plainly a method, header or body frame within the limit. Out of line, so
// that NextFrame stays short for the frames that come by the million.
//
//go:noinline
func checkHead(buf []byte, maxFrame uint32) error {
	size := binary.BigEndian.Uint32(buf[3:])
	switch typ := buf[0]; {
	case typ == FrameHeartbeat && binary.BigEndian.Uint16(buf[1:]) != 0:
		return newFrameError(buf, maxFrame, faultHeartbeatChannel)
	case typ == FrameHeartbeat && size != 0:
		return newFrameError(buf, maxFrame, faultHeartbeatPayload)
	case typ == FrameHeartbeat:
		return nil
	case typ < FrameMethod || typ > FrameBody:
		return newFrameError(buf, maxFrame, faultType)
	default:
		return newFrameError(buf, maxFrame, faultSize)
	}
}

// FrameSize returns the whole length in bytes of the frame whose head begins at buf[0], FrameOverhead included, and
// false while the 7-byte head is incomplete. It does not judge the length: call NextFrame first, which refuses those
// over the limit, and FrameSize only to learn how large a buffer the rest needs.
func FrameSize(buf []byte) (size int, ok bool) {
	if len(buf) < frameHead {
		return 0, false
	}
	n := uint64(binary.BigEndian.Uint32(buf[3:])) + FrameOverhead
	return int(min(n, math.MaxInt)), true
}

// AppendFrame appends one frame of any type around payload, as it is.
func AppendFrame(dst []byte, typ byte, channel uint16, payload []byte) []byte {
	dst = beginFrame(dst, typ, channel)
	start := len(dst)
	dst = append(dst, payload...)
	return endFrame(dst, start)
}

// AppendHeartbeat appends a heartbeat frame. It may stand between any two frames of a connection.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, FrameHeartbeat, 0, 0, 0, 0, 0, 0, FrameEnd)
}

// AppendBody appends body as body frames, none of which is longer than frameMax bytes: cut every frameMax-8 bytes. With
// frameMax 0 (no limit) it is one frame; an empty body has none. A frameMax below FrameMinSize counts as FrameMinSize,
// which every peer has to accept.
func AppendBody(dst []byte, channel uint16, body []byte, frameMax uint32) []byte {
	chunk := maxPayload
	if frameMax != 0 {
		chunk = int(min(max(frameMax, FrameMinSize)-FrameOverhead, maxPayload))
	}
	if len(body) > chunk { // grow once; a single frame leaves it to append
		frames := (len(body)-1)/chunk + 1
		dst = slices.Grow(dst, len(body)+frames*FrameOverhead)
	}
	for len(body) > 0 {
		n := min(chunk, len(body))
		dst = AppendFrame(dst, FrameBody, channel, body[:n])
		body = body[n:]
	}
	return dst
}

// beginFrame appends a frame's head with the length left open; endFrame closes the frame whose payload begins at start.
func beginFrame(dst []byte, typ byte, channel uint16) []byte {
	return append(dst, typ, byte(channel>>8), byte(channel), 0, 0, 0, 0)
}

func endFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return append(dst, FrameEnd)
}
