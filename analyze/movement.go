package analyze

import (
	"math/bits"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// movement keeps, by millisecond, whether the broker answered or delivered anything, and whether a message was sent late. It is
// kept where connections may have been lost.
type movement struct {
	from, step  int64
	moved, late []uint64
}

// mostSteps bounds the memory: two bits a step, 4 MiB.
const mostSteps = 1 << 24

func newMovement(from, to int64) *movement {
	m := &movement{from: from, step: 1_000_000}
	steps := max((to-from)/m.step+1, 1)
	for steps > mostSteps {
		m.step *= 2
		steps = (to-from)/m.step + 1
	}
	m.moved, m.late = make([]uint64, steps/64+1), make([]uint64, steps/64+1)
	return m
}

func (m *movement) set(words []uint64, at int64) {
	if n := (at - m.from) / m.step; at >= m.from && n>>6 < int64(len(words)) {
		words[n>>6] |= 1 << (n & 63)
	}
}

// moves notes times at which something moved; the rows of one read call, which have the same, are next to each other.
func (m *movement) moves(times []int64) {
	if m == nil {
		return
	}
	last := event.None
	for _, t := range times {
		if t != last {
			m.set(m.moved, t)
			last = t
		}
	}
}

// answers is moves for settlements.
func (m *movement) answers(times []int64, kinds []uint8) {
	if m == nil {
		return
	}
	last := event.None
	for i, t := range times {
		if t != last && event.SettlementKind(kinds[i]) != event.InDoubt {
			m.set(m.moved, t)
			last = t
		}
	}
}

// sends notes when messages were sent late.
func (m *movement) sends(due, sent []int64) {
	if m == nil {
		return
	}
	for i, t := range sent {
		if t != event.None && due[i] != event.None && t-due[i] > result.CatchUpNS {
			m.set(m.late, t)
		}
	}
}

// standstill is the longest time without movement, among those that touch one of the spans; ok is false where nothing moved.
func (m *movement) standstill(spans []result.Span) (from, ns int64, ok bool) {
	end := m.from + int64(len(m.moved)*64)*m.step
	for _, s := range spans {
		before := m.last(m.moved, s.FromNS, m.from)
		after := m.next(m.moved, max(before+m.step, s.FromNS), end)
		for {
			begin := max(before, m.from)
			stop := after
			if stop == event.None {
				stop = min(end, s.ToNS)
			}
			if stop-begin > ns && (before != event.None || after != event.None) {
				from, ns, ok = begin, stop-begin, true
			}
			if after == event.None || after > s.ToNS {
				break
			}
			before = after
			after = m.next(m.moved, before+m.step, end)
		}
	}
	return from, ns, ok
}

// calmNS is how long no message must have been late for the run to have caught up with its schedule.
const calmNS = 1_000_000_000

// caughtUp is when the last message was sent late, from a time on, before another, and before the first second after the recovery in
// which none was: what is late after that is so for another reason. event.None: none was.
func (m *movement) caughtUp(from, recovered, before int64) int64 {
	if m == nil {
		return event.None
	}
	last := m.last(m.late, min(recovered, before-1), from)
	if last < from {
		last = event.None
	}
	for next := m.next(m.late, recovered, before); next != event.None && next < before && next-max(last, recovered) <= calmNS; {
		last = next
		next = m.next(m.late, next+m.step, before)
	}
	return last
}

// last is the last step with its bit set that begins at or before a time, next the first at or after it; event.None: none. Beyond
// a limit, before which last and behind which next need not look, either may be.
func (m *movement) last(words []uint64, at, limit int64) int64 {
	n := min((at-m.from)/m.step, int64(len(words))*64-1)
	least := max((limit-m.from)/m.step, 0) >> 6
	for w := n >> 6; n >= 0 && w >= least; w-- {
		word := words[w]
		if w == n>>6 {
			word &= ^uint64(0) >> (63 - n&63)
		}
		if word != 0 {
			return m.from + (w<<6+63-int64(bits.LeadingZeros64(word)))*m.step
		}
	}
	return event.None
}

func (m *movement) next(words []uint64, at, limit int64) int64 {
	n := max((at-m.from+m.step-1)/m.step, 0)
	most := min((limit-m.from)/m.step>>6, int64(len(words))-1)
	for w := n >> 6; w <= most; w++ {
		word := words[w]
		if w == n>>6 {
			word &= ^uint64(0) << (n & 63)
		}
		if word != 0 {
			return m.from + (w<<6+int64(bits.TrailingZeros64(word)))*m.step
		}
	}
	return event.None
}
