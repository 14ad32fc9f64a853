package topology

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"leveret/capture/manifest"
)

// The first eight rows are the examples of AMQP 0-9-1 section 3.1.3.3 and of RabbitMQ's tutorial 5, the others follow from
// the rule: * is exactly one word, # any number of words, none included, the empty key has no words.
func TestTopicMatches(t *testing.T) {
	for _, c := range []struct {
		binding, key string
		want         bool
	}{
		{"*.stock.#", "usd.stock", true},
		{"*.stock.#", "eur.stock.db", true},
		{"*.stock.#", "stock.nasdaq", false},
		{"*.orange.*", "quick.orange.rabbit", true},
		{"lazy.#", "lazy.orange.elephant", true},
		{"*.orange.*", "quick.orange.new.rabbit", false},
		{"lazy.#", "lazy.orange.new.rabbit", true},
		{"lazy.#", "lazy", true},
		{"#", "", true},
		{"#", "a.b.c", true},
		{"", "", true},
		{"*", "", false},
		{"*", "a", true},
		{"*", "a.b", false},
		{"#.#", "", true},
		{"#.b", "b", true},
		{"#.b", "a.b.c.b", true},
		{"#.b", "a.b.c", false},
		{"a.#.b.#.c", "a.b.c", true},
		{"a.#.b.#.c", "a.x.b.y.y.c", true},
		{"a.#.b.#.c", "a.x.y.c", false},
		{"#.*", "", false},
		{"#.*", "a.b", true},
		{"a.*.#", "a", false},
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a..b", "a..b", true},
		{"a.*.b", "a..b", true},
		{"a*", "ab", false},
	} {
		if got := topicMatches(c.binding, c.key); got != c.want {
			t.Errorf("binding %q, key %q: %v, want %v", c.binding, c.key, got, c.want)
		}
	}
}

// recursive is the definition itself, slow and plain.
func recursive(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return recursive(pattern[1:], key) || len(key) > 0 && recursive(pattern, key[1:])
	case len(key) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == key[0]) && recursive(pattern[1:], key[1:])
}

func TestTopicMatchesAsTheDefinitionDoes(t *testing.T) {
	words := func(picks []uint8, alphabet []string) []string {
		out := make([]string, min(len(picks), 7))
		for i := range out {
			out[i] = alphabet[int(picks[i])%len(alphabet)]
		}
		return out
	}
	same := func(p, k []uint8) bool {
		pattern, key := words(p, []string{"a", "b", "*", "#"}), words(k, []string{"a", "b"})
		return topicMatches(strings.Join(pattern, "."), strings.Join(key, ".")) == recursive(pattern, key)
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestBoundRoute(t *testing.T) {
	queues := []manifest.Queue{{Name: "q0"}, {Name: "q1"}, {Name: "q2"}}
	bind := func(exchange string, keys ...string) (out []manifest.Binding) {
		for i, key := range keys {
			out = append(out, manifest.Binding{Exchange: exchange, Queue: i, RoutingKey: key})
		}
		return out
	}
	for name, c := range map[string]struct {
		kind     string
		declare  bool
		fresh    bool
		strict   bool
		learned  string
		args     []manifest.Arg // of the first binding
		exchange string
		keys     []string
		want     []int
		known    bool
	}{
		"direct":                            {kind: "direct", declare: true, keys: []string{"k", "other", "k"}, want: []int{0, 2}, known: true},
		"fanout":                            {kind: "fanout", declare: true, keys: []string{"a", "b", "c"}, want: []int{0, 1, 2}, known: true},
		"topic":                             {kind: "topic", declare: true, keys: []string{"*", "#", "k.*"}, want: []int{0, 1}, known: true},
		"headers, bound without arguments":  {kind: "headers", declare: true, keys: []string{"a", "b"}, want: []int{0, 1}, known: true},
		"new exchange, no binding fits":     {kind: "direct", declare: true, fresh: true, keys: []string{"x"}, want: []int{}, known: true},
		"old exchange, no binding fits":     {kind: "direct", declare: true, keys: []string{"x"}, want: []int{}, known: false},
		"a plugin's type":                   {kind: "x-consistent-hash", declare: true, fresh: true, keys: []string{"k"}, want: []int{}, known: false},
		"used as it is, type not known":     {kind: "direct", keys: []string{"k"}, want: []int{}, known: false},
		"built in":                          {exchange: "amq.topic", kind: "wrong", keys: []string{"#", "x"}, want: []int{0}, known: true},
		"strict, bindings not our own":      {kind: "direct", declare: true, strict: true, keys: []string{"k"}, want: []int{}, known: false},
		"found, type learned":               {kind: "direct", learned: "fanout", keys: []string{"a", "b"}, want: []int{0, 1}, known: true},
		"topic, with and without wildcards": {kind: "topic", declare: true, keys: []string{"k", "*.x", "*"}, want: []int{0, 2}, known: true},
		"headers, bound with arguments": {kind: "headers", declare: true, fresh: true, args: []manifest.Arg{{Key: "h", Value: "v"}},
			keys: []string{"a", "b"}, want: []int{1}, known: false},
	} {
		exchange := "e"
		if c.exchange != "" {
			exchange = c.exchange
		}
		topology := &manifest.Topology{
			Exchanges: []manifest.Exchange{{Name: exchange, Type: c.kind, Declare: c.declare}},
			Queues:    queues, Bindings: bind(exchange, c.keys...), Predeclared: c.strict, Strict: c.strict,
		}
		topology.Bindings[0].Arguments = c.args
		d := newDeclarer(topology)
		d.fresh[exchange] = c.fresh
		if c.learned != "" {
			d.types[exchange] = c.learned
		}
		r := manifest.Route{Exchange: exchange, RoutingKey: "k"}
		d.boundRoute(&r)
		if !slices.Equal(r.Queues, c.want) || r.Queues == nil || r.Known != c.known {
			t.Errorf("%s: queues %v, known %v; want %v, %v", name, r.Queues, r.Known, c.want, c.known)
		}
	}
}

// A queue that is bound twice gets a message once.
func TestQueueBoundTwiceIsReachedOnce(t *testing.T) {
	for kind, keys := range map[string][2]string{"direct": {"k", "k"}, "fanout": {"a", "b"}, "headers": {"a", "b"}, "topic": {"#", "k"}} {
		top := &manifest.Topology{Exchanges: []manifest.Exchange{{Name: "e", Type: kind, Declare: true}}, Queues: []manifest.Queue{{Name: "q"}},
			Bindings: []manifest.Binding{{Exchange: "e", RoutingKey: keys[0]}, {Exchange: "e", RoutingKey: keys[1]}},
			Routes:   []manifest.Route{{Exchange: "e", RoutingKey: "k"}}}
		Resolve(top)
		if r := top.Routes[0]; !slices.Equal(r.Queues, []int{0}) || !r.Known {
			t.Errorf("%s: %+v, want queue 0 once", kind, r)
		}
	}
}

// A random key stands for all keys of its form: by it no direct binding is hit, topics only by wildcards, and on the default
// exchange there is no queue of that name.
func TestResolveRandomKeys(t *testing.T) {
	const sample = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
	for _, c := range []struct {
		kind string
		want []int
	}{{"direct", []int{}}, {"fanout", []int{0, 1, 2}}, {"headers", []int{0, 1, 2}}, {"topic", []int{0, 1}}, {"", []int{}}} {
		exchange := c.kind
		top := &manifest.Topology{
			Exchanges: []manifest.Exchange{{Name: exchange, Type: c.kind, Declare: true}},
			Queues:    []manifest.Queue{{Name: "q0"}, {Name: "q1"}, {Name: "q2"}},
			Routes:    []manifest.Route{{Exchange: exchange, RoutingKey: sample, Random: true}},
		}
		for i, key := range []string{"#", "*", "*.*"} {
			top.Bindings = append(top.Bindings, manifest.Binding{Exchange: exchange, Queue: i, RoutingKey: key})
		}
		Resolve(top)
		if r := top.Routes[0]; !slices.Equal(r.Queues, c.want) || !r.Known {
			t.Errorf("%q: %+v, want %v, known", c.kind, r, c.want)
		}
	}
}

// 10,000 queues with as many keys are no reason to wait.
func TestManyRoutes(t *testing.T) {
	const n = 10000
	top := &manifest.Topology{Exchanges: []manifest.Exchange{{Name: "e", Type: "direct", Declare: true}}}
	for i := range n {
		name := strconv.Itoa(i)
		top.Queues = append(top.Queues, manifest.Queue{Name: name})
		top.Bindings = append(top.Bindings, manifest.Binding{Exchange: "e", Queue: i, RoutingKey: name})
		top.Routes = append(top.Routes, manifest.Route{Exchange: "e", RoutingKey: name})
	}
	Resolve(top)
	for i, r := range top.Routes {
		if !slices.Equal(r.Queues, []int{i}) || !r.Known {
			t.Fatalf("route %d: %+v", i, r)
		}
	}
}
