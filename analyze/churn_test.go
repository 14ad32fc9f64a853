package analyze

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// oneHost is the clock of captures that one host made.
var oneHost = event.Snapshot{ClockNS: epoch, WallNS: epoch, MonotonicNS: 1000 * ms, BootID: "boot"}

// churnOf is a plan of operations without messages: connections, 10 a second for a second.
func churnOf() *manifest.Manifest {
	m := plan(0, 0)
	m.Topology, m.Outcome.Queues, m.ClockStart = manifest.Topology{}, nil, oneHost
	m.Churn = &manifest.Churn{What: manifest.ChurnConnection, Rate: manifest.Rate{Messages: 10, PerNS: 1e9}, Concurrency: 5, Alive: 5, TimeoutNS: 500 * ms}
	m.Outcome.Churn = &manifest.ChurnOutcome{MostAlive: 2}
	return m
}

// operate records operation i of ten: due at i*100 ms, begun a millisecond later, made i+2 ms after it was due, closed in 2 ms.
func operate(r *recording, i int64) {
	due := epoch + i*100*ms
	row := event.Churn{Op: uint64(i), Step: event.StepTCP, Outcome: event.StepDone, Due: due, Started: due + ms, Begun: due + ms, Ended: due + ms + ms/2}
	r.w.Churn(&row)
	row.Step, row.Last, row.Begun, row.Ended = event.StepHandshake, true, row.Ended, due+(i+2)*ms
	r.w.Churn(&row)
	row.Step, row.Due, row.Started, row.Begun, row.Ended = event.StepConnectionClose, event.None, row.Ended, row.Ended, row.Ended+2*ms
	r.w.Churn(&row)
	o := r.m.Outcome.Churn
	o.Made, o.Undone, o.Steps = o.Made+1, o.Undone+1, o.Steps+3
}

// By hand: response latencies 2 to 11 ms, service 1 to 10 ms, so that the median of ten is 6 and 5 ms (rank 5), the 99th percentile
// the greatest (rank 10).
func TestChurnIsMeasured(t *testing.T) {
	r := record(t, churnOf())
	for i := range int64(10) {
		operate(r, i)
	}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	if len(got.Churn) != 1 || !got.OnlyChurn() || !got.Complete || got.Rows != 30 {
		t.Fatalf("%+v, complete %v, %d rows", got.Churn, got.Complete, got.Rows)
	}
	c := got.Churn[0]
	if c.Made != 10 || c.Undone != 10 || c.Failed+c.NotBegun+c.UndoFailed != 0 || *c.MadePerS != 10 || *c.TargetPerS != 10 || *c.Left != 0 {
		t.Errorf("%+v", c)
	}
	for _, x := range []struct {
		name     string
		d        *result.Distribution
		p50, p99 int64
	}{
		{"response", c.Make.Response, 6 * ms, 11 * ms}, {"service", c.Make.Service, 5 * ms, 10 * ms}, {"undo", c.Undo.Service, 2 * ms, 2 * ms},
		{"tcp", c.Steps[0].Service, ms / 2, ms / 2}, {"handshake", c.Steps[1].Service, 4*ms + ms/2, 9*ms + ms/2}, {"close", c.Steps[2].Service, 2 * ms, 2 * ms},
	} {
		if x.d == nil || x.d.Count != 10 || x.d.P50NS == nil || *x.d.P50NS != x.p50 || x.d.P99NS == nil || *x.d.P99NS != x.p99 {
			t.Errorf("%s: %+v, want %d and %d", x.name, x.d, x.p50, x.p99)
		}
	}
	var made, due int64
	for _, in := range c.Intervals {
		made, due = made+in.Made, due+in.Due
	}
	if made != 10 || due != 10 || len(c.Intervals) != len(got.Intervals) {
		t.Errorf("intervals: %d made, %d due, %d of %d", made, due, len(c.Intervals), len(got.Intervals))
	}
}

// Beside ten that were made: one that the broker refused, which has no latency; one without an answer for 500 ms, which is censored
// there; one that never began, due 10 ms before the end. Of twelve with a response latency the 11th and 12th have none.
func TestChurnThatFails(t *testing.T) {
	r := record(t, churnOf())
	for i := range int64(10) {
		operate(r, i)
	}
	due := epoch + 950*ms
	r.w.Churn(&event.Churn{Op: 10, Step: event.StepHandshake, Outcome: event.StepRefused, Due: due, Started: due, Begun: due, Ended: due + ms, Code: 530, Text: "NOT_ALLOWED"})
	due = epoch + 960*ms
	r.w.Churn(&event.Churn{Op: 11, Step: event.StepTCP, Outcome: event.StepTimedOut, Due: due, Started: due, Begun: due, Ended: due + 500*ms, Text: "no answer within 500ms"})
	due = epoch + 990*ms
	r.w.Churn(&event.Churn{Op: 12, Step: event.StepTCP, Outcome: event.StepNotBegun, Due: due, Started: event.None, Begun: event.None, Ended: epoch + 1000*ms})
	o := r.m.Outcome.Churn
	o.Failed, o.NotBegun, o.Steps, o.LeftCount, o.Left = 2, 1, o.Steps+3, 1, []string{"x1"}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "churn_failed", "churn_left", "churn_not_begun")
	if f := finding(t, got, "churn_failed"); f.Count != 2 || f.Text != "connections: 2 of 12 operations could not be made: tcp connect timed out: no answer within 500ms; amqp handshake refused: NOT_ALLOWED (530)" {
		t.Errorf("%+v", f)
	}
	c := got.Churn[0]
	d := c.Make.Response
	if d.Count != 10 || d.Censored != 2 || d.NeverSent != 1 || d.P99NS != nil || *d.MaxAtLeastNS != 500*ms || *d.P50NS != 7*ms { // the 6th of twelve
		t.Errorf("%+v", d)
	}
	if d := c.Make.Service; d.Count != 10 || d.Censored != 1 {
		t.Errorf("%+v", d)
	}
	if len(c.Failures) != 2 || c.Failed != 2 || c.NotBegun != 1 {
		t.Errorf("%+v", c)
	}
}

// Counters of the engine that the rows do not agree with mean that rows are missing; operations without an end are not judged.
func TestChurnRowsAreHeldAgainstTheCounters(t *testing.T) {
	r := record(t, churnOf())
	operate(r, 0)
	r.m.Outcome.Churn.Made++
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "recorder_lost_rows")

	r = record(t, churnOf())
	r.w.Churn(&event.Churn{Op: 0, Step: event.StepHandshake, Outcome: event.StepDone, Last: true, Due: epoch, Started: epoch, Begun: epoch, Ended: epoch + ms})
	r.m.Outcome.Churn.Made, r.m.Outcome.Churn.Steps = 1, 1
	checkVerdict(t, analyzed(t, r.close()), result.Inconclusive, "churn_not_undone")

	got = analyzed(t, record(t, churnOf()).close())
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge")
	if f := finding(t, got, "nothing_to_judge"); f.Text != "nothing to judge: no operation was begun" || got.Churn[0].RowsMissing {
		t.Errorf("%+v, %+v", f, got.Churn[0])
	}
}

// Without its file, nothing says that no operation was begun, nor that none was due.
func TestChurnWithoutItsRows(t *testing.T) {
	r := record(t, churnOf())
	for i := range int64(10) {
		operate(r, i)
	}
	dir := r.close()
	if err := os.Remove(filepath.Join(dir, "churn-00.arrow")); err != nil {
		t.Fatal(err)
	}
	got := analyzed(t, dir)
	checkVerdict(t, got, result.Inconclusive, "capture_incomplete", "nothing_to_judge")
	if f := finding(t, got, "nothing_to_judge"); f.Text != "nothing to judge: no operation is in what can be read of the record" {
		t.Errorf("%+v", f)
	}
	c := &got.Churn[0]
	if !c.RowsMissing || len(c.Intervals) == 0 || !c.Unknown(&c.Intervals[0]) {
		t.Errorf("%+v", c)
	}
}

// Operations beside a run of messages are in its result, over its window, and change nothing of its verdict, whichever is named first.
func TestChurnBesideARun(t *testing.T) {
	p := plan(1, 1)
	p.ClockStart = oneHost
	r := record(t, p)
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 2*ms, 0, 1)
	r.ackAll(0, 3*ms)
	run := r.close()
	m := churnOf()
	m.ID, m.Tag = "other", 8
	m.Outcome.BarrierNS, m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch-500*ms, epoch+5000*ms, epoch+6000*ms
	x := record(t, m)
	for i := range int64(10) {
		operate(x, i)
	}
	churn := x.close()
	for _, dirs := range [][]string{{run, churn}, {churn, run}} {
		got := analyzed(t, dirs...)
		checkVerdict(t, got, result.Pass)
		if got.OnlyChurn() || got.Counts.ReceivedUnique != 2 || len(got.Churn) != 1 || got.Churn[0].Made != 10 || got.Churn[0].Make.Response.Count != 10 {
			t.Errorf("%v: %+v, %+v", dirs, got.Counts, got.Churn)
		}
		if got.Window.StartNS != epoch || got.Window.EndNS != epoch+1000*ms || *got.Window.DrainEndNS != epoch+1100*ms {
			t.Errorf("window %+v", got.Window)
		}
	}
}

// Export names steps and outcomes.
func TestChurnExport(t *testing.T) {
	r := record(t, churnOf())
	operate(r, 0)
	names := []string{}
	for _, c := range Columns("churn") {
		names = append(names, c.Name)
	}
	want := []string{"capture", "tag", "op", "step", "outcome", "last", "due_ns", "started_ns", "begun_ns", "ended_ns", "code", "text"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if got := valueNames[11]["step"]; len(got) != 13 || got[3] != "amqp handshake" || got[12] != "connection.close" {
		t.Errorf("%q", got)
	}
	r.close()
}

// What could not be undone has a finding of its own, with its own reasons.
func TestChurnThatIsNotUndone(t *testing.T) {
	r := record(t, churnOf())
	operate(r, 0)
	row := event.Churn{Op: 1, Step: event.StepHandshake, Outcome: event.StepDone, Last: true, Due: epoch, Started: epoch, Begun: epoch, Ended: epoch + ms}
	r.w.Churn(&row)
	r.w.Churn(&event.Churn{Op: 1, Step: event.StepConnectionClose, Outcome: event.StepLost, Due: event.None, Started: epoch, Begun: epoch, Ended: epoch + ms, Text: "reset"})
	o := r.m.Outcome.Churn
	o.Made, o.UndoFailed, o.Steps = 2, 1, 5
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "churn_not_undone")
	if f := finding(t, got, "churn_not_undone"); f.Text != "connections: 1 of 2 operations could not be undone: connection.close failed, connection lost: reset" {
		t.Errorf("%+v", f)
	}
}

// There may be millions of rows: what is undone takes no memory of its own.
func TestChurnTakesNoMemoryPerRow(t *testing.T) {
	line, err := newTimeline(0, 1e9, 1e9, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	x := &churned{t: line, intervals: make([]churnInterval, len(line.counts))}
	row := &event.Churn{Step: event.StepQueueDelete, Outcome: event.StepDone, Last: true, Due: event.None, Started: 5 * ms, Begun: 5 * ms, Ended: 6 * ms}
	if n := testing.AllocsPerRun(100, func() {
		for range 100 {
			x.measure(row, true)
		}
	}); n != 0 {
		t.Errorf("%v allocations of 100 rows", n)
	}
	if n := x.undo.service.total(); n != 10_100 { // AllocsPerRun warms up once
		t.Errorf("%d undone", n)
	}
}

// Where the recorder could not follow, operations waited: nothing was published.
func TestChurnThatWaitedForTheRecorder(t *testing.T) {
	r := record(t, churnOf())
	operate(r, 0)
	dir := damaged(t, r.close(), func(name string, b []byte) []byte {
		if name != manifest.FinalName {
			return b
		}
		var m manifest.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		m.Recording.Stalls, m.Recording.StallNS = []manifest.Stall{{FromNS: epoch + 100*ms, ToNS: epoch + 200*ms}}, 100*ms
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	got := analyzed(t, dir)
	if f := finding(t, got, "recorder_stall"); f.Text != "operations waited for the recorder 1 time, 0.100 s in all" {
		t.Errorf("%+v", f)
	}
	if !slices.ContainsFunc(got.Spans, func(s result.Span) bool { return s.Text == "operations waited for the recorder" }) {
		t.Errorf("%+v", got.Spans)
	}
}
