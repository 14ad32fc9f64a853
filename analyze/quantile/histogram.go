package quantile

import "math/bits"

// Shape of a histogram: each octave of magnitude has 128 buckets, so that a bucket is at most 1/128 of its values wide,
// and magnitudes below 256 have a bucket each. An octave is one block, made when its first value comes: a latency
// series of a few octaves takes a few KiB.
const (
	subBits   = 7
	blockSize = 1 << subBits
	octaves   = 64 - subBits // of one sign; the last one ends with the largest int64
	blocks    = 2 * octaves  // those of negative values follow
)

type block [blockSize]uint32

// Histogram counts signed values in logarithmic buckets. The zero value is ready. A bucket counts to 2^32-1: whoever
// may have more values of one kind must refuse them. Not safe for concurrent use.
type Histogram struct {
	blocks [blocks]*block
}

// locate finds the bucket of a value: block and place in it. A negative value has the bucket of its complement (-1 that
// of 0, -2 that of 1), among the blocks of negative values.
func locate(v int64) (b, i uint) {
	sign := uint64(v >> 63)
	u := uint64(v) ^ sign
	b = uint(bits.Len64(u|(blockSize-1))) - subBits
	shift := b
	if b > 0 {
		shift = b - 1
	}
	return b + uint(sign&octaves), uint(u>>shift) & (blockSize - 1)
}

// bounds of a bucket: its least value and how many values it covers. The opposite of locate.
func bounds(b, i uint) (low int64, width uint64) {
	negative := b >= octaves
	if negative {
		b -= octaves
	}
	u, width := uint64(i), uint64(1)
	if b > 0 {
		u, width = (blockSize+u)<<(b-1), 1<<(b-1)
	}
	if negative {
		return -int64(u+width-1) - 1, width
	}
	return int64(u), width
}

// Add one value.
func (h *Histogram) Add(v int64) { h.AddN(v, 1) }

// AddN adds a value n times.
func (h *Histogram) AddN(v int64, n uint32) {
	b, i := locate(v)
	p := h.blocks[b]
	if p == nil {
		p = h.grow(b)
	}
	p[i] += n
}

func (h *Histogram) grow(b uint) *block {
	h.blocks[b] = new(block)
	return h.blocks[b]
}

// Count of all values.
func (h *Histogram) Count() uint64 {
	var n uint64
	for _, p := range h.blocks {
		if p != nil {
			for _, c := range p {
				n += uint64(c)
			}
		}
	}
	return n
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	for b, p := range o.blocks {
		if p == nil {
			continue
		}
		to := h.blocks[b]
		if to == nil {
			to = h.grow(uint(b))
		}
		for i, c := range p {
			to[i] += c
		}
	}
}

// ascending calls f for every bucket that is not empty, by rising value.
func (h *Histogram) ascending(f func(b, i uint, count uint64)) {
	for b := uint(blocks - 1); b >= octaves; b-- {
		if p := h.blocks[b]; p != nil {
			for i := blockSize - 1; i >= 0; i-- {
				if p[i] > 0 {
					f(b, uint(i), uint64(p[i]))
				}
			}
		}
	}
	for b := uint(0); b < octaves; b++ {
		if p := h.blocks[b]; p != nil {
			for i, c := range p {
				if c > 0 {
					f(b, uint(i), uint64(c))
				}
			}
		}
	}
}

// Each calls f for every bucket that is not empty, by rising value: its least value, how many values it covers, how many it holds.
func (h *Histogram) Each(f func(low int64, width, count uint64)) {
	h.ascending(func(b, i uint, count uint64) {
		low, width := bounds(b, i)
		f(low, width, count)
	})
}

// Clone is a histogram of its own with the same counts.
func (h *Histogram) Clone() *Histogram {
	c := &Histogram{}
	c.Merge(h)
	return c
}

// Ceiling is the greatest value of the bucket that holds the value at a rank (from 1): not below it, and within a hundredth
// of it. The greatest bucket's where the rank is beyond the count; 0 where there are no values.
func (h *Histogram) Ceiling(rank uint64) (ceiling int64) {
	below := uint64(0)
	h.ascending(func(b, i uint, count uint64) {
		if below < rank {
			low, width := bounds(b, i)
			ceiling = low + int64(width-1)
		}
		below += count
	})
	return ceiling
}

// Floor is the least value of the bucket that holds the value at a rank (from 1): not above it, and within a hundredth
// of it. The greatest bucket's where the rank is beyond the count; 0 where there are no values.
func (h *Histogram) Floor(rank uint64) (floor int64) {
	below := uint64(0)
	h.ascending(func(b, i uint, count uint64) {
		if below < rank {
			floor, _ = bounds(b, i)
		}
		below += count
	})
	return floor
}
