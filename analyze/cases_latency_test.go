package analyze

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Real reports and worked numbers that the analysis must get right, by the numbers they have in the project's list.

// C005: what has no time is not 0: not in any latency, not before 1970.
func TestC005MissingTimesAreNotZero(t *testing.T) {
	m := plan(1, 1)
	m.Outcome.Drained, m.Outcome.Queues[0].Drained = false, false
	r := record(t, m)
	r.send(0, 0, 100, 0)
	r.ack(0, 0, 90, 4*ms)
	r.receive(0, 0, 0, 6*ms, seqs(0, 89)...)
	got := analyzed(t, r.close())
	checkCounts(t, got.Counts, result.Counts{Sent: 100, Confirmed: 90, Unconfirmed: 10, Received: 90, ReceivedUnique: 90, QueuedAtStop: 10})
	for what, d := range map[string]*result.Distribution{"confirm": got.Latency.Confirm.Service, "delivery": got.Latency.Delivery.Service} {
		want := map[string]int64{"confirm": 4 * ms, "delivery": 6 * ms}[what]
		if d.Count != 90 || d.Censored != 10 || *d.MinNS != want || *d.MaxNS != want || *d.MeanNS != float64(want) || d.Negative != 0 {
			t.Errorf("%s: %+v", what, d)
		}
		// 10 of 100 have no answer: percentiles up to the 90th are known.
		if *d.P75NS != want || d.P95NS != nil || d.P99NS != nil || *d.AtLeastNS != 1100*ms {
			t.Errorf("%s: p75 %v p95 %v, at least %v", what, *d.P75NS, d.P95NS, *d.AtLeastNS)
		}
	}
	if got.Latency.Confirm.Response != nil {
		t.Error("a response latency in closed loop")
	}
}

// C013: consumers only, and messages without a due time: n/a with the reason.
func TestC013ConsumersOnly(t *testing.T) {
	r := record(t, plan(0, 1))
	for i := range uint64(10) {
		r.deliver(0, 10*ms, event.Delivery{Producer: 3, Seq: i, Tag: 99, Body: event.Intact, Size: 12, Due: event.None})
	}
	r.ackAll(0, 11*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge", "foreign")
	checkCounts(t, got.Counts, result.Counts{Received: 10, Foreign: 10})
	if got.Latency != (result.Latencies{}) || !strings.Contains(got.LatencyNote, "no message carries a due time") {
		t.Errorf("%+v, note %q", got.Latency, got.LatencyNote)
	}
	if len(got.Curves) != 0 || got.Rates.Sent != nil || got.Rates.Confirmed != nil {
		t.Errorf("curves %v, rates %+v", got.Curves, got.Rates)
	}
}

// The same with due times in the stamps: the response latency is known, the service latency is not.
func TestConsumersOnlyWithDueTimes(t *testing.T) {
	r := record(t, plan(0, 1))
	for i := range uint64(4) {
		r.deliver(0, 10*ms+int64(i)*ms, event.Delivery{Producer: 3, Seq: i, Tag: 99, Body: event.Intact, Size: 24, Due: epoch + 8*ms})
	}
	r.deliver(0, 20*ms, event.Delivery{Producer: 3, Seq: 0, Tag: 99, Body: event.Intact, Size: 24, Due: epoch + 8*ms, Redelivered: true})
	got := analyzed(t, r.close())
	d := got.Latency.Delivery.Response
	if d == nil || d.Count != 4 || *d.MinNS != 2*ms || *d.P50NS != 3*ms || *d.MaxNS != 5*ms || got.Latency.Delivery.Service != nil {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(got.LatencyNote, "stamps") {
		t.Error(got.LatencyNote)
	}
}

// Captures of one host are joined by the clock that all its processes share, whatever their wall clocks said.
func TestOneHostOneClock(t *testing.T) {
	producers, consumers := plan(1, 0), plan(0, 1)
	consumers.ID, consumers.Tag = "other", 8
	producers.ClockStart.BootID, producers.ClockStart.MonotonicNS = "host", 1000*ms
	consumers.ClockStart.BootID, consumers.ClockStart.MonotonicNS = "host", 1000*ms
	consumers.ClockStart.ClockNS = epoch + 5000*ms // its wall clock is 5 s ahead
	for _, at := range []*int64{&consumers.Outcome.BarrierNS, &consumers.Outcome.PublishStopNS, &consumers.Outcome.DrainEndNS} {
		*at += 5000 * ms
	}
	a, b := record(t, producers), record(t, consumers)
	a.send(0, 0, 1, 10*ms)
	a.ack(0, 0, 1, 11*ms)
	b.deliver(0, 5012*ms, event.Delivery{Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
	b.ackAll(0, 5013*ms)
	got := analyzed(t, a.close(), b.close())
	checkVerdict(t, got, result.Pass)
	if d := got.Latency.Delivery.Service; *d.P50NS != 2*ms {
		t.Errorf("%d ns", *d.P50NS)
	}
}

// C040: a million and one latencies, from the rows of a capture: no percentile is approximate.
func TestC040ExactTail(t *testing.T) {
	m := plan(1, 0)
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+10_000*ms, epoch+10_000*ms
	m.Topology.Queues, m.Topology.Routes[0].Queues, m.Outcome.Queues = nil, nil, nil
	r := recordWith(t, m, capture.Options{Shards: 1, Compression: "none", Memory: 256 << 20})
	const n = 1_000_001
	latency := rand.New(rand.NewPCG(40, 40)).Perm(n - 1)
	latency = append(latency, 9_000_000-1)
	for i := 0; i < n; i += 1000 {
		r.send(0, uint64(i), min(1000, n-i), 0)
	}
	for i, us := range latency {
		r.settle(event.Ack, 0, uint64(i), 1, int64(us+1)*1000)
	}
	got := analyzed(t, r.close())
	d := got.Latency.Confirm.Service
	if d.Count != n || *d.P50NS != 500_001_000 || *d.P99NS != 990_001_000 || *d.P9999NS != 999_901_000 || *d.MaxNS != 9_000_000_000 {
		t.Errorf("%+v", d)
	}
	checkCurve(t, got)
}

// checkCurve holds the curves against the distributions: W13's self-check, and the same numbers where they meet.
func checkCurve(t *testing.T, r *result.Result) {
	t.Helper()
	for _, c := range r.Curves {
		d := r.Latency.Pick(c.What, c.From)
		if c.Count != d.Count+d.Censored {
			t.Errorf("curve of %d, distribution of %d", c.Count, d.Count+d.Censored)
		}
		last := *d.MinNS
		for _, p := range c.Points {
			if p.ValueNS < last {
				t.Errorf("curve falls at %v %%", p.Percent)
			}
			last = p.ValueNS
			for percent, v := range map[float64]*int64{50: d.P50NS, 75: d.P75NS, 95: d.P95NS, 99: d.P99NS, 99.9: d.P999NS, 99.99: d.P9999NS} {
				if p.Percent == percent && (v == nil || *v != p.ValueNS) {
					t.Errorf("curve %v %%: %d", percent, p.ValueNS)
				}
			}
			if above := float64(p.Above) * float64(p.ValueNS); d.Negative+d.Censored == 0 && above > *d.MeanNS*float64(d.Count)*(1+1e-9) {
				t.Errorf("%d messages above %d ns are more than all together", p.Above, p.ValueNS)
			}
		}
		if d.Censored == 0 && last != *d.MaxNS {
			t.Errorf("curve ends at %d, the maximum is %d", last, *d.MaxNS)
		}
	}
}

// C042, W09: the run's maximum is not the mean of the intervals' maxima.
func TestC042PercentilesAreNotAveraged(t *testing.T) {
	m := plan(1, 0)
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+15_000*ms, epoch+15_000*ms
	m.Topology.Queues, m.Topology.Routes[0].Queues, m.Outcome.Queues = nil, nil, nil
	r := record(t, m)
	maxima := []int64{1, 0, 3, 1, 601, 4, 2, 8, 0, 3, 3, 1, 1, 0, 2}
	for i, v := range maxima {
		r.send(0, uint64(i), 1, int64(i)*1000*ms)
		r.ack(0, uint64(i), 1, int64(i)*1000*ms+v*ms)
	}
	got := analyzedIn(t, 1000*ms, r.close())
	d := got.Latency.Confirm.Service
	if *d.MaxNS != 601*ms || *d.P9999NS != 601*ms || *d.P50NS != 2*ms { // three 0, four 1, two 2, ...: rank 8 of 15
		t.Errorf("%+v", d)
	}
	if len(got.Intervals) != 15 {
		t.Fatalf("%d intervals", len(got.Intervals))
	}
	for i, x := range got.Intervals {
		if *x.Latency.Confirm.Service.P99NS != maxima[i]*ms || *x.Latency.Confirm.Service.MaxNS != maxima[i]*ms {
			t.Errorf("interval %d: %+v", i, x.Latency.Confirm.Service)
		}
	}
}

// C046: a broker that never confirms.
func TestC046NeverConfirmed(t *testing.T) {
	m := plan(1, 0)
	m.Outcome.Failures = []manifest.Failure{{AtNS: epoch + 2000*ms, Connection: 0, Producer: ptr(0), Text: "no confirm within 2 s, 10 messages unconfirmed"}}
	m.Outcome.Queues[0].Ready = nil
	r := record(t, m)
	r.send(0, 0, 10, 0)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "ended_early", "nothing_to_judge", "unconfirmed_at_stop")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Unconfirmed: 10}) // and nobody knows what is in the queue
	if d := got.Latency.Confirm.Service; d.Count != 0 || d.Censored != 10 || d.P50NS != nil || d.MeanNS != nil || d.MaxNS != nil {
		t.Errorf("%+v", d)
	}
	if text := finding(t, got, "ended_early").Text; !strings.Contains(text, "producer 0: no confirm within 2 s") {
		t.Error(text)
	}
}

// C047, W19: one multiple ack confirms four messages, each with its own latency.
func TestC047MultipleAck(t *testing.T) {
	r := record(t, plan(1, 1))
	for i := range uint64(4) {
		r.send(0, i, 1, int64(i)*ms)
	}
	r.ack(0, 0, 4, 5*ms)
	r.receive(0, 0, 0, 6*ms, 0, 1, 2, 3)
	r.ackAll(0, 7*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	d := got.Latency.Confirm.Service
	if d.Count != 4 || *d.MinNS != 2*ms || *d.P50NS != 3*ms || *d.P75NS != 4*ms || *d.MaxNS != 5*ms || *d.MeanNS != 3.5*float64(ms) {
		t.Errorf("%+v", d)
	}
}

// C063: the cohort are the messages due (else sent) in the window; what was sent late in it is followed through the drain.
func TestC063CohortIsTheWindow(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Rate = manifest.Rate{Messages: 1, PerNS: 100 * ms}
	m.Outcome.BarrierNS = epoch + 100*ms
	r := record(t, m)
	for i := range uint64(10) {
		r.send(0, i, 1, int64(i)*100*ms+100*ms, int64(i)*100*ms+95*ms) // the first is due before the barrier
	}
	r.ack(0, 0, 10, 1050*ms)
	r.receive(0, 0, 0, 1060*ms, seqs(0, 9)...)
	r.ackAll(0, 1070*ms)
	got := analyzed(t, r.close())
	d := got.Latency.Confirm.Response
	if d.Count != 9 || *d.MaxNS != 855*ms || *d.MinNS != 55*ms || got.Latency.Confirm.Service.Count != 9 {
		t.Errorf("%+v", d)
	}
	sum := int64(0)
	for _, x := range got.Intervals {
		if x.Latency.Confirm.Response != nil {
			sum += x.Latency.Confirm.Response.Count
		}
	}
	if sum != d.Count {
		t.Errorf("intervals hold %d, the window %d", sum, d.Count)
	}
}

// C073: what was sent and not received is a backlog, and latency is the time in it.
func TestC073Backlog(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 10_000, 0)
	r.ack(0, 0, 10_000, ms)
	r.receive(0, 0, 0, 900*ms, seqs(0, 1999)...)
	r.receive(0, 0, 0, 1100*ms, seqs(2000, 9999)...)
	r.ackAll(0, 1200*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "backlog")
	f := finding(t, got, "backlog")
	if f.Count != 8000 || !strings.Contains(f.Text, "8,000 messages") || !strings.Contains(f.Text, "8000 a second") {
		t.Errorf("%+v", f)
	}
	last := got.Intervals[len(got.Intervals)-1]
	if *got.Intervals[0].BacklogEnd != 10_000 || *last.BacklogEnd != 0 || last.Phase != "drain" {
		t.Errorf("%+v", last)
	}
}

// C089: a second in which nothing happened is an interval with zeros.
func TestC089IdleIntervals(t *testing.T) {
	m := plan(1, 0)
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+12_000*ms, epoch+12_000*ms
	r := record(t, m)
	r.send(0, 0, 1000, 500*ms)
	r.send(0, 1000, 1000, 11_500*ms)
	got := analyzed(t, r.close())
	var sent []int64
	for _, x := range got.Intervals {
		sent = append(sent, x.Sent)
	}
	if !slices.Equal(sent, []int64{1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000}) {
		t.Errorf("%v", sent)
	}
}

// W05, as far as it is about the fence post: 10,000 messages, one a second, span 9,999 s where no ends are recorded.
func TestW05FencePost(t *testing.T) {
	m := plan(1, 0)
	m.Topology.Queues, m.Topology.Routes[0].Queues = nil, nil
	m.Producers[0].Confirm = 0
	m.Outcome.BarrierNS, m.Outcome.PublishStopNS, m.Outcome.DrainEndNS, m.Outcome.Queues = event.None, event.None, event.None, nil
	r := record(t, m)
	for i := range uint64(10_000) {
		r.send(0, i, 1, int64(i)*1000*ms)
	}
	got := analyzed(t, r.close())
	if rate := *got.Rates.Sent; rate < 1.000100010000 || rate > 1.000100010002 {
		t.Errorf("rate %v", rate)
	}
	if !strings.Contains(got.Window.Text, "N-1 gaps") {
		t.Error(got.Window.Text)
	}
}
