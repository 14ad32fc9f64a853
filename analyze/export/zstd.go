package export

import (
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// fastZstd is the library's codec, but for one thing: that one makes an encoder with its tables anew for every page, and has it
// search for more than whole numbers that rise have to offer.
type fastZstd struct {
	compress.Codec
	encoder *zstd.Encoder // safe for concurrent use, as far as it is used here
}

func init() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // the library has it
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // these options go together
	}
	compress.RegisterCodec(compress.Codecs.Zstd, fastZstd{codec, encoder})
}

// EncodeLevel implements compress.Codec; the level is always the fastest.
func (z fastZstd) EncodeLevel(dst, src []byte, _ int) []byte {
	return z.encoder.EncodeAll(src, dst[:0])
}
