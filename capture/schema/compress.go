package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compressor makes compressed buffers for one batch after the other. Not safe for concurrent use.
type compressor struct {
	out  [][]byte // one scratch a buffer of the message, reused by the next batch
	used int
	lz4  *lz4.Writer
	zstd *zstd.Encoder
}

func (z *compressor) reset() { z.used = 0 }

// compress returns src as Arrow wants a compressed buffer: its length, then the frame; or -1, then src itself where that
// is no longer. The result is valid until reset.
func (z *compressor) compress(c Compression, src []byte) ([]byte, error) {
	if z.used == len(z.out) {
		z.out = append(z.out, nil)
	}
	dst := binary.LittleEndian.AppendUint64(z.out[z.used][:0], uint64(len(src)))
	switch c {
	case LZ4:
		w := bytes.NewBuffer(dst)
		if z.lz4 == nil {
			z.lz4 = lz4.NewWriter(w)
			z.lz4.Apply(lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb))
		}
		z.lz4.Reset(w)
		z.lz4.Write(src)
		z.lz4.Close()
		dst = w.Bytes()
	case Zstd:
		if z.zstd == nil {
			var err error
			z.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<17))
			if err != nil {
				return nil, fmt.Errorf("zstd: %w", err)
			}
		}
		dst = z.zstd.EncodeAll(src, dst)
	}
	if len(dst) >= lengthSize+len(src) {
		raw := int64(storedRaw)
		dst = append(binary.LittleEndian.AppendUint64(dst[:0], uint64(raw)), src...)
	}
	z.out[z.used] = dst
	z.used++
	return dst, nil
}
