package loadcore

import (
	"math"

	"leveret/capture/manifest"
)

// course is a rate that varies: stages of constant or evenly rising or falling rate, one after the other, and then from the
// beginning again.
//
//	msg/s  |    ____
//	       |   /    |        |    /       from 0 to 100 over 10 s, 100 for 10 s, none for 10 s, and anew
//	       |__/_____|________|___/___ t
//
// All is exact in integers. Rates are whole numbers of millionths of a message per second, so that in one nanosecond a rate
// of a adds a/10^15 messages; messages are counted in units of 1/(2*10^15), of which a rate that goes from a to b over T
// nanoseconds has added, t nanoseconds after its beginning,
//
//	R(t) = 2*a*t + (b-a)*t*t/T
//
// Bounds: rates at most 10^15 (a billion a second), T at most maxStage, 2^53 ns: below 2^105 a stage, 10^3 stages and
// 2^36 messages of 2^51 units fit 128 bits with ease.
type course struct {
	stages []stage
	units  wide   // of all stages together
	ns     uint64 // likewise
}

type stage struct {
	from, to uint64 // millionths of a message per second
	ns       uint64
	units    wide
}

const (
	unitsPerMessage = 2_000_000_000_000_000
	microPerRate    = 1_000_000_000_000_000 // PerNS of every rate divides it: see checkStages
	maxStage        = 1 << 53               // ns: 104 days
	maxStages       = 1000
)

// micro is a rate in millionths of a message per second; exact where PerNS divides microPerRate.
func micro(r manifest.Rate) uint64 {
	if r.Messages == 0 {
		return 0
	}
	return uint64(r.Messages) * (microPerRate / uint64(r.PerNS))
}

func newCourse(stages []manifest.Stage) *course {
	c := &course{}
	for _, m := range stages {
		s := stage{from: micro(m.From), to: micro(m.To), ns: uint64(m.ForNS)}
		s.units = wideMul(s.from+s.to, s.ns)
		c.stages = append(c.stages, s)
		c.units = c.units.plus(s.units)
		c.ns += s.ns
	}
	return c
}

// coursePlace is where a cursor stands: at a stage, which began at ns with units behind it, t nanoseconds into it.
type coursePlace struct {
	stage int
	ns    uint64
	units wide
	t     uint64
}

// find moves the cursor on to the last nanosecond by which no more than whole + part/2^64 messages are due; it returns it,
// counted from the beginning, MaxUint64 if it lies beyond all clocks. The cursor never goes back.
func (c *course) find(at *coursePlace, whole, part uint64) uint64 {
	want := wideMul(whole, unitsPerMessage).plus(wide{lo: wideMul(part, unitsPerMessage).hi})
	left := want.minus(at.units)
	if !left.less(c.units) { // a whole cycle and more ahead
		cycles, _ := left.dividedBy(c.units)
		ns := wideMul(cycles.lo, c.ns)
		if cycles.hi|ns.hi != 0 || ns.lo > math.MaxInt64 || at.ns > math.MaxInt64 {
			return math.MaxUint64
		}
		units, _ := c.units.times(cycles.lo, 1)
		at.ns, at.units, at.t = at.ns+ns.lo, at.units.plus(units), 0
		left = want.minus(at.units)
	}
	for s := &c.stages[at.stage]; !left.less(s.units); s = &c.stages[at.stage] {
		left = left.minus(s.units)
		at.ns, at.units, at.t = at.ns+s.ns, at.units.plus(s.units), 0
		if at.stage++; at.stage == len(c.stages) {
			at.stage = 0
		}
	}
	at.t = c.stages[at.stage].inverse(left, at.t)
	return at.ns + at.t
}

// due is R(t), cut off.
func (s *stage) due(t uint64) wide {
	even := wideMul(2*s.from, t)
	if s.to >= s.from {
		more, _ := wideMul(s.to-s.from, t).times(t, s.ns)
		return even.plus(more)
	}
	less, cut := wideMul(s.from-s.to, t).times(t, s.ns)
	if cut {
		less = less.plus(wide{lo: 1})
	}
	return even.minus(less)
}

// inverse is the last t with R(t) <= units, which is below what the whole stage has. t is not below low.
//
// A guess in floating point is proved or mended in integers: low and high enclose the answer all the time.
func (s *stage) inverse(units wide, low uint64) uint64 {
	if s.from == s.to {
		q, _ := units.by(2 * s.from)
		return q.lo
	}
	high := s.ns // R(low) <= units < R(high)
	for tries := 0; high-low > 1; tries++ {
		t := low + (high-low)/2
		if tries < 8 {
			t = min(max(s.guess(units, low), low+1), high-1)
		}
		if units.less(s.due(t)) {
			high = t
			continue
		}
		if low = t; low+1 < high && units.less(s.due(low+1)) {
			high = low + 1
		}
	}
	return low
}

// guess solves R(t) = units from low on; it is out by rounding.
func (s *stage) guess(units wide, low uint64) uint64 {
	slope := (float64(s.to) - float64(s.from)) / float64(s.ns)
	b := 2 * (float64(s.from) + slope*float64(low))
	left := units.minus(s.due(low)).float()
	root := math.Sqrt(max(0, b*b+4*slope*left))
	if b+root <= 0 {
		return low
	}
	return low + uint64(min(2*left/(b+root), float64(s.ns)))
}
