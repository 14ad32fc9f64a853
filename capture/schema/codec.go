package schema

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
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
