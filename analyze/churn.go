package analyze

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"

	"leveret/analyze/integrity"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// churned are the operations of one capture: counted in the first reading, their exact percentiles selected in later ones.
type churned struct {
	source *source
	t      *timeline
	asked  bool            // a part of the run was asked for
	spec   *manifest.Churn // nil where the capture has no manifest
	counts churnCounts
	steps  [event.LastChurnStep + 1]churnStep

	make, undo churnLatency
	beside     cell // takes what no interval tells
	intervals  []churnInterval
	from, to   int64 // the part of the window in which operations were offered, both included
	inMade     int64 // in it
	inUndone   int64
	failures   map[churnFailure]int64
	otherTexts int64 // failures beyond mostFailures different ones
}

// churnCounts are of operations, as manifest.ChurnOutcome has them.
type churnCounts struct{ made, failed, notBegun, undone, undoFailed, steps int64 }

type churnStep struct {
	done, failed int64
	cell         cell
}

type churnLatency struct{ service, response cell }

type churnInterval struct {
	due, made, failed, undone int64
	undoFailed                int64 // of failed
	cell                      *cell // nil: nothing was due
}

type churnFailure struct {
	step    event.ChurnStep
	outcome event.ChurnOutcome
	code    uint16
	text    string
}

// mostFailures bounds the different failures that are told apart.
const mostFailures = 200

// churns tells whether the capture is of operations.
func (c *source) churns() bool {
	if c.manifest != nil {
		return c.manifest.Churn != nil
	}
	return slices.ContainsFunc(c.batches, func(b *batch) bool { return b.kind == schema.Churn })
}

// rowsMissing tells whether rows of operations are missing, or may be.
func (x *churned) rowsMissing() bool {
	return !x.source.whole(schema.Churn) || x.source.manifest.Recording.Lost[schema.Churn.String()] > 0
}

// onlyChurn tells whether all captures are of operations.
func onlyChurn(captures []*source) bool {
	return !slices.ContainsFunc(captures, func(c *source) bool { return !c.churns() || c.publishes() || c.consumes() })
}

// newChurned prepares for the operations of each capture that has some.
func newChurned(t *timeline, asked bool, captures []*source) (all []*churned) {
	for _, c := range captures {
		if !c.churns() {
			continue
		}
		x := &churned{source: c, t: t, asked: asked, intervals: make([]churnInterval, len(t.counts)), failures: map[churnFailure]int64{}}
		if c.manifest != nil {
			x.spec = c.manifest.Churn
		}
		x.from, x.to = t.start, t.stop
		if o := c.outcome(); o != nil && o.BarrierNS != event.None && o.PublishStopNS != event.None {
			x.from, x.to = max(x.from, o.BarrierNS), min(x.to, o.PublishStopNS)
		}
		all = append(all, x)
	}
	return all
}

// window of operations alone: from the barrier to when nothing new began.
func churnWindow(captures []*source) window {
	w := window{drainEnd: event.None, publishStop: event.None}
	w.start, w.end = extent(captures, schema.Churn)
	w.end = max(w.end, w.start)
	w.stop, w.text = w.end, "first to last step recorded (the record does not tell the ends of the load)"
	starts, stops := []int64{}, []int64{}
	for _, c := range captures {
		if o := c.outcome(); o != nil && o.BarrierNS != event.None && o.PublishStopNS != event.None {
			starts, stops = append(starts, o.BarrierNS), append(stops, o.PublishStopNS)
			w.drainEnd = max(w.drainEnd, o.DrainEndNS)
		}
	}
	if len(starts) == len(captures) {
		w.start, w.stop = slices.Min(starts), slices.Max(stops)
		w.text = "start barrier to the end of new operations"
	}
	w.stop = max(w.stop, w.start)
	w.end = max(w.end, w.stop)
	w.until, w.runStart, w.runStop = w.stop, w.start, w.stop
	return w
}

func (v *visitor) churn(r *rows) {
	for _, x := range v.a.latency.churned {
		if x.source == r.batch.capture {
			x.rows(r, v.first)
		}
	}
}

// rows takes the rows of a batch.
func (x *churned) rows(r *rows, first bool) {
	step, outcome, last := u8(r.rec, schema.ChurnStep), u8(r.rec, schema.ChurnOutcome), u8(r.rec, schema.ChurnLast)
	due, started, begun, ended := i64(r.rec, schema.ChurnDue), i64(r.rec, schema.ChurnStarted), i64(r.rec, schema.ChurnBegun), i64(r.rec, schema.ChurnEnded)
	code, text := u16(r.rec, schema.ChurnCode), r.rec.Column(schema.ChurnText).(*array.String)
	for i := range step {
		row := event.Churn{Step: event.ChurnStep(step[i]), Outcome: event.ChurnOutcome(outcome[i]), Last: last[i] != 0,
			Due: due[i], Started: started[i], Begun: begun[i], Ended: ended[i], Code: code[i]}
		if row.Step == 0 || row.Step > event.LastChurnStep {
			continue // of a later version
		}
		if first {
			if row.Outcome != event.StepDone && row.Outcome != event.StepNotBegun {
				x.fail(&row, text.Value(i))
			}
			x.count(&row)
		}
		x.measure(&row, first)
	}
}

func (x *churned) fail(row *event.Churn, text string) {
	f := churnFailure{row.Step, row.Outcome, row.Code, text}
	if _, known := x.failures[f]; !known && len(x.failures) == mostFailures {
		x.otherTexts++
		return
	}
	f.text = string([]byte(text)) // the batch's buffer is used again
	x.failures[f]++
}

// count counts a row, and the operation that it ends.
func (x *churned) count(row *event.Churn) {
	n, s := &x.counts, &x.steps[row.Step]
	n.steps++
	in, _, _ := x.t.find(row.Ended)
	at := &churnInterval{}
	if in >= 0 {
		at = &x.intervals[in]
	}
	undoes, inside := row.Step.Undoes(), row.Ended >= x.from && row.Ended <= x.to
	switch {
	case row.Outcome == event.StepNotBegun:
		n.notBegun++
		x.countDue(row)
		return
	case row.Outcome != event.StepDone:
		s.failed++
		at.failed++
		if undoes {
			n.undoFailed++
			at.undoFailed++
		} else {
			n.failed++
			x.countDue(row)
		}
		return
	}
	s.done++
	switch {
	case row.Last && undoes:
		n.undone++
		at.undone++
		if inside {
			x.inUndone++
		}
	case row.Last:
		n.made++
		at.made++
		if inside {
			x.inMade++
		}
		x.countDue(row)
	}
}

func (x *churned) countDue(row *event.Churn) {
	if i, _, _ := x.t.find(row.Due); row.Due != event.None && i >= 0 {
		x.intervals[i].due++
	}
}

// measure takes the latencies that a row tells, of operations that were due (else begun) in the window.
func (x *churned) measure(row *event.Churn, first bool) {
	from := row.Due
	if from == event.None {
		from = row.Started
	}
	i, _, _ := x.t.find(from)
	whole := &x.make
	if row.Step.Undoes() {
		whole = &x.undo
	}
	// What is held at the end is undone then: without a part of the run that was asked for it belongs to it.
	atEnd := row.Step.Undoes() && i >= 0 && !x.asked && x.t.phase(i) == phaseDrain
	if uint(i) >= uint(x.t.run) && !atEnd {
		return
	}
	interval := x.interval(i, row)
	switch row.Outcome {
	case event.StepDone:
		x.steps[row.Step].cell.take(row.Ended-row.Begun, first)
		if !row.Last {
			return
		}
		whole.service.take(row.Ended-row.Started, first)
		if row.Due != event.None {
			whole.response.take(row.Ended-row.Due, first)
		}
		interval.take(row.Ended-from, first)
	case event.StepNotBegun:
		if first && row.Due != event.None {
			whole.response.censored.addUnsent(row.Ended, row.Due)
			interval.censored.addUnsent(row.Ended, row.Due)
		}
	case event.StepLost, event.StepTimedOut:
		if !first {
			return
		}
		x.steps[row.Step].cell.censored.add(row.Ended, row.Begun)
		whole.service.censored.add(row.Ended, row.Started)
		if row.Due != event.None {
			whole.response.censored.add(row.Ended, row.Due)
		}
		interval.censored.add(row.Ended, from)
	}
}

// interval is the distribution of the operations that were due in an interval; what is undone is told over no interval.
func (x *churned) interval(i int, row *event.Churn) *cell {
	if row.Step.Undoes() {
		return &x.beside
	}
	if x.intervals[i].cell == nil {
		x.intervals[i].cell = &cell{}
	}
	return x.intervals[i].cell
}

// take adds a value: counting it first, selecting later.
func (c *cell) take(v int64, first bool) {
	switch {
	case first:
		c.hist.Add(v)
		c.moments.Add(v)
	case c.open:
		c.selection.Add(v)
	}
}

// eachCell calls f for all distributions that have values.
func (x *churned) eachCell(f func(*cell)) {
	cells := []*cell{&x.make.service, &x.make.response, &x.undo.service}
	for i := range x.steps {
		cells = append(cells, &x.steps[i].cell)
	}
	for i := range x.intervals {
		if c := x.intervals[i].cell; c != nil {
			cells = append(cells, c)
		}
	}
	for _, c := range cells {
		if c.total() > 0 {
			f(c)
		}
	}
}

// churnFacts hands the judgement what it needs of operations, and holds the engine's own counters against the rows.
func (a *analysis) churnFacts() {
	f := &a.facts
	for _, x := range a.latency.churned {
		n := &x.counts
		facts := integrity.Churn{What: "operations", Made: n.made, Failed: n.failed, NotBegun: n.notBegun, Undone: n.undone, UndoFailed: n.undoFailed, RowsMissing: x.rowsMissing()}
		facts.Failures, facts.UndoFailures = x.failureTexts()
		if x.spec != nil {
			facts.What = x.spec.What + "s"
		}
		if o := x.source.outcome(); o != nil && o.Churn != nil {
			facts.Left, facts.LeftCount, facts.CleanedUp, facts.Why = o.Churn.Left, o.Churn.LeftCount, o.Churn.CleanedUp, o.DrainNote
		}
		f.Churn = append(f.Churn, facts)
	}
}

// compareChurn are the counters of a whole capture's operations beside what the rows say.
func (a *analysis) compareChurn(c *source, compare func(name string, engine, rows int64)) {
	for _, x := range a.latency.churned {
		o := c.manifest.Outcome.Churn
		if x.source != c || o == nil {
			continue
		}
		n := &x.counts
		compare("operations made", o.Made, n.made)
		compare("operations failed", o.Failed, n.failed)
		compare("operations not begun", o.NotBegun, n.notBegun)
		compare("operations undone", o.Undone, n.undone)
		compare("operations not undone", o.UndoFailed, n.undoFailed)
		compare("steps", o.Steps, n.steps)
	}
}

func (x *churned) sortedFailures() []churnFailure {
	return slices.SortedFunc(maps.Keys(x.failures), func(a, b churnFailure) int {
		return cmp.Or(cmp.Compare(x.failures[b], x.failures[a]), cmp.Compare(a.step, b.step), cmp.Compare(a.code, b.code), cmp.Compare(a.text, b.text))
	})
}

func (x *churned) failureTexts() (making, undoing []string) {
	for _, f := range x.sortedFailures() {
		to := &making
		if f.step.Undoes() {
			to = &undoing
		}
		*to = append(*to, integrity.ChurnFailure(x.failures[f], f.step.String(), f.outcome.String(), int(f.code), f.text))
	}
	return making, undoing
}
