package loadcore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// Each way to consume empties a queue of RabbitMQ, with everything received once and the drain proved.
func TestRabbitMQConsumers(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, c := range []struct {
		name     string
		consumer manifest.Consumer
	}{
		{"polling", manifest.Consumer{Polling: true, AckEvery: 1}},
		{"polling in groups", manifest.Consumer{Polling: true, AckEvery: 7}},
		{"polling with automatic acks", manifest.Consumer{Polling: true, AutoAck: true}},
		{"nack", manifest.Consumer{AckEvery: 1, Prefetch: 50, Nack: true}},
		{"multiple nacks", manifest.Consumer{AckEvery: 9, Prefetch: 50, Nack: true}},
		{"transactions", manifest.Consumer{AckEvery: 1, Prefetch: 50, TxSize: 10}},
		{"transactions of multiple acks", manifest.Consumer{AckEvery: 4, Prefetch: 50, TxSize: 10}},
		{"transactions smaller than groups of acks", manifest.Consumer{AckEvery: 7, TxSize: 3}},
		{"transactions without acks", manifest.Consumer{AutoAck: true, TxSize: 10}},
		{"polling in transactions", manifest.Consumer{Polling: true, AckEvery: 1, TxSize: 10}},
		{"prefetch of the channel", manifest.Consumer{AckEvery: 1, Prefetch: 20, GlobalPrefetch: 10}},
		{"arguments", manifest.Consumer{AckEvery: 1, Arguments: []manifest.Arg{{Key: "x-priority", Value: int64(5)}}}},
		{"work", manifest.Consumer{AckEvery: 1, Prefetch: 50, Work: []manifest.WorkStage{{WorkNS: 100_000}}}},
		{"work with automatic acks", manifest.Consumer{AutoAck: true, Work: []manifest.WorkStage{{WorkNS: 200_000}}}},
		{"leaving when idle", manifest.Consumer{AckEvery: 10, ExitWhen: manifest.ExitIdle}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := mustParse(t, node.URI(t))
			newAdmin(t, ep).declare("q", nil)
			noLeaks(t)
			const n = 1003
			plan := oneQueue(ep, "q", []manifest.Producer{confirmed(24, n)}, []manifest.Consumer{c.consumer})
			out, rec := runPlan(t, plan)
			complete(t, out, rec, n)
			if !c.consumer.AutoAck && (out.Acked != n || out.Queues[0].UnackedAtStop != 0) {
				t.Errorf("%+v", *out)
			}
			if got := newAdmin(t, ep).count("q"); got != 0 {
				t.Errorf("%d messages are in the queue", got)
			}
		})
	}
}

// C082 at a real broker.
func TestRabbitMQExitWhenEmpty(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	publish(t, ep, 15)
	noLeaks(t)
	out, _ := runPlan(t, oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 10, ExitWhen: manifest.ExitEmpty}}))
	if out.Acked != 15 || out.StopReason != StopEmpty || !out.Drained {
		t.Errorf("%+v", *out)
	}
	if got := newAdmin(t, ep).count("q"); got != 0 {
		t.Errorf("%d messages are in the queue", got)
	}
}

// Nack with requeue: the messages come again, flagged, and are all in the queue afterwards.
func TestRabbitMQRequeue(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	publish(t, ep, 50)
	noLeaks(t)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 5, Prefetch: 10, Nack: true, Requeue: true}})
	plan.Time = 300 * time.Millisecond
	out, rec := runPlan(t, plan)
	again := int64(0)
	for _, d := range rec.deliveries {
		for _, r := range d.Rows {
			if r.Redelivered {
				again++
			}
		}
	}
	if out.Drained || out.Received-again > 50 || again == 0 {
		t.Errorf("received %d, again %d: %+v", out.Received, again, *out)
	}
	if got := newAdmin(t, ep).count("q"); got != 50 {
		t.Errorf("%d messages are in the queue", got)
	}
}

// An exclusive queue is declared and bound on the connection of its consumers, and gone with it.
func TestRabbitMQExclusiveQueue(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	ep := mustParse(t, node.URI(t))
	admin := newAdmin(t, ep)
	for _, p := range []manifest.Producer{confirmed(24, 500), {Size: 24, Limit: 500}} {
		noLeaks(t)
		plan := exclusivePlan(ep, p)
		out, rec := runPlan(t, plan)
		if len(rec.sent(t)) != 500 || out.Received != 500 || !out.Drained || len(out.Failures) > 0 || out.Queues[0].Ready == nil || *out.Queues[0].Ready != 0 {
			t.Errorf("%+v", *out)
		}
	}
	// Another connection's.
	admin.ask(&wire.QueueDeclare{Queue: "mine", Exclusive: true}, wire.QueueDeclareOkID)
	_, err := Run(t.Context(), exclusivePlan(ep, confirmed(24, 500)), &memory{})
	var refused *ConnectError
	if !errors.As(err, &refused) || refused.Code != 405 || !strings.Contains(err.Error(), "RESOURCE_LOCKED") || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("%v", err)
	}
}

func exclusivePlan(ep Endpoint, p manifest.Producer) *Plan {
	plan := oneQueue(ep, "mine", []manifest.Producer{p}, []manifest.Consumer{{AckEvery: 1, Prefetch: 10}, {AckEvery: 1, Prefetch: 10}})
	plan.Consumers[1].Connection = plan.Consumers[0].Connection
	plan.Topology.Queues[0].Exclusive = true
	plan.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10_000)}}
	plan.Topology.Bindings = []manifest.Binding{{Exchange: "amq.direct", Queue: 0, RoutingKey: "key"}}
	plan.Topology.Routes = []manifest.Route{{Exchange: "amq.direct", RoutingKey: "key", Queues: []int{0}, Known: true}}
	return plan
}

// A stream keeps what was read: two consumers from the first message on get all of it each, and the drain is proved.
func TestRabbitMQStream(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("s", wire.Table{{Key: "x-queue-type", Value: "stream"}})
	noLeaks(t)
	const n = 10_000
	first := []manifest.Arg{{Key: streamOffset, Value: "first"}}
	reader := manifest.Consumer{AckEvery: 10, Prefetch: 200, Arguments: first}
	plan := oneQueue(ep, "s", []manifest.Producer{{Size: 24, Confirm: 500, Limit: n, Persistent: true}}, []manifest.Consumer{reader, reader})
	plan.Topology.Queues[0].Type = stream
	out, rec := runPlan(t, plan)
	each := map[uint16]int{}
	for _, d := range rec.deliveries {
		each[d.Consumer] += len(d.Rows)
	}
	if each[0] != n || each[1] != n || out.Received != 2*n || out.Acked != 2*n || !out.Drained || len(out.Failures) > 0 {
		t.Errorf("%v: %+v", each, *out)
	}

	// Once more, without anybody who publishes: the consumers leave when nothing comes any more.
	reader.ExitWhen = manifest.ExitIdle
	plan = oneQueue(ep, "s", nil, []manifest.Consumer{reader, reader})
	plan.Topology.Queues[0].Type = stream
	if out, _ = runPlan(t, plan); out.Received != 2*n || !out.Drained || out.Ends[manifest.EndConsumerIdle] != 2 {
		t.Errorf("%+v", *out)
	}

	// From a time in the future: nothing yet; the offset is understood.
	reader.ExitWhen, reader.Arguments = "", []manifest.Arg{{Key: streamOffset, Value: manifest.Timestamp(time.Now().Add(time.Hour).Unix())}}
	plan = oneQueue(ep, "s", nil, []manifest.Consumer{reader})
	plan.Topology.Queues[0].Type = stream
	plan.Time = 100 * time.Millisecond
	if out, _ = runPlan(t, plan); len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
}
