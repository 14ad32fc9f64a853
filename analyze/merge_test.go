package analyze

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// Message 0 goes to consumer 1, and comes again, unflagged, to consumer 0, which has received a later one meanwhile. The file of
// consumer 0 ends, and is read, first. The delivery that came first counts for the order and the latency; the other one is
// a duplicate.
func TestFirstDeliveryInAnotherFile(t *testing.T) {
	r := recordWith(t, plan(1, 2), capture.Options{Shards: 2, Compression: "none"})
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 10*ms, 1)
	r.receive(0, 0, 0, 20*ms, 0)
	r.receive(1, 0, 0, 5*ms, 0)
	r.deliver(1, 900*ms, event.Delivery{Body: event.Unstamped, Due: event.None})
	dir := r.close()
	got, err := Run(t.Context(), []string{dir}, Options{Tmp: t.TempDir(), By: []string{ByConsumer}, Progress: rising(t)})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Counts; c.Duplicates != 1 || c.OutOfOrder != 0 || c.ReceivedUnique != 2 || c.Lost != 0 {
		t.Errorf("%+v", c)
	}
	if d := got.Latency.Delivery.Service; d.Count != 2 || *d.MinNS != 5*ms || *d.MaxNS != 10*ms {
		t.Errorf("%+v", d)
	}
	for i, want := range []int64{10 * ms, 5 * ms} {
		if d := got.Groupings[0].Members[i].Latency.Delivery.Service; d == nil || d.Count != 1 || *d.MaxNS != want {
			t.Errorf("consumer %d: %+v", i, d)
		}
	}
	if f := finding(t, got, "duplicate"); len(f.First) != 1 || *f.First[0].ReceivedNS != epoch+20*ms {
		t.Errorf("%+v", f)
	}
}

// rising checks that progress never falls.
func rising(t *testing.T) func(done, total int64) {
	last := int64(0)
	return func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
}

// Deliveries of three files, written in several batches each, are shown in the order of time, each once; with hardly any memory
// in some order.
func TestMerger(t *testing.T) {
	r := recordWith(t, plan(1, 3), capture.Options{Shards: 3, Compression: "none", FlushInterval: 4 * time.Millisecond})
	rng := rand.New(rand.NewPCG(1, 2))
	const deliveries = 3000
	at := int64(0)
	for seq := range uint64(deliveries) {
		at += rng.Int64N(3) * 1000
		r.receive(rng.IntN(3), 0, 0, at, seq)
		if seq%200 == 0 {
			time.Sleep(8 * time.Millisecond) // so that the flusher makes batches
		}
	}
	dir := r.close()
	for _, budget := range []int64{1 << 20, 1} {
		a := &analysis{}
		if err := a.open(t.Context(), []string{dir}); err != nil {
			t.Fatal(err)
		}
		last, seen := int64(math.MinInt64), map[uint64]bool{}
		m := newMerger(budget, func(r *rows, from, to int) {
			for i := from; i < to; i++ {
				at, seq := i64(r.rec, schema.DeliveriesReceived)[i], u64(r.rec, schema.DeliveriesSeq)[i]
				if at < last && budget > 1 || seen[seq] {
					t.Fatalf("%d after %d, seen %v", at, last, seen[seq])
				}
				last, seen[seq] = at, true
			}
		})
		batches := 0
		err := feed(t.Context(), a.batches, nil, func(r *rows) error {
			if r.batch.kind == schema.Deliveries {
				batches++
				m.add(r)
			}
			return nil
		})
		m.finish()
		a.close()
		if err != nil || len(seen) != deliveries || batches < 9 || m.overrun != (budget == 1) || m.held != 0 {
			t.Errorf("%v: %d rows of %d batches, overrun %v, %d bytes held", err, len(seen), batches, m.overrun, m.held)
		}
	}
}

// What waits is counted as it is in memory, where the columns of compressed batches are decoded: two files that overlap take more than
// their bytes.
func TestMergerCountsWhatIsDecoded(t *testing.T) {
	for _, compression := range []string{"none", "lz4"} {
		r := recordWith(t, plan(1, 2), capture.Options{Shards: 2, Compression: compression})
		for i := range uint64(2000) {
			r.receive(int(i%2), 0, 0, ms, i)
		}
		a := &analysis{}
		if err := a.open(t.Context(), []string{r.close()}); err != nil {
			t.Fatal(err)
		}
		length := int64(0)
		for _, b := range a.batches {
			if b.kind == schema.Deliveries {
				length += b.length
			}
		}
		m := newMerger(2*length, func(*rows, int, int) {})
		err := feed(t.Context(), a.batches, nil, func(r *rows) error {
			if r.batch.kind == schema.Deliveries {
				m.add(r)
			}
			return nil
		})
		m.finish()
		a.close()
		if err != nil || m.overrun != (compression == "lz4") || m.held != 0 {
			t.Errorf("%s: %v, overrun %v, %d bytes held", compression, err, m.overrun, m.held)
		}
	}
}

// Where the memory does not suffice to put deliveries into order, that is said.
func TestMergeOverrunIsSaid(t *testing.T) {
	r := recordWith(t, plan(1, 2), capture.Options{Shards: 2, Compression: "none"})
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 10*ms, 0, 1)
	r.receive(1, 0, 0, 5*ms, 0)
	r.receive(1, 0, 0, 20*ms, 1)
	got, err := Run(t.Context(), []string{r.close()}, Options{Tmp: t.TempDir(), MemoryBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Count(strings.Join(got.Notes, "\n"), "was not always told (--memory)")
	if said != 1 || got.Counts.Duplicates != 2 || got.Counts.Received != 4 {
		t.Errorf("%q %+v", got.Notes, got.Counts)
	}
}
