package loadcore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// everyProperty has all that can be set. The user id is the connection's own: brokers refuse any other.
func everyProperty(user string) *manifest.Properties {
	priority, timestamp := uint8(0), int64(1_700_000_001)
	return &manifest.Properties{
		ContentType: "text/plain", ContentEncoding: "identity", Priority: &priority, CorrelationID: "correlation", ReplyTo: "reply",
		Expiration: "3600000", MessageID: "message", Timestamp: &timestamp, Type: "kind", UserID: user, AppID: "leveret", ClusterID: "cluster",
		Headers: []manifest.Arg{{Key: "text", Value: "é"}, {Key: "number", Value: int64(-5)}, {Key: "yes", Value: true}},
	}
}

// What is set arrives as amqp091-go reads it, with each stamp, and in a body that PerfTest and omq could read.
func TestRabbitMQMessageProperties(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, stamp := range []string{manifest.StampBody, manifest.StampHeader, manifest.StampPerfTest} {
		t.Run(stamp, func(t *testing.T) {
			uri := node.URI(t)
			ep := mustParse(t, uri)
			newAdmin(t, ep).declare("q", nil)
			props := everyProperty(ep.User)
			before := time.Now()
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 20, Confirm: 10, Limit: 3, Persistent: true, Stamp: stamp, StampMillis: true, Properties: props}}, nil)
			if out, _ := runPlan(t, plan); out.Confirmed != 3 {
				t.Fatalf("%+v", *out)
			}
			conn, err := amqp.Dial(uri)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				d, ok, err := ch.Get("q", true)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				id, ours := d.Headers[StampHeaderName].([]byte)
				delete(d.Headers, StampHeaderName)
				if ours != (stamp != manifest.StampBody) || ours && binary.BigEndian.Uint64(id) != 0xabc0000<<36|uint64(i) {
					t.Errorf("message %d: stamp header %x", i, id)
				}
				if want := (amqp.Table{"text": "é", "number": int64(-5), "yes": true}); !reflect.DeepEqual(d.Headers, want) {
					t.Errorf("headers %v", d.Headers)
				}
				got := []any{d.ContentType, d.ContentEncoding, d.DeliveryMode, d.Priority, d.CorrelationId, d.ReplyTo, d.Expiration, d.MessageId, d.Timestamp.Unix(), d.Type, d.UserId, d.AppId}
				want := []any{"text/plain", "identity", uint8(2), uint8(0), "correlation", "reply", "3600000", "message", int64(1_700_000_001), "kind", ep.User, "leveret"}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
				if stamp != manifest.StampPerfTest {
					continue
				}
				seq, at := int32(binary.BigEndian.Uint32(d.Body)), time.UnixMilli(int64(binary.BigEndian.Uint64(d.Body[4:])))
				if seq != int32(i) || at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) || len(d.Body) != 20 {
					t.Errorf("message %d: %d bytes, sequence %d, at %v", i, len(d.Body), seq, at)
				}
			}
		})
	}
}

// All ways to make messages, through both brokers, by both drives: everything arrives intact, with sizes and routes as
// recorded.
func TestEveryKindOfMessageArrives(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	bodies := [][]byte{[]byte("a"), {}, bytes.Repeat([]byte("b"), 5000), bytes.Repeat([]byte("c"), 300_000)}
	for _, c := range []struct {
		name string
		p    manifest.Producer
	}{
		{"header stamp", manifest.Producer{Size: 0, Stamp: manifest.StampHeader}},
		{"header stamp, large", manifest.Producer{Size: 200_000, Stamp: manifest.StampHeader, Limit: 50}},
		{"perftest stamp", manifest.Producer{Size: 100, Stamp: manifest.StampPerfTest}},
		{"given bodies", manifest.Producer{Size: 300_000, Stamp: manifest.StampHeader, PooledBodies: true, Limit: 201}},
		{"three queues in turn, random keys among them", manifest.Producer{Size: 24, Routes: 3, Rate: perSecond(20_000)}},
		{"sizes that vary", manifest.Producer{Size: 900, Sizes: []manifest.SizeStage{{Bytes: 12, ForNS: 1e5}, {Bytes: 900, ForNS: 1e5}}}},
	} {
		for _, where := range []string{"embedded", "RabbitMQ", "shared"} {
			t.Run(c.name+"/"+where, func(t *testing.T) {
				var ep Endpoint
				if where == "RabbitMQ" {
					ep = mustParse(t, node.URI(t))
					newAdmin(t, ep).declare("q", nil)
				} else {
					ep = embedded(t, broker.Options{})
				}
				a := newAdmin(t, ep)
				a.ask(&wire.ExchangeDeclare{Exchange: "x", Type: "fanout"}, wire.ExchangeDeclareOkID)
				a.declare("q2", nil)
				a.ask(&wire.QueueBind{Queue: "q2", Exchange: "x"}, wire.QueueBindOkID)
				noLeaks(t)
				p := c.p
				p.Confirm = 100
				if p.Limit == 0 {
					p.Limit = 3000
				}
				plan := oneQueue(ep, "q", []manifest.Producer{p}, []manifest.Consumer{{AckEvery: 1, Prefetch: 200}})
				zero := int64(0)
				plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic", ReadyAtStart: &zero})
				plan.Topology.Routes = append(plan.Topology.Routes,
					manifest.Route{Exchange: "x", RoutingKey: anyKey, Random: true, Queues: []int{1}, Known: true},
					manifest.Route{RoutingKey: "q2", Queues: []int{1}, Known: true})
				plan.Consumers[0].Queues = []int{0, 1}
				plan.Bodies = bodies
				if where == "shared" {
					plan.Drive = DriveShared
				}
				out, rec := runPlan(t, plan)
				complete(t, out, rec, int(p.Limit))
				checkWhatArrived(t, plan, rec)
			})
		}
	}
}

// checkWhatArrived compares sizes and queues of what was received with what was recorded as sent.
func checkWhatArrived(t *testing.T, plan *Plan, rec *memory) {
	t.Helper()
	type message struct {
		size  uint32
		route uint16
	}
	sent, sizes := map[uint64]message{}, map[uint32]bool{}
	for _, s := range rec.sends {
		for i := range s.N {
			m := message{s.Size, s.Route}
			if s.Sizes != nil {
				m.size = s.Sizes[i]
			}
			if s.Routes != nil {
				m.route = s.Routes[i]
			}
			sent[s.First+uint64(i)] = m
			sizes[m.size] = true
		}
	}
	for _, b := range rec.deliveries {
		for _, d := range b.Rows {
			m := sent[d.Seq]
			if reaches := plan.Topology.Routes[m.route].Queues; d.Size != m.size || !slices.Contains(reaches, int(d.Queue)) {
				t.Fatalf("message %d: %d bytes from queue %d, sent %+v", d.Seq, d.Size, d.Queue, m)
			}
		}
	}
	if p := plan.Producers[0]; len(p.Sizes) > 1 && len(sizes) != len(p.Sizes) {
		t.Errorf("sizes %v", slices.Collect(maps.Keys(sizes)))
	}
}

// A stream keeps messages in another form (AMQP 1.0) and adds a header of its own: the stamp comes through.
func TestRabbitMQStreamKeepsHeaderStamps(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", wire.Table{{Key: "x-queue-type", Value: "stream"}})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 5, Confirm: 100, Limit: 500, Stamp: manifest.StampHeader, Properties: &manifest.Properties{Headers: []manifest.Arg{{Key: "a", Value: "b"}}}}},
		[]manifest.Consumer{{AckEvery: 1, Prefetch: 100, Arguments: []manifest.Arg{{Key: "x-stream-offset", Value: "first"}}}})
	plan.Topology.Queues[0].Type = "stream"
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 500)
}

// C021: returns have no tag and need not stand next to their acks; acks of others come between. Every third message is
// unroutable. Each return is tied to its message by the identity that it carries.
func TestC021ReturnsByIdentity(t *testing.T) {
	const n = 3000
	for _, stamp := range []string{manifest.StampBody, manifest.StampHeader, manifest.StampPerfTest} {
		t.Run(stamp, func(t *testing.T) {
			noLeaks(t)
			var held []byte // returns that wait until the acks of others are out
			ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
				if m.key == "nowhere" {
					held = wire.AppendReturn(held, m.channel, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte(m.key))
					held = wire.AppendRawHeader(held, m.channel, uint64(len(m.body)), m.props)
					held = wire.AppendBody(held, m.channel, m.body, 131072)
				}
				if m.tag%30 != 0 {
					return
				}
				// acks of the first half, the returns, the acks of the rest from the last on
				var out []byte
				out = wire.AppendAck(out, m.channel, m.tag-15, true)
				out = append(out, held...)
				for tag := m.tag; tag > m.tag-15; tag-- {
					out = wire.AppendAck(out, m.channel, tag, false)
				}
				held = nil
				c.send(out)
			}})
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 60, Limit: n, Mandatory: true, Routes: 3, Stamp: stamp}}, nil)
			plan.Topology.Routes = append(plan.Topology.Routes, plan.Topology.Routes[0], manifest.Route{RoutingKey: "nowhere", Known: true})
			out, rec := runPlan(t, plan)
			returned, acked := rec.settled(t, event.Return), rec.settled(t, event.Ack)
			if len(returned) != n/3 || out.Returned != n/3 || len(acked) != n || out.Confirmed != n || out.UnattributedReturns != 0 {
				t.Errorf("returned %d, acked %d, %+v", len(returned), len(acked), *out)
			}
			for id := range returned {
				if id.seq%3 != 2 {
					t.Errorf("%v was not returned by the broker", id)
				}
			}
		})
	}
}

// The same at a real broker: returned once and acked, not received, not lost.
func TestC021RabbitMQ(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	const n = 3000
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 3, Confirm: 50, Limit: n, Mandatory: true, Routes: 3, Stamp: manifest.StampHeader}}, []manifest.Consumer{{AckEvery: 1}})
	plan.Topology.Routes = append(plan.Topology.Routes, plan.Topology.Routes[0], manifest.Route{RoutingKey: "nowhere", Known: true})
	out, rec := runPlan(t, plan)
	times, bodies := rec.received()
	if len(rec.settled(t, event.Return)) != n/3 || len(rec.settled(t, event.Ack)) != n || len(times) != n-n/3 || bodies[event.Intact] != n-n/3 || !out.Drained {
		t.Errorf("received %d, %v, %+v", len(times), bodies, *out)
	}
}

// C048: a full queue that refuses: each message is either acked or nacked, most are nacked, and only acked ones are there.
func TestC048RejectedPublishes(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", wire.Table{{Key: "x-max-length", Value: int32(10)}, {Key: "x-overflow", Value: "reject-publish"}})
	noLeaks(t)
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 100, Limit: 1000}}, nil))
	acked, nacked := rec.settled(t, event.Ack), rec.settled(t, event.Nack)
	if len(acked)+len(nacked) != 1000 || out.Confirmed != int64(len(acked)) || out.Nacked != int64(len(nacked)) || len(nacked) < 800 || len(out.Failures) > 0 {
		t.Errorf("%d acked, %d nacked, %+v", len(acked), len(nacked), *out)
	}
	for id := range acked {
		if _, both := nacked[id]; both {
			t.Errorf("%v is acked and nacked", id)
		}
	}
	consume := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Limit: int64(newAdmin(t, ep).count("q"))}})
	_, later := runPlan(t, consume)
	times, _ := later.received()
	if len(times) == 0 {
		t.Error("the queue is empty")
	}
	for id := range times {
		if _, ok := acked[id]; !ok {
			t.Errorf("%v is in the queue and was not acked", id)
		}
	}
}

// C102: a message above the broker's limit costs the channel: the broker's text is shown, the message stays unconfirmed,
// and nothing is sent again.
func TestC102MessageTooLarge(t *testing.T) {
	const limit = 16 << 20
	check := func(t *testing.T, ep Endpoint) {
		newAdmin(t, ep).declare("q", nil)
		for _, stamp := range []string{manifest.StampBody, manifest.StampHeader} {
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 17_000_000, Confirm: 1, Limit: 1, Stamp: stamp}}, nil)
			out, rec := runPlan(t, plan)
			want := fmt.Sprintf("PRECONDITION_FAILED - message size 17000000 is larger than configured max size %d", limit)
			if len(out.Failures) != 1 || out.Failures[0].Code != 406 || !strings.Contains(out.Failures[0].Text, want) || out.Failures[0].Producer == nil {
				t.Errorf("%s: %+v", stamp, out.Failures)
			}
			if out.Sent != 1 || out.Confirmed != 0 || out.Nacked != 0 || len(rec.sends) != 1 || out.Drained || !strings.Contains(out.DrainNote, "1 message unconfirmed") {
				t.Errorf("%s: %+v", stamp, *out)
			}
		}
		if left := newAdmin(t, ep).count("q"); left != 0 {
			t.Errorf("%d messages in the queue", left)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		b, err := broker.Start(broker.Options{MaxMessageSize: limit})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		check(t, mustParse(t, b.URI()))
	})
	t.Run("RabbitMQ", func(t *testing.T) {
		node := rabbitmqtest.Shared(t)
		set := func(bytes int) {
			node.Ctl(t, "eval", fmt.Sprintf("application:set_env(rabbit, max_message_size, %d).", bytes))
		}
		set(limit)
		defer set(128 << 20) // the default of 3.10
		check(t, mustParse(t, node.URI(t)))
	})
}

// Headers cannot be cut in frames: what does not fit is refused once the frame-max is agreed on, and before anything is
// sent.
func TestHeadersLargerThanAFrame(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	for _, stamp := range []string{manifest.StampBody, manifest.StampHeader} {
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 1, Stamp: stamp, Properties: &manifest.Properties{Headers: []manifest.Arg{{Key: "long", Value: strings.Repeat("x", 5000)}}}}}, nil)
		plan.FrameMax = 4096
		out, err := Run(t.Context(), plan, &memory{})
		if err == nil || !strings.Contains(err.Error(), "producer 0: --message-properties: ") || !strings.Contains(err.Error(), "4096") || !strings.Contains(err.Error(), "--framemax") || out.Sent != 0 {
			t.Errorf("%s: %v", stamp, err)
		}
	}
}
