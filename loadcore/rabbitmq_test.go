package loadcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// complete checks that every message was sent, confirmed where there were confirms, and received intact once.
func complete(t *testing.T, out *manifest.Outcome, rec *memory, n int) {
	t.Helper()
	times, bodies := rec.received()
	if len(rec.sent(t)) != n || len(times) != n || bodies[event.Intact] != n || len(bodies) != 1 {
		t.Errorf("sent %d, received %d, bodies %v, want %d", len(rec.sent(t)), len(times), bodies, n)
	}
	if !out.Drained || len(out.Failures) > 0 || out.Sent != int64(n) || out.Received != int64(n) {
		t.Errorf("%+v", *out)
	}
	if out.Confirmed != 0 && (out.Confirmed != int64(n) || len(rec.settled(t, event.Ack)) != n) {
		t.Errorf("confirmed %d, recorded %d", out.Confirmed, len(rec.settled(t, event.Ack)))
	}
}

func TestRabbitMQ(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, c := range []struct {
		name     string
		producer manifest.Producer
		consumer manifest.Consumer
		n        int64
		quorum   bool
	}{
		{"confirms and single acks", manifest.Producer{Size: 12, Confirm: 1000}, manifest.Consumer{AckEvery: 1, Prefetch: 1000}, 30_000, false},
		{"no confirms and automatic acks", manifest.Producer{Size: 1024}, manifest.Consumer{AutoAck: true}, 30_000, false},
		{"persistent on a quorum queue, multiple acks", manifest.Producer{Size: 24, Confirm: 200, Persistent: true}, manifest.Consumer{AckEvery: 50, Prefetch: 200}, 5000, true},
		{"frames of exactly frame-max", manifest.Producer{Size: 131064, Confirm: 5}, manifest.Consumer{AckEvery: 1, Prefetch: 5}, 50, false},
		{"a byte more than one frame", manifest.Producer{Size: 131065, Confirm: 5}, manifest.Consumer{AckEvery: 1, Prefetch: 5}, 50, false},
		{"three frames", manifest.Producer{Size: 262129, Confirm: 5}, manifest.Consumer{AckEvery: 1, Prefetch: 5}, 50, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := mustParse(t, node.URI(t))
			var args wire.Table
			if c.quorum {
				args = wire.Table{{Key: "x-queue-type", Value: "quorum"}}
			}
			newAdmin(t, ep).declare("q", args)
			noLeaks(t)
			c.producer.Limit = c.n
			plan := oneQueue(ep, "q", []manifest.Producer{c.producer}, []manifest.Consumer{c.consumer})
			if c.quorum {
				plan.Topology.Queues[0].Type = "quorum"
			}
			out, rec := runPlan(t, plan)
			complete(t, out, rec, int(c.n))
			if c.producer.Confirm > 0 && out.Confirmed != c.n {
				t.Errorf("confirmed %d", out.Confirmed)
			}
		})
	}
}

// C066 at a real broker: eight channels of one connection with bodies of several frames, acks on the same connection.
func TestRabbitMQChannelsShareAConnection(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	const channels, each = 8, 30
	plan := oneQueue(ep, "q", make([]manifest.Producer, channels), []manifest.Consumer{{AckEvery: 1, Prefetch: 50}})
	for i := range plan.Producers {
		plan.Producers[i] = manifest.Producer{Size: 300_000, Confirm: 50, Limit: each}
	}
	plan.Consumers[0].Connection = 0
	plan.Connections = 1
	plan.Heartbeat = time.Second
	out, rec := runPlan(t, plan)
	complete(t, out, rec, channels*each)
}

// C016: the client asks for no limit.
func TestRabbitMQWithoutFrameMax(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t)+"?frame_max=0")
	newAdmin(t, ep).declare("q", nil)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(200_000, 3)}, []manifest.Consumer{{AckEvery: 1}})
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 3)
}

// Mandatory messages to nowhere come back and are acked; others are acked and gone.
func TestRabbitMQReturns(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	noLeaks(t)
	plan := oneQueue(ep, "nowhere", []manifest.Producer{{Size: 64, Confirm: 100, Limit: 1000, Mandatory: true}}, nil)
	plan.Topology.Queues, plan.Topology.Routes[0].Queues = nil, nil
	out, rec := runPlan(t, plan)
	if out.Returned != 1000 || out.Confirmed != 1000 || len(rec.settled(t, event.Return)) != 1000 || !out.Drained {
		t.Errorf("%+v", *out)
	}
}

// An exchange that does not exist closes the channel; the other producer goes on.
func TestRabbitMQClosesAChannel(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1000), confirmed(12, 1000)}, []manifest.Consumer{{AckEvery: 1}})
	plan.Producers[1].Connection = 0
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{Exchange: "no-such-exchange", RoutingKey: "q", Known: true})
	plan.Producers[1].Route = 1
	out, _ := runPlan(t, plan)
	if len(out.Failures) != 1 || out.Failures[0].Producer == nil || *out.Failures[0].Producer != 1 || out.Failures[0].Code != 404 ||
		!strings.Contains(out.Failures[0].Text, "NOT_FOUND - no exchange 'no-such-exchange'") || out.Received != 1000 {
		t.Errorf("%+v", *out)
	}
}

// Everything that needs a node of its own: TLS, and the end of the broker.
func TestRabbitMQOverTLS(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	vhost := node.VHost(t)
	certs := node.Certificates(t)
	tlsEndpoint := func(t *testing.T) Endpoint {
		ep := mustParse(t, node.TLSURIFor(vhost))
		if err := ep.ConfigureTLS(TLSOptions{CACert: certs.CACert}); err != nil {
			t.Fatal(err)
		}
		return ep
	}
	newAdmin(t, tlsEndpoint(t)).declare("q", nil)
	t.Run("a run", func(t *testing.T) {
		noLeaks(t)
		plan := oneQueue(tlsEndpoint(t), "q", []manifest.Producer{confirmed(12, 10_000), confirmed(200_000, 20)}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}})
		out, rec := runPlan(t, plan)
		complete(t, out, rec, 10_020)
	})
	t.Run("EXTERNAL", func(t *testing.T) {
		node.AddCertUser(t, vhost, rabbitmqtest.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
		ep := tlsEndpoint(t)
		ep.External = true
		if err := ep.ConfigureTLS(TLSOptions{CACert: certs.CACert, Cert: certs.ClientCert, Key: certs.ClientKey}); err != nil {
			t.Fatal(err)
		}
		ep.SetPassword("")
		b, err := Probe(t.Context(), ep, ConnectOptions{})
		if err != nil || b.Product != "RabbitMQ" || !strings.HasPrefix(b.Version, "3.") || b.TLSVerified == nil || !*b.TLSVerified || b.Node == "" {
			t.Errorf("%+v, %v", b, err)
		}
	})
	t.Run("an authority that nobody knows", func(t *testing.T) {
		ep := mustParse(t, node.TLSURIFor(vhost))
		if _, err := Probe(t.Context(), ep, ConnectOptions{}); err == nil || !strings.Contains(err.Error(), "--cacert") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("wrong ports", func(t *testing.T) { // C100
		wantConnectError(t, "amqps://"+node.Addr(), 20*time.Second, StageTLS, "the server does not speak TLS on this port; 5671 is usual for amqps")
		wantConnectError(t, "amqp://"+node.TLSAddr(), 20*time.Second, StageProtocol, "the server speaks TLS on this port: write the URI with amqps://")
		http := strings.TrimPrefix(node.ManagementURL(), "http://")
		wantConnectError(t, "amqp://"+http, 3*time.Second, StageProtocol, "15672 is the management API's")
		wantConnectError(t, "amqps://"+http, 3*time.Second, StageTLS)
	})
	t.Run("refused", func(t *testing.T) { // C052
		e := wantConnectError(t, "amqp://guest@"+node.Addr(), 20*time.Second, StageLogin, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN", "user or password is wrong")
		if e.Code != 403 {
			t.Errorf("code %d", e.Code)
		}
		var refused *ConnectError
		_, err := Probe(t.Context(), mustParse(t, node.URIFor("no-such-vhost")), ConnectOptions{})
		if !errors.As(err, &refused) || refused.Code != 530 || refused.Stage != StageOpen || !strings.Contains(refused.Error(), "NOT_ALLOWED - vhost no-such-vhost not found") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("blocked by an alarm", func(t *testing.T) {
		noLeaks(t)
		ep := mustParse(t, node.URIFor(vhost))
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10, Rate: manifest.Rate{Messages: 100, PerNS: 1e9}}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}})
		plan.Progress = new(Progress)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		blocked := func(want int) {
			for plan.Progress.Snapshot().Blocked != want && ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
		plan.Started = func() {
			go func() {
				defer cancel()
				node.Ctl(t, "set_vm_memory_high_watermark", "0.000001")
				blocked(1) // the producer's; the consumer's publishes nothing
				node.Ctl(t, "set_vm_memory_high_watermark", "0.4")
				blocked(0)
			}()
		}
		rec := &memory{}
		out, err := Run(ctx, plan, rec)
		if err != nil {
			t.Fatal(err)
		}
		states := rec.states(0)
		if !slices.Contains(states, event.Blocked) || slices.Contains(states, event.Lost) || len(out.Failures) > 0 {
			t.Errorf("states %v, %+v", states, *out)
		}
		if out.Confirmed != out.Sent || out.Received != out.Sent || out.Sent == 0 || !out.Drained {
			t.Errorf("%+v", *out)
		}
	})
	t.Run("killed half way", func(t *testing.T) { // C052
		noLeaks(t)
		ep := mustParse(t, node.URIFor(vhost))
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 100}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}})
		plan.Time = time.Minute
		plan.Started = func() { time.AfterFunc(500*time.Millisecond, func() { node.Kill(t) }) }
		out, rec := runPlan(t, plan)
		if len(out.Failures) != 2 || out.Drained || out.Sent == 0 || out.StopReason != "all producers have ended, not all of them as planned" {
			t.Errorf("%+v", *out)
		}
		if int64(len(rec.sent(t))) != out.Sent {
			t.Errorf("%d recorded as sent, outcome %d", len(rec.sent(t)), out.Sent)
		}
		for c := range uint32(2) {
			if got := fmt.Sprint(rec.states(c)); got != "[connecting open lost]" {
				t.Errorf("connection %d: states %s", c, got)
			}
		}
	})
}
