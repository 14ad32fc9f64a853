package analyze

import (
	"leveret/analyze/integrity"
	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// What is measured, from when.
const (
	confirmService = iota
	confirmResponse
	deliveryService
	deliveryResponse
	commitService
	commitResponse
	groups
)

// reported are the percentiles of every distribution, in the order of result.Distribution.
var reported = [...]quantile.Percent{
	50 * quantile.One, 75 * quantile.One, 95 * quantile.One, 99 * quantile.One,
	99*quantile.One + 9*quantile.One/10, 99*quantile.One + 99*quantile.One/100,
}

// latencies takes the times of answered messages from the ledger and makes distributions of them, for each interval of
// the window and for all of it. It sees all messages at least twice: counting, then selecting.
type latencies struct {
	t     *timeline
	cells [groups][]*cell        // by interval; nil where there is none
	whole [groups]*cell          // over the window, made when counting is over
	fine  [groups]*quantile.Fine // of whole; nil when counting is over
	late  cell                   // sent less due, over the window
	ack   cell                   // from received to the consumer's ack, over the run

	shapes    [groups]shape // kept when counting is over
	finer     bool          // series are wanted, too
	series    []result.Series
	groupings []*grouping      // nil: nobody asked for any
	current   []*[groups]*cell // of the groups that the next answer belongs to
	bySize    *grouping        // the one whose groups differ from message to message; nil: none

	churned []*churned // operations, by capture that has some

	// asked are the percentiles that were asked for by number, of all distributions but those of intervals.
	asked []quantile.Percent

	selecting bool
	followed  int  // distributions of groups that are
	following bool // the first reading of those that select: see followed
	// until is how long answers were recorded: a message without one took at least until then. Set before Unconfirmed,
	// Uncommitted and Undelivered are called; event.None if unknown.
	until int64
}

func newLatencies(t *timeline) *latencies {
	l := &latencies{t: t}
	for g := range l.cells {
		l.cells[g], l.fine[g] = make([]*cell, t.run), &quantile.Fine{}
	}
	return l
}

// Confirmed implements integrity.Answers.
func (l *latencies) Confirmed(at, sent, due []int64) {
	l.answered(confirmService, at, sent, due)
}

// Committed implements integrity.Answers.
func (l *latencies) Committed(at, sent, due []int64) {
	l.answered(commitService, at, sent, due)
}

// Delivered implements integrity.Answers.
func (l *latencies) Delivered(at, sent, due []int64) {
	if !l.selecting {
		l.t.arrived(at)
	}
	l.answered(deliveryService, at, sent, due)
}

// Expected implements integrity.Answers.
func (l *latencies) Expected(at []int64, n int) {
	if !l.selecting && n != 0 {
		l.t.expected(at, n)
	}
}

// Unconfirmed implements integrity.Answers.
func (l *latencies) Unconfirmed(sent, due int64) { l.unanswered(confirmService, sent, due) }

// Uncommitted implements integrity.Answers.
func (l *latencies) Uncommitted(sent, due int64) { l.unanswered(commitService, sent, due) }

// Undelivered implements integrity.Answers.
func (l *latencies) Undelivered(sent, due int64) { l.unanswered(deliveryService, sent, due) }

// answered adds messages to the interval of their due, else sent, time; those outside the window belong to no cohort.
func (l *latencies) answered(service int, at, sent, due []int64) {
	c := l.t.cursor()
	for i := 0; i < len(sent); {
		from, j := sent[i], i+1
		if due != nil && due[i] != event.None {
			from = due[i]
		} else { // written together and answered together: of the same latency
			for j < len(sent) && sent[j] == sent[i] && at[j] == at[i] && (due == nil || due[j] == event.None) {
				j++
			}
		}
		if n := c.at(from); uint(n) < uint(l.t.run) {
			l.add(service, n, at[i]-sent[i], uint32(j-i))
			if len(l.groupings) > 0 {
				l.addToGroups(i, j, service, from, at[i]-sent[i])
			}
			if due != nil && due[i] != event.None {
				l.add(service+1, n, at[i]-from, 1)
				l.addToGroups(i, j, service+1, from, at[i]-from)
			}
		}
		i = j
	}
}

// stamped adds a delivery whose due time only its stamp tells, in the interval in which it was received.
func (l *latencies) stamped(received, due int64) {
	if n, _, _ := l.t.find(received); uint(n) < uint(l.t.run) {
		l.add(deliveryResponse, n, received-due, 1)
		l.addToGroups(0, 1, deliveryResponse, received, received-due)
	}
}

// lateness adds sent less due of messages that had a due time in the window. Those that were not sent are censored.
func (l *latencies) lateness(due, sent []int64) {
	c := l.t.cursor()
	for i, d := range due {
		if d == event.None || uint(c.at(d)) >= uint(l.t.run) {
			continue
		}
		switch {
		case l.selecting && sent[i] != event.None && l.late.open:
			l.late.selection.Add(sent[i] - d)
		case l.selecting:
		case sent[i] == event.None:
			l.late.censored.addUnsent(l.t.runStop, d)
		default:
			l.late.hist.Add(sent[i] - d)
			l.late.moments.Add(sent[i] - d)
		}
	}
}

// add adds a value n times.
func (l *latencies) add(group, interval int, v int64, n uint32) {
	c := l.cells[group][interval]
	if !l.selecting {
		if c == nil {
			c = l.cell(group, interval)
		}
		c.hist.AddN(v, n)
		c.moments.AddN(v, n)
		l.fine[group].AddN(v, n)
		return
	}
	if c != nil && c.open {
		c.selection.AddN(v, n)
	}
	if w := l.whole[group]; w != nil && w.open {
		w.selection.AddN(v, n)
	}
}

func (l *latencies) cell(group, interval int) *cell {
	c := l.cells[group][interval]
	if c == nil {
		c = &cell{}
		l.cells[group][interval] = c
	}
	return c
}

func (l *latencies) unanswered(service int, sent, due int64) {
	if l.selecting {
		return
	}
	from := sent
	if due != event.None {
		from = due
	}
	n, _, _ := l.t.find(from)
	if uint(n) >= uint(l.t.run) {
		return
	}
	l.censored(service, n, from, func(c *censored) { c.add(l.until, sent) })
	if due != event.None {
		l.censored(service+1, n, from, func(c *censored) { c.add(l.until, due) })
	}
}

// censored adds to what is censored in an interval, and in the groups that the answer would belong to. from is when the message was
// due, else sent.
func (l *latencies) censored(group, interval int, from int64, add func(*censored)) {
	add(&l.cell(group, interval).censored)
	for _, g := range l.groupsAt(0) {
		c := l.cellOf(g, group)
		add(&c.censored)
		c.followed.add(from)
	}
}

// Unsent implements integrity.Answers: what was due and never sent belongs to the cohort of response latency, or a broker
// that stalls would hide the messages that it kept from being sent.
func (l *latencies) Unsent(due int64, answer integrity.Answer, queues int) {
	n, _, _ := l.t.find(due)
	if l.selecting || uint(n) >= uint(l.t.run) {
		return
	}
	unsent := func(c *censored) { c.addUnsent(l.t.runStop, due) }
	switch answer {
	case integrity.AwaitsConfirm:
		l.censored(confirmResponse, n, due, unsent)
	case integrity.AwaitsCommit:
		l.censored(commitResponse, n, due, unsent)
	}
	for range queues {
		l.censored(deliveryResponse, n, due, unsent)
	}
}

// endCounting makes the distributions of the whole window, and prepares the selection of the exact values.
func (l *latencies) endCounting() {
	for g := range l.cells {
		var w *cell
		for _, c := range l.cells[g] {
			if c == nil {
				continue
			}
			if w == nil {
				w = &cell{}
			}
			w.hist.Merge(&c.hist)
			w.moments.Merge(&c.moments)
			w.censored.merge(&c.censored)
		}
		if l.whole[g] = w; w != nil {
			l.shapes[g] = shapeOf(w, l.cells[g])
			if l.finer {
				l.series = append(l.series, seriesOf(g, w, l.cells[g]))
			}
			w.ask(l.asked, l.cells[g], l.t.step)
			w.prepare(quantile.CurvePercents(w.total()))
			w.selection.Refine(l.fine[g])
		}
		l.fine[g] = nil
		for _, c := range l.cells[g] {
			if c != nil {
				c.prepare(nil)
			}
		}
	}
	l.eachFollowed(func(c *cell) {
		c.ask(l.asked, nil, 0)
		c.followed.begin(c)
		c.prepare(nil)
	})
	l.late.prepare(nil)
	for _, x := range l.churned {
		x.eachCell(func(c *cell) { c.prepare(nil) })
	}
	l.selecting, l.following = true, true
}

// negatives counts the values below zero: of service latencies, or, where only the stamps tell, of response latencies.
func (l *latencies) negatives(f *integrity.Facts) {
	for _, g := range []int{confirmService, commitService, deliveryService, deliveryResponse} {
		for i, c := range l.cells[g] {
			if c != nil && (g != deliveryResponse || l.cells[deliveryService][i] == nil) {
				f.NegativeLatencies += int64(c.moments.Negative())
			}
		}
	}
}

// eachCell calls f for the distributions of the whole window, then for those of the intervals.
func (l *latencies) eachCell(f func(*cell)) {
	if l.late.total() > 0 {
		f(&l.late)
	}
	if l.ack.total() > 0 {
		f(&l.ack)
	}
	for g := range l.whole {
		if l.whole[g] != nil {
			f(l.whole[g])
		}
	}
	for _, x := range l.churned {
		x.eachCell(f)
	}
	l.eachGroup(f)
	for g := range l.cells {
		for _, c := range l.cells[g] {
			if c != nil {
				f(c)
			}
		}
	}
}

// eachFollowed calls f for the distributions that are not divided into intervals, and so are followed (see followed).
func (l *latencies) eachFollowed(f func(*cell)) {
	l.eachGroup(f)
	if l.ack.total() > 0 {
		f(&l.ack)
	}
}

// openSelections prepares another showing of all messages within the budget, and tells whether one is needed.
func (l *latencies) openSelections(budget int64) (needed bool) {
	memory := quantile.NewMemory(budget)
	l.eachCell(func(c *cell) {
		c.open = c.selection.Open(memory)
		needed = needed || c.open
	})
	if l.following { // they need a showing, whether a value is looked for or not
		l.eachFollowed(func(c *cell) { needed = needed || c.followed != nil })
	}
	return needed
}

// closeSelections ends the showing.
func (l *latencies) closeSelections() (err error) {
	if l.following {
		l.following = false
		l.eachFollowed((*cell).bracketFollowed)
	}
	l.eachCell(func(c *cell) {
		if c.open && err == nil {
			err = c.selection.Close()
		}
	})
	return err
}
