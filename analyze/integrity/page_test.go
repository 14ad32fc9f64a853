package integrity

import (
	"fmt"
	"testing"
)

// The messages of a page go to a hundred queues, more than are searched: each has the bits of its own.
func TestArrivalsAtManyDestinations(t *testing.T) {
	l := NewLedger(NewExpected(nil, nil), nil, Options{MemoryBytes: 1 << 20})
	defer l.Close()
	pg := l.pageFor(&producer{}, 0)
	for range 2 {
		for d := range int32(100) {
			setBit(l.arrivals(pg, d).intact, int(d))
			l.claim(pg, d, 100+int(d))
		}
	}
	found := 0
	pg.each(func(a *arrivals) { found++ })
	if found != 100 || pg.at(100) != nil || pg.arrived(100, 0) || pg.claimed(100, 100) {
		t.Errorf("%d destinations", found)
	}
	for d := range int32(100) {
		for slot := range 200 {
			if pg.arrived(d, slot) != (slot == int(d)) || pg.claimed(d, slot) != (slot == 100+int(d)) {
				t.Fatalf("destination %d, message %d: arrived %v, claimed %v", d, slot, pg.arrived(d, slot), pg.claimed(d, slot))
			}
		}
	}
}

// A message that goes to many queues, as with a fanout exchange: the work grows with their number, and not with its square.
func BenchmarkArrivals(b *testing.B) {
	for _, n := range []int32{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := NewLedger(NewExpected(nil, nil), nil, Options{MemoryBytes: 1 << 20})
			defer l.Close()
			pg := l.pageFor(&producer{}, 0)
			for b.Loop() {
				for d := range n {
					l.arrivals(pg, d)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/queue")
		})
	}
}

// Routes to a few queues, and to more than are looked through.
func TestRouteWaits(t *testing.T) {
	for _, n := range []int32{0, 1, fewWaits - 1, fewWaits, fewWaits + 1, 100} {
		var r route
		for d := range n {
			r.add(3*d, true)
			r.add(3*d+1, false)
		}
		for d := range int32(3 * 101) {
			if got, want := r.waitsFor(d), d%3 == 0 && d < 3*n; got != want {
				t.Errorf("%d queues: waits for %d: %v", n, d, got)
			}
		}
	}
}
