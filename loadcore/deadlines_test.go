package loadcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// mute is a broker that never answers one method, and all others as usual.
func mute(t *testing.T, unanswered wire.MethodID) Endpoint {
	return startStub(t, &stub{
		onMethod:  func(_ *stubConn, _ uint16, m wire.Method) bool { return m.ID() == unanswered },
		onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
	})
}

const deadline = 300 * time.Millisecond

// Each question that is asked before the load begins is named when it is not answered.
func TestUnansweredBeforeTheLoad(t *testing.T) {
	work := manifest.Producer{Size: 12, Limit: 1}
	for _, c := range []struct {
		method   wire.MethodID
		producer manifest.Producer
		consumer manifest.Consumer
		want     string
	}{
		{wire.ChannelOpenID, work, manifest.Consumer{}, "channel.open on channel 1"},
		{wire.ConfirmSelectID, confirmed(12, 1), manifest.Consumer{}, "confirm.select on channel 1"},
		{wire.TxSelectID, manifest.Producer{Size: 12, Limit: 1, TxSize: 1}, manifest.Consumer{}, "tx.select on channel 1"},
		{wire.TxSelectID, work, manifest.Consumer{TxSize: 1}, "consumer 0: tx.select on channel 1"},
		{wire.BasicQosID, work, manifest.Consumer{Prefetch: 5}, "consumer 0: basic.qos on channel 1"},
		{wire.QueueDeclareID, work, manifest.Consumer{}, "declaring exclusive queue q: queue.declare on channel 1"},
		{wire.BasicConsumeID, work, manifest.Consumer{}, "consumer 0, queue q: basic.consume on channel 1"},
	} {
		t.Run(c.method.String(), func(t *testing.T) {
			t.Parallel()
			plan := oneQueue(mute(t, c.method), "q", []manifest.Producer{c.producer}, []manifest.Consumer{c.consumer})
			plan.ConnectTimeout, plan.CloseTimeout = time.Second, deadline
			plan.Topology.Queues[0].Exclusive = c.method == wire.QueueDeclareID
			_, err := Run(t.Context(), plan, &memory{})
			for _, want := range []string{"opening a channel: ", c.want + ": no answer from the broker in time (1s, --connect-timeout)"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %q", err, want)
				}
			}
		})
	}
}

// What a lane waits for during the load is named when it does not come; the lane ends and, where nothing else keeps it going, the run.
func TestUnansweredDuringTheLoad(t *testing.T) {
	some := manifest.Producer{Size: 12, Confirm: 5}
	for _, c := range []struct {
		name   string
		stub   *stub
		plan   func(p *Plan)
		lanes  func() ([]manifest.Producer, []manifest.Consumer)
		failed string // what the failure says
	}{
		{name: "basic.get", stub: &stub{onMethod: func(_ *stubConn, _ uint16, m wire.Method) bool { return m.ID() == wire.BasicGetID }},
			lanes:  func() ([]manifest.Producer, []manifest.Consumer) { return nil, []manifest.Consumer{{Polling: true}} },
			failed: "the broker did not answer basic.get on channel 1 within 300ms (--confirm-timeout)"},
		{name: "tx.commit of a consumer", stub: &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
			if m.ID() == wire.BasicConsumeID {
				c.method(1, &wire.BasicConsumeOk{ConsumerTag: "0"})
				c.send(deliveries(nil, 1, 1, 12))
				return true
			}
			return m.ID() == wire.TxCommitID
		}},
			lanes: func() ([]manifest.Producer, []manifest.Consumer) {
				return nil, []manifest.Consumer{{AckEvery: 1, TxSize: 1}}
			},
			failed: "the broker did not answer tx.commit on channel 1 within 300ms (--confirm-timeout)"},
		{name: "queue.declare of a consumer that leaves", stub: &stub{onMethod: func(_ *stubConn, _ uint16, m wire.Method) bool { return m.ID() == wire.QueueDeclareID }},
			lanes: func() ([]manifest.Producer, []manifest.Consumer) {
				return nil, []manifest.Consumer{{AckEvery: 1, ExitWhen: manifest.ExitEmpty}}
			},
			failed: "queue.declare on channel 1: no answer from the broker in time (300ms, --connect-timeout)"},
		{name: "basic.cancel of a consumer that leaves", stub: &stub{onMethod: func(_ *stubConn, _ uint16, m wire.Method) bool { return m.ID() == wire.BasicCancelID }},
			lanes: func() ([]manifest.Producer, []manifest.Consumer) {
				return nil, []manifest.Consumer{{AckEvery: 1, ExitWhen: manifest.ExitIdle}}
			},
			failed: "basic.cancel on channel 1: no answer from the broker in time (300ms, --connect-timeout)"},
		{name: "channel.flow", stub: &stub{onMessage: func(c *stubConn, m stubMessage) {
			c.send(wire.AppendAck(wire.AppendMethod(nil, 1, &wire.ChannelFlow{}), 1, m.tag, false))
		}},
			lanes:  func() ([]manifest.Producer, []manifest.Consumer) { return []manifest.Producer{some}, nil },
			failed: "the broker has stopped channel 1 by channel.flow for 300ms (--blocked-timeout)"},
		{name: "connection.unblocked", stub: &stub{onMessage: func(c *stubConn, m stubMessage) {
			if m.tag == 1 {
				c.method(0, &wire.ConnectionBlocked{Reason: "low on disk"})
			}
		}},
			lanes:  func() ([]manifest.Producer, []manifest.Consumer) { return []manifest.Producer{some}, nil },
			failed: "the broker has kept the connection blocked for 300ms (--blocked-timeout); 5 messages were not confirmed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			producers, consumers := c.lanes()
			plan := oneQueue(startStub(t, c.stub), "q", producers, consumers)
			plan.ConfirmTimeout, plan.BlockedTimeout, plan.DrainTimeout, plan.CloseTimeout = deadline, deadline, deadline, deadline
			if consumers != nil && consumers[0].ExitWhen != "" {
				plan.ConnectTimeout = deadline
			}
			out, _ := runPlan(t, plan)
			if len(out.Failures) != 1 || out.Failures[0].Connection != 0 || out.Failures[0].Text != c.failed || out.Drained && consumers != nil {
				t.Errorf("%+v\nwant the failure %q", *out, c.failed)
			}
		})
	}
}

// A broker that takes nothing from the socket loses the connection after --write-timeout, without anybody having to stop the run;
// while it has the connection blocked, after --blocked-timeout.
func TestSocketThatIsNotRead(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		t.Run(fmt.Sprint(blocked), func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
				if blocked {
					c.method(0, &wire.ConnectionBlocked{Reason: "low on memory"})
				}
				<-release
			}})
			t.Cleanup(func() { close(release) }) // before the stub stops
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 10_000}}, nil)
			plan.WriteTimeout, plan.BlockedTimeout, plan.DrainTimeout = deadline, time.Minute, deadline
			want := "the broker has taken nothing from the socket for 300ms (--write-timeout)"
			if blocked {
				plan.WriteTimeout, plan.BlockedTimeout = time.Minute, deadline
				want = "300ms (--blocked-timeout)"
			}
			out, _ := runPlan(t, plan)
			if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, want) {
				t.Errorf("%+v\nwant %q", *out, want)
			}
		})
	}
}

// A broker that takes nothing of what is sent again does not keep the run from ending.
func TestRepublishToASocketThatIsNotRead(t *testing.T) {
	noLeaks(t)
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var connection atomic.Int32
	ep := startStub(t, &stub{
		onOpen: func(*stubConn) { connection.Add(1) },
		onMessage: func(c *stubConn, m stubMessage) {
			switch {
			case connection.Load() > 1: // the first of what is sent again
				cancel()
				<-release
			case m.tag == 100:
				c.Close()
			}
		},
	})
	t.Cleanup(func() { close(release) }) // before the stub stops
	plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 200_000, Confirm: 100}}, nil))
	plan.Republish, plan.WriteTimeout, plan.DrainTimeout, plan.CloseTimeout = true, time.Hour, deadline, deadline
	out, err := Run(ctx, plan, &memory{})
	if err != nil || !out.Interrupted || len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "it was not recovered before the run ended") || out.InDoubt < 100 || out.Confirmed > 0 {
		t.Errorf("%+v, %v", *out, err)
	}
}

// Delivery tags so large that they would come round to small ones were never issued, either.
func TestTagsThatWouldComeRound(t *testing.T) {
	w := newWindow(10, 0)
	w.publish(5)
	w.abandon() // on the next channel tag 1 is number 6
	w.publish(3)
	for _, tag := range []uint64{4, 1 << 63, 1<<64 - 5, 1<<64 - 1} {
		for _, multiple := range []bool{false, true} {
			if runs, verdict := w.settle(nil, tag, multiple, event.Ack); verdict != neverIssued || len(runs) > 0 {
				t.Errorf("tag %d, multiple %v: verdict %d, %v", tag, multiple, verdict, runs)
			}
		}
	}
	if runs, verdict := w.settle(nil, 3, true, event.Ack); verdict != settledSome || countRuns(runs) != 3 || w.contradictory != 0 {
		t.Errorf("verdict %d, %v, %d contradictory", verdict, runs, w.contradictory)
	}
}

// What a broker does a second time, and may do once, costs it the connection; what it may repeat is counted.
func TestBrokersThatRepeatThemselves(t *testing.T) {
	closes := wire.AppendMethod(nil, 1, &wire.ChannelClose{ReplyCode: 406, ReplyText: "PRECONDITION_FAILED"})
	cancels := wire.AppendMethod(nil, 2, &wire.BasicCancel{ConsumerTag: "0"})
	twice := func(frame []byte) []byte { return slices.Concat(frame, frame) }
	for _, c := range []struct {
		name     string
		send     []byte
		failures int
		want     string // of the last failure
	}{
		{"channel.close", twice(closes), 2, "the broker sent channel.close on channel 1, which it has closed before"},
		{"basic.cancel", twice(cancels), 2, `the broker sent basic.cancel for consumer tag "0" on channel 2, which consumes nothing`},
		{"basic.cancel for nobody", wire.AppendMethod(nil, 2, &wire.BasicCancel{ConsumerTag: "7"}), 1, `the broker sent basic.cancel for the unknown consumer tag "7" on channel 2`},
		{"basic.ack", twice(wire.AppendAck(nil, 1, 1, false)), 0, ""},
		{"basic.nack", wire.AppendNack(wire.AppendAck(nil, 1, 1, true), 1, 1, true, false), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			ep := startStub(t, &stub{onMessage: func(sc *stubConn, m stubMessage) { sc.send(c.send) }})
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 1}}, []manifest.Consumer{{AckEvery: 1}})
			plan.Consumers[0].Connection, plan.Connections = 0, 1
			plan.DrainTimeout = deadline
			out, _ := runPlan(t, plan)
			if len(out.Failures) != c.failures || c.failures > 0 && !strings.HasPrefix(out.Failures[c.failures-1].Text, c.want) {
				t.Errorf("failures %+v, want %d of them, the last %q", out.Failures, c.failures, c.want)
			}
			if want := int64(1); c.failures == 0 && (out.Confirmed != 1 || out.ContradictoryConfirms != want) {
				t.Errorf("%d confirmed, %d contradictory", out.Confirmed, out.ContradictoryConfirms)
			}
		})
	}
}

// Nothing is delivered before somebody has subscribed, nor to a consumer that asks with basic.get.
func TestDeliveriesUnasked(t *testing.T) {
	for _, polling := range []bool{false, true} {
		noLeaks(t)
		ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			if m.ID() == wire.BasicQosID && !polling || m.ID() == wire.BasicGetID {
				c.send(deliveries(nil, 1, 1, 12))
			}
			return false
		}})
		plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Prefetch: 5, Polling: polling}})
		plan.DrainTimeout, plan.CloseTimeout = deadline, deadline
		out, err := Run(t.Context(), plan, &memory{})
		text := fmt.Sprint(err, out.Failures)
		if want := "the broker sent basic.deliver on channel 1, where nothing has subscribed"; !strings.Contains(text, want) {
			t.Errorf("polling %v: %s\nwant %q", polling, text, want)
		}
	}
}

// A message comes back that its stamp says is the producer's, and that was not sent: it is counted as none of the run's.
func TestReturnOfWhatWasNeverSent(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		body := make([]byte, 12)
		PutStamp(body, Stamp{Tag: 0xabc, Seq: 1<<36 - m.tag, Due: event.None})
		out := wire.AppendReturn(nil, m.channel, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte("q"))
		out = wire.AppendBody(wire.AppendHeader(out, m.channel, 12, nil), m.channel, body, 4096)
		c.send(wire.AppendAck(out, m.channel, m.tag, false))
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 3, Mandatory: true}}, nil))
	if out.UnattributedReturns != 3 || out.Returned != 0 || out.Confirmed != 3 || len(rec.settled(t, event.Return)) != 0 {
		t.Errorf("%+v", *out)
	}
}
