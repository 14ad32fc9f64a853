package topology_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/topology"
)

func TestMain(m *testing.M) { rabbitmqtest.Main(m) }

func endpoint(t *testing.T, uri string) loadcore.Endpoint {
	t.Helper()
	ep, err := loadcore.ParseURI(uri)
	if err != nil {
		t.Fatal(err)
	}
	return ep
}

// declare declares for the time of the test.
func declare(t *testing.T, uri string, top *manifest.Topology) {
	t.Helper()
	session, err := topology.Declare(t.Context(), endpoint(t, uri), "test", top)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
}

// other is a program beside the run.
func other(t *testing.T, uri string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// send publishes and waits until the broker has it.
func send(t *testing.T, ch *amqp.Channel, exchange, key string) {
	t.Helper()
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirm, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), exchange, key, false, false, amqp.Publishing{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := confirm.WaitContext(t.Context()); !ok || err != nil {
		t.Fatal("not confirmed:", err)
	}
}

func depths(t *testing.T, ch *amqp.Channel, queues []manifest.Queue) []int {
	t.Helper()
	var out []int
	for _, q := range queues {
		got, err := ch.QueueDeclarePassive(q.Name, true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, got.Messages)
	}
	return out
}

// What the routes say must be what RabbitMQ does: one message to each, and the queues that have it are counted.
func TestRoutesAreWhereMessagesGo(t *testing.T) {
	keys := []string{"a", "a.b", "", "a.b.c", "x"}
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			uri := rabbitmqtest.Shared(t).URI(t)
			top := &manifest.Topology{Exchanges: []manifest.Exchange{{Name: kind, Type: kind, Durable: true, Declare: true}}}
			for i, binding := range []string{"a", "a.*", "#", "", "*.b.#"} {
				top.Queues = append(top.Queues, manifest.Queue{Declare: true, AutoDelete: true})
				top.Bindings = append(top.Bindings, manifest.Binding{Exchange: kind, Queue: i, RoutingKey: binding})
			}
			for _, key := range keys {
				top.Routes = append(top.Routes, manifest.Route{Exchange: kind, RoutingKey: key})
			}
			declare(t, uri, top)
			ch := other(t, uri)
			for _, r := range top.Routes {
				before := depths(t, ch, top.Queues)
				send(t, ch, r.Exchange, r.RoutingKey)
				got := []int{}
				for i, depth := range depths(t, ch, top.Queues) {
					if depth > before[i] {
						got = append(got, i)
					}
				}
				if !slices.Equal(r.Queues, got) || !r.Known {
					t.Errorf("key %q: route says %v (known %v), RabbitMQ put it into %v", r.RoutingKey, r.Queues, r.Known, got)
				}
			}
		})
	}
}

func TestDefaultExchangeRoutes(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	if _, err := other(t, uri).QueueDeclare("foreign", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	top := &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "", Declare: true}},
		Queues:    []manifest.Queue{{Name: "q", Declare: true}},
		Routes:    []manifest.Route{{RoutingKey: "q"}, {RoutingKey: "foreign"}, {RoutingKey: "nowhere"}},
	}
	declare(t, uri, top)
	for i, want := range []struct {
		queues []int
		known  bool
	}{{[]int{0}, true}, {[]int{}, false}, {[]int{}, true}} {
		if r := top.Routes[i]; !slices.Equal(r.Queues, want.queues) || r.Known != want.known {
			t.Errorf("key %q: %v, known %v; want %v, %v", r.RoutingKey, r.Queues, r.Known, want.queues, want.known)
		}
	}
}

// Whether a key that fits none of our bindings reaches nothing depends on whose the exchange is.
func TestRouteThatNoBindingFits(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for i, known := range []bool{true, false} {
		top := &manifest.Topology{
			Exchanges: []manifest.Exchange{{Name: "e", Type: "direct", Durable: true, Declare: true}},
			Routes:    []manifest.Route{{Exchange: "e", RoutingKey: "k"}},
		}
		declare(t, uri, top) // the first time it makes the exchange, the second time it finds it
		if r := top.Routes[0]; len(r.Queues) != 0 || r.Known != known {
			t.Errorf("declared %d times before: %+v, want no queues, known %v", i, r, known)
		}
	}
}

func TestServerNamesAndReadyCounts(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	ch := other(t, uri)
	if _, err := ch.QueueDeclare("filled", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		send(t, ch, "", "filled")
	}
	top := &manifest.Topology{Queues: []manifest.Queue{
		{Name: "filled", Durable: true, Declare: true},
		{Declare: true, AutoDelete: true},
		{Name: "filled"}, // as it is
	}}
	session, err := topology.Declare(t.Context(), endpoint(t, uri), "test", top)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{3, 0, 3} {
		if got := top.Queues[i].ReadyAtStart; got == nil || *got != want {
			t.Errorf("queue %d: ready at start %v, want %d", i, got, want)
		}
	}
	named := top.Queues[1]
	if !named.ServerNamed || !strings.HasPrefix(named.Name, "amq.gen-") { // RabbitMQ's prefix
		t.Errorf("queue without a name: %+v", named)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclarePassive(named.Name, true, false, false, false, nil); err == nil {
		t.Errorf("queue %s had no consumer and stays for ever", named.Name)
	}
	depths(t, other(t, uri), top.Queues[:1]) // fails where the user's own queue is gone
}

func TestQueueInUseOutlivesTheSession(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	top := &manifest.Topology{Queues: []manifest.Queue{{Declare: true, AutoDelete: true}, {Declare: true, AutoDelete: true}}}
	session, err := topology.Declare(t.Context(), endpoint(t, uri), "test", top)
	if err != nil {
		t.Fatal(err)
	}
	ch := other(t, uri)
	if _, err := ch.Consume(top.Queues[0].Name, "", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	depths(t, ch, top.Queues[:1]) // fails where it is gone
	if _, err := ch.QueueDeclarePassive(top.Queues[1].Name, true, false, false, false, nil); err == nil {
		t.Error("the unused queue behind the one in use was not deleted")
	}
}

func TestQuorumQueue(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	top := &manifest.Topology{Queues: []manifest.Queue{{Name: "q", Type: "quorum", Durable: true, Declare: true}}}
	declare(t, uri, top)
	_, err := other(t, uri).QueueDeclare("q", true, false, false, false, nil)
	if err == nil || !strings.Contains(err.Error(), "quorum") {
		t.Errorf("declaring it as a classic queue: %v, want a refusal that names quorum", err)
	}
}

func TestStrictDeclaresNothing(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	ch := other(t, uri)
	if err := ch.ExchangeDeclare("e", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	top := &manifest.Topology{Predeclared: true, Strict: true,
		Exchanges: []manifest.Exchange{{Name: "e", Type: "direct", Declare: true}}, // the wrong type: not declared, so not refused
		Queues:    []manifest.Queue{{Name: "q", Declare: true}},                    // not durable: likewise
		Bindings:  []manifest.Binding{{Exchange: "e", Queue: 0, RoutingKey: "k"}},
		Routes:    []manifest.Route{{Exchange: "e", RoutingKey: "k"}, {RoutingKey: "q"}},
	}
	declare(t, uri, top)
	if r := top.Routes[0]; r.Known || len(r.Queues) != 0 {
		t.Errorf("route through somebody else's exchange: %+v, want unknown", r)
	}
	if r := top.Routes[1]; !r.Known || !slices.Equal(r.Queues, []int{0}) {
		t.Errorf("route through the default exchange: %+v, want queue 0, known", r)
	}
	send(t, ch, "e", "k")
	if got := depths(t, ch, top.Queues); got[0] != 0 {
		t.Error("the queue was bound")
	}
	for _, nope := range []*manifest.Topology{
		{Predeclared: true, Strict: true, Exchanges: []manifest.Exchange{{Name: "nope", Declare: true}}},
		{Predeclared: true, Strict: true, Queues: []manifest.Queue{{Name: "nope", Declare: true}}},
	} {
		_, err := topology.Declare(t.Context(), endpoint(t, uri), "test", nope)
		var refusal *topology.Error
		if !errors.As(err, &refusal) || refusal.Code != 404 || refusal.Name != "nope" {
			t.Errorf("something that is not there: %v, want 404 and its name", err)
		}
	}
}

func TestRefusalsShowTheBrokersTextAndARemedy(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	ch := other(t, uri)
	for _, name := range []string{"durable", "short"} {
		args := amqp.Table{}
		if name == "short" {
			args["x-max-length"] = int64(10)
		}
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ch.QueueDeclare("held", false, false, true, false, nil); err != nil { // exclusive
		t.Fatal(err)
	}
	if err := ch.ExchangeDeclare("topical", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	user, password := node.AddUser(t, vhost, rabbitmqtest.Permissions{Configure: "^mine"})
	limited := node.UserURI(user, password, vhost)
	queue := func(q manifest.Queue) manifest.Topology { return manifest.Topology{Queues: []manifest.Queue{q}} }
	for name, c := range map[string]struct {
		uri      string
		topology manifest.Topology
		code     int
		words    []string
	}{
		"durable": {uri, queue(manifest.Queue{Name: "durable", Declare: true}), 406,
			[]string{`"durable"`, "'durable'", "received 'false'", "current is 'true'", "--flag persistent"}},
		"auto-delete": {uri, queue(manifest.Queue{Name: "durable", Durable: true, AutoDelete: true, Declare: true}), 406,
			[]string{"received 'true'", "current is 'false'", "--auto-delete=false", "--predeclared"}},
		"an argument too many": {uri, queue(manifest.Queue{Name: "durable", Durable: true, Declare: true,
			Arguments: []manifest.Arg{{Key: "x-max-length", Value: int64(5)}}}), 406,
			[]string{"'5'", "leave x-max-length out"}},
		"another argument": {uri, queue(manifest.Queue{Name: "short", Durable: true, Declare: true,
			Arguments: []manifest.Arg{{Key: "x-max-length", Value: int64(5)}}}), 406,
			[]string{"'5'", "'10'", "--queue-args x-max-length=10"}},
		"another type of queue": {uri, queue(manifest.Queue{Name: "durable", Durable: true, Type: "quorum", Declare: true}), 406,
			[]string{"'quorum'", "classic", "leave --quorum-queue"}},
		"type of exchange": {uri, manifest.Topology{Exchanges: []manifest.Exchange{{Name: "topical", Type: "direct", Durable: true, Declare: true}}}, 406,
			[]string{"'direct'", "'topic'", "--type topic"}},
		"no such type": {uri, manifest.Topology{Exchanges: []manifest.Exchange{{Name: "e", Type: "strange", Durable: true, Declare: true}}}, 503,
			[]string{"strange", "--type direct"}},
		"no such type of queue": {uri, queue(manifest.Queue{Name: "q", Durable: true, Declare: true,
			Arguments: []manifest.Arg{{Key: "x-queue-type", Value: "no-such-type"}}}), 406,
			[]string{"unsupported queue type", "x-queue-type=no-such-type", "RabbitMQ has classic, quorum, stream"}},
		"no such type of queue, named by the broker": {uri, queue(manifest.Queue{ServerNamed: true, AutoDelete: true, Declare: true,
			Arguments: []manifest.Arg{{Key: "x-queue-type", Value: "no-such-type"}}}), 541,
			[]string{"INTERNAL_ERROR", "x-queue-type=no-such-type", "RabbitMQ has classic, quorum, stream"}},
		"exclusive to another": {uri, queue(manifest.Queue{Name: "held", Declare: true}), 405,
			[]string{"RESOURCE_LOCKED", "exclusive queue of another connection"}},
		"not there": {uri, queue(manifest.Queue{Name: "nope"}), 404, []string{`"nope"`, "check the name"}},
		"no permission": {limited, queue(manifest.Queue{Name: "theirs", Declare: true}), 403,
			[]string{"ACCESS_REFUSED", user, "set_permissions"}},
		"no permission to bind": {limited, manifest.Topology{Queues: []manifest.Queue{{Name: "mine", Declare: true}},
			Bindings: []manifest.Binding{{Exchange: "topical", Queue: 0}}}, 403, []string{`"topical"`, "read from", "set_permissions"}},
		"binding to nothing": {uri, manifest.Topology{Queues: []manifest.Queue{{Name: "durable", Durable: true, Declare: true}},
			Bindings: []manifest.Binding{{Exchange: "nope", Queue: 0}}}, 404, []string{`is there an exchange "nope"`}},
		"an argument of another type of queue": {uri, queue(manifest.Queue{Name: "q", Declare: true,
			Arguments: []manifest.Arg{{Key: "x-queue-leader-locator", Value: "balanced"}}}), 406, []string{"x-queue-leader-locator", "classic", "--quorum-queue"}},
		"a bad value": {uri, queue(manifest.Queue{Name: "q", Declare: true,
			Arguments: []manifest.Arg{{Key: "x-max-length", Value: "many"}}}), 406, []string{"x-max-length"}},
	} {
		_, err := topology.Declare(t.Context(), endpoint(t, c.uri), "test", &c.topology)
		var refusal *topology.Error
		if !errors.As(err, &refusal) || refusal.Code != c.code {
			t.Errorf("%s: %v, want code %d", name, err, c.code)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
}

func TestConnectionErrorsHoldNoPassword(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	user, password := node.AddUser(t, vhost, rabbitmqtest.AllPermissions)
	for name, c := range map[string]struct {
		uri  string
		code uint16
		word string
	}{
		"password": {node.UserURI(user, password+"x", vhost), 0, "password"},
		"vhost":    {node.UserURI(user, password, "no such vhost"), 530, "no such vhost"},
		"port":     {"amqp://" + user + ":" + password + "@127.0.0.1:1/", 0, "refused"},
	} {
		_, err := topology.Declare(t.Context(), endpoint(t, c.uri), "test", &manifest.Topology{})
		var refusal *loadcore.ConnectError
		if !errors.As(err, &refusal) || refusal.Code != c.code || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want code %d and %q", name, err, c.code, c.word)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("%s: the error holds the password", name)
		}
	}
}

func TestDeclareOverTLS(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	vhost := node.VHost(t)
	certificates := node.Certificates(t)
	ep := endpoint(t, node.TLSURIFor(vhost))
	top := func() *manifest.Topology {
		return &manifest.Topology{Queues: []manifest.Queue{{Name: "q", Declare: true}}}
	}
	if _, err := topology.Declare(t.Context(), ep, "test", top()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the node's authority: %v, want an error about its certificate", err)
	}
	trust := loadcore.TLSOptions{CACert: certificates.CACert, Cert: certificates.ClientCert, Key: certificates.ClientKey}
	if err := ep.ConfigureTLS(trust); err != nil {
		t.Fatal(err)
	}
	node.AddCertUser(t, vhost, rabbitmqtest.Permissions{Configure: "^q$"})
	for name, external := range map[string]bool{"password": false, "certificate": true} {
		ep.External = external
		session, err := topology.Declare(t.Context(), ep, "test", top())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endsLater is a context that ends when somebody derives another one with a deadline from it for the second time.
type endsLater struct {
	context.Context
	end     context.CancelFunc
	derived int
}

func (c *endsLater) Deadline() (time.Time, bool) {
	if c.derived++; c.derived == 2 {
		c.end()
	}
	return c.Context.Deadline()
}

// A context that ends between connecting and declaring ends Declare, also where there is nothing to declare: its connection is closed.
func TestDeclareWithAContextThatHasEnded(t *testing.T) {
	ep := endpoint(t, rabbitmqtest.Shared(t).URI(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	later := &endsLater{Context: ctx, end: cancel}
	if _, err := topology.Declare(later, ep, "test", &manifest.Topology{}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "declaring the topology") {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestTheBrokerStops(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	ep := endpoint(t, node.URI(t))
	running := goleak.IgnoreCurrent()
	open := func() *topology.Session {
		t.Helper()
		top := &manifest.Topology{Queues: []manifest.Queue{{Declare: true, AutoDelete: true}}}
		session, err := topology.Declare(t.Context(), ep, "test", top)
		if err != nil {
			t.Fatal(err)
		}
		return session
	}

	session := open()
	node.Pause(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := topology.Declare(ctx, ep, "test", &manifest.Topology{})
		failed <- err
	}()
	time.Sleep(100 * time.Millisecond) // the kernel has accepted the connection; the broker will not answer
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Declare with a context that has ended: %v, want the context's error", err)
	}
	node.Resume(t)
	if err := session.Close(); err != nil {
		t.Errorf("closing after a pause: %v", err)
	}

	session = open()
	node.Kill(t)
	if err := session.Close(); err != nil {
		t.Errorf("closing a session whose broker is gone: %v", err)
	}
	goleak.VerifyNone(t, running)
}

// What declares and what removes tell how far they have got: one call before each object, with how many there are.
func TestTellsHowFarItHasGot(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	top := &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "x", Type: "direct", Declare: true}},
		Queues:    []manifest.Queue{{Name: "a", Declare: true, Durable: true}, {Name: "b", Declare: true, Durable: true}},
		Bindings:  []manifest.Binding{{Exchange: "x", Queue: 0, RoutingKey: "k"}},
	}
	var told []string
	note := func(done, all int) { told = append(told, fmt.Sprintf("%d/%d", done, all)) }
	session, err := topology.Bounds{Declaring: note}.Declared(t.Context(), endpoint(t, uri), "test", top)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(told, " "); got != "0/4 1/4 2/4 3/4" {
		t.Errorf("declaring told %s", got)
	}
	told, top.Bindings = nil, nil
	if err := topology.Remove(t.Context(), endpoint(t, uri), "test", top, note); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, " "); got != "0/3 1/3 2/3" {
		t.Errorf("removing told %s", got)
	}
}
