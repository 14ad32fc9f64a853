package loadcore

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

func faults(t *testing.T, spec string) broker.Options {
	t.Helper()
	f, err := broker.ParseFaults(spec)
	if err != nil {
		t.Fatal(err)
	}
	return broker.Options{Faults: f}
}

// The broker closes a channel: its lane has failed, the others go on.
func TestChannelClosedByTheBroker(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, faults(t, "close-channel@500:code=406"))
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 2000), confirmed(12, 2000)}, []manifest.Consumer{{AckEvery: 1}})
	plan.Producers[1].Connection = 0
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 || out.Failures[0].Producer == nil || out.Failures[0].Code != 406 {
		t.Fatalf("failures %+v", out.Failures)
	}
	failed := *out.Failures[0].Producer
	sent := map[int]int{}
	for id := range rec.sent(t) {
		sent[int(id.producer)]++
	}
	if sent[1-failed] != 2000 || sent[failed] >= 2000 {
		t.Errorf("producer %d failed; sent %v", failed, sent)
	}
	closed := slices.IndexFunc(rec.connections, func(c event.Connection) bool { return c.State == event.ChannelClosed })
	if closed < 0 || rec.connections[closed].Producer != uint32(failed) || rec.connections[closed].Code != 406 {
		t.Errorf("connection events %+v", rec.connections)
	}
	if out.Drained {
		t.Error("drained, with unconfirmed messages")
	}
	if got := fmt.Sprint(rec.states(0)); got != "[connecting open closing closed]" {
		t.Errorf("states %s", got)
	}
}

// The broker cuts a connection in the middle of a frame.
func TestConnectionCut(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, faults(t, "cut@300"))
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1000), confirmed(12, 1000)}, []manifest.Consumer{{AckEvery: 1}})
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 {
		t.Fatalf("failures %+v", out.Failures)
	}
	lost := out.Failures[0].Connection
	if states := fmt.Sprint(rec.states(uint32(lost))); states != "[connecting open lost]" {
		t.Errorf("states %s", states)
	}
	if lost > 1 { // the consumer's: nobody is left to take the messages
		if out.Confirmed != 2000 || out.Drained {
			t.Errorf("%+v", *out)
		}
		return
	}
	if out.Sent >= 2000 || out.Confirmed < 1000 || out.Drained {
		t.Errorf("%+v", *out)
	}
}

func TestConsumerCancelledByTheBroker(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1}})
	plan.Time = 20 * time.Second
	admin := newAdmin(t, ep)
	plan.Started = func() { admin.ask(&wire.QueueDelete{Queue: "q"}, wire.QueueDeleteOkID) }
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 || out.Failures[0].Consumer == nil || !strings.Contains(out.Failures[0].Text, "queue q") || out.Drained {
		t.Errorf("%+v", *out)
	}
	if out.StopReason != "all consumers have ended, not all of them as planned" {
		t.Errorf("stop reason %q", out.StopReason)
	}
	if !slices.ContainsFunc(rec.connections, func(c event.Connection) bool { return c.State == event.ConsumerCancelled && c.Consumer == 0 }) {
		t.Errorf("connection events %+v", rec.connections)
	}
	admin.link.tcp.Close()
}

func TestBlockedIsRecorded(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, faults(t, "block@200:2500ms"))
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 2000)}, []manifest.Consumer{{AckEvery: 1}})
	plan.ConfirmTimeout = 1500 * time.Millisecond // does not count while the connection is blocked
	out, rec := runPlan(t, plan)
	if out.Confirmed != 2000 || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
	if got := fmt.Sprint(rec.states(0)); got != "[connecting open blocked open closing closed]" {
		t.Errorf("states %s", got)
	}
}

// Heartbeats of half the interval go out while nothing else does, and a peer that sends none for two intervals is lost.
func TestHeartbeats(t *testing.T) {
	noLeaks(t)
	var beats atomic.Int64
	s := &stub{limits: wire.Limits{FrameMax: 131072, ChannelMax: 100, Heartbeat: 1}}
	s.onHeartbeat = func() { beats.Add(1) }
	ep := startStub(t, s)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1}})
	plan.Time = 30 * time.Second
	out, _ := runPlan(t, plan)
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "two heartbeat intervals (2 s)") {
		t.Errorf("failures %+v", out.Failures)
	}
	if beats.Load() == 0 {
		t.Error("no heartbeat came in two seconds of silence")
	}
}

// A broker that stops reading holds a producer in the socket; the stop gets it out.
func TestProducerStuckInTheSocket(t *testing.T) {
	noLeaks(t)
	release := make(chan struct{})
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) { <-release }})
	t.Cleanup(func() { close(release) }) // before the stub stops
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 10_000}}, nil)
	plan.Time, plan.DrainTimeout = 300*time.Millisecond, 300*time.Millisecond
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "did not take what was being written") || out.StopReason != StopTime || out.Drained {
		t.Errorf("%+v", *out)
	}
	if got := len(rec.sent(t)); int64(got) != out.Sent {
		t.Errorf("%d recorded as sent, outcome %d", got, out.Sent)
	}
}

// channel.flow from the broker stops a producer and lets it go on.
func TestFlow(t *testing.T) {
	noLeaks(t)
	var stopped atomic.Bool
	s := &stub{}
	s.onMessage = func(c *stubConn, m stubMessage) {
		if stopped.Load() {
			t.Error("a message came after channel.flow-ok")
		}
		if m.tag == 100 {
			c.method(1, &wire.ChannelFlow{Active: false})
		}
		c.send(wire.AppendAck(nil, 1, m.tag, false))
	}
	s.onMethod = func(c *stubConn, channel uint16, m wire.Method) bool {
		ok, is := m.(*wire.ChannelFlowOk)
		if !is {
			return false
		}
		if !ok.Active {
			// A batch may have been on its way when the flow stopped: it is before or behind flow-ok, but not later.
			time.AfterFunc(time.Second, func() { stopped.Store(true) })
			time.AfterFunc(1200*time.Millisecond, func() {
				stopped.Store(false)
				c.method(1, &wire.ChannelFlow{Active: true})
			})
		}
		return true
	}
	ep := startStub(t, s)
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 200}}, nil))
	if out.Confirmed != 200 || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
}

// Whatever a broker sends that it should not, the connection is lost with a reason, and nothing else happens.
func TestBrokersThatTalkNonsense(t *testing.T) {
	header := wire.AppendHeader(nil, 1, 5, nil)
	for _, c := range []struct {
		name string
		send []byte
		want string
	}{
		{"garbage", []byte("what is this, a frame?"), "frame"},
		{"a frame over frame-max", []byte{1, 0, 1, 0x00, 0x02, 0x00, 0x00, 0}, "frame-max"},
		{"a frame without its end", []byte{8, 0, 0, 0, 0, 0, 0, 0}, "end octet"},
		{"a channel that is not open", wire.AppendAck(nil, 9, 1, false), "channel 9"},
		{"a delivery to a producer", wire.AppendDeliver(nil, 1, "0", 1, false, nil, nil), "basic.deliver"},
		{"an ack to a consumer", wire.AppendAck(nil, 2, 1, false), "basic.ack"},
		{"a header out of the blue", header, "without a message before it"},
		{"a body out of the blue", wire.AppendBody(nil, 1, []byte("hello"), 4096), "without a content header"},
		{"a body longer than announced", wire.AppendBody(wire.AppendHeader(wire.AppendDeliver(nil, 2, "0", 1, false, nil, nil), 2, 3, nil), 2, []byte("hello"), 4096), "5 body bytes"},
		{"a delivery inside a delivery", wire.AppendDeliver(wire.AppendDeliver(nil, 2, "0", 1, false, nil, nil), 2, "0", 2, false, nil, nil), "in the middle of a message"},
		{"a delivery tag out of order", wire.AppendDeliver(nil, 2, "0", 5, false, nil, nil), "delivery tag 5"},
		{"an answer that nobody asked for", append(wire.AppendMethod(nil, 1, &wire.ConfirmSelectOk{}), wire.AppendMethod(nil, 1, &wire.ConfirmSelectOk{})...), "nothing had asked"},
		{"tune once more", wire.AppendMethod(nil, 0, &wire.ConnectionTune{}), "out of place"},
		{"close", wire.AppendMethod(nil, 0, &wire.ConnectionClose{ReplyCode: 541, ReplyText: "INTERNAL_ERROR"}), "INTERNAL_ERROR"},
		{"a method that does not exist", []byte{1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 99, 0xCE}, "60"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := startStub(t, &stub{onMessage: func(sc *stubConn, m stubMessage) { sc.send(c.send) }})
			noLeaks(t)
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 1}}, []manifest.Consumer{{AckEvery: 1}})
			plan.Consumers[0].Connection = 0
			plan.Connections = 1
			out, _ := runPlan(t, plan)
			if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, c.want) {
				t.Errorf("failures %+v, want %q", out.Failures, c.want)
			}
		})
	}
}
