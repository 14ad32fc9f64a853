// Package quantile finds exact percentiles of values that are too many to keep: nearest rank, no sketch, no sampling.
//
// It needs to see the values twice. The first time a Histogram counts them in logarithmic buckets; that tells in which
// bucket each wanted rank falls. The second time a Selection looks only at the values in those buckets and finds the
// exact ones. Memory is bounded by a budget: where the buckets hold more than it allows, the values have to be shown
// again (Selection.Open is true until all is found).
//
//	var h quantile.Histogram
//	for _, v := range values { h.Add(v) }
//	s := quantile.Select(&h, []uint64{quantile.Rank(99*quantile.One, h.Count())})
//	for s.Open(quantile.NewMemory(bytes)) {
//		for _, v := range values { s.Add(v) }
//		if err := s.Close(); err != nil { ... } // the values were not the same ones
//	}
//	p99 := s.Value(0)
//
// Values are signed: a negative latency (clock skew) is a value like any other. Moments keeps count, sum and sum of
// squares in exact integers beside it.
package quantile

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// Percent is a percentile in units of 1e-9 percent, so that 99.9 is exact.
type Percent uint64

// One percent, and all of them.
const (
	One     Percent = 1_000_000_000
	Hundred         = 100 * One
)

// Float returns the percentile as a number between 0 and 100.
func (p Percent) Float() float64 { return float64(p) / float64(One) }

// ParsePercent reads a percentile such as 99.9: above 0, at most 100, with at most 9 decimals, which are exact.
func ParsePercent(s string) (Percent, error) {
	const digits = 9
	errForm := errors.New("must be a number above 0, at most 100, with at most 9 decimals, such as 99.9")
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > digits || len(whole) == 0 || len(whole) > 3 || strings.HasSuffix(s, ".") {
		return 0, errForm
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
	if err != nil || n == 0 || Percent(n) > Hundred {
		return 0, errForm
	}
	return Percent(n), nil
}

// String writes the percentile as ParsePercent reads it, without needless zeros.
func (p Percent) String() string {
	whole, part := p/One, strconv.FormatUint(uint64(One+p%One), 10)[1:]
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatUint(uint64(whole), 10)+"."+part, "0"), ".")
}

// Rank is the nearest rank of percentile p among n values, counted from 1: ceil(p*n/100) in exact integers, at least 1.
// It is 0 where there are no values. p is at most Hundred.
func Rank(p Percent, n uint64) uint64 {
	hi, lo := bits.Mul64(uint64(min(p, Hundred)), n)
	q, r := bits.Div64(hi, lo, uint64(Hundred)) // cannot overflow: p <= Hundred makes hi < Hundred
	if r > 0 {
		q++
	}
	return max(q, min(n, 1))
}

// CurvePercents are the points at which a percentile curve over n values is drawn: every 5 percent up to 90, then 18
// points for each further nine, until the rank reaches the largest value; 0 and 100 are the ends. For a million values
// these are 110 points. 50, 75, 95 and every 99.9..9 are among them.
func CurvePercents(n uint64) []Percent {
	var ps []Percent
	for p := Percent(0); p <= 90*One; p += 5 * One {
		ps = append(ps, p)
	}
	for step := One / 2; step > 0; step /= 10 {
		for tail := 19; tail >= 2; tail-- {
			p := Hundred - Percent(tail)*step
			if Rank(p, n) >= n {
				return append(ps, Hundred)
			}
			ps = append(ps, p)
		}
	}
	return append(ps, Hundred)
}
