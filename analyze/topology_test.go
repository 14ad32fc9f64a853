package analyze

import (
	"fmt"
	"reflect"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

func topologyOf(manifests ...*manifest.Manifest) *result.Topology {
	a := &analysis{}
	for _, m := range manifests {
		a.captures = append(a.captures, &source{manifest: m})
	}
	return a.topology()
}

// Two captures of one run: the queue is one, its producers are in the one and its consumers in the other. Producers of the same
// routes are together; the default exchange's bindings are where producers use it.
func TestTopologyOfSeveralCaptures(t *testing.T) {
	queues := []manifest.Queue{{Name: "a", Type: "classic"}, {Name: "b", Type: "quorum"}}
	producing := &manifest.Manifest{ID: "p", Topology: manifest.Topology{
		Queues: queues, Exchanges: []manifest.Exchange{{Name: "x", Type: "topic"}},
		Bindings: []manifest.Binding{{Exchange: "x", Queue: 0, RoutingKey: "k"}},
		Routes:   []manifest.Route{{Exchange: "x", RoutingKey: "k", Queues: []int{0}, Known: true}, {RoutingKey: "b", Queues: []int{1}}},
	}, Producers: []manifest.Producer{{Route: 0}, {Route: 0}, {Route: 1}, {Route: 7}}}
	consuming := &manifest.Manifest{ID: "c", Topology: manifest.Topology{Queues: queues[1:]}, Consumers: []manifest.Consumer{{Queues: []int{0}}, {Queues: []int{0}}, {Queues: []int{0, 9}}}}
	want := &result.Topology{
		Producers:      []result.Publishers{{Count: 2, Exchange: "x", RoutingKey: "k", Keys: 1}, {Count: 1, RoutingKey: "b", Keys: 1, Unknown: true}},
		Exchanges:      []result.Exchange{{Name: "x", Type: "topic"}, {}},
		Queues:         []result.QueueNode{{Name: "a", Type: "classic"}, {Name: "b", Type: "quorum"}},
		Bindings:       []result.Binding{{Queue: 1, RoutingKey: "b"}, {Exchange: "x", Queue: 0, RoutingKey: "k"}},
		Consumers:      []result.Subscribers{{Count: 3, Queues: []int{1}, QueuesTotal: 1}},
		ProducersTotal: 2, QueuesTotal: 2, BindingsTotal: 2, ConsumersTotal: 1,
	}
	if got := topologyOf(producing, consuming); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := topologyOf(nil, &manifest.Manifest{}); got != nil {
		t.Errorf("of captures without a topology: %+v", got)
	}
}

// The lists are bounded, the totals count all.
func TestTopologyIsBounded(t *testing.T) {
	m := &manifest.Manifest{}
	all := []int{}
	for i := range 1000 {
		name := fmt.Sprint("q", i)
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: name})
		m.Topology.Bindings = append(m.Topology.Bindings, manifest.Binding{Exchange: fmt.Sprint("x", i), Queue: i, RoutingKey: name})
		m.Topology.Routes = append(m.Topology.Routes, manifest.Route{Exchange: "x0", RoutingKey: name, Known: true})
		m.Producers = append(m.Producers, manifest.Producer{Route: i})
		m.Consumers = append(m.Consumers, manifest.Consumer{Queues: []int{i}})
		all = append(all, i)
	}
	m.Consumers = append(m.Consumers[:999:999], manifest.Consumer{Queues: all})
	got := topologyOf(m)
	for name, n := range map[string]int{"queues": len(got.Queues), "bindings": len(got.Bindings), "producers": len(got.Producers), "consumers": len(got.Consumers), "exchanges": len(got.Exchanges)} {
		if n != 256 {
			t.Errorf("%d %s are listed, want 256", n, name)
		}
	}
	if got.QueuesTotal != 1000 || got.BindingsTotal != 1000 || got.ProducersTotal != 1000 || got.ConsumersTotal != 1000 {
		t.Errorf("totals %d %d %d %d, want 1000 each", got.QueuesTotal, got.BindingsTotal, got.ProducersTotal, got.ConsumersTotal)
	}
}
