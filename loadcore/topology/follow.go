package topology

import (
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
)

// Follow settles the routes of t that lead through exchanges with bindings that the run did not make, by what the broker said
// of them (m.Exchanges, m.Bindings): which of the run's queues each reaches, or that it reaches no queue at all. A route stays as
// it is where something on its way cannot be followed (an exchange type of a plugin, headers), and where it leads to queues of
// others alone: their messages are nobody's to judge here. Queues that the consumers' connections are to declare
// are reached by the bindings that they will make.
func Follow(t *manifest.Topology, m *manifest.Management) {
	f := follower{t: t, m: m, own: map[string]int{}, from: map[string][]manifest.FoundBinding{}}
	for i := range t.Queues {
		f.own[t.Queues[i].Name] = i
	}
	for _, b := range m.Bindings {
		f.from[b.Exchange] = append(f.from[b.Exchange], b)
	}
	if !t.Strict {
		for _, b := range t.Bindings {
			if q := &t.Queues[b.Queue]; q.Exclusive {
				f.from[b.Exchange] = append(f.from[b.Exchange], manifest.FoundBinding{Exchange: b.Exchange, Destination: q.Name, RoutingKey: b.RoutingKey, Arguments: b.Arguments})
			}
		}
	}
	for i := range t.Routes {
		if r := &t.Routes[i]; r.Exchange != "" && (!r.Known || t.Predeclared) {
			f.settle(r)
		}
	}
}

type follower struct {
	t    *manifest.Topology
	m    *manifest.Management
	own  map[string]int // queues of the run, by name
	from map[string][]manifest.FoundBinding
}

func (f *follower) settle(r *manifest.Route) {
	queues, ok := f.reached(r.Exchange, r.RoutingKey)
	if !ok {
		return
	}
	reached := []int{}
	for name := range queues {
		if i, own := f.own[name]; own {
			reached = append(reached, i)
		}
	}
	if len(reached) == 0 && len(queues) > 0 {
		return
	}
	slices.Sort(reached)
	r.Queues, r.Known = reached, true
}

// reached are the names of the queues that a message gets to; ok is false where that cannot be told.
func (f *follower) reached(exchange, key string) (queues map[string]bool, ok bool) {
	queues = map[string]bool{}
	seen := map[string]bool{}
	for next := []string{exchange}; len(next) > 0; next = next[1:] {
		if seen[next[0]] { // a message passes an exchange once, also in a circle
			continue
		}
		seen[next[0]] = true
		x := f.exchange(next[0])
		if x == nil {
			return nil, false
		}
		taken := false
		for _, b := range f.from[x.Name] {
			matches, known := matchesBinding(x.Type, &b, key)
			if !known {
				return nil, false
			}
			if !matches {
				continue
			}
			taken = true
			if b.ToExchange {
				next = append(next, b.Destination)
			} else {
				queues[b.Destination] = true
			}
		}
		if !taken && x.Alternate != "" {
			next = append(next, x.Alternate)
		}
	}
	return queues, true
}

func (f *follower) exchange(name string) *manifest.FoundExchange {
	for i := range f.m.Exchanges {
		if f.m.Exchanges[i].Name == name {
			return &f.m.Exchanges[i]
		}
	}
	return nil
}

// matchesBinding compares as an exchange of the type does; known is false where that cannot be told. An exchange without a
// type is not there: nothing matches.
func matchesBinding(kind string, b *manifest.FoundBinding, key string) (matches, known bool) {
	switch kind {
	case "":
		return false, true
	case amqp.ExchangeDirect:
		return b.RoutingKey == key, true
	case amqp.ExchangeFanout:
		return true, true
	case amqp.ExchangeTopic:
		return topicMatches(b.RoutingKey, key), true
	case amqp.ExchangeHeaders:
		return len(b.Arguments) == 0, len(b.Arguments) == 0 // all of no headers match every message
	}
	return false, false
}
