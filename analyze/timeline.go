package analyze

import (
	"fmt"
	"math"

	"leveret/capture/event"
)

// timeline divides the time of a run into intervals: equal ones from the start of the window (the barrier) to its end
// (publishing stopped), and from there, for the drain, to the last event. The last of the drain may be up to half shorter
// or longer than the others, so that it is no sliver; the window's last up to a twentieth longer, or as short as that: a
// longer one would make a rate that ended with its schedule look like one that fell. None straddles the window's end.
type timeline struct {
	start, stop, end int64 // stop belongs to the window
	step             int64
	run, drain       int // number of intervals
	counts           []intervalCounts
	receivedBefore   int64 // messages received before the start
}

// intervalCounts are events by their own time.
type intervalCounts struct {
	due, sent, confirmed, committed, nacked, returned, received int64

	bytes    int64 // of bodies sent
	arrivals int64 // expected minus arrived, for the backlog
}

// Bounds of the number of intervals: for the choice where none is asked for, and for one that is.
const (
	chosenIntervals = 7200
	mostIntervals   = 100_000
)

// newTimeline divides [start, end]; step 0 leaves the choice of the interval to it, with regard to how many messages there are.
func newTimeline(start, stop, end, step, messages int64) (*timeline, error) {
	stop = max(stop, start)
	end = max(end, stop)
	span := end - start
	if span < 0 { // times that far apart overflow: no run does this
		return nil, fmt.Errorf("analyze: times from %d to %d ns", start, end)
	}
	if step <= 0 {
		step = chooseStep(stop-start, span, messages)
	} else if n := span / step; n > mostIntervals {
		return nil, fmt.Errorf("analyze: intervals of %d ns over %d ns are %d, more than %d: choose longer ones", step, span, n, mostIntervals)
	}
	t := &timeline{start: start, stop: stop, end: end, step: step}
	t.run = max(1, parts(stop-start, step, step/20))
	t.drain = parts(end-stop, step, step/2)
	if t.drain == 0 && end > stop {
		t.drain = 1
	}
	t.counts = make([]intervalCounts, t.run+t.drain)
	return t, nil
}

// roundSteps are lengths of intervals that people read without effort.
var roundSteps = []int64{1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 20e9, 30e9, 60e9, 120e9, 300e9, 600e9, 1800e9, 3600e9}

// chooseStep is 1 s for runs of 10 s and more, finer for shorter ones so that there are 10 at least; coarser where there
// would be too many, or where few messages would make a comb of them: an interval holds ten on average, as long as that
// leaves five intervals, else (of fewer than fifty messages) two.
func chooseStep(window, span, messages int64) int64 {
	step := int64(1e9)
	for window < 10*step && step > 1e6 {
		step /= 10
	}
	most := max(messages/10, min(5, messages/2), 1)
	for _, longer := range roundSteps {
		if messages > 0 && step < longer && window/most > step {
			step = longer
		}
	}
	for _, longer := range []int64{10e9, 60e9, 600e9, 3600e9, 86400e9} {
		if span/step <= chosenIntervals {
			break
		}
		step = max(step, longer)
	}
	for span/step > chosenIntervals {
		step *= 10
	}
	return step
}

// parts is how many intervals a length has: the remainder is one of its own where it is not less than least.
func parts(length, step, least int64) int {
	n := length / step
	if rest := length % step; rest > 0 && rest >= least {
		n++
	}
	return int(n)
}

// find is the interval of a time, and the span of times that have the same; -1 before the start. Times behind the end
// belong to the last interval.
func (t *timeline) find(at int64) (i int, from, to int64) {
	switch {
	case at == event.None:
		return -1, at, at
	case at < t.start:
		return -1, event.None + 1, t.start - 1
	case at <= t.stop:
		i = min(int((at-t.start)/t.step), t.run-1)
		from, to = t.start+int64(i)*t.step, t.start+int64(i+1)*t.step-1
		if i == t.run-1 {
			to = t.stop
		}
		return i, from, min(to, t.stop)
	case t.drain == 0:
		return -1, t.stop + 1, math.MaxInt64
	default:
		n := min(int((at-t.stop-1)/t.step), t.drain-1)
		from, to = t.stop+1+int64(n)*t.step, t.stop+int64(n+1)*t.step
		if n == t.drain-1 {
			to = math.MaxInt64
		}
		return t.run + n, from, to
	}
}

// bounds of an interval: half-open in time, but the window's last one, which takes its end in.
func (t *timeline) bounds(i int) (from, to int64) {
	if i < t.run {
		from, to = t.start+int64(i)*t.step, t.start+int64(i+1)*t.step
		if i == t.run-1 {
			to = t.stop
		}
		return from, to
	}
	n := int64(i - t.run)
	from, to = t.stop+n*t.step, t.stop+(n+1)*t.step
	if i == t.run+t.drain-1 {
		to = t.end
	}
	return from, to
}

// cursor finds intervals of times that mostly follow each other.
type cursor struct {
	t        *timeline
	i        int
	from, to int64
}

func (t *timeline) cursor() cursor {
	return cursor{t: t, i: -1, from: math.MaxInt64, to: math.MinInt64}
}

// at is the interval of a time, -1 where it has none.
func (c *cursor) at(ns int64) int {
	if ns < c.from || ns > c.to {
		c.i, c.from, c.to = c.t.find(ns)
	}
	return c.i
}

// add counts one event each at these times; of picks the count.
func (t *timeline) add(times []int64, of func(*intervalCounts) *int64) {
	c := t.cursor()
	for i := 0; i < len(times); {
		n := c.at(times[i])
		j := i + 1
		for j < len(times) && times[j] >= c.from && times[j] <= c.to {
			j++
		}
		if n >= 0 {
			*of(&t.counts[n]) += int64(j - i)
		}
		i = j
	}
}

// countBefore counts messages received before the start.
func (t *timeline) countBefore(received []int64) {
	for _, at := range received {
		if at < t.start && at != event.None {
			t.receivedBefore++
		}
	}
}

// arrived takes deliveries off the backlog.
func (t *timeline) arrived(at []int64) { t.expected(at, -1) }

// expected puts n deliveries each on the backlog.
func (t *timeline) expected(at []int64, n int) {
	c := t.cursor()
	for _, ns := range at {
		if i := c.at(ns); i >= 0 {
			t.counts[i].arrivals += int64(n)
		}
	}
}

// addSends counts messages sent, and the bytes of their bodies.
func (t *timeline) addSends(sent []int64, sizes []uint32) {
	c := t.cursor()
	for i, ns := range sent {
		if n := c.at(ns); n >= 0 {
			t.counts[n].sent++
			t.counts[n].bytes += int64(sizes[i])
		}
	}
}

// addSettlements counts the broker's answers by their kinds.
func (t *timeline) addSettlements(at []int64, kinds []uint8) {
	c := t.cursor()
	for i, ns := range at {
		n := c.at(ns)
		if n < 0 {
			continue
		}
		switch event.SettlementKind(kinds[i]) {
		case event.Ack:
			t.counts[n].confirmed++
		case event.Nack:
			t.counts[n].nacked++
		case event.Return:
			t.counts[n].returned++
		case event.Commit:
			t.counts[n].committed++
		}
	}
}
