package topology

import (
	"reflect"
	"strings"
	"testing"

	"leveret/capture/manifest"
)

func TestValidateRefusesBeforeConnecting(t *testing.T) {
	quorum := manifest.Queue{Name: "q", Type: "quorum", Durable: true, Declare: true}
	with := func(change func(q *manifest.Queue)) manifest.Topology {
		q := quorum
		change(&q)
		return manifest.Topology{Queues: []manifest.Queue{q}}
	}
	for name, c := range map[string]struct {
		topology manifest.Topology
		words    []string // of the error
	}{
		"quorum, transient and auto-delete": {with(func(q *manifest.Queue) { q.Durable, q.AutoDelete = false, true }),
			[]string{`"q"`, "quorum", "--flag persistent", "--auto-delete=false"}},
		"quorum without a name": {with(func(q *manifest.Queue) { q.Name = "" }), []string{"--queue"}},
		"quorum by argument": {with(func(q *manifest.Queue) {
			q.Type, q.Durable = "", false
			q.Arguments = []manifest.Arg{{Key: "x-queue-type", Value: "quorum"}}
		}), []string{"quorum", "durable"}},
		"stream, auto-delete": {with(func(q *manifest.Queue) { q.Type, q.AutoDelete = "stream", true }), []string{"stream", "--auto-delete=false"}},
		"two types": {with(func(q *manifest.Queue) {
			q.Arguments = []manifest.Arg{{Key: "x-queue-type", Value: "stream"}}
		}), []string{"quorum", "stream"}},
		"type not a text": {with(func(q *manifest.Queue) {
			q.Arguments = []manifest.Arg{{Key: "x-queue-type", Value: int64(1)}}
		}), []string{"x-queue-type=1"}},
		"quorum, exclusive":        {with(func(q *manifest.Queue) { q.Exclusive = true }), []string{`"q"`, "quorum", "cannot be exclusive", "--exclusive"}},
		"exclusive without a name": {manifest.Topology{Queues: []manifest.Queue{{Exclusive: true, Declare: true}}}, []string{"exclusive", "name"}},
		"exclusive, nothing to be declared": {manifest.Topology{Predeclared: true, Strict: true, Queues: []manifest.Queue{{Name: "q", Exclusive: true}}},
			[]string{"--exclusive", "--predeclared=strict"}},
		"predeclared without a name": {manifest.Topology{Predeclared: true, Queues: []manifest.Queue{{Declare: true}}}, []string{"--queue"}},
		"binding with a list": {manifest.Topology{Queues: []manifest.Queue{quorum},
			Bindings: []manifest.Binding{{Exchange: "e", Arguments: []manifest.Arg{{Key: "x", Value: []any{}}}}}}, []string{"binding", `"q"`, "x", "not supported"}},
		"a fraction": {with(func(q *manifest.Queue) {
			q.Arguments = []manifest.Arg{{Key: "x-max-length", Value: 1.5}}
		}), []string{"x-max-length=1.5", "whole"}},
		"an argument twice": {with(func(q *manifest.Queue) {
			q.Arguments = []manifest.Arg{{Key: "x-expires", Value: int64(1)}, {Key: "x-expires", Value: int64(2)}}
		}), []string{"x-expires", "twice"}},
		"a list": {with(func(q *manifest.Queue) {
			q.Arguments = []manifest.Arg{{Key: "x", Value: []any{}}}
		}), []string{"x", "not supported"}},
		"reserved name":     {with(func(q *manifest.Queue) { q.Name = "amq.q" }), []string{`"amq.q"`, "--queue"}},
		"long name":         {with(func(q *manifest.Queue) { q.Name = strings.Repeat("n", 256) }), []string{"256", "255"}},
		"no name, as it is": {manifest.Topology{Queues: []manifest.Queue{{}}}, []string{"--queue"}},
		"binding to the default exchange": {manifest.Topology{Queues: []manifest.Queue{quorum},
			Bindings: []manifest.Binding{{Exchange: "", Queue: 0}}}, []string{"default exchange"}},
		"binding of no queue": {manifest.Topology{Bindings: []manifest.Binding{{Exchange: "e", Queue: 0}}}, []string{"index 0", "0 queues"}},
		"exchange without a type": {manifest.Topology{Exchanges: []manifest.Exchange{{Name: "e", Declare: true}}},
			[]string{`"e"`, "--type"}},
		"long routing key": {manifest.Topology{Routes: []manifest.Route{{RoutingKey: strings.Repeat("k", 300)}}}, []string{"300", "255"}},
	} {
		err := Validate(&c.topology)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
}

func TestValidateMakesTheTopologyExplicit(t *testing.T) {
	topology := manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "", Declare: true}, {Name: "amq.topic", Type: "direct", Declare: true}, {Name: "e", Type: "direct", Declare: true}},
		Queues: []manifest.Queue{
			{Name: "classic", Declare: true},
			{Name: "quorum", Type: "quorum", Durable: true, Declare: true},
			{Name: "stream", Durable: true, Declare: true, Arguments: []manifest.Arg{{Key: "x-queue-type", Value: "stream"}}},
		},
	}
	if err := Validate(&topology); err != nil {
		t.Fatal(err)
	}
	var declared []bool
	for _, e := range topology.Exchanges {
		declared = append(declared, e.Declare)
	}
	if want := []bool{false, false, true}; !reflect.DeepEqual(declared, want) {
		t.Errorf("exchanges to declare: %v, want %v", declared, want)
	}
	if e := topology.Exchanges[1]; e.Type != "topic" {
		t.Errorf("amq.topic is of type %s", e.Type)
	}
	for i, want := range []struct {
		kind string
		args []manifest.Arg
	}{
		{"classic", nil},
		{"quorum", []manifest.Arg{{Key: "x-queue-type", Value: "quorum"}}},
		{"stream", []manifest.Arg{{Key: "x-queue-type", Value: "stream"}}},
	} {
		q := topology.Queues[i]
		if q.Type != want.kind || !reflect.DeepEqual(q.Arguments, want.args) {
			t.Errorf("queue %s: type %q, arguments %v; want %q, %v", q.Name, q.Type, q.Arguments, want.kind, want.args)
		}
	}
}
