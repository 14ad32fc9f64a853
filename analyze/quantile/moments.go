package quantile

import (
	"math"
	"math/big"
	"math/bits"
)

// Moments are count, extremes, sum and sum of squares of signed values, exact: the sums are integers of 128 and 192
// bits, which no number of values that fits a disk can overflow. The zero value is ready. Not safe for concurrent use.
type Moments struct {
	count    uint64
	negative uint64
	min, max int64
	sum      [2]uint64 // low word first, two's complement
	squares  [3]uint64 // low word first
}

// Add one value.
func (m *Moments) Add(v int64) { m.AddN(v, 1) }

// AddN adds a value n times.
func (m *Moments) AddN(v int64, n uint32) {
	if n == 0 {
		return
	}
	if m.count == 0 {
		m.min, m.max = v, v
	}
	times := uint64(n)
	m.count += times
	m.min, m.max = min(m.min, v), max(m.max, v)
	sign := uint64(v >> 63) // all ones where v is negative
	m.negative += sign & times
	u := (uint64(v) ^ sign) - sign // |v|, also for the least int64
	hi, lo := bits.Mul64(u, times)
	lo, hi = lo^sign, hi^sign // negative where v is, but for the 1 that is the first carry
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], lo, sign&1)
	m.sum[1], _ = bits.Add64(m.sum[1], hi, c)
	high, low := bits.Mul64(u, u)
	top, middle := bits.Mul64(high, times)
	carry, low := bits.Mul64(low, times)
	middle, c = bits.Add64(middle, carry, 0)
	top += c
	m.squares[0], c = bits.Add64(m.squares[0], low, 0)
	m.squares[1], c = bits.Add64(m.squares[1], middle, c)
	m.squares[2] += top + c
}

// Merge adds all values of o.
func (m *Moments) Merge(o *Moments) {
	if o.count == 0 {
		return
	}
	if m.count == 0 {
		*m = *o
		return
	}
	m.count += o.count
	m.negative += o.negative
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], o.sum[0], 0)
	m.sum[1] += o.sum[1] + c
	m.squares[0], c = bits.Add64(m.squares[0], o.squares[0], 0)
	m.squares[1], c = bits.Add64(m.squares[1], o.squares[1], c)
	m.squares[2] += o.squares[2] + c
}

// Count of the values, and how many of them are below zero.
func (m *Moments) Count() uint64    { return m.count }
func (m *Moments) Negative() uint64 { return m.negative }

// Min and Max are the extremes; 0 where there are no values.
func (m *Moments) Min() int64 { return m.min }
func (m *Moments) Max() int64 { return m.max }

// Mean is the exact mean, rounded once; NaN where there are no values.
func (m *Moments) Mean() float64 {
	if m.count == 0 {
		return math.NaN()
	}
	mean, _ := new(big.Rat).SetFrac(m.bigSum(), new(big.Int).SetUint64(m.count)).Float64()
	return mean
}

// StdDev is the standard deviation of the values themselves (divided by N: they are all the values there are, not a
// sample), from exact integers; NaN where there are no values.
func (m *Moments) StdDev() float64 {
	if m.count == 0 {
		return math.NaN()
	}
	n := new(big.Int).SetUint64(m.count)
	sum := m.bigSum()
	v := new(big.Int).Mul(n, wide(m.squares[:])) // N*sum(x^2) - sum(x)^2, never negative
	v.Sub(v, sum.Mul(sum, sum))
	variance, _ := new(big.Rat).SetFrac(v, n.Mul(n, n)).Float64()
	return math.Sqrt(variance)
}

func (m *Moments) bigSum() *big.Int {
	s := wide(m.sum[:])
	if m.sum[1]>>63 == 1 {
		s.Sub(s, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return s
}

// wide makes one number of words, low word first.
func wide(words []uint64) *big.Int {
	n := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		n.Lsh(n, 64)
		n.Or(n, new(big.Int).SetUint64(words[i]))
	}
	return n
}
