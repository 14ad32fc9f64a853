package analyze

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
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
	m.Outcome.DrainNote = "queue q: 6 messages were still ready when the drain ended" // says it all
	again := record(t, m)
	m.Outcome.Sent, m.Outcome.Received, m.Outcome.Acked, m.Outcome.Confirmed = 0, 0, 0, 0
	again.send(0, 0, 1, 0)
	if text := finding(t, analyzed(t, again.close()), "not_drained").Text; strings.Count(text, "queue q") != 1 {
		t.Error(text)
	}
	if *got.Rates.Sent != 20 || *got.Rates.Received != 10 || got.Rates.Drain != nil || got.Rates.DrainNS != nil { // four messages are no rate
		t.Errorf("rates %v %v, drain %v in %v", *got.Rates.Sent, *got.Rates.Received, got.Rates.Drain, got.Rates.DrainNS)
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
	if got.Config.FanOut != 4 || !slices.Equal(got.Config.RoutingKeys, []string{"q"}) || got.Config.Exchanges[0] != (result.Exchange{}) {
		t.Errorf("%+v", got.Config)
	}
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
	first.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}, {Key: "x-max-length-bytes", Value: int64(20_000_000_000)}}
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
	checkVerdict(t, both, result.Pass, "removed_by_rule", "clocks_differ") // no backlog: they are gone
	checkCounts(t, both.Counts, result.Counts{Sent: 1000, Confirmed: 1000, Received: 10, ReceivedUnique: 10, Missing: 990, RemovedByRule: 990})
	f := finding(t, both, "removed_by_rule")
	if !strings.Contains(f.Text, "producer 0 sequence 0 to 989") || !strings.Contains(f.Text, "x-max-length=10, x-max-length-bytes=20000000000") {
		t.Error(f.Text)
	}
	if len(f.First) != DefaultFindings || f.First[0].Sequence != 0 || *f.First[0].SentNS != epoch || f.First[0].ReceivedNS != nil || f.First[0].Queue != "q" {
		t.Errorf("%+v", f.First)
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

// What another consumer took between two recordings is not lost: the second found less in the queue than the first had left.
func TestTakenBetweenCaptures(t *testing.T) {
	for _, found := range []int64{10, 4} {
		first, second := plan(1, 0), plan(0, 1)
		first.Outcome.Queues[0].Ready = ptr(int64(10))
		second.ID, second.Tag = "later", 8
		second.Topology.Queues[0].ReadyAtStart = ptr(found)
		second.Outcome.BarrierNS, second.Outcome.PublishStopNS, second.Outcome.DrainEndNS = epoch+2000*ms, event.None, epoch+3000*ms
		a, b := record(t, first), record(t, second)
		a.send(0, 0, 10, 0)
		a.ack(0, 0, 10, 2*ms)
		for i := uint64(6); i < 10; i++ {
			b.deliver(0, 2100*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
		}
		b.ackAll(0, 2200*ms)
		got := analyzed(t, a.close(), b.close())
		want := result.Counts{Sent: 10, Confirmed: 10, Received: 4, ReceivedUnique: 4, Missing: 6}
		if found == 10 {
			want.Lost = 6
			checkVerdict(t, got, result.Fail, "lost", "clocks_differ")
		} else {
			want.RemovedByRule = 6
			checkVerdict(t, got, result.Pass, "removed_by_rule", "clocks_differ")
			if f := finding(t, got, "removed_by_rule"); !strings.Contains(f.Text, "another consumer, or a purge: 10 ready when one capture ended, 4 when the next began") {
				t.Error(f.Text)
			}
		}
		checkCounts(t, got.Counts, want)
	}
}
