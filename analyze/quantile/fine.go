package quantile

import "math/bits"

// A bucket of large values is wide: of the latencies of messages that waited a minute in a queue, millions lie in one. Fine counts
// such values again in buckets 1024 times narrower, so that the Selection of a great many of them needs to look at few.
const (
	fineBits      = 10
	fineBlockSize = blockSize << fineBits
	// fineLeast is the least value that is counted. Buckets of smaller ones have room for a counter for each value.
	fineLeast = 1 << 24
)

// Fine counts large values. The zero value is ready; it takes 512 KiB for each octave of magnitude. Not safe for concurrent use.
type Fine struct {
	blocks [octaves]*[fineBlockSize]uint32
}

// AddN adds a value n times, unless it is small or negative.
func (f *Fine) AddN(v int64, n uint32) {
	if v < fineLeast {
		return
	}
	b := uint(bits.Len64(uint64(v))) - subBits
	p := f.blocks[b]
	if p == nil {
		p = f.grow(b)
	}
	p[uint64(v)>>(b-1-fineBits)&(fineBlockSize-1)] += n
}

func (f *Fine) grow(b uint) *[fineBlockSize]uint32 {
	f.blocks[b] = new([fineBlockSize]uint32)
	return f.blocks[b]
}

// within are the counts of the parts of a Histogram's bucket, whose least value is low, and log2 of the values of a part; nil
// where it has none.
func (f *Fine) within(low int64) (cells []uint32, shift uint) {
	b, i := locate(low)
	if low < fineLeast || f.blocks[b] == nil {
		return nil, 0
	}
	return f.blocks[b][i<<fineBits : (i+1)<<fineBits], b - 1 - fineBits
}
