package loadcore

import (
	"math"
	"math/bits"

	"leveret/capture/manifest"
)

// A schedule says when each message of one producer is due. It is a pure function of the message number n, exact in
// integers for as long as a run can last:
//
//	due(n) = start + phase + floor(n * PerNS / Messages)
//
//	rate 3 per 10 ns   n   0   1   2   3    4    5
//	                 due   0   3   6   10   13   16
//
// Nothing accumulates: the millionth message of a fractional rate is due to the nanosecond.
type schedule struct {
	rate  manifest.Rate
	first int64 // due time of message 0

	// The cursor stands at message n, which is due at due. What floor cut off is rest/Messages of a nanosecond.
	n    uint64
	due  int64
	rest uint64

	step     int64 // whole nanoseconds from message to message
	stepRest uint64
}

// newSchedule begins at start (on the record's clock) plus phase. rate.Messages is over 0, PerNS at least 0.
func newSchedule(rate manifest.Rate, start, phase int64) schedule {
	m, per := uint64(rate.Messages), uint64(rate.PerNS)
	return schedule{rate: rate, first: start + phase, due: start + phase, step: int64(per / m), stepRest: per % m}
}

// at is the due time of message n; math.MaxInt64 where it lies beyond the clock.
func (s *schedule) at(n uint64) int64 {
	hi, lo := bits.Mul64(n, uint64(s.rate.PerNS))
	if hi >= uint64(s.rate.Messages) {
		return math.MaxInt64
	}
	offset, _ := bits.Div64(hi, lo, uint64(s.rate.Messages))
	return addClock(s.first, offset)
}

// next moves the cursor on by one message: the same function, without a division.
func (s *schedule) next() {
	s.n++
	s.rest += s.stepRest // below 2*Messages, which fits
	carry := uint64(0)
	if m := uint64(s.rate.Messages); s.rest >= m {
		s.rest -= m
		carry = 1
	}
	s.due = addClock(s.due, uint64(s.step)+carry)
}

// seek puts the cursor on message n.
func (s *schedule) seek(n uint64) {
	s.n, s.due, s.rest = n, s.at(n), 0
	if s.due < math.MaxInt64 {
		hi, lo := bits.Mul64(n, uint64(s.rate.PerNS))
		_, s.rest = bits.Div64(hi, lo, uint64(s.rate.Messages))
	}
}

// addClock stops at the end of time instead of wrapping: such a message is never due.
func addClock(t int64, d uint64) int64 {
	if d > math.MaxInt64 || t > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return t + int64(d)
}

// SpreadPhases sets the phases of all producers with a rate so that K of them do not send in step: producer i begins i/K of
// its own period after the barrier.
func SpreadPhases(producers []manifest.Producer) {
	timed := uint64(0)
	for i := range producers {
		if producers[i].Rate.Messages > 0 {
			timed++
		}
	}
	i := uint64(0)
	for k := range producers {
		p := &producers[k]
		if p.Rate.Messages <= 0 {
			continue
		}
		// floor(i*PerNS / (Messages*K)) as two floors, which is the same.
		hi, lo := bits.Mul64(i, uint64(p.Rate.PerNS))
		share, _ := bits.Div64(hi%timed, lo, timed) // i < K: hi is below K already
		p.PhaseNS = int64(share / uint64(p.Rate.Messages))
		i++
	}
}
