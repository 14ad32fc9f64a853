package topology_test

import (
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/topology"
)

// What is there is used as it is, whatever the options say of it; what is missing is declared; both are bound.
func TestPredeclaredDeclaresWhatIsMissing(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	ch := other(t, uri)
	if err := ch.ExchangeDeclare("old", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("old", true, false, false, false, amqp.Table{"x-max-length": int64(5)}); err != nil {
		t.Fatal(err)
	}
	send(t, ch, "", "old")
	top := &manifest.Topology{Predeclared: true,
		Exchanges: []manifest.Exchange{{Name: "old", Type: "direct", Durable: true, Declare: true}, {Name: "new", Type: "fanout", Durable: true, Declare: true}},
		Queues:    []manifest.Queue{{Name: "old", Declare: true}, {Name: "new", AutoDelete: true, Declare: true}},
		Bindings: []manifest.Binding{{Exchange: "old", Queue: 0, RoutingKey: "#"}, {Exchange: "old", Queue: 1, RoutingKey: "k"},
			{Exchange: "new", Queue: 1, RoutingKey: "x"}},
		Routes: []manifest.Route{{Exchange: "old", RoutingKey: "other"}, {Exchange: "old", RoutingKey: "k"}, {Exchange: "new", RoutingKey: "k"}},
	}
	declare(t, uri, top)
	if e := top.Exchanges[0]; e.Declare || e.Type != "topic" {
		t.Errorf("the exchange that was there: %+v, want it found, and its type learned", e)
	}
	if e := top.Exchanges[1]; !e.Declare || e.Type != "fanout" {
		t.Errorf("the exchange that was not there: %+v", e)
	}
	if q := top.Queues[0]; q.Declare || q.ReadyAtStart == nil || *q.ReadyAtStart != 1 {
		t.Errorf("the queue that was there: %+v, want it found, with its message", q)
	}
	if q := top.Queues[1]; !q.Declare || q.ReadyAtStart == nil || *q.ReadyAtStart != 0 {
		t.Errorf("the queue that was not there: %+v", q)
	}
	for i, want := range [][]int{{0}, {0, 1}, {1}} {
		if r := top.Routes[i]; !slices.Equal(r.Queues, want) || !r.Known {
			t.Errorf("route %d: %+v, want %v, known", i, r, want)
		}
	}
	listed := node.Ctl(t, "list_queues", "-p", vhost, "name", "durable", "auto_delete", "arguments", "--quiet", "--no-table-headers")
	if got := lines(listed); !slices.Equal(got, []string{"new\tfalse\ttrue\t[]", `old	true	false	[{"x-max-length",5}]`}) {
		t.Errorf("list_queues: %q", got)
	}
}

func lines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

// Without the permission to declare, the type of an exchange that is there stays unknown, and so do its routes.
func TestPredeclaredTypeThatCannotBeLearned(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	ch := other(t, node.URIFor(vhost))
	if err := ch.ExchangeDeclare("e", "direct", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	user, password := node.AddUser(t, vhost, rabbitmqtest.Permissions{Configure: "^$", Write: ".*", Read: ".*"})
	top := &manifest.Topology{Predeclared: true,
		Exchanges: []manifest.Exchange{{Name: "e", Type: "direct", Durable: true, Declare: true}},
		Queues:    []manifest.Queue{{Name: "q", Declare: true}},
		Bindings:  []manifest.Binding{{Exchange: "e", RoutingKey: "k"}},
		Routes:    []manifest.Route{{Exchange: "e", RoutingKey: "k"}},
	}
	declare(t, node.UserURI(user, password, vhost), top)
	if r := top.Routes[0]; r.Known || top.Exchanges[0].Type != "" {
		t.Errorf("route %+v, exchange %+v, want both unknown", r, top.Exchanges[0])
	}
	send(t, ch, "e", "k")
	if got := depths(t, ch, top.Queues); got[0] != 1 {
		t.Error("the queue was not bound")
	}
}

// Binding arguments travel; a headers exchange sends by them.
func TestBindingArguments(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	top := &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "h", Type: "headers", Durable: true, Declare: true}},
		Queues:    []manifest.Queue{{Name: "q", AutoDelete: true, Declare: true}},
		Bindings:  []manifest.Binding{{Exchange: "h", RoutingKey: "k", Arguments: []manifest.Arg{{Key: "x-match", Value: "any"}, {Key: "n", Value: int64(7)}}}},
		Routes:    []manifest.Route{{Exchange: "h", RoutingKey: "k"}},
	}
	declare(t, node.URIFor(vhost), top)
	if r := top.Routes[0]; r.Known {
		t.Errorf("%+v, want unknown: it depends on each message's headers", r)
	}
	listed := node.Ctl(t, "list_bindings", "-p", vhost, "source_name", "destination_name", "routing_key", "arguments", "--quiet", "--no-table-headers")
	if !slices.Contains(lines(listed), `h	q	k	[{"n",7},{"x-match","any"}]`) {
		t.Errorf("list_bindings: %q", listed)
	}
}

// Exclusive queues are somebody else's to declare, and count for the routes all the same.
func TestExclusiveQueuesAreLeftToTheirConsumers(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	top := &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "e", Type: "direct", Durable: true, Declare: true}},
		Queues:    []manifest.Queue{{Name: "mine", Exclusive: true, Declare: true}},
		Bindings:  []manifest.Binding{{Exchange: "e", RoutingKey: "k"}},
		Routes:    []manifest.Route{{Exchange: "e", RoutingKey: "k"}, {RoutingKey: "mine"}},
	}
	declare(t, uri, top)
	for _, r := range top.Routes {
		if !slices.Equal(r.Queues, []int{0}) || !r.Known {
			t.Errorf("%+v, want queue 0, known", r)
		}
	}
	if ready := top.Queues[0].ReadyAtStart; ready == nil || *ready != 0 {
		t.Errorf("ready at start: %v, want 0", ready)
	}
	if _, err := other(t, uri).QueueDeclarePassive("mine", false, false, false, false, nil); err == nil {
		t.Error("it was declared")
	}
}

// amq.fanout has its own type, whatever --type says, and is never declared: a broker refuses that.
func TestBuiltInExchangeHasItsOwnType(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	top := &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "amq.fanout", Type: "direct", Durable: true, Declare: true}},
		Queues:    []manifest.Queue{{Name: "a", AutoDelete: true, Declare: true}, {Name: "b", AutoDelete: true, Declare: true}},
		Bindings:  []manifest.Binding{{Exchange: "amq.fanout", Queue: 0, RoutingKey: "a"}, {Exchange: "amq.fanout", Queue: 1, RoutingKey: "b"}},
		Routes:    []manifest.Route{{Exchange: "amq.fanout", RoutingKey: "a"}},
	}
	declare(t, uri, top)
	ch := other(t, uri)
	send(t, ch, "amq.fanout", "a")
	if r := top.Routes[0]; !slices.Equal(r.Queues, []int{0, 1}) || !slices.Equal(depths(t, ch, top.Queues), []int{1, 1}) {
		t.Errorf("%+v, want both queues", r)
	}
	for name, code := range map[string]string{"amq.no-such": "404"} {
		_, err := topology.Declare(t.Context(), endpoint(t, uri), "test", &manifest.Topology{Exchanges: []manifest.Exchange{{Name: name, Type: "direct", Declare: true}}})
		if err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", name, err, code)
		}
	}
}

// Queues that are only polled are never deleted by the broker itself.
func TestPolledQueuesAreDeletedAtTheEnd(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	ch := other(t, uri)
	if _, err := ch.QueueDeclare("found", false, true, false, false, nil); err != nil {
		t.Fatal(err)
	}
	top := &manifest.Topology{Predeclared: true, Queues: []manifest.Queue{
		{Name: "polled", AutoDelete: true, Declare: true}, {Name: "found", AutoDelete: true, Declare: true}, {Name: "kept", Declare: true},
		{Name: "not asked", AutoDelete: true, Declare: true},
	}}
	session, err := topology.Declare(t.Context(), endpoint(t, uri), "test", top)
	if err != nil {
		t.Fatal(err)
	}
	session.DeleteAtEnd([]int{0, 1, 2})
	if _, _, err := ch.Get("polled", true); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	depths(t, ch, top.Queues[1:]) // fails where one of them is gone
	if _, err := ch.QueueDeclarePassive("polled", false, true, false, false, nil); err == nil {
		t.Error("the polled queue stays for ever")
	}
}
