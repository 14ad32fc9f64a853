package quantile

import (
	"math"
	"math/bits"
)

// Scale divides all values into bins for the eye, so many to each doubling: their limits are powers of the n-th root of 2, each
// moved to the nearest 128th of an octave, so that every bucket of a Histogram lies in one bin and the counts stay exact. 0 has a
// bin of its own; -1, -2 to -3, -4 to -7 and so on mirror 0, 1, 2 to 3 and so on. Below 2^7 not every bin holds an integer.
type Scale struct {
	n     int
	first []uint64         // of each bin of an octave, in 128ths of it, from 128 on
	bins  [blockSize]uint8 // of each 128th
}

// NewScale has n bins to an octave, 1 to 32.
func NewScale(n int) *Scale {
	s := &Scale{n: max(1, min(n, 32))}
	for j := range s.n {
		s.first = append(s.first, uint64(math.Round(blockSize*math.Exp2(float64(j)/float64(s.n)))))
		for i := s.first[j]; i < 2*blockSize; i++ {
			s.bins[i-blockSize] = uint8(j)
		}
	}
	return s
}

// Bin is the number of a value's bin: rising with the values, 0 for 0, negative for negative ones.
func (s *Scale) Bin(v int64) int {
	switch {
	case v == 0:
		return 0
	case v < 0:
		return -1 - s.Bin(^v)
	}
	octave, part := bits.Len64(uint64(v))-1, uint64(v)
	if shift := octave - subBits; shift >= 0 {
		part >>= shift
	} else {
		part <<= -shift
	}
	return 1 + octave*s.n + int(s.bins[part-blockSize])
}

// Limits of a bin: it holds the values from low to below high, and the highest one the largest int64, too. They are the same
// where the bin holds no integer.
func (s *Scale) Limits(bin int) (low, high int64) {
	switch {
	case bin == 0:
		return 0, 1
	case bin < 0:
		if low, high = s.Limits(-1 - bin); high == math.MaxInt64 {
			return math.MinInt64, -low
		}
		return -high, -low
	}
	return s.low(bin), s.low(bin + 1)
}

// low is the least integer of a bin from 1 on; it saturates.
func (s *Scale) low(bin int) int64 {
	octave, part := (bin-1)/s.n, s.first[(bin-1)%s.n]
	switch shift := octave - subBits; {
	case octave > 62:
		return math.MaxInt64
	case shift >= 0:
		return int64(part << shift)
	default:
		return int64((part + 1<<-shift - 1) >> -shift)
	}
}

// Each calls f with every bin that holds values of h and how many, by rising value.
func (s *Scale) Each(h *Histogram, f func(bin int, count uint64)) {
	bin, sum := 0, uint64(0)
	h.ascending(func(b, i uint, count uint64) {
		low, _ := bounds(b, i)
		if next := s.Bin(low); next != bin {
			if sum > 0 {
				f(bin, sum)
			}
			bin, sum = next, 0
		}
		sum += count
	})
	if sum > 0 {
		f(bin, sum)
	}
}
