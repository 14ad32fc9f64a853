package schema

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// compressor makes compressed buffers. Not safe for concurrent use.
type compressor struct {
	zstd *zstd.Encoder
}

// append appends src as Arrow wants a compressed buffer: its length, then the frame; or -1, then src itself where that is
// no longer.
func (z *compressor) append(c Compression, dst, src []byte) ([]byte, error) {
	at := len(dst)
	dst = slices.Grow(dst, lengthSize+max(lz4Bound(len(src)), len(src)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(src)))
	switch c {
	case LZ4:
		dst = appendLZ4(dst, src)
	case Zstd:
		if err := z.startZstd(); err != nil {
			return nil, err
		}
		dst = z.zstd.EncodeAll(src, dst)
	default:
		return nil, fmt.Errorf("%s cannot be written", c)
	}
	if len(dst)-at >= lengthSize+len(src) {
		raw := int64(storedRaw)
		dst = append(binary.LittleEndian.AppendUint64(dst[:at], uint64(raw)), src...)
	}
	return dst, nil
}

func (z *compressor) startZstd() error {
	if z.zstd != nil {
		return nil
	}
	var err error
	// The fastest level: the next one takes twice the time for 10 % less. A window as small as the largest column keeps
	// the encoder at about 1 MiB. A single segment carries its size also where it is small, and readers count on that.
	z.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<17), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return fmt.Errorf("zstd encoder: %w", err)
	}
	return nil
}
