package analyze

import (
	"fmt"
	"math"
	"time"

	"leveret/capture/event"
)

// timeline divides the time of a run into intervals: equal ones from the start of the window (the barrier) to its end
// (publishing stopped), and from there, for the drain, to the last event. The last of the drain may be up to half shorter
// or longer than the others, so that it is no sliver; the window's last up to a twentieth longer, or as short as that: a
// longer one would make a rate that ended with its schedule look like one that fell. None straddles the window's end.
//
// Where a part of the run was asked for, the window is that part, and what lies before and behind it until publishing
// stopped has intervals of its own. Counts hold the window's intervals first, then those of the drain, of before, of after.
type timeline struct {
	start, stop, end  int64 // stop belongs to the window
	until             int64 // the window's end as it is told: stop, or the nanosecond behind it where the window was cut
	runStart, runStop int64 // barrier and publish stop
	step              int64
	outer             int64 // length of the intervals before and after the window
	run, drain        int   // number of intervals
	before, after     int
	counts            []intervalCounts
	receivedBefore    int64 // messages received before the run's start
	cohort            int64 // messages due, else sent, in the window; counted where a part of the run was asked for
}

// intervalCounts are events by their own time.
type intervalCounts struct {
	due, sent, confirmed, committed, nacked, returned, received int64

	republished, inDoubt int64

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
	return divide(&window{start: start, stop: stop, until: stop, runStart: start, runStop: stop, end: end}, step, messages, usualIntervals)
}

// divide makes the timeline of a window.
func divide(w *window, step, messages, least int64) (*timeline, error) {
	t := &timeline{start: w.start, stop: w.stop, until: w.until, end: max(w.end, w.runStop), runStart: w.runStart, runStop: w.runStop}
	span := t.end - t.runStart
	if span < 0 { // times that far apart overflow: no run does this
		return nil, fmt.Errorf("analyze: times from %d to %d ns", t.runStart, t.end)
	}
	inside := t.until - t.start
	shown := inside + t.end - t.runStop // what the step divides
	if step <= 0 {
		if w.asked && w.runStop > w.runStart {
			messages = int64(float64(messages) * float64(inside) / float64(w.runStop-w.runStart))
		}
		step = chooseStep(inside, shown, messages, least)
	} else if n := shown / step; n > mostIntervals {
		return nil, &AskedError{"--interval=" + time.Duration(step).String(), fmt.Sprintf("over the run's %v that is %d intervals, more than %d: choose longer ones", time.Duration(shown), n, mostIntervals)}
	}
	t.step = step
	t.run = max(1, parts(inside, step, step/20))
	t.drain = parts(t.end-t.runStop, step, step/2)
	if t.drain == 0 && t.end > t.runStop {
		t.drain = 1
	}
	t.divideRest()
	t.counts = make([]intervalCounts, t.run+t.drain+t.before+t.after)
	return t, nil
}

// divideRest makes intervals of what lies before and behind the window, longer ones where they would be very many.
func (t *timeline) divideRest() {
	before, after := t.start-t.runStart, t.runStop-t.stop
	t.outer = t.step
	for most := max(before, after); most/t.outer > chosenIntervals/2; {
		t.outer *= 2
	}
	if before > 0 {
		t.before = max(1, parts(before, t.outer, t.outer/20))
	}
	if after > 0 {
		t.after = max(1, parts(after, t.outer, t.outer/20))
	}
}

// Phases of a run, as result.Interval has them.
const (
	phaseBefore = "before"
	phaseRun    = "run"
	phaseAfter  = "after"
	phaseDrain  = "drain"
)

// phase of an interval.
func (t *timeline) phase(i int) string {
	switch {
	case i < t.run:
		return phaseRun
	case i < t.run+t.drain:
		return phaseDrain
	case i < t.run+t.drain+t.before:
		return phaseBefore
	}
	return phaseAfter
}

// ordered are the intervals in order of time.
func (t *timeline) ordered() []int {
	all := make([]int, 0, len(t.counts))
	add := func(from, n int) {
		for i := range n {
			all = append(all, from+i)
		}
	}
	outside := t.run + t.drain
	add(outside, t.before)
	add(0, t.run)
	add(outside+t.before, t.after)
	add(t.run, t.drain)
	return all
}

// roundSteps are lengths of intervals that people read without effort.
var roundSteps = []int64{1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 20e9, 30e9, 60e9, 120e9, 300e9, 600e9, 1800e9, 3600e9}

// usualIntervals are the least that a run is divided into, if it has the messages for them.
const usualIntervals = 10

// chooseStep is 1 s for runs of so many seconds and more, finer for shorter ones so that there are as many at least; coarser where there
// would be too many, or where few messages would make a comb of them: an interval holds ten on average, as long as that
// leaves five intervals, else (of fewer than fifty messages) two.
func chooseStep(window, span, messages, least int64) int64 {
	step := int64(1e9)
	for window < least*step && step > 1e6 {
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

// find is the interval of a time, and the span of times that have the same; -1 before the run's start. Times behind the end
// belong to the last interval.
func (t *timeline) find(at int64) (i int, from, to int64) {
	outside := t.run + t.drain
	switch {
	case at == event.None:
		return -1, at, at
	case at < t.runStart:
		return -1, event.None + 1, t.runStart - 1
	case at < t.start:
		i, from, to = place(at, t.runStart, t.start-1, t.outer, t.before)
		return outside + i, from, to
	case at <= t.stop:
		return place(at, t.start, t.stop, t.step, t.run)
	case at <= t.runStop:
		i, from, to = place(at, t.stop+1, t.runStop, t.outer, t.after)
		return outside + t.before + i, from, to
	case t.drain == 0:
		return -1, t.runStop + 1, math.MaxInt64
	}
	i, from, to = place(at, t.runStop+1, math.MaxInt64, t.step, t.drain)
	return t.run + i, from, to
}

// place finds a time in one of n equal parts, of which the last goes on to the end.
func place(at, start, end, step int64, n int) (i int, from, to int64) {
	i = int(min((at-start)/step, int64(n-1)))
	from, to = start+int64(i)*step, end
	if i < n-1 {
		to = min(from+step-1, end)
	}
	return i, from, to
}

// bounds of an interval: half-open in time, but the last one until publishing stopped, which takes its end in.
func (t *timeline) bounds(i int) (from, to int64) {
	part := func(i int, start, end, step int64, n int) (int64, int64) {
		if i == n-1 {
			return start + int64(i)*step, end
		}
		return start + int64(i)*step, start + int64(i+1)*step
	}
	outside := t.run + t.drain
	switch t.phase(i) {
	case phaseRun:
		return part(i, t.start, t.until, t.step, t.run)
	case phaseDrain:
		return part(i-t.run, t.runStop, t.end, t.step, t.drain)
	case phaseBefore:
		return part(i-outside, t.runStart, t.start, t.outer, t.before)
	}
	return part(i-outside-t.before, t.until, t.runStop, t.outer, t.after)
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

// add counts n events each at these times; of picks the count.
func (t *timeline) add(times []int64, n int, of func(*intervalCounts) *int64) {
	c := t.cursor()
	for i := 0; i < len(times); {
		at := c.at(times[i])
		j := c.same(times, i)
		if at >= 0 {
			*of(&t.counts[at]) += int64((j - i) * n)
		}
		i = j
	}
}

// same is the end of the times from i on that have the interval which was found last.
func (c *cursor) same(times []int64, i int) int {
	for i++; i < len(times) && times[i] >= c.from && times[i] <= c.to; {
		i++
	}
	return i
}

// addCohort counts the messages due, else sent, in the window.
func (t *timeline) addCohort(due, sent []int64) {
	for i, at := range due {
		if at == event.None {
			at = sent[i]
		}
		if at != event.None && at >= t.start && at <= t.stop {
			t.cohort++
		}
	}
}

// countBefore counts messages received before the run's start.
func (t *timeline) countBefore(received []int64) {
	for _, at := range received {
		if at < t.runStart && at != event.None {
			t.receivedBefore++
		}
	}
}

// arrived takes deliveries off the backlog.
func (t *timeline) arrived(at []int64) { t.expected(at, -1) }

// expected puts n deliveries each on the backlog.
func (t *timeline) expected(at []int64, n int) {
	t.add(at, n, func(c *intervalCounts) *int64 { return &c.arrivals })
}

// addSends counts messages sent, and the bytes of their bodies.
func (t *timeline) addSends(sent []int64, sizes []uint32) {
	c := t.cursor()
	for i := 0; i < len(sent); {
		n := c.at(sent[i])
		j := c.same(sent, i)
		if n >= 0 {
			bytes := int64(0)
			for _, size := range sizes[i:j] {
				bytes += int64(size)
			}
			t.counts[n].sent += int64(j - i)
			t.counts[n].bytes += bytes
		}
		i = j
	}
}

// addSettlements counts the broker's answers by their kinds.
func (t *timeline) addSettlements(at []int64, kinds []uint8) {
	c := t.cursor()
	for i := 0; i < len(at); {
		n, kind := c.at(at[i]), kinds[i]
		j := i + 1
		for j < len(at) && kinds[j] == kind && at[j] >= c.from && at[j] <= c.to {
			j++
		}
		if n >= 0 {
			t.counts[n].settled(event.SettlementKind(kind), int64(j-i))
		}
		i = j
	}
}

func (c *intervalCounts) settled(kind event.SettlementKind, n int64) {
	switch kind {
	case event.Ack:
		c.confirmed += n
	case event.Nack:
		c.nacked += n
	case event.Return:
		c.returned += n
	case event.Commit:
		c.committed += n
	case event.InDoubt:
		c.inDoubt += n
	}
}
