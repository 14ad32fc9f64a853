package analyze

import (
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// Twelve seconds of ten messages a second, of which the first three are slow to come: latency settles at 3 s, the rate at once.
func TestWhenARunSettles(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: second}
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+12*second, epoch+12*second
	r := record(t, m)
	for i := range uint64(120) {
		due := int64(i) * 100 * ms
		r.send(0, i, 1, due, due)
		r.ack(0, i, 1, due+ms)
		wait := 2 * ms
		if due < 3*second {
			wait = 50*ms - due/100
		}
		r.receive(0, 0, 0, due+wait, i)
	}
	r.ackAll(0, 12*second)
	dir := r.close()
	got := analyzed(t, dir).Steadiness
	if got == nil || got.Rate == nil || !got.Rate.Settled || !got.Rate.FromStart || got.Rate.Of != "received" {
		t.Fatalf("%+v", got)
	}
	if x := got.Latency; x == nil || !x.Settled || x.FromStart || *x.AfterNS != 3*second || x.Of != "delivery.response" {
		t.Errorf("%+v", x)
	}
	if x := analyzedPart(t, dir, 2*second, 0).Steadiness.Latency; !x.Settled || *x.AfterNS != 3*second {
		t.Errorf("of the part: %+v", x)
	}
	if x := analyzed(t, closedLoop(t)).Steadiness; x != nil && x.Latency != nil {
		t.Errorf("of one message: %+v", x)
	}
}

// By hand: producers sent 1, 2, 3 and 2: Jain 8^2/(4*18) = 8/9, deviation sqrt(18/4-4) over the mean of 2; consumers got 8 and 0:
// Jain 1/2, variation 1. One queue needs no fairness.
func TestFairness(t *testing.T) {
	r := record(t, plan(4, 2))
	for p, n := range []int{1, 2, 3, 2} {
		r.send(p, 0, n, 0)
		r.ack(p, 0, n, ms)
		r.receive(1, 0, p, 2*ms, seqs(0, uint64(n-1))...)
	}
	r.ackAll(1, 3*ms)
	got := analyzed(t, r.close()).Fairness
	want := []result.Fairness{
		{By: "producer", Members: 4, LeastMessages: 1, MedianMessages: 2, MostMessages: 3, Variation: 0.7071067811865476 / 2, Jain: 64.0 / 72},
		{By: "consumer", Members: 2, LeastMessages: 0, MedianMessages: 0, MostMessages: 8, Variation: 1, Jain: 0.5},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// 10,000 a second come, 5,000 a second go, for 2 s: the backlog grows from 0 to 10,000, is 5,000 on average, and a message waits
// 1 s by Little's law. The latency is that of messages sent evenly from 0 to 2 s and received from 0 to 4 s: 1 s on average.
func TestLittlesLaw(t *testing.T) {
	m := plan(1, 1)
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+2*second, epoch+4*second
	r := record(t, m)
	for i := range uint64(200) {
		r.send(0, i*100, 100, int64(i)*10*ms)
		r.ack(0, i*100, 100, int64(i)*10*ms+ms)
	}
	for i := range uint64(400) {
		r.receive(0, 0, 0, int64(i)*10*ms+ms, seqs(i*50, i*50+49)...)
	}
	r.ackAll(0, 4*second)
	w := analyzed(t, r.close()).Waiting
	if w == nil || w.MsgsPerS != 5000 || w.MeanBacklog < 4900 || w.MeanBacklog > 5100 || w.WaitNS != w.MeanBacklog/5000*1e9 || w.MeanLatencyNS < 0.99e9 || w.MeanLatencyNS > 1.01e9 {
		t.Errorf("%+v", w)
	}
	if w := analyzed(t, closedLoop(t)).Waiting; w != nil {
		t.Errorf("no backlog, and %+v", w)
	}
}
