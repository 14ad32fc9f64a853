package loadcore

import "math/bits"

// wide is an unsigned integer of 128 bits: what a schedule that is exact over days at a billion messages a second needs.
type wide struct{ hi, lo uint64 }

func wideMul(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

// plus wraps; the schedules' bounds (stages.go) keep it from doing so.
func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + carry, lo}
}

// minus is for b of at most a.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - borrow, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) float() float64 { return float64(a.hi)*(1<<64) + float64(a.lo) }

// by is the quotient and the remainder; the quotient has to fit.
func (a wide) by(d uint64) (wide, uint64) {
	q := wide{hi: a.hi / d}
	var rest uint64
	q.lo, rest = bits.Div64(a.hi%d, a.lo, d)
	return q, rest
}

// times is a*m/d, cut off, and whether it was cut off. a*m may take 192 bits; the quotient has to fit 128.
func (a wide) times(m, d uint64) (q wide, cut bool) {
	low, high := wideMul(a.lo, m), wideMul(a.hi, m)
	mid, carry := bits.Add64(low.hi, high.lo, 0)
	top := (high.hi + carry) % d
	q.hi, top = bits.Div64(top, mid, d)
	q.lo, top = bits.Div64(top, low.lo, d)
	return q, top != 0
}

// dividedBy is the quotient and the remainder of a division by any b but 0, a bit at a time: for what happens seldom.
func (a wide) dividedBy(b wide) (q, rest wide) {
	rest = a
	shift := 0
	for d := b; d.hi>>63 == 0 && !rest.less(d); shift++ {
		d = d.plus(d)
	}
	for ; shift >= 0; shift-- {
		d := b.shifted(shift)
		q = q.plus(q)
		if !rest.less(d) {
			rest = rest.minus(d)
			q.lo |= 1
		}
	}
	return q, rest
}

func (a wide) shifted(n int) wide {
	if n >= 64 {
		return wide{a.lo << (n - 64), 0}
	}
	return wide{a.hi<<n | a.lo>>(64-n), a.lo << n} // for n of 0 the right shift is by 64 and gives 0
}
