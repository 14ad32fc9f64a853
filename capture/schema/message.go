package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// An encapsulated message, as Arrow defines it and with the trailer that leveret puts where Arrow allows padding:
//
//	0xFFFFFFFF | size of metadata (int32) | flatbuffer, padding | "LVRT" | CRC-32C | body
//	                                       `-------------- metadata -------------'
//
// The checksum is over all bytes of the message but its own four.

// Part of the format.
const (
	FileMagic    = "ARROW1\x00\x00" // the first 8 bytes of a file; the first message begins behind them
	FootMagic    = "ARROW1"         // the last 6
	TrailerMagic = "LVRT"

	// MaxMetadataBytes bounds the metadata of every message, trailer included.
	MaxMetadataBytes = 1 << 16

	continuation = 0xFFFFFFFF
	prefixSize   = 8
	trailerSize  = 8
)

// Numbers of Arrow's Message.fbs, Schema.fbs and File.fbs.
const (
	metadataV5 = 4

	headerSchema      = 1
	headerRecordBatch = 3

	messageVersion    = 0
	messageHeaderType = 1
	messageHeader     = 2
	messageBodyLength = 3
)

// ErrForeign says that bytes are Arrow, or may be, but not of a leveret capture.
var ErrForeign = errors.New("not a file of a leveret capture")

// ErrKind says that a file holds rows of a kind that a later version of leveret records. They can be left out.
var ErrKind = errors.New("a kind of rows that this program does not know")

// Extent is what Measure tells of one message.
type Extent struct {
	// Length of the whole message in bytes, prefix and body included.
	Length int64
	// End: this is no message but the end-of-stream marker of Length bytes; a footer follows.
	End bool
}

// Measure tells how long the message at the start of b is, for reading a file without its journal. b needs to hold the
// message's prefix and metadata only (prefix and MaxMetadataBytes are enough). Where b is too short to tell, the error
// is io.ErrUnexpectedEOF; where it begins with no message, ErrDamaged. The message may be longer than b; only Decode
// tells whether it is whole.
func Measure(b []byte) (Extent, error) {
	if len(b) < prefixSize {
		return Extent{}, fmt.Errorf("message: %d bytes: %w", len(b), io.ErrUnexpectedEOF)
	}
	size := binary.LittleEndian.Uint32(b[4:])
	if binary.LittleEndian.Uint32(b) != continuation || size > MaxMetadataBytes || size%8 != 0 {
		return Extent{}, fmt.Errorf("message: begins with % x: %w", b[:prefixSize], ErrDamaged)
	}
	if size == 0 {
		return Extent{Length: prefixSize, End: true}, nil
	}
	if len(b)-prefixSize < int(size) {
		return Extent{}, fmt.Errorf("message: %d of %d bytes of metadata: %w", len(b)-prefixSize, size, io.ErrUnexpectedEOF)
	}
	f := &flat{b: b[prefixSize : prefixSize+int(size)]}
	body := f.root().i64(messageBodyLength)
	if f.bad || body < 0 || body > MaxBatchBytes || body%8 != 0 {
		return Extent{}, fmt.Errorf("message: metadata of %d bytes: %w", size, ErrDamaged)
	}
	return Extent{Length: prefixSize + int64(size) + body}, nil
}

// Checksum computes the checksum of one whole message and returns the one that it carries beside it. The error is
// ErrDamaged where b does not have the form of a message, ErrForeign where it has no trailer; that the two numbers are
// equal is the caller's to check.
func Checksum(b []byte) (computed, carried uint32, err error) {
	if len(b) < prefixSize+trailerSize || binary.LittleEndian.Uint32(b) != continuation {
		return 0, 0, fmt.Errorf("message of %d bytes: %w", len(b), ErrDamaged)
	}
	size := binary.LittleEndian.Uint32(b[4:])
	if size > MaxMetadataBytes || size < trailerSize || int(size) > len(b)-prefixSize {
		return 0, 0, fmt.Errorf("message of %d bytes: metadata of %d: %w", len(b), size, ErrDamaged)
	}
	at := prefixSize + int(size) - 4
	if string(b[at-4:at]) != TrailerMagic {
		return 0, 0, fmt.Errorf("message of %d bytes: no %s trailer: %w", len(b), TrailerMagic, ErrForeign)
	}
	computed = crc32.Update(crc32.Checksum(b[:at], castagnoli), castagnoli, b[at+4:])
	return computed, binary.LittleEndian.Uint32(b[at:]), nil
}

// verify returns the metadata, without its trailer, and the body of a whole message whose checksum holds.
func verify(b []byte) (meta, body []byte, err error) {
	computed, carried, err := Checksum(b)
	if err != nil {
		return nil, nil, err
	}
	if computed != carried {
		return nil, nil, fmt.Errorf("message of %d bytes: checksum does not hold (%08x, computed %08x): %w", len(b), carried, computed, ErrDamaged)
	}
	end := prefixSize + int(binary.LittleEndian.Uint32(b[4:]))
	return b[prefixSize : end-trailerSize], b[end:], nil
}
