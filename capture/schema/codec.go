package schema

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compression of the column buffers of a file.
type Compression uint8

// The compressions; their names stand in the manifest and are part of the format.
const (
	None Compression = iota
	LZ4              // LZ4 frame, as Arrow requires
	Zstd
)

var compressionNames = [...]string{"none", "lz4", "zstd"}

func (c Compression) String() string {
	if int(c) < len(compressionNames) {
		return compressionNames[c]
	}
	return fmt.Sprintf("unknown compression %d", uint8(c))
}

// ParseCompression finds a compression by its name.
func ParseCompression(name string) (Compression, error) {
	for i, n := range compressionNames {
		if n == name {
			return Compression(i), nil
		}
	}
	return None, fmt.Errorf("compression %q: none, lz4 and zstd are known", name)
}

// Codec numbers of Arrow's BodyCompression.
const (
	codecLZ4  = 0
	codecZstd = 1
)

// A compressed buffer begins with its uncompressed length as int64; storedRaw there says that it is not compressed.
const (
	lengthSize = 8
	storedRaw  = -1
)

// expander undoes the compression of single buffers. Not safe for concurrent use.
type expander struct {
	zstd *zstd.Decoder
}

// expand fills dst, which has exactly the length that the buffer must have.
func (e *expander) expand(c Compression, dst, src []byte) error {
	var n int
	var err error
	switch c {
	case LZ4:
		n, err = expandLZ4(dst, src)
	case Zstd:
		n, err = e.expandZstd(dst, src)
	default:
		err = errors.New("cannot be read")
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("%d bytes, %d expected", n, len(dst))
	}
	if err != nil {
		return fmt.Errorf("%s: %v: %w", c, err, ErrDamaged)
	}
	return nil
}

// expandZstd wants the content size in the frame's header: without it a decoder finds out how much memory a frame takes
// only by taking it.
func (e *expander) expandZstd(dst, src []byte) (int, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return 0, err
	}
	if !h.HasFCS || h.FrameContentSize != uint64(len(dst)) || h.DictionaryID != 0 {
		return 0, fmt.Errorf("frame of %d bytes, %d expected", h.FrameContentSize, len(dst))
	}
	if e.zstd == nil {
		var err error
		if e.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBatchBytes)); err != nil {
			return 0, err
		}
	}
	out, err := e.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) == len(dst) && &out[0] != &dst[0] {
		err = errors.New("more than one frame")
	}
	return len(out), err
}

// Of the LZ4 frame format (lz4_Frame_format.md, version 1.6.x).
const (
	lz4Magic       = 0x184D2204
	lz4Version     = 0x40
	lz4Independent = 0x20
	lz4BlockSum    = 0x10
	lz4ContentSize = 0x08
	lz4ContentSum  = 0x04
	lz4DictID      = 0x01
	lz4RawBlock    = 1 << 31
)

// expandLZ4 fills dst from one LZ4 frame. A frame's own checksums are passed over: the message's has been checked.
func expandLZ4(dst, src []byte) (int, error) {
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != lz4Magic || src[4]&0xC0 != lz4Version {
		return 0, fmt.Errorf("no frame")
	}
	flags, pos := src[4], 7
	if flags&lz4ContentSize != 0 {
		pos += 8
	}
	if flags&lz4DictID != 0 {
		return 0, fmt.Errorf("frame needs a dictionary")
	}
	filled := 0
	for {
		if len(src)-pos < 4 {
			return 0, fmt.Errorf("frame without its end")
		}
		size := binary.LittleEndian.Uint32(src[pos:])
		pos += 4
		if size == 0 {
			return filled, nil
		}
		raw := size&lz4RawBlock != 0
		size &^= lz4RawBlock
		if uint64(size) > uint64(len(src)-pos) {
			return 0, fmt.Errorf("block of %d bytes, %d left", size, len(src)-pos)
		}
		n, err := expandBlock(dst, filled, src[pos:pos+int(size)], raw, flags&lz4Independent != 0)
		if err != nil {
			return 0, err
		}
		filled += n
		pos += int(size)
		if flags&lz4BlockSum != 0 {
			pos += 4
		}
		if pos > len(src) {
			return 0, fmt.Errorf("frame without its end")
		}
	}
}

func expandBlock(dst []byte, filled int, block []byte, raw, independent bool) (int, error) {
	if raw {
		if len(block) > len(dst)-filled {
			return 0, fmt.Errorf("more than %d bytes", len(dst))
		}
		return copy(dst[filled:], block), nil
	}
	if independent {
		return lz4.UncompressBlock(block, dst[filled:])
	}
	const window = 64 << 10 // how far a block may refer back
	return lz4.UncompressBlockWithDict(block, dst[filled:], dst[max(0, filled-window):filled])
}
