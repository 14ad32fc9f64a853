package topology

import (
	"slices"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
)

// routes fills in Queues and Known of every route. Known means that Queues is complete as far as this run's queues are
// concerned: what is published here must arrive in each of them. Other queues may get copies through bindings that
// somebody else made; that takes nothing from ours. Only where the list would be empty do foreign bindings matter, because
// an empty and known list says that the messages reach no queue at all.
func (d *declarer) routes() error {
	for i := range d.topology.Routes {
		r := &d.topology.Routes[i]
		var err error
		if r.Exchange == "" {
			err = d.defaultRoute(r)
		} else {
			d.boundRoute(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// defaultRoute: the default exchange reaches the queue that the routing key names, and no other.
func (d *declarer) defaultRoute(r *manifest.Route) error {
	r.Queues, r.Known = []int{}, true
	for i, q := range d.topology.Queues {
		if q.Name == r.RoutingKey {
			r.Queues = append(r.Queues, i)
			return nil
		}
	}
	_, err := d.ready(r.RoutingKey)
	if isNotFound(err) {
		return nil // known to reach nothing
	}
	// It is somebody else's queue, or we may not look.
	r.Known = false
	if err != nil && d.conn.IsClosed() {
		return refused("looking for queue", r.RoutingKey, nil, err)
	}
	return nil
}

// boundRoute follows the bindings that this run made.
func (d *declarer) boundRoute(r *manifest.Route) {
	queues, followed := d.reached(r.Exchange, r.RoutingKey)
	r.Queues = queues
	r.Known = len(queues) > 0 || followed && d.fresh[r.Exchange]
}

// reached returns the queues that the run's own bindings lead to, ascending and not nil; followed is false where that
// cannot be told.
func (d *declarer) reached(exchange, key string) (queues []int, followed bool) {
	queues = []int{}
	if d.topology.Predeclared {
		return queues, false
	}
	matches := matcher(d.exchangeType(exchange))
	if matches == nil {
		return queues, false
	}
	for _, b := range d.topology.Bindings {
		if b.Exchange == exchange && matches(b.RoutingKey, key) && !slices.Contains(queues, b.Queue) {
			queues = append(queues, b.Queue)
		}
	}
	slices.Sort(queues)
	return queues, true
}

// exchangeType returns the type of an exchange, "" where it is not known: that of one which the run did not declare cannot
// be asked for in AMQP 0-9-1.
func (d *declarer) exchangeType(name string) string {
	switch name { // AMQP 0-9-1 section 3.1.3.4; amq.match is the older name of amq.headers
	case "amq.direct":
		return amqp.ExchangeDirect
	case "amq.fanout":
		return amqp.ExchangeFanout
	case "amq.topic":
		return amqp.ExchangeTopic
	case "amq.headers", "amq.match":
		return amqp.ExchangeHeaders
	}
	for _, e := range d.topology.Exchanges {
		if e.Name == name && e.Declare {
			return e.Type
		}
	}
	return ""
}

// matcher returns how a type of exchange compares a binding's key with a message's; nil for types that look at more than
// the key, as plugins bring them.
func matcher(exchangeType string) func(binding, key string) bool {
	switch exchangeType {
	case amqp.ExchangeDirect:
		return func(binding, key string) bool { return binding == key }
	case amqp.ExchangeFanout:
		return func(string, string) bool { return true }
	case amqp.ExchangeTopic:
		return topicMatches
	case amqp.ExchangeHeaders:
		// We bind without arguments, and all of no headers match every message.
		return func(string, string) bool { return true }
	}
	return nil
}

// topicMatches: words between dots, * stands for one word, # for any number of them, none included (AMQP 0-9-1 section
// 3.1.3.3).
func topicMatches(binding, key string) bool {
	return wordsMatch(words(binding), words(key))
}

// words splits a key as brokers do: the empty key has no words, not one empty word.
func words(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

// wordsMatch compares greedily and comes back to the last # when a word does not fit: quadratic at most, where trying
// every # in turn would be exponential.
func wordsMatch(pattern, key []string) bool {
	p, k := 0, 0
	hash, taken := -1, 0 // the last #, and how far the key was when it was met
	for k < len(key) {
		switch {
		case p < len(pattern) && pattern[p] == "#":
			hash, taken = p, k
			p++
		case p < len(pattern) && (pattern[p] == "*" || pattern[p] == key[k]):
			p++
			k++
		case hash >= 0:
			taken++
			p, k = hash+1, taken
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "#" {
		p++
	}
	return p == len(pattern)
}
