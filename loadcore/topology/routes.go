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

// mostLooks bounds how many queues are looked for that only the routing keys of the default exchange name: each look that
// fails costs a channel, and a line in the broker's log.
const mostLooks = 64

// defaultRoute: the default exchange reaches the queue that the routing key names, and no other.
func (d *declarer) defaultRoute(r *manifest.Route) error {
	if d.ownQueue(r) {
		return nil
	}
	if d.looks++; d.looks > mostLooks {
		r.Known = false
		return nil
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

// ownQueue settles a route of the default exchange as far as the run itself knows: to the queue of that name, or, with
// random keys, to none.
func (d *declarer) ownQueue(r *manifest.Route) (settled bool) {
	r.Queues, r.Known = []int{}, true
	if r.Random {
		return true
	}
	if d.named == nil { // the broker has named the others by now
		d.named = make(map[string]int, len(d.topology.Queues))
		for i := len(d.topology.Queues) - 1; i >= 0; i-- {
			d.named[d.topology.Queues[i].Name] = i
		}
	}
	i, own := d.named[r.RoutingKey]
	if !own {
		return false
	}
	r.Queues = append(r.Queues, i)
	return true
}

// boundRoute follows the bindings that this run made.
func (d *declarer) boundRoute(r *manifest.Route) {
	queues, followed := d.reached(r.Exchange, r.RoutingKey)
	r.Queues = queues
	r.Known = followed && (len(queues) > 0 || d.fresh[r.Exchange])
}

// Resolve works out the routes of t without a broker, as they will be if everything that t declares is new, and everything
// that it does not declare, or only if it is missing, is as t says. It is for showing what a run would do; Declare finds out
// how it is.
func Resolve(t *manifest.Topology) {
	d := newDeclarer(t)
	for _, e := range t.Exchanges {
		d.fresh[e.Name] = e.Declare && !t.Predeclared
	}
	for i := range t.Routes {
		if r := &t.Routes[i]; r.Exchange != "" {
			d.boundRoute(r)
		} else if !d.ownQueue(r) {
			r.Known = false
		}
	}
}

// ways are where the run's own bindings of one exchange lead.
type ways struct {
	followed bool               // all of them could be followed
	exact    map[string][]int   // by the key that a message must have
	every    []int              // whatever the key
	patterns []manifest.Binding // by topicMatches
}

// reached returns the queues that the run's own bindings lead to, ascending and not nil; followed is false where that
// cannot be told. The caller must not change the queues.
func (d *declarer) reached(exchange, key string) (queues []int, followed bool) {
	w := d.ways[exchange]
	if w == nil {
		w = d.follow(exchange)
		d.ways[exchange] = w
	}
	exact := w.exact[key]
	if len(w.patterns) == 0 {
		switch {
		case len(exact) == 0:
			return w.every, w.followed
		case len(w.every) == 0:
			return exact, w.followed
		}
	}
	queues = slices.Concat([]int{}, w.every, exact)
	for _, b := range w.patterns {
		if topicMatches(b.RoutingKey, key) {
			queues = append(queues, b.Queue)
		}
	}
	slices.Sort(queues)
	return slices.Compact(queues), w.followed
}

// follow sorts the bindings of an exchange by how its type compares keys. Each binding of a queue stands in only one of the
// lists, so that none of them has a queue twice under one key.
func (d *declarer) follow(exchange string) *ways {
	w := &ways{exact: map[string][]int{}, every: []int{}}
	kind := d.exchangeType(exchange)
	if d.topology.Strict || !standard(kind) {
		return w
	}
	w.followed = true
	for _, b := range d.topology.Bindings {
		switch {
		case b.Exchange != exchange:
		case kind == amqp.ExchangeHeaders && len(b.Arguments) > 0:
			w.followed = false // it depends on the headers of each message
		case kind == amqp.ExchangeFanout || kind == amqp.ExchangeHeaders: // all of no headers match every message
			w.every = insert(w.every, b.Queue)
		case kind == amqp.ExchangeTopic && strings.ContainsAny(b.RoutingKey, "*#"):
			w.patterns = append(w.patterns, b)
		default:
			w.exact[b.RoutingKey] = insert(w.exact[b.RoutingKey], b.Queue)
		}
	}
	return w
}

// insert keeps a list ascending, and without duplicates.
func insert(list []int, n int) []int {
	if i, found := slices.BinarySearch(list, n); !found {
		return slices.Insert(list, i, n)
	}
	return list
}

// standard types of exchanges are on every broker (AMQP 0-9-1 section 3.1.3) and look at nothing but keys, or headers.
func standard(exchangeType string) bool {
	switch exchangeType {
	case amqp.ExchangeDirect, amqp.ExchangeFanout, amqp.ExchangeTopic, amqp.ExchangeHeaders:
		return true
	}
	return false
}

// builtInTypes are the exchanges that every broker has (AMQP 0-9-1 section 3.1.3.4); amq.match is the older name of
// amq.headers.
var builtInTypes = map[string]string{
	"amq.direct": amqp.ExchangeDirect, "amq.fanout": amqp.ExchangeFanout, "amq.topic": amqp.ExchangeTopic,
	"amq.headers": amqp.ExchangeHeaders, "amq.match": amqp.ExchangeHeaders,
}

// exchangeType returns the type of an exchange, "" where it is not known.
func (d *declarer) exchangeType(name string) string {
	if kind := builtInTypes[name]; kind != "" {
		return kind
	}
	if kind, learned := d.types[name]; learned {
		return kind
	}
	for _, e := range d.topology.Exchanges {
		if e.Name == name && e.Declare {
			return e.Type
		}
	}
	return ""
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
