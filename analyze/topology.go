package analyze

import (
	"fmt"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// topology puts the topologies of all captures together, each queue and binding once. Nil where no capture has one.
func (a *analysis) topology() *result.Topology {
	j := joinedTopology{t: &result.Topology{}, queues: map[string]int{}, producers: map[result.Publishers]int{}, subscribers: map[string]int{}, bindings: map[result.Binding]bool{}}
	for _, c := range a.captures {
		if c.manifest != nil {
			j.add(c.manifest)
		}
	}
	if j.t.QueuesTotal+j.t.ProducersTotal+j.t.ConsumersTotal == 0 {
		return nil
	}
	return j.t
}

// joinedTopology finds what is there already.
type joinedTopology struct {
	t           *result.Topology
	queues      map[string]int // places by name, also of those that the lists do not hold
	producers   map[result.Publishers]int
	subscribers map[string]int
	bindings    map[result.Binding]bool
}

func (j *joinedTopology) add(m *manifest.Manifest) {
	places := make([]int, len(m.Topology.Queues)) // of the manifest's queues in the result
	for i := range m.Topology.Queues {
		places[i] = j.queue(m, i)
	}
	groups := map[[2]int]result.Publishers{} // by first route and their number: as many producers may have as many routes
	for i := range m.Producers {
		p := &m.Producers[i]
		k := [2]int{p.Route, max(1, p.Routes)}
		if k[0] < 0 || k[1] > len(m.Topology.Routes)-k[0] {
			continue
		}
		if _, known := groups[k]; !known {
			groups[k] = j.publishers(m, k[0], k[1], places)
		}
		if g := kept(j.producers, groups[k], &j.t.ProducersTotal, &j.t.Producers, groups[k]); g != nil {
			g.Count++
		}
	}
	for i := range m.Topology.Bindings {
		b := &m.Topology.Bindings[i]
		if b.Queue >= 0 && b.Queue < len(places) {
			j.exchange(m, b.Exchange)
			j.bind(result.Binding{Exchange: b.Exchange, Queue: places[b.Queue], RoutingKey: b.RoutingKey})
		}
	}
	for i := range m.Consumers {
		j.consumer(m.Consumers[i].Queues, places)
	}
}

func (j *joinedTopology) queue(m *manifest.Manifest, i int) int {
	q := &m.Topology.Queues[i]
	key := q.Name
	if key == "" {
		key = fmt.Sprintf("%s/%d", m.ID, i)
	}
	if at, ok := j.queues[key]; ok {
		return at
	}
	at := j.t.QueuesTotal
	j.queues[key] = at
	j.t.QueuesTotal++
	if at < result.TopologyKept {
		j.t.Queues = append(j.t.Queues, result.QueueNode{Name: q.Name, Type: q.Type})
	}
	return at
}

func (j *joinedTopology) exchange(m *manifest.Manifest, name string) {
	x := result.Exchange{Name: name}
	for _, e := range m.Topology.Exchanges {
		if e.Name == name && name != "" {
			x.Type = e.Type
		}
	}
	known := slices.ContainsFunc(j.t.Exchanges, func(e result.Exchange) bool { return e.Name == name })
	if !known && len(j.t.Exchanges) < result.TopologyKept {
		j.t.Exchanges = append(j.t.Exchanges, x)
	}
}

// publishers are the producers that publish to so many routes from one on. Of the default exchange, whose bindings nobody declares, what
// the routes reach is bound.
func (j *joinedTopology) publishers(m *manifest.Manifest, first, keys int, places []int) result.Publishers {
	group := result.Publishers{Keys: keys}
	for i, route := range m.Topology.Routes[first : first+keys] {
		key := route.RoutingKey
		if route.Random {
			key = "random for each message"
		}
		if i == 0 {
			group.Exchange, group.RoutingKey = route.Exchange, key
		}
		group.Unknown = group.Unknown || !route.Known
		j.exchange(m, route.Exchange)
		for _, q := range route.Queues {
			if route.Exchange == "" && q >= 0 && q < len(places) {
				j.bind(result.Binding{Queue: places[q], RoutingKey: key})
			}
		}
	}
	return group
}

// kept is the group with a key, added where it is new; nil where it is one of those that are only counted.
func kept[K comparable, T any](places map[K]int, key K, total *int, list *[]T, fresh T) *T {
	at, ok := places[key]
	if !ok {
		at = *total
		places[key] = at
		if *total++; at < result.TopologyKept {
			*list = append(*list, fresh)
		}
	}
	if at >= result.TopologyKept {
		return nil
	}
	return &(*list)[at]
}

func (j *joinedTopology) bind(b result.Binding) {
	if j.bindings[b] {
		return
	}
	j.bindings[b] = true
	j.t.BindingsTotal++
	if len(j.t.Bindings) < result.TopologyKept && b.Queue < result.TopologyKept {
		j.t.Bindings = append(j.t.Bindings, b)
	}
}

func (j *joinedTopology) consumer(queues, places []int) {
	group := result.Subscribers{QueuesTotal: len(queues)}
	var all []int
	for _, q := range queues {
		if q < 0 || q >= len(places) {
			continue
		}
		all = append(all, places[q])
		if places[q] < result.TopologyKept && len(group.Queues) < result.TopologyKept {
			group.Queues = append(group.Queues, places[q])
		}
	}
	if g := kept(j.subscribers, fmt.Sprint(all), &j.t.ConsumersTotal, &j.t.Consumers, group); g != nil {
		g.Count++
	}
}
