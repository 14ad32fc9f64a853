package topology

import (
	"slices"
	"testing"

	"leveret/capture/manifest"
)

func found(exchange, destination, key string) manifest.FoundBinding {
	return manifest.FoundBinding{Exchange: exchange, Destination: destination, RoutingKey: key}
}

func onward(exchange, destination, key string) manifest.FoundBinding {
	b := found(exchange, destination, key)
	b.ToExchange = true
	return b
}

// Where messages go by bindings of others: through every standard type, on through exchanges, by the alternate one.
func TestFollow(t *testing.T) {
	m := &manifest.Management{
		Exchanges: []manifest.FoundExchange{
			{Name: "direct", Type: "direct"}, {Name: "fan", Type: "fanout"}, {Name: "topic", Type: "topic"}, {Name: "headers", Type: "headers"},
			{Name: "first", Type: "topic"}, {Name: "round", Type: "fanout"}, {Name: "else", Type: "direct", Alternate: "fan"},
			{Name: "hash", Type: "x-consistent-hash"}, {Name: "gone", Type: ""}, {Name: "late", Type: "direct", Alternate: "gone"},
		},
		Bindings: []manifest.FoundBinding{
			found("direct", "a", "k"), found("direct", "b", "k"), found("direct", "b", "other"), found("direct", "foreign", "k"), found("direct", "foreign", "theirs"),
			found("fan", "b", "whatever"),
			found("topic", "a", "x.#"), found("topic", "b", "*.y"),
			found("headers", "a", "k"), {Exchange: "headers", Destination: "b", Arguments: []manifest.Arg{{Key: "x-match", Value: "any"}}},
			onward("first", "direct", "k"), onward("first", "fan", "#"), onward("first", "round", "#"), onward("round", "first", ""),
			found("else", "a", "k"),
		},
	}
	for _, c := range []struct {
		exchange, key string
		want          []int // nil: it stays unknown
	}{
		{"direct", "k", []int{0, 1}},
		{"direct", "none", []int{}},
		{"direct", "theirs", nil}, // a queue that nobody here knows
		{"fan", "k", []int{1}},
		{"topic", "x.y", []int{0, 1}},
		{"topic", "x", []int{0}},
		{"headers", "k", nil}, // depends on the message
		{"first", "k", []int{0, 1}},
		{"first", "z", []int{1}},
		{"else", "k", []int{0}},
		{"else", "z", []int{1}}, // its alternate exchange takes it
		{"hash", "k", nil},
		{"late", "k", []int{}},
		{"not asked", "k", nil},
	} {
		top := &manifest.Topology{Predeclared: true, Strict: true, Queues: []manifest.Queue{{Name: "a"}, {Name: "b"}},
			Routes: []manifest.Route{{Exchange: c.exchange, RoutingKey: c.key}}}
		if c.exchange == "hash" {
			m.Bindings = append(m.Bindings, found("hash", "a", "1"))
		}
		Follow(top, m)
		if r := top.Routes[0]; r.Known != (c.want != nil) || !slices.Equal(r.Queues, c.want) {
			t.Errorf("%s, key %s: %+v, want %v", c.exchange, c.key, r, c.want)
		}
	}
}

// What the run binds itself when its consumers come counts, too; what it made alone is left as it is.
func TestFollowKeepsWhatTheRunKnows(t *testing.T) {
	top := &manifest.Topology{
		Queues:   []manifest.Queue{{Name: "mine", Exclusive: true, Declare: true}},
		Bindings: []manifest.Binding{{Exchange: "there", Queue: 0, RoutingKey: "k"}},
		Routes:   []manifest.Route{{Exchange: "there", RoutingKey: "k"}, {Exchange: "made", RoutingKey: "k", Queues: []int{0}, Known: true}},
	}
	Follow(top, &manifest.Management{Exchanges: []manifest.FoundExchange{{Name: "there", Type: "direct"}, {Name: "made", Type: "direct"}}})
	for i, r := range top.Routes {
		if !r.Known || !slices.Equal(r.Queues, []int{0}) {
			t.Errorf("route %d: %+v", i, r)
		}
	}
}
