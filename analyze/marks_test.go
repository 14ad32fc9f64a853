package analyze

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// purgedAt adds a mark to a capture that a queue was purged.
func purgedAt(t *testing.T, dir, queue string, at int64) {
	t.Helper()
	m := &manifest.Mark{AtNS: epoch + at, Clock: manifest.ClockMonotonic, From: manifest.MarkFromUser, Text: "cleared", Purged: queue}
	if err := manifest.AddMark(dir, m); err != nil {
		t.Fatal(err)
	}
}

// purgedRun sends 10 messages at 0, 100, 200 and 300 ms, of which the broker confirms all; the first of each are received, so many
// as received says, 50 ms later.
func purgedRun(t *testing.T, m *manifest.Manifest, received ...int) string {
	r := record(t, m)
	for i, n := range received {
		first, at := uint64(10*i), int64(i)*100*ms
		r.send(0, first, 10, at)
		r.ack(0, first, 10, at+ms)
		for k := range n {
			r.receive(0, 0, 0, at+50*ms, first+uint64(k))
		}
	}
	return r.close()
}

// Of what is missing that was sent before the mark which was not received is removed by the rule; what was sent at the mark's time,
// or later, is lost. Of 40 messages 7 + 0 + 5 + 9 came: of the 3 + 10 sent before 200 ms the purge took all.
func TestPurge(t *testing.T) {
	dir := purgedRun(t, plan(1, 1), 7, 0, 5, 9)
	if r := analyzed(t, dir); r.Counts.Lost != 19 || r.Counts.RemovedByRule != 0 {
		t.Errorf("without a mark: %+v", r.Counts)
	}
	purgedAt(t, dir, "q", 200*ms)
	r := analyzedIn(t, 50*ms, dir)
	if c := r.Counts; c.RemovedByRule != 13 || c.Lost != 6 || c.Missing != 19 || r.Verdict != result.Fail {
		t.Errorf("%s %+v", r.Verdict, c)
	}
	f := finding(t, r, "removed_by_rule")
	if want := "13 messages missing that a rule of the queue may have removed (queue q: 13, purged, as marked, 0.200 s after the start)"; f.Text != want || f.Count != 13 || len(f.First) != 5 {
		t.Errorf("%q, want %q; %+v", f.Text, want, f.First)
	}
	if m := f.First[0]; m.Sequence != 7 || m.SentNS == nil || *m.SentNS != epoch || m.ReceivedNS != nil {
		t.Errorf("%+v", m)
	}
	if len(r.Marks) != 1 || r.Marks[0] != (result.Mark{AtNS: epoch + 200*ms, Text: "cleared", Queue: "q", From: "mark"}) {
		t.Errorf("%+v", r.Marks)
	}
	// The queue held what went with the purge until then: 10 sent at 0, 7 of them received at 50 ms; 10 more at 100; 13 gone at
	// 200 ms, where 10 are sent, of which 5 never come.
	want := []int64{10, 3, 13, 13, 5, 0, 9}
	for i, n := range want {
		if got := r.Intervals[i].BacklogEnd; got == nil || *got != n {
			t.Errorf("backlog after %d ms: %v, want %d", 50*(i+1), got, n)
		}
	}
	purgedAt(t, dir, "q", 301*ms)
	if r := analyzed(t, dir); r.Counts.RemovedByRule != 19 || r.Counts.Lost != 0 || r.Verdict != result.Pass {
		t.Errorf("purged twice: %s %+v", r.Verdict, r.Counts)
	}
}

// A purge explains nothing where the queue is not proved to be empty: what was not received may still be in it. And where nobody
// consumes it may be what took those that are not there any more.
func TestPurgeWithoutProof(t *testing.T) {
	m := plan(1, 1)
	m.Outcome.Drained, m.Outcome.Queues[0].Drained, m.Outcome.Queues[0].Ready = false, false, nil
	dir := purgedRun(t, m, 7, 0)
	purgedAt(t, dir, "q", 500*ms)
	if r := analyzed(t, dir); r.Counts.Missing != 0 || r.Counts.QueuedAtStop != 13 || r.Verdict != result.Inconclusive {
		t.Errorf("not drained: %s %+v", r.Verdict, r.Counts)
	}
	m = plan(1, 0)
	m.Outcome.Queues[0].Ready = ptr(int64(4))
	dir = purgedRun(t, m, 0, 0)
	purgedAt(t, dir, "q", 50*ms)
	if r := analyzed(t, dir); r.Counts.RemovedByRule != 16 || r.Counts.QueuedAtStop != 4 {
		t.Errorf("nobody consumes: %+v", r.Counts)
	}
}

// The producers' capture has the mark, by its clock; that of the consumers, which knows the queue, stands in front. Marks that
// cannot be used are named, and take nothing away.
func TestMarksOfSeveralCaptures(t *testing.T) {
	const ahead = 5_000_000 * ms
	sender, receiver := plan(1, 0), plan(0, 1)
	sender.Outcome.Queues, receiver.Topology.Routes = nil, nil
	receiver.ID, receiver.Tag = "receivers", 0x5a5
	sender.ClockStart = event.Snapshot{ClockNS: epoch, WallNS: epoch, MonotonicNS: 1, BootID: "b"}
	receiver.ClockStart = event.Snapshot{ClockNS: epoch + ahead, WallNS: epoch + ahead, MonotonicNS: 1, BootID: "b"}
	for _, at := range []*int64{&receiver.Outcome.BarrierNS, &receiver.Outcome.PublishStopNS, &receiver.Outcome.DrainEndNS} {
		*at += ahead
	}
	s := record(t, sender)
	s.send(0, 0, 10, 0)
	s.ack(0, 0, 10, ms)
	senders := s.close()
	c := record(t, receiver)
	for seq := range uint64(4) {
		c.deliver(0, ahead+50*ms, event.Delivery{Seq: seq, Tag: sender.Tag, Body: event.Intact, Size: 12, Due: event.None})
	}
	receivers := c.close()
	purgedAt(t, senders, "q", 20*ms)
	r := analyzed(t, receivers, senders)
	if r.Counts.RemovedByRule != 6 || r.Counts.Lost != 0 || !r.Complete {
		t.Errorf("%+v %+v", r.Counts, r.Findings)
	}
	if len(r.Marks) != 1 || r.Marks[0].AtNS != epoch+ahead+20*ms {
		t.Errorf("%+v", r.Marks)
	}
	path := filepath.Join(senders, manifest.MarksName)
	b := mustRead(t, path)
	b[len(b)-10]++
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	purgedAt(t, receivers, "another", 20*ms)
	r = analyzed(t, receivers, senders)
	if f := finding(t, r, "marks_damaged"); f.Count != 2 || f.Severity != result.SeverityWarning ||
		!strings.Contains(f.Text, "line 1: its checksum does not hold") || !strings.Contains(f.Text, `"another" was purged, which is no queue of the captures`) {
		t.Errorf("%+v", f)
	}
	if r.Counts.Lost != 6 || !r.Complete {
		t.Errorf("%+v", r.Counts)
	}
}
