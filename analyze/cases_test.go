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

// C004: a run that stops by time leaves messages in the queue: they are queued, not missing, and the rates are over the
// window only.
func TestC004StoppedByTime(t *testing.T) {
	m := plan(1, 1)
	m.Outcome.Drained, m.Outcome.DrainNote = false, "drain timeout of 1 s reached"
	m.Outcome.Queues[0] = manifest.QueueEnd{Queue: 0, Ready: ptr(int64(6)), Consumed: true}
	r := record(t, m)
	for i := range uint64(20) {
		r.send(0, i, 1, int64(i)*50*ms)
	}
	r.ack(0, 0, 20, 990*ms)
	r.receive(0, 0, 0, 995*ms, seqs(0, 9)...)
	r.receive(0, 0, 0, 1050*ms, seqs(10, 13)...)
	r.ackAll(0, 1060*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "not_drained")
	checkCounts(t, got.Counts, result.Counts{Sent: 20, Confirmed: 20, Received: 14, ReceivedUnique: 14, QueuedAtStop: 6})
	if text := finding(t, got, "not_drained").Text; !strings.Contains(text, "6 ready") || !strings.Contains(text, "6 messages still there") || !strings.Contains(text, "drain timeout of 1 s") {
		t.Error(text)
	}
	if *got.Rates.Sent != 20 || *got.Rates.Received != 10 || *got.Rates.Drain != 40 || *got.Rates.DrainNS != 100*ms {
		t.Errorf("rates %v %v, drain %v in %v", *got.Rates.Sent, *got.Rates.Received, *got.Rates.Drain, *got.Rates.DrainNS)
	}
}

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

// C022: a message that reaches no queue is confirmed all the same.
func TestC022Unroutable(t *testing.T) {
	for _, mandatory := range []bool{false, true} {
		m := plan(1, 0)
		m.Topology = manifest.Topology{Routes: []manifest.Route{{Exchange: "amq.direct", RoutingKey: "nobody", Known: true}}}
		m.Outcome.Queues = nil
		m.Producers[0].Mandatory = mandatory
		r := record(t, m)
		r.send(0, 0, 100, 0)
		want := result.Counts{Sent: 100, Confirmed: 100, Unroutable: 100}
		findings := []string{"nothing_to_judge", "unroutable"}
		if mandatory {
			r.settle(event.Return, 0, 0, 100, 2*ms)
			want.Returned = 100
			findings = append(findings, "returned")
		}
		r.ack(0, 0, 100, 3*ms)
		got := analyzed(t, r.close())
		checkCounts(t, got.Counts, want)
		checkVerdict(t, got, result.Inconclusive, findings...)
		if text := finding(t, got, "unroutable").Text; !strings.Contains(text, "confirmed does not mean routed") {
			t.Error(text)
		}
	}
}

// Where the run has a queue, a message that comes back or leads nowhere is a failure.
func TestUnroutableWhereAQueueIsExpected(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Routes = append(m.Topology.Routes, manifest.Route{RoutingKey: "typo", Known: true})
	r := record(t, m)
	r.send(0, 0, 2, 0)
	r.sendTo(0, 2, 1, 0, 1)
	r.settle(event.Return, 0, 1, 1, ms) // its queue was deleted
	r.ack(0, 0, 3, 2*ms)
	r.receive(0, 0, 0, 3*ms, 0)
	r.ackAll(0, 4*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "returned", "unroutable")
	checkCounts(t, got.Counts, result.Counts{Sent: 3, Confirmed: 3, Returned: 1, Unroutable: 1, Received: 1, ReceivedUnique: 1})
}

// C023, W15: every consumer with a queue of its own gets every message: a fan-out, no duplicates.
func TestC023FanOut(t *testing.T) {
	m := plan(1, 4)
	m.Topology.Queues, m.Topology.Routes[0].Queues, m.Outcome.Queues = nil, nil, nil
	for i := range 4 {
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "q" + string(rune('0'+i)), Type: "classic", AutoDelete: true})
		m.Topology.Routes[0].Queues = append(m.Topology.Routes[0].Queues, i)
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: i, Consumed: true, Drained: true})
		m.Consumers[i].Queues = []int{i}
	}
	r := record(t, m)
	r.send(0, 0, 100, 0)
	r.ack(0, 0, 100, ms)
	for c := range 4 {
		r.receive(c, c, 0, int64(2+c)*ms, seqs(0, 99)...)
		r.ackAll(c, 10*ms)
	}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: 100, Confirmed: 100, Received: 400, ReceivedUnique: 400})
	if len(got.Queues) != 4 || got.Queues[3].Counts.Received != 100 || got.Queues[3].Queue != "q3" {
		t.Errorf("%+v", got.Queues)
	}
	d := got.Latency.Delivery.Service // 100 each of 2, 3, 4, 5 ms
	if d.Count != 400 || *d.P50NS != 3*ms || *d.P75NS != 4*ms || *d.P95NS != 5*ms || *d.MeanNS != 3.5*float64(ms) {
		t.Errorf("%+v", d)
	}
}

// C025: competing consumers leave gaps for each other; order is judged per consumer.
func TestC025CompetingConsumers(t *testing.T) {
	r := record(t, plan(1, 4))
	const n = 10_000
	r.send(0, 0, n, 0)
	r.ack(0, 0, n, ms)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(n) {
		r.receive(rng.IntN(4), 0, 0, 2*ms+int64(i), i)
	}
	for c := range 4 {
		r.ackAll(c, 20*ms)
	}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: n, Confirmed: n, Received: n, ReceivedUnique: n})
}

// C025: with priorities order is not judged, and the report says so.
func TestC025Priorities(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-priority", Value: int64(5)}}
	r := record(t, m)
	r.send(0, 0, 4, 0)
	r.ack(0, 0, 4, ms)
	r.receive(0, 0, 0, 2*ms, 3, 1, 2, 0)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "order_not_judged")
	checkCounts(t, got.Counts, result.Counts{Sent: 4, Confirmed: 4, Received: 4, ReceivedUnique: 4})
}

// C036: a consumer whose clock is 5 ms behind sees a latency of 2 ms as -3 ms: kept, counted, flagged.
func TestC036ClockSkew(t *testing.T) {
	producers := plan(1, 0)
	producers.ClockStart.BootID, producers.ClockStart.MonotonicNS = "host a", 1
	consumers := plan(0, 1)
	consumers.ID, consumers.Tag = "other", 8
	consumers.ClockStart.BootID, consumers.ClockStart.MonotonicNS = "host b", 1
	a, b := record(t, producers), record(t, consumers)
	for i := range uint64(100) {
		a.send(0, i, 1, int64(i+10)*ms)
		b.deliver(0, int64(i+10)*ms-3*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
	}
	a.ack(0, 0, 100, 500*ms)
	b.ackAll(0, 500*ms)
	got := analyzed(t, a.close(), b.close())
	checkVerdict(t, got, result.Pass, "clock_skew", "clocks_differ")
	checkCounts(t, got.Counts, result.Counts{Sent: 100, Confirmed: 100, Received: 100, ReceivedUnique: 100})
	d := got.Latency.Delivery.Service
	if d.Count != 100 || d.Negative != 100 || *d.MinNS != -3*ms || *d.P99NS != -3*ms || *d.MaxNS != -3*ms || *d.MeanNS != -3*float64(ms) {
		t.Errorf("%+v", d)
	}
	if finding(t, got, "clock_skew").Count != 100 {
		t.Error("not all are counted")
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
		l := r.Latency.Confirm
		if c.What == "delivery" {
			l = r.Latency.Delivery
		}
		d := l.Service
		if c.From == "response" {
			d = l.Response
		}
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
	got := analyzed(t, r.close())
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
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Unconfirmed: 10, QueuedAtStop: 10})
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

// C048: reject-publish refuses most messages: nacked, not lost, not in the confirm percentiles.
func TestC048RejectPublish(t *testing.T) {
	first := plan(1, 0)
	first.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}, {Key: "x-overflow", Value: "reject-publish"}}
	first.Outcome.Queues[0].Ready = ptr(int64(10))
	second := plan(0, 1)
	second.ID, second.Tag = "later", 8
	second.Topology.Predeclared = true
	second.Outcome.BarrierNS, second.Outcome.PublishStopNS, second.Outcome.DrainEndNS = epoch+2000*ms, event.None, epoch+3000*ms
	a, b := record(t, first), record(t, second)
	a.send(0, 0, 1000, 0)
	a.ack(0, 0, 10, 2*ms)
	a.settle(event.Nack, 0, 10, 990, 900*ms)
	for i := range uint64(10) {
		b.deliver(0, 2100*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
	}
	b.ackAll(0, 2200*ms)
	alone := analyzed(t, a.close())
	checkCounts(t, alone.Counts, result.Counts{Sent: 1000, Confirmed: 10, Nacked: 990, QueuedAtStop: 10})
	if d := alone.Latency.Confirm.Service; d.Count != 10 || d.Censored != 0 || *d.MaxNS != 2*ms {
		t.Errorf("%+v", d)
	}
	both := analyzed(t, a.dir, b.close())
	checkVerdict(t, both, result.Pass, "nacked", "clocks_differ")
	checkCounts(t, both.Counts, result.Counts{Sent: 1000, Confirmed: 10, Nacked: 990, Received: 10, ReceivedUnique: 10})
}

// C049: a queue with a length limit throws its oldest messages away although they were confirmed.
func TestC049LengthLimit(t *testing.T) {
	first := plan(1, 0)
	first.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}}
	first.Outcome.Queues[0].Ready = ptr(int64(10))
	second := plan(0, 1)
	second.ID, second.Tag = "later", 8
	second.Topology.Predeclared = true
	second.Outcome.BarrierNS, second.Outcome.PublishStopNS, second.Outcome.DrainEndNS = epoch+2000*ms, event.None, epoch+3000*ms
	a, b := record(t, first), record(t, second)
	a.send(0, 0, 1000, 0)
	a.ack(0, 0, 1000, 2*ms)
	for i := uint64(990); i < 1000; i++ {
		b.deliver(0, 2100*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
	}
	b.ackAll(0, 2200*ms)
	alone := analyzed(t, a.close())
	checkVerdict(t, alone, result.Inconclusive, "nothing_to_judge", "removed_by_rule")
	checkCounts(t, alone.Counts, result.Counts{Sent: 1000, Confirmed: 1000, QueuedAtStop: 10, Missing: 990, RemovedByRule: 990})
	both := analyzed(t, a.dir, b.close())
	checkVerdict(t, both, result.Pass, "removed_by_rule", "clocks_differ", "backlog")
	checkCounts(t, both.Counts, result.Counts{Sent: 1000, Confirmed: 1000, Received: 10, ReceivedUnique: 10, Missing: 990, RemovedByRule: 990})
	f := finding(t, both, "removed_by_rule")
	if !strings.Contains(f.Text, "producer 0 messages 0 to 989") || !strings.Contains(f.Text, "x-max-length=10") {
		t.Error(f.Text)
	}
	if len(f.First) != examples || f.First[0].Sequence != 0 || *f.First[0].SentNS != epoch || f.First[0].ReceivedNS != nil || f.First[0].Queue != "q" {
		t.Errorf("%+v", f.First)
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

// C085: sequences around 2^31 and 2^32.
func TestC085WideSequences(t *testing.T) {
	for _, around := range []uint64{1 << 31, 1 << 32, event.MaxSequence - 100} {
		r := record(t, plan(1, 1))
		r.send(0, around-50, 100, 0)
		r.ack(0, around-50, 100, ms)
		r.receive(0, 0, 0, 2*ms, seqs(around-50, around+49)...)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		checkVerdict(t, got, result.Pass)
		checkCounts(t, got.Counts, result.Counts{Sent: 100, Confirmed: 100, Received: 100, ReceivedUnique: 100})
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

// W20 a and b: a late message is out of order once; a gap before it is no loss.
func TestW20OneQueue(t *testing.T) {
	for _, tt := range []struct {
		name     string
		received []uint64
		want     result.Counts
		verdict  result.Verdict
		findings []string
	}{
		{"a", []uint64{1, 2, 4, 3, 5, 6}, result.Counts{ReceivedUnique: 6, OutOfOrder: 1}, result.Fail, []string{"out_of_order"}},
		{"b", []uint64{1, 2, 2, 3, 5, 6}, result.Counts{ReceivedUnique: 5, Duplicates: 1, Missing: 1, Lost: 1}, result.Fail, []string{"duplicate", "lost"}},
	} {
		r := record(t, plan(1, 1))
		r.send(0, 1, 6, 0)
		r.ack(0, 1, 6, ms)
		r.receive(0, 0, 0, 2*ms, tt.received...)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		tt.want.Sent, tt.want.Confirmed, tt.want.Received = 6, 6, 6
		checkCounts(t, got.Counts, tt.want)
		checkVerdict(t, got, tt.verdict, tt.findings...)
		for code, seq := range map[string]int64{"out_of_order": 3, "duplicate": 2, "lost": 4} {
			if slices.Contains(tt.findings, code) {
				if f := finding(t, got, code); f.Count != 1 || len(f.First) != 1 || f.First[0].Sequence != seq || *f.First[0].SentNS != epoch {
					t.Errorf("%s: %s: %+v", tt.name, code, f)
				}
			}
		}
	}
}

// W20 c: a fan-out to two queues.
func TestW20TwoQueues(t *testing.T) {
	m := plan(1, 2)
	m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "r", Type: "quorum", Durable: true})
	m.Topology.Routes[0].Queues = []int{0, 1, 0} // bound twice: one message all the same
	m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: 1, Consumed: true, Drained: true})
	m.Consumers[1].Queues = []int{1}
	r := record(t, m)
	r.send(0, 1, 6, 0)
	r.ack(0, 1, 6, ms)
	r.receive(0, 0, 0, 2*ms, seqs(1, 6)...)
	r.receive(1, 1, 0, 2*ms, seqs(1, 6)...)
	r.ackAll(0, 3*ms)
	r.ackAll(1, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: 6, Confirmed: 6, Received: 12, ReceivedUnique: 12})
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
