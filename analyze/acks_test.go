package analyze

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// Ten deliveries at 2 ms: five are acked by one frame a millisecond later, three at 6 ms, two never.
func TestAckLatency(t *testing.T) {
	m := plan(1, 2)
	m.Consumers[1].AutoAck = true // and has no acks
	m.Consumers[0].Limit = 8
	m.Outcome.Drained, m.Outcome.Queues[0].Drained = false, false
	r := record(t, m)
	r.send(0, 0, 20, 0)
	r.ack(0, 0, 20, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	r.receive(1, 0, 0, 2*ms, seqs(10, 19)...)
	for _, a := range []event.Acks{{At: epoch + 3*ms, DeliveryTag: 5, Messages: 5, Multiple: true}, {At: epoch + 6*ms, DeliveryTag: 8, Messages: 3}} {
		r.w.Acks(&a)
		m.Outcome.Acked += int64(a.Messages)
	}
	got := analyzed(t, r.close())
	// five of 1 ms, three of 4 ms, two that were not acked for 1,098 ms, which is when the drain ended
	d := got.AckLatency
	if d.Count != 8 || d.Censored != 2 || *d.MinNS != ms || *d.P50NS != ms || *d.P75NS != 4*ms || d.P95NS != nil || *d.MaxNS != 4*ms || *d.MeanNS != 17*float64(ms)/8 || *d.MaxAtLeastNS != 1098*ms {
		t.Errorf("%+v", d)
	}
}

// Without acks there is no such latency.
func TestNoAckLatency(t *testing.T) {
	m := plan(1, 1)
	m.Consumers[0].AutoAck = true
	r := record(t, m)
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	r.receive(0, 0, 0, 2*ms, 0)
	if got := analyzed(t, r.close()); got.AckLatency != nil || len(got.Notes) > 0 {
		t.Errorf("%+v %q", got.AckLatency, got.Notes)
	}
}

// Deliveries and acks of several consumers, read in any order that keeps the order within each kind.
func TestAckTimesInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		l := newLatencies(&timeline{run: 1})
		l.until = 1_000_000
		a := newAckTimes(l, 1<<20)
		var want []int64
		unacked := uint64(0)
		type feed struct{ deliveries, acks []tagRun }
		feeds := make([]feed, 1+rng.IntN(3))
		for c := range feeds {
			feeds[c].deliveries, feeds[c].acks, want = randomAcks(rng, want, &unacked)
		}
		for left := true; left; {
			left = false
			for c := range feeds {
				f, q := &feeds[c], a.queue(consumerKey{0, uint16(c)})
				if n := min(rng.IntN(4), len(f.deliveries)); n > 0 {
					a.deliver(q, f.deliveries[0])
					f.deliveries = f.deliveries[1:]
				}
				if n := min(rng.IntN(4), len(f.acks)); n > 0 {
					a.ack(q, f.acks[0])
					f.acks = f.acks[1:]
				}
				left = left || len(f.deliveries)+len(f.acks) > 0
			}
		}
		if !a.finish(func(consumerKey) bool { return true }) || a.runs < 0 {
			t.Fatalf("seed %d: gave up, or %d runs", seed, a.runs)
		}
		slices.Sort(want)
		if l.ack.moments.Count() != uint64(len(want)) || l.ack.censored.count != unacked {
			t.Fatalf("seed %d: %d acked, %d not, want %d, %d", seed, l.ack.moments.Count(), l.ack.censored.count, len(want), unacked)
		}
		if len(want) > 0 && (l.ack.moments.Min() != want[0] || l.ack.moments.Max() != want[len(want)-1]) {
			t.Fatalf("seed %d: from %d to %d, want %d to %d", seed, l.ack.moments.Min(), l.ack.moments.Max(), want[0], want[len(want)-1])
		}
		sum := 0.0
		for _, v := range want {
			sum += float64(v)
		}
		if mean := l.ack.moments.Mean(); len(want) > 0 && (mean-sum/float64(len(want)) > 1e-6 || sum/float64(len(want))-mean > 1e-6) {
			t.Fatalf("seed %d: mean %v, want %v", seed, mean, sum/float64(len(want)))
		}
	}
}

// randomAcks makes one consumer's deliveries, in reads of several, and acks for most of them, some passed over.
func randomAcks(rng *rand.Rand, want []int64, unacked *uint64) (deliveries, acks []tagRun, _ []int64) {
	received := map[uint64]int64{}
	last := uint64(0)
	for clock := int64(0); len(deliveries) < 20; clock += rng.Int64N(100) {
		n := 1 + rng.Uint64N(5)
		deliveries = append(deliveries, tagRun{last + 1, n, clock})
		for ; n > 0; n-- {
			last++
			received[last] = clock
		}
	}
	for next := uint64(1); next <= last; {
		if rng.IntN(10) == 0 { // one that is never acked
			*unacked++
			next++
			continue
		}
		if rng.IntN(20) == 0 { // nor is any behind it
			*unacked += last - next + 1
			break
		}
		n := min(1+rng.Uint64N(7), last-next+1)
		at := received[next+n-1] + rng.Int64N(50)
		acks = append(acks, tagRun{next, n, at})
		for ; n > 0; n-- {
			want = append(want, at-received[next])
			next++
		}
	}
	return deliveries, acks, want
}

// What grows beyond its memory is given up, and that is said.
func TestAckTimesGiveUp(t *testing.T) {
	l := newLatencies(&timeline{run: 1})
	a := newAckTimes(l, 0)
	a.most = 100
	q := a.queue(consumerKey{})
	for i := uint64(1); !a.gaveUp && i <= 200; i++ {
		a.deliver(q, tagRun{i, 1, int64(i)})
	}
	if a.finish(func(consumerKey) bool { return true }) {
		t.Error("200 runs in the memory of 100")
	}
	if len(q.received.runs) != 101 {
		t.Errorf("gave up after %d", len(q.received.runs))
	}
	an := &analysis{latency: l}
	l.ack.hist.Add(1)
	an.finishAcks(a)
	if l.ack.total() != 0 || len(an.notes) != 1 || !strings.Contains(an.notes[0], "no ack latency") {
		t.Errorf("%d, %q", l.ack.total(), an.notes)
	}
	// one that is acked as it comes needs next to none
	a = newAckTimes(l, 0)
	a.most = 100
	q = a.queue(consumerKey{})
	for i := range uint64(100_000) {
		a.deliver(q, tagRun{i + 1, 1, int64(i)})
		a.ack(q, tagRun{i + 1, 1, int64(i)})
	}
	if a.gaveUp || cap(q.received.runs) > 1000 {
		t.Errorf("gave up %v, room for %d", a.gaveUp, cap(q.received.runs))
	}
}

// C047, W19: one frame that confirms four messages, and others: 1, 1, 4, 2 messages, by which the percentiles go.
func TestConfirmFrames(t *testing.T) {
	r := record(t, plan(1, 0))
	r.send(0, 0, 8, 0)
	r.ack(0, 0, 1, ms)
	r.ack(0, 1, 1, ms)
	r.ack(0, 2, 4, 2*ms)
	r.settle(event.Nack, 0, 6, 2, 3*ms)
	got := analyzed(t, r.close())
	f := *got.ConfirmFrames
	f.Buckets = nil
	if !reflect.DeepEqual(f, result.FrameSizes{Frames: 4, Mean: 2, P50: 1, P99: 4, Max: 4}) {
		t.Errorf("%+v", f)
	}
	var none frameSizes
	if none.add([]uint8{uint8(event.Return), uint8(event.Commit)}, []uint32{0, 10}); none.result() != nil {
		t.Errorf("%+v", none.result())
	}
	if quantile.Rank(50*quantile.One, 4) != 2 { // of 1, 1, 2, 4
		t.Error("rank")
	}
}
