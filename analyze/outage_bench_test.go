package analyze

import (
	"fmt"
	"testing"

	"leveret/capture/event"
)

// All connections are lost, and come back: the work grows with their number, and not with its square.
func BenchmarkFindOutages(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var changes []change
			for i, state := range []event.ConnectionState{event.Lost, event.Recovered} {
				for c := range n {
					changes = append(changes, change{at: epoch + int64(i)*1000*ms + int64(c), connection: uint32(c), state: state, producer: event.NoLane, consumer: event.NoLane})
				}
			}
			for b.Loop() {
				a := &analysis{captures: []*source{{}}}
				a.course.changes = changes
				if forGood := a.findOutages(); len(forGood) > 0 || a.facts.Recovered != int64(n) {
					b.Fatalf("%d for good, %d recovered", len(forGood), a.facts.Recovered)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/connection")
		})
	}
}
