package loadcore

import (
	"math"
	"math/bits"

	"leveret/capture/manifest"
)

// A schedule says when each message of one producer is due. It is a pure function of the message number n, in integers,
// exact for as long as a run can last. With a constant rate:
//
//	due(n) = start + phase + floor(n * PerNS / Messages)
//
//	rate 3 per 10 ns   n   0   1   2   3    4    5
//	                 due   0   3   6   10   13   16
//
// No rounding accumulates: the millionth message of a fractional rate is due to the nanosecond.
//
// In general a rate is a function R(t), the number of messages due by t (stages.go), and message n has a place E(n) on that
// scale: n itself where arrivals are even, the sum of n+1 exponentially distributed gaps where they are a Poisson process
// (gaps.go). It is due at the last nanosecond t with R(t) <= E(n). A constant rate is R(t) = t * Messages / PerNS.
type schedule struct {
	rate  manifest.Rate
	first int64 // what all due times count from

	// The cursor stands at message n, which is due at due. It is a plain value: a copy of the schedule keeps the place.
	n   uint64
	due int64

	// Evenly spaced at a constant rate: what floor cut off is rest/Messages of a nanosecond, and from message to message it
	// goes on by step and stepRest/Messages nanoseconds.
	rest     uint64
	step     int64
	stepRest uint64

	// All others: message n's place is whole + part/2^64.
	general     bool
	whole, part uint64
	gaps        gaps
	course      *course // nil: constant rate
	at          coursePlace
}

// newSchedule is evenly spaced at a constant rate. It begins at start (on the record's clock) plus phase. rate.Messages is
// over 0, PerNS at least 0.
func newSchedule(rate manifest.Rate, start, phase int64) schedule {
	m, per := uint64(rate.Messages), uint64(rate.PerNS)
	first := addClock(start, uint64(phase))
	return schedule{rate: rate, first: first, due: first, step: int64(per / m), stepRest: per % m}
}

// scheduleOf is the schedule of a producer that is timed, beginning at start.
func scheduleOf(p *manifest.Producer, producer uint16, start int64) schedule {
	poisson := p.Arrivals == manifest.ArrivalsPoisson
	if len(p.Stages) == 0 && !poisson {
		return newSchedule(p.Rate, start, p.PhaseNS)
	}
	s := schedule{rate: p.Rate, first: addClock(start, uint64(p.PhaseNS)), general: true, part: uint64(p.PhasePart) << 32}
	if len(p.Stages) > 0 {
		s.course = newCourse(p.Stages)
	}
	if poisson {
		s.gaps = newGaps(p.Seed, producer)
		s.whole, s.part = s.gaps.gap(0)
	}
	s.place()
	return s
}

// next moves the cursor on by one message.
func (s *schedule) next() {
	s.n++
	if s.general {
		s.nextGeneral()
		return
	}
	s.rest += s.stepRest // below 2*Messages, which fits
	carry := uint64(0)
	if m := uint64(s.rate.Messages); s.rest >= m {
		s.rest -= m
		carry = 1
	}
	s.due = addClock(s.due, uint64(s.step)+carry)
}

func (s *schedule) nextGeneral() {
	if s.gaps.on {
		whole, part := s.gaps.gap(s.n)
		var carry uint64
		s.part, carry = bits.Add64(s.part, part, 0)
		s.whole += whole + carry
	} else {
		s.whole++
	}
	s.place()
}

// place finds the due time of the message whose place is whole + part/2^64.
func (s *schedule) place() {
	if s.course != nil {
		s.due = addClock(s.first, s.course.find(&s.at, s.whole, s.part))
		return
	}
	// floor((whole + part/2^64) * PerNS / Messages), where cutting off what is below 1 first changes nothing.
	m, per := uint64(s.rate.Messages), uint64(s.rate.PerNS)
	hi, lo := bits.Mul64(s.whole, per)
	below, _ := bits.Mul64(s.part, per)
	lo, carry := bits.Add64(lo, below, 0)
	if hi += carry; hi >= m {
		s.due = math.MaxInt64
		return
	}
	offset, _ := bits.Div64(hi, lo, m)
	s.due = addClock(s.first, offset)
}

// addClock stops at the end of time instead of wrapping: such a message is never due.
func addClock(t int64, d uint64) int64 {
	if d > math.MaxInt64 || t > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return t + int64(d)
}
