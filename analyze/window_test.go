package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// reconcile: what the intervals hold and what was received before them is what was received.
func reconcile(t *testing.T, r *result.Result) {
	t.Helper()
	received := r.Window.ReceivedBefore
	for _, in := range r.Intervals {
		received += in.Received
	}
	if received != r.Counts.Received {
		t.Errorf("%d before the window and in its intervals, %d received", received, r.Counts.Received)
	}
}

// Consumers subscribe before the barrier: on a filled queue they receive at once.
func TestReceivedBeforeTheBarrier(t *testing.T) {
	r := record(t, plan(1, 1))
	for i := range uint64(5) { // of an earlier run
		r.deliver(0, -30*ms, event.Delivery{Tag: 9, Seq: i, Body: event.Intact, Size: 12, Due: event.None})
	}
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	if got.Counts.Received != 15 || got.Window.ReceivedBefore != 5 || *got.Rates.Received != 10 || !strings.HasSuffix(got.Window.Text, "; 5 messages received before it") {
		t.Errorf("received %d, %v a second, window %+v", got.Counts.Received, *got.Rates.Received, got.Window)
	}
	reconcile(t, got)
}

// Without producers the window begins with the first message, if that was before the barrier.
func TestConsumersOnlyFromTheFirstMessage(t *testing.T) {
	r := record(t, plan(0, 1))
	for i := range uint64(20) {
		r.deliver(0, -1000*ms+int64(i)*100*ms, event.Delivery{Producer: 3, Seq: i, Tag: 99, Body: event.Intact, Size: 12, Due: event.None})
	}
	r.ackAll(0, 1000*ms)
	got := analyzed(t, r.close())
	if w := got.Window; w.StartNS != epoch-1000*ms || w.EndNS != epoch+1100*ms || w.ReceivedBefore != 0 || !strings.HasPrefix(w.Text, "first message received") {
		t.Errorf("%+v", w)
	}
	if want := 20 / 2.1; *got.Rates.Received != want {
		t.Errorf("%v a second, want %v", *got.Rates.Received, want)
	}
	reconcile(t, got)
}

// Consumers alone that have all reached their limits have consumed until then: what the drain proves afterwards takes time, and
// is no consuming. One that has not goes on until the drain ends.
func TestConsumersOnlyUntilTheirLimits(t *testing.T) {
	for ended, rate := range map[int]float64{2: 20 / 1.0, 1: 20 / 4.0} {
		r := record(t, plan(0, 2))
		for i := range uint64(20) {
			r.deliver(int(i%2), int64(i)*50*ms, event.Delivery{Producer: 3, Seq: i, Tag: 99, Body: event.Intact, Size: 12, Due: event.None})
		}
		r.ackAll(0, 960*ms)
		r.ackAll(1, 960*ms)
		r.m.Outcome.PublishStopNS, r.m.Outcome.DrainEndNS = epoch+1000*ms, epoch+4000*ms
		r.m.Outcome.Ends = map[string]int{manifest.EndConsumerLimit: ended}
		got := analyzed(t, r.close())
		if *got.Rates.Received != rate || got.Window.Text != "start barrier to the end of consuming" {
			t.Errorf("%d ended: %v a second, want %v; %+v", ended, *got.Rates.Received, rate, got.Window)
		}
		reconcile(t, got)
	}
}

// The drain's rate ends with the last message, not with the waiting for more.
func TestDrainEndsWithTheLastMessage(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		last int64
		rate float64 // 0: none
	}{
		{100, 10 * ms, 10_000}, // 100 in 10 ms, though the drain was 100 ms long
		{100, 10*ms - 1, 0},    // too short
		{99, 50 * ms, 0},       // too few
	} {
		m := plan(1, 1)
		r := record(t, m)
		r.send(0, 0, int(c.n), 0)
		r.ack(0, 0, int(c.n), ms)
		r.receive(0, 0, 0, 1000*ms+c.last, seqs(0, c.n-1)...)
		r.ackAll(0, 1099*ms)
		got := analyzed(t, r.close())
		if d := got.Rates.Drain; c.rate == 0 && (d != nil || got.Rates.DrainNS != nil) || c.rate > 0 && (d == nil || *d != c.rate || *got.Rates.DrainNS != c.last) {
			t.Errorf("%d in %d ns: %v over %v", c.n, c.last, d, got.Rates.DrainNS)
		}
		if *got.Window.DrainEndNS != epoch+1100*ms {
			t.Errorf("the drain ends at %d", *got.Window.DrainEndNS-epoch)
		}
	}
}

// Rate 200 for 2 s: 400 due and 400 sent, the last ones late, so that the window is 2.25 s long. Nothing was lacking.
func TestAllDueWereSent(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate = manifest.Rate{Messages: 200, PerNS: 1000 * ms}
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS, m.Outcome.Queues[0].Ready = epoch+2250*ms, epoch+2250*ms, nil
	r := record(t, m)
	for i := range uint64(400) {
		due := int64(i) * 5 * ms
		sent := due
		if i >= 380 {
			sent = 2200 * ms
		}
		r.send(0, i, 1, sent, due)
	}
	r.ack(0, 0, 400, 2240*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge") // and no generator_limit
	if got.Window.ScheduleEndNS == nil || *got.Window.ScheduleEndNS != epoch+2000*ms {
		t.Errorf("%+v", got.Window)
	}
}

// Of several producers, those in step and those out of step end with the same schedule; one with a limit ends before.
func TestScheduleEnd(t *testing.T) {
	m := plan(3, 0)
	for i := range m.Producers {
		m.Producers[i].Rate = manifest.Rate{Messages: 10, PerNS: 1000 * ms}
		m.Producers[i].PhaseNS = int64(i) * 30 * ms
	}
	r := record(t, m)
	for p, n := range []uint64{8, 8, 4} {
		for i := range n {
			due := int64(i)*100*ms + int64(p)*30*ms
			r.send(p, i, 1, due, due)
		}
	}
	got := analyzed(t, r.close())
	// Due last at 700, 730 and 360 ms: the schedule ended after 730 and at most at 800 ms.
	if end := got.Window.ScheduleEndNS; end == nil || *end != epoch+800*ms {
		t.Errorf("%+v", got.Window)
	}
	if w := analyzed(t, closedLoop(t)).Window; w.ScheduleEndNS != nil {
		t.Errorf("%+v", w)
	}
}

func closedLoop(t *testing.T) string {
	r := record(t, plan(1, 0))
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	return r.close()
}

// Messages that a rule may have removed are no backlog, drained or not; others are.
func TestRemovedMessagesAreNoBacklog(t *testing.T) {
	for _, c := range []struct {
		name           string
		limit, drained bool
		backlog        int64
	}{
		{"removed", true, true, 0}, {"perhaps removed", true, false, 0}, {"lost", false, true, 0}, {"queued", false, false, 1980},
	} {
		m := plan(1, 1)
		if c.limit {
			m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}}
		}
		m.Outcome.Drained, m.Outcome.Queues[0].Drained = c.drained, c.drained
		r := record(t, m)
		r.send(0, 0, 2000, 0)
		r.ack(0, 0, 2000, ms)
		r.receive(0, 0, 0, 900*ms, seqs(1980, 1999)...)
		r.ackAll(0, 950*ms)
		got := analyzed(t, r.close())
		last := got.Intervals[len(got.Intervals)-1]
		found := false
		for _, f := range got.Findings {
			found = found || f.Code == "backlog"
		}
		if last.BacklogEnd == nil || *last.BacklogEnd != c.backlog || found != (c.backlog > 0) {
			t.Errorf("%s: %v at the end, finding %v", c.name, *last.BacklogEnd, found)
		}
	}
}

// A backlog is worth a warning from a twentieth of all messages on, or from a hundredth on if it grew to the end.
func TestTrivialBacklog(t *testing.T) {
	for _, c := range []struct {
		name          string
		early, late   uint64 // received before and after the middle of 60,000 sent, half of them then
		want          bool
		middle, atEnd int64
		text          string
	}{
		{"grew", 29_500, 29_300, true, 500, 1200, "stopped, growing by 1200 a second on average:"},
		{"stood still", 28_800, 30_000, false, 1200, 1200, ""},
		{"a hundredth is nothing", 29_900, 29_600, false, 100, 500, ""},
		{"a tenth", 24_000, 30_000, true, 6000, 6000, "stopped, 6000 a second on average, but no longer growing (6,000 half-way):"},
	} {
		r := record(t, plan(1, 1))
		r.send(0, 0, 30_000, 0)
		r.ack(0, 0, 30_000, ms)
		r.receive(0, 0, 0, 10*ms, seqs(0, c.early-1)...)
		r.send(0, 30_000, 30_000, 600*ms)
		r.ack(0, 30_000, 30_000, 601*ms)
		r.receive(0, 0, 0, 700*ms, seqs(c.early, c.early+c.late-1)...)
		r.receive(0, 0, 0, 1050*ms, seqs(c.early+c.late, 59_999)...)
		r.ackAll(0, 1060*ms)
		got := analyzed(t, r.close())
		if b := *got.Intervals[4].BacklogEnd; b != c.middle {
			t.Errorf("%s: %d in the middle", c.name, b)
		}
		found := false
		for _, f := range got.Findings {
			if f.Code == "backlog" {
				found = true
				if f.Count != c.atEnd || !strings.Contains(f.Text, c.text) {
					t.Errorf("%s: %d: %s", c.name, f.Count, f.Text)
				}
			}
		}
		if found != c.want {
			t.Errorf("%s: found %v", c.name, found)
		}
	}
}

// A damaged message is neither lost twice nor in the backlog, whether or not its stamp tells which it was.
func TestDamagedMessagesAreNoBacklog(t *testing.T) {
	for _, claimed := range []uint64{5, 1 << 30} {
		r := record(t, plan(1, 1))
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 4)...)
		r.deliver(0, 2*ms, event.Delivery{Tag: 7, Seq: claimed, Body: event.Corrupt, Due: event.None})
		r.receive(0, 0, 0, 2*ms, seqs(6, 9)...)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		for i, in := range got.Intervals {
			if *in.BacklogEnd != 0 {
				t.Errorf("claims to be %d: %d after interval %d", claimed, *in.BacklogEnd, i)
			}
		}
	}
}
