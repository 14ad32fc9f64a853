package topology

import (
	"slices"
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
		kind        string
		declare     bool
		fresh       bool
		predeclared bool
		exchange    string
		keys        []string
		want        []int
		known       bool
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
		"predeclared, bindings not our own": {kind: "direct", declare: true, predeclared: true, keys: []string{"k"}, want: []int{}, known: false},
	} {
		exchange := "e"
		if c.exchange != "" {
			exchange = c.exchange
		}
		topology := &manifest.Topology{
			Exchanges: []manifest.Exchange{{Name: exchange, Type: c.kind, Declare: c.declare}},
			Queues:    queues, Bindings: bind(exchange, c.keys...), Predeclared: c.predeclared,
		}
		d := &declarer{topology: topology, fresh: map[string]bool{exchange: c.fresh}}
		r := manifest.Route{Exchange: exchange, RoutingKey: "k"}
		d.boundRoute(&r)
		if !slices.Equal(r.Queues, c.want) || r.Queues == nil || r.Known != c.known {
			t.Errorf("%s: queues %v, known %v; want %v, %v", name, r.Queues, r.Known, c.want, c.known)
		}
	}
}
