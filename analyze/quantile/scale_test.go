package quantile

import (
	"fmt"
	"math"
	"testing"
)

// Four bins to an octave begin at 1, 2^(1/4) = 1.1892, 1.4142 and 1.6818: of 128ths at 128, 152, 181 and 215. From 1024 to 2047
// that is at 1024, 1216, 1448 and 1720.
func TestScale(t *testing.T) {
	s := NewScale(4)
	for _, c := range []struct {
		v         int64
		low, high int64
	}{
		{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {3, 3, 4}, {4, 4, 5}, {5, 5, 6}, {6, 6, 7}, {7, 7, 8},
		{1023, 860, 1024}, {1024, 1024, 1216}, {1215, 1024, 1216}, {1216, 1216, 1448}, {1447, 1216, 1448}, {1448, 1448, 1720}, {1719, 1448, 1720},
		{1720, 1720, 2048}, {2047, 1720, 2048}, {2048, 2048, 2432},
		{math.MaxInt64, 215 << 55, math.MaxInt64},
		{-1, -1, 0}, {-2, -2, -1}, {-1025, -1216, -1024}, {-1024, -1024, -860}, {math.MinInt64, math.MinInt64, -(215 << 55)},
	} {
		if low, high := s.Limits(s.Bin(c.v)); low != c.low || high != c.high {
			t.Errorf("%d is in %d to %d, want %d to %d", c.v, low, high, c.low, c.high)
		}
	}
}

// Whatever the number of bins: they follow each other without a hole, each value lies in its own, and no bucket in two.
func TestScaleHasNoHoles(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 8, 32, 99} {
		s := NewScale(n)
		from, to := s.Bin(math.MinInt64), s.Bin(math.MaxInt64)
		last := int64(math.MinInt64)
		for bin := from; bin <= to; bin++ {
			low, high := s.Limits(bin)
			if low != last || high < low {
				t.Fatalf("%d: bin %d from %d to %d, after %d", n, bin, low, high, last)
			}
			if low < high && (s.Bin(low) != bin || s.Bin(high-1) != bin) {
				t.Fatalf("%d: bin %d from %d to %d holds neither", n, bin, low, high)
			}
			last = high
		}
		if last != math.MaxInt64 {
			t.Errorf("%d: the last ends at %d", n, last)
		}
		for b := range uint(blocks) {
			for i := range uint(blockSize) {
				if low, width := bounds(b, i); s.Bin(low) != s.Bin(int64(uint64(low)+width-1)) {
					t.Fatalf("%d: bucket %d to %d lies in two bins", n, low, uint64(low)+width-1)
				}
			}
		}
	}
}

// Values of a bin are counted together, the others apart, by rising value.
func TestScaleCounts(t *testing.T) {
	var h Histogram
	for _, v := range []int64{1720, 2047, 1719, -1, 0, 0, 1448, -3} {
		h.Add(v)
	}
	s := NewScale(4)
	got := ""
	s.Each(&h, func(bin int, count uint64) {
		low, high := s.Limits(bin)
		got += fmt.Sprintf("%d..%d:%d ", low, high, count)
	})
	if want := "-3..-2:1 -1..0:1 0..1:2 1448..1720:2 1720..2048:2 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
