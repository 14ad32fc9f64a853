package wire

import "encoding/binary"

// A content header stands between a method that carries content and the body frames:
//
//	0          2        4           12               14
//	+----------+--------+-----------+----------------+------------------
//	| class 60 | 0      | body size | property flags | property list ...
//	+----------+--------+-----------+----------------+------------------

const headerFixed = 12 // bytes before the property flags

// Header is a content header of class basic.
type Header struct {
	BodySize uint64 // bytes in all body frames that follow: a claim, to be checked against a limit before it is used
	// RawProperties are the property flags and the property list as they came, for ParseProperties or AppendRawHeader.
	// They alias the frame's payload, capped, and are valid as long as that is. At least the flags are there.
	RawProperties []byte
}

// ParseHeader reads the payload of a header frame, without looking into the properties. It does not allocate. The error
// is a *SyntaxError.
func ParseHeader(payload []byte) (Header, error) {
	if len(payload) < headerFixed+2 || payload[0] != 0 || payload[1] != ClassBasic || payload[2]|payload[3] != 0 {
		return Header{}, headerError(payload)
	}
	return Header{
		BodySize:      binary.BigEndian.Uint64(payload[4:]),
		RawProperties: payload[headerFixed:len(payload):len(payload)],
	}, nil
}

//go:noinline
func headerError(payload []byte) error {
	e := &SyntaxError{Where: "content header", Reason: reasonShort, Offset: len(payload)}
	switch {
	case len(payload) < headerFixed+2:
	case payload[0] != 0 || payload[1] != ClassBasic:
		e.Field, e.Reason, e.Offset = "class", "only class 60, basic, has content", 0
	default:
		e.Field, e.Reason, e.Offset = "weight", "must be 0", 2
	}
	return e
}

// AppendHeader appends a content header frame with the properties p, nil for none. p has passed CheckProperties, or is
// known to be good; else it panics. bodySize is in bytes.
func AppendHeader(dst []byte, channel uint16, bodySize uint64, p *Properties) []byte {
	dst, start := beginHeader(dst, channel, bodySize)
	if p == nil {
		dst = append(dst, 0, 0)
	} else {
		dst = appendProperties(dst, p)
	}
	return endFrame(dst, start)
}

// AppendRawHeader appends a content header frame with the properties as another header carried them
// (Header.RawProperties); nil for none. It does not allocate when dst has room. bodySize is in bytes.
func AppendRawHeader(dst []byte, channel uint16, bodySize uint64, rawProps []byte) []byte {
	dst, start := beginHeader(dst, channel, bodySize)
	if len(rawProps) == 0 {
		dst = append(dst, 0, 0)
	} else {
		dst = append(dst, rawProps...)
	}
	return endFrame(dst, start)
}

func beginHeader(dst []byte, channel uint16, bodySize uint64) (buf []byte, start int) {
	dst = beginFrame(dst, FrameHeader, channel)
	start = len(dst)
	dst = append(dst, 0, ClassBasic, 0, 0)
	return binary.BigEndian.AppendUint64(dst, bodySize), start
}
