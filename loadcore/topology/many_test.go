package topology

import (
	"fmt"
	"testing"
	"time"

	"leveret/capture/manifest"
)

// 5 ms beside the 5 s for each queue that is to be deleted: two that are polled, and three that the broker has named.
func TestManyQueuesHaveMoreTimeToGo(t *testing.T) {
	own := manifest.Queue{Name: "amq.gen-1", ServerNamed: true, AutoDelete: true}
	s := &Session{bounds: Bounds{Close: closeTimeout}, polled: []int{0, 1}, topology: &manifest.Topology{Queues: []manifest.Queue{
		{Name: "a"}, {Name: "b", AutoDelete: true}, own, own, own, {ServerNamed: true, AutoDelete: true}, {Name: "amq.gen-2", ServerNamed: true},
	}}}
	if got := s.closeTime(); got != 5*time.Second+25*time.Millisecond {
		t.Error(got)
	}
}

// As many keys of the default exchange as queues: the work grows with their number, and not with its square.
func BenchmarkDefaultRoutes(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			t := &manifest.Topology{}
			for i := range n {
				name := fmt.Sprint("queue-", i)
				t.Queues = append(t.Queues, manifest.Queue{Name: name, Type: "classic", Declare: true})
				t.Routes = append(t.Routes, manifest.Route{RoutingKey: name})
			}
			for b.Loop() {
				Resolve(t)
			}
			if r := t.Routes[n-1]; !r.Known || len(r.Queues) != 1 || r.Queues[0] != n-1 {
				b.Fatalf("%+v", r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/route")
		})
	}
}
