package loadcore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leveret/capture/event"
)

func run1(first uint64, n uint32, kind event.SettlementKind, frame uint32) event.SettledRun {
	return event.SettledRun{First: first, N: n, Kind: kind, FrameMessages: frame}
}

// C037: confirms out of order, and one that contradicts an earlier one.
func TestWindowOutOfOrder(t *testing.T) {
	w := newWindow(2, 0)
	w.publish(2)
	runs, _ := w.settle(nil, 2, false, event.Ack)
	runs, _ = w.settle(runs, 1, true, event.Nack)
	w.flush()
	if want := []event.SettledRun{run1(1, 1, event.Ack, 1), run1(0, 1, event.Nack, 1)}; !slices.Equal(runs, want) {
		t.Errorf("runs %v, want %v", runs, want)
	}
	if w.free() != 2 || w.open() != 0 || w.contradictory != 0 {
		t.Errorf("free %d, open %d, contradictory %d", w.free(), w.open(), w.contradictory)
	}
}

func TestWindowContradiction(t *testing.T) {
	w := newWindow(5000, 0)
	w.publish(4000)
	runs, _ := w.settle(nil, 3460, true, event.Ack)
	if !slices.Equal(runs, []event.SettledRun{run1(0, 3460, event.Ack, 3460)}) {
		t.Fatalf("runs %v", runs)
	}
	for _, late := range []struct {
		tag      uint64
		multiple bool
	}{{3459, true}, {3460, false}, {1, false}} {
		runs, verdict := w.settle(nil, late.tag, late.multiple, event.Nack)
		if len(runs) != 0 || verdict != settledAlready {
			t.Errorf("%+v: runs %v, verdict %d", late, runs, verdict)
		}
	}
	w.settle(nil, 3999, false, event.Ack)
	if runs, verdict := w.settle(nil, 3999, false, event.Ack); len(runs) != 0 || verdict != settledAlready {
		t.Errorf("a second ack ahead of the tail: runs %v, verdict %d", runs, verdict)
	}
	w.flush()
	if w.contradictory != 4 || w.open() != 4000-3461 {
		t.Errorf("contradictory %d, open %d", w.contradictory, w.open())
	}
	for _, tag := range []uint64{0, 4001, 1 << 63} {
		if _, verdict := w.settle(nil, tag, false, event.Ack); verdict != neverIssued {
			t.Errorf("tag %d: verdict %d", tag, verdict)
		}
	}
	if _, verdict := w.settle(nil, 4001, true, event.Ack); verdict != neverIssued {
		t.Errorf("tag 4001 multiple: verdict %d", verdict)
	}
	if runs, _ := w.settle(nil, 0, true, event.Ack); len(runs) != 2 { // all outstanding, around 3999
		t.Errorf("tag 0 multiple: runs %v", runs)
	}
}

// One message left behind does not let the ring be overrun, nor does it stop the others before that.
func TestWindowWithOneLeftBehind(t *testing.T) {
	w := newWindow(10, 100)
	published := 0
	for w.free() > 0 {
		n := w.free()
		w.publish(n)
		for tag := published + 1; tag <= published+n; tag++ {
			if tag != 1 {
				w.settle(nil, uint64(tag), false, event.Ack)
			}
		}
		published += n
		w.flush()
	}
	if published != 64 || w.open() != 1 { // the ring has 64 places
		t.Errorf("published %d, open %d", published, w.open())
	}
	if runs, _ := w.settle(nil, 1, false, event.Ack); !slices.Equal(runs, []event.SettledRun{run1(100, 1, event.Ack, 1)}) {
		t.Errorf("runs %v", runs)
	}
	w.flush()
	if w.free() != 10 || w.tail != 65 {
		t.Errorf("free %d, tail %d", w.free(), w.tail)
	}
}

// The ring against a map that does the same the slow way.
func TestWindowAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		size := 1 + rng.IntN(150)
		w := newWindow(size, 1000)
		open := map[uint64]bool{}
		next := uint64(1)
		contradictory := uint64(0)
		for step := range 300 {
			if free := w.free(); free > 0 && rng.IntN(3) > 0 {
				n := 1 + rng.IntN(free)
				w.publish(n)
				for range n {
					open[next] = true
					next++
				}
			}
			tag, multiple := 1+rng.Uint64N(next), rng.IntN(3) == 0
			kind := event.Ack
			if rng.IntN(4) == 0 {
				kind = event.Nack
			}
			var want []uint64
			for candidate := range open {
				if candidate == tag || multiple && candidate < tag {
					want = append(want, candidate)
				}
			}
			slices.Sort(want)
			runs, verdict := w.settle(nil, tag, multiple, kind)
			var got []uint64
			for _, r := range runs {
				if r.Kind != kind || int(r.FrameMessages) != len(want) {
					t.Fatalf("seed %d step %d: run %+v, want %d messages in the frame", seed, step, r, len(want))
				}
				for k := range uint64(r.N) {
					got = append(got, r.First+k-1000+1)
				}
			}
			if tag >= next {
				if verdict != neverIssued || len(got) > 0 {
					t.Fatalf("seed %d step %d: tag %d was never issued, verdict %d", seed, step, tag, verdict)
				}
				continue
			}
			if len(want) == 0 {
				contradictory++
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d step %d: tag %d multiple %v settled %v, want %v", seed, step, tag, multiple, got, want)
			}
			for _, settled := range want {
				delete(open, settled)
			}
			w.flush()
			if w.open() != len(open) || w.contradictory != contradictory {
				t.Fatalf("seed %d step %d: open %d contradictory %d, want %d %d", seed, step, w.open(), w.contradictory, len(open), contradictory)
			}
			if w.open()+w.free() > size {
				t.Fatalf("seed %d step %d: %d open and %d free in a window of %d", seed, step, w.open(), w.free(), size)
			}
		}
	}
}

// Single acks one after the other are one run of the batch: what is recorded of each is the same.
func TestWindowJoinsSingleAcks(t *testing.T) {
	w := newWindow(100, 0)
	w.publish(100)
	var runs []event.SettledRun
	for tag := uint64(1); tag <= 10; tag++ {
		runs, _ = w.settle(runs, tag, false, event.Ack)
	}
	runs, _ = w.settle(runs, 20, true, event.Ack)
	runs, _ = w.settle(runs, 21, false, event.Ack)
	runs, _ = w.settle(runs, 22, false, event.Nack)
	want := []event.SettledRun{run1(0, 10, event.Ack, 1), run1(10, 10, event.Ack, 10), run1(20, 1, event.Ack, 1), run1(21, 1, event.Nack, 1)}
	if fmt.Sprint(runs) != fmt.Sprint(want) {
		t.Errorf("runs %v, want %v", runs, want)
	}
}
