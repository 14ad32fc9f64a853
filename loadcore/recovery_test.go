package loadcore

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// quick are attempts that follow at once.
var quick = Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond}

// recovering makes a plan one whose connections are opened again.
func recovering(plan *Plan) *Plan {
	plan.OnDisconnect, plan.ReconnectDelay, plan.ReconnectTime = DisconnectReconnect, quick, 10*time.Second
	return plan
}

// fates maps every message to its settlements in order, returns left out.
func (m *memory) fates() map[message][]event.SettlementKind {
	all := map[message][]event.SettlementKind{}
	for i := range m.settlements {
		for _, r := range m.settlements[i].Runs {
			for k := range uint64(r.N) {
				if id := (message{m.settlements[i].Producer, r.First + k}); r.Kind != event.Return {
					all[id] = append(all[id], r.Kind)
				}
			}
		}
	}
	return all
}

// eightThenRest are 8 messages in 8 ms, a pause, and the rest at the same rate.
func eightThenRest(pause int64) []manifest.Stage {
	fast, none := perSecond(1000), perSecond(0)
	return []manifest.Stage{{From: fast, To: fast, ForNS: 8e6}, {From: none, To: none, ForNS: pause}, {From: fast, To: fast, ForNS: 1e9}}
}

// Messages 1-8 are sent and 1-4 confirmed, the connection is cut, 9-15 go out on the next one and the broker acks tag 7 with the
// multiple flag: 1-4 and 9-15 are confirmed, 5-8 in doubt, the window is whole.
func TestTagsRestartAfterACut(t *testing.T) {
	for _, republish := range []bool{false, true} {
		noLeaks(t)
		var connection atomic.Int32
		ep := startStub(t, &stub{
			onOpen: func(*stubConn) { connection.Add(1) },
			onMessage: func(c *stubConn, m stubMessage) {
				switch first := connection.Load() == 1; {
				case first && m.tag == 4:
					c.send(wire.AppendAck(nil, m.channel, 4, true))
				case first && m.tag == 8:
					time.Sleep(20 * time.Millisecond)
					c.Close()
				case !first && (!republish && m.tag == 7 || republish && m.tag == 11):
					c.send(wire.AppendAck(nil, m.channel, m.tag, true))
				}
			},
		})
		plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 12, Limit: 15, Stages: eightThenRest(300e6)}}, nil))
		plan.Republish = republish
		out, rec := runPlan(t, plan)
		fates := rec.fates()
		for seq := range uint64(15) {
			want := []event.SettlementKind{event.Ack}
			if seq >= 4 && seq < 8 {
				if want = []event.SettlementKind{event.InDoubt}; republish {
					want = append(want, event.Ack)
				}
			}
			if got := fates[message{0, seq}]; !slices.Equal(got, want) {
				t.Errorf("republish %v, message %d: settled %v, want %v", republish, seq, got, want)
			}
		}
		confirmed, again := int64(11), int64(0)
		if republish {
			confirmed, again = 15, 4
		}
		if out.Sent != 15 || out.Confirmed != confirmed || out.InDoubt != 4 || out.Republished != again || len(out.Failures) > 0 || out.StopReason != StopSent {
			t.Errorf("%+v", *out)
		}
		want := []event.ConnectionState{event.Connecting, event.Open, event.Lost, event.Connecting, event.Open, event.Recovered, event.Closing, event.Closed}
		if got := rec.states(0); !slices.Equal(got, want) {
			t.Errorf("states %v, want %v", got, want)
		}
		if len(out.Recoveries) != 1 || out.Recoveries[0].InDoubt != 4 || out.Recoveries[0].Republished != again || out.Recoveries[0].RecoveredNS < out.Recoveries[0].OpenNS {
			t.Errorf("recoveries %+v", out.Recoveries)
		}
		checkSends(t, rec, out, republish)
	}
}

// checkSends: every message has its due time, also where it is sent again.
func checkSends(t *testing.T, rec *memory, out *manifest.Outcome, republish bool) {
	t.Helper()
	due := map[uint64][]int64{}
	for _, s := range rec.sends {
		for i, d := range s.Due {
			due[s.First+uint64(i)] = append(due[s.First+uint64(i)], d-out.BarrierNS)
		}
	}
	for seq := range uint64(15) {
		want := []int64{int64(seq) * 1e6}
		if seq >= 8 {
			want[0] += 300e6
		}
		if republish && seq >= 4 && seq < 8 {
			want = append(want, want[0])
		}
		if !slices.Equal(due[seq], want) {
			t.Errorf("message %d: due %v, want %v", seq, due[seq], want)
		}
	}
}

// The broker drops the connection with 100 messages pending. Without a reconnect they stay unconfirmed and the run ends at once.
func TestCutWithMessagesPending(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if m.tag == 100 {
			c.Close()
		}
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 100, Limit: 1000}}, nil))
	if out.Sent != 100 || out.Confirmed != 0 || out.InDoubt != 0 || len(rec.settlements) > 0 {
		t.Errorf("%+v", *out)
	}
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "100 messages were not confirmed") {
		t.Errorf("failures %+v", out.Failures)
	}
}

// With fail the run ends with the reason.
func TestFailOnDisconnect(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if m.key == "q" && m.tag == 1 && c.stub.t != nil {
			c.Close()
		}
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 10}, {Size: 12, Rate: perSecond(10)}}, nil)
	plan.OnDisconnect = DisconnectFail
	out, _ := runPlan(t, plan)
	if !strings.HasPrefix(out.StopReason, StopDisconnected+": ") || len(out.Failures) == 0 {
		t.Errorf("%+v", *out)
	}
}

// deliverOne is a message of 12 bytes as a broker delivers it.
func deliverOne(tag uint64, redelivered bool, seq uint64) []byte {
	body := make([]byte, StampSize)
	PutStamp(body, Stamp{Tag: 0xabc, Seq: seq, Due: event.None})
	return wire.AppendBody(wire.AppendHeader(wire.AppendDeliver(nil, 1, "0", tag, redelivered, nil, []byte("q")), 1, StampSize, nil), 1, body, 4096)
}

// The broker closes a consumer's channel for a delivery that was not acked in time, as RabbitMQ does: the text is in the record,
// and the consumer goes on on another channel.
func TestChannelIsOpenedAgain(t *testing.T) {
	noLeaks(t)
	const text = "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 60000 ms"
	var opened atomic.Int32
	deliver := func(c *stubConn, first, n int) {
		for i := range n {
			c.send(deliverOne(uint64(first+i), i < 3 && opened.Load() > 1, uint64(first+i-1)))
		}
	}
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		if _, ok := m.(*wire.BasicConsume); !ok {
			return false
		}
		c.usual(channel, m)
		if opened.Add(1); opened.Load() == 1 {
			deliver(c, 1, 3)
			time.AfterFunc(50*time.Millisecond, func() {
				c.method(1, &wire.ChannelClose{ReplyCode: 406, ReplyText: text, Class: 0, Method: 0})
			})
		} else {
			deliver(c, 1, 5)
		}
		return true
	}})
	plan := recovering(oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 10, Prefetch: 10, Limit: 8}}))
	out, rec := runPlan(t, plan)
	if out.Received != 8 || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
	var tags []uint64
	for _, d := range rec.deliveries {
		for _, r := range d.Rows {
			tags = append(tags, r.DeliveryTag)
		}
	}
	if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(tags, want) {
		t.Errorf("delivery tags %v, want %v", tags, want)
	}
	if len(out.Recoveries) != 1 || out.Recoveries[0].Unacked != 3 || out.Recoveries[0].Code != 406 || out.Recoveries[0].Consumer == nil || out.Acked != 5 {
		t.Errorf("acked %d, recoveries %+v", out.Acked, out.Recoveries)
	}
	if !slices.ContainsFunc(rec.connections, func(c event.Connection) bool {
		return c.State == event.ChannelClosed && c.Consumer == 0 && c.Text == text
	}) {
		t.Errorf("events %+v", rec.connections)
	}
}

// The broker cancels a consumer, whose queue it has deleted: there is no cancel-ok, the queue is declared again, and the consumer
// goes on on its channel.
func TestCancelledConsumerSubscribesAgain(t *testing.T) {
	noLeaks(t)
	var consumed, declared atomic.Int32
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		switch m := m.(type) {
		case *wire.QueueDeclare:
			if !m.Passive {
				declared.Add(1)
			}
		case *wire.BasicCancelOk:
			t.Error("basic.cancel-ok was sent")
		case *wire.BasicConsume:
			c.usual(channel, m)
			if consumed.Add(1) == 1 {
				time.AfterFunc(50*time.Millisecond, func() { c.method(1, &wire.BasicCancel{ConsumerTag: "0", NoWait: true}) })
			} else {
				c.send(deliverOne(1, false, 0))
			}
			return true
		}
		return false
	}})
	plan := recovering(oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Limit: 1}}))
	out, rec := runPlan(t, plan)
	if out.Received != 1 || declared.Load() != 1 || len(out.Failures) > 0 || len(out.Recoveries) != 1 {
		t.Errorf("declared %d times; %+v", declared.Load(), *out)
	}
	if !slices.ContainsFunc(rec.connections, func(c event.Connection) bool { return c.State == event.Recovered && c.Consumer == 0 }) {
		t.Errorf("events %+v", rec.connections)
	}
}

// A broker that closes the channel with every message, as LavinMQ does when its disk is full, is not asked for ever: the attempts get
// rarer, and end in time, with the broker's text; the messages are in doubt.
func TestChannelThatIsClosedEachTime(t *testing.T) {
	noLeaks(t)
	const text = "PRECONDITION_FAILED - Server low on disk space"
	var closed atomic.Int64
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		closed.Add(1)
		c.tags[m.channel] = 0
		c.method(m.channel, &wire.ChannelClose{ReplyCode: 406, ReplyText: text, Class: wire.BasicPublishID.Class(), Method: wire.BasicPublishID.Method()})
	}})
	plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 1000}}, nil))
	plan.ReconnectDelay, plan.ReconnectTime = Backoff{Min: time.Millisecond, Max: 100 * time.Millisecond}, 400*time.Millisecond
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 || out.Failures[0].Code != 406 || !strings.Contains(out.Failures[0].Text, text) || out.Failures[0].Producer == nil {
		t.Errorf("failures %+v", out.Failures)
	}
	// Waits of up to 1, 2, 4 ... 64, 100, 100 ... ms, at least half of each: 63 ms for the first seven, and 50 ms for each one more
	if n := closed.Load(); n != out.Sent || out.InDoubt != n || n < 3 || n > 7+8 || len(rec.fates()) != int(n) {
		t.Errorf("closed %d times; %+v", n, *out)
	}
}

// What cannot be recovered in time ends, and says why.
func TestRecoveryIsGivenUp(t *testing.T) {
	noLeaks(t)
	s := &stub{}
	s.onMessage = func(c *stubConn, m stubMessage) {
		s.ln.Close()
		c.Close()
	}
	ep := startStub(t, s)
	plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 10}}, nil))
	plan.ReconnectTime = time.Second
	out, rec := runPlan(t, plan)
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "could not be recovered within 1s") || !strings.Contains(out.Failures[0].Text, "refused") {
		t.Errorf("failures %+v", out.Failures)
	}
	if out.InDoubt != 1 || out.Sent != 1 || rec.fates()[message{0, 0}][0] != event.InDoubt {
		t.Errorf("%+v", *out)
	}
}

// Slots that are passed over have a number and no tag on the channel: confirms find their messages all the same.
func TestConfirmsFindTheirMessagesBehindGaps(t *testing.T) {
	w := newWindow(10, 0)
	w.publish(3) // messages 0 1 2
	w.jump(5)
	w.publish(2) // 5 6
	w.jump(7)
	w.jump(9)
	w.publish(2)                                  // 9 10
	runs, _ := w.settle(nil, 2, false, event.Ack) // 1
	runs, _ = w.settle(runs, 6, true, event.Ack)  // 0 2 5 6 9
	want := []event.SettledRun{
		{First: 1, N: 1, Kind: event.Ack, FrameMessages: 1}, {First: 0, N: 1, Kind: event.Ack, FrameMessages: 5},
		{First: 2, N: 1, Kind: event.Ack, FrameMessages: 5}, {First: 5, N: 2, Kind: event.Ack, FrameMessages: 5}, {First: 9, N: 1, Kind: event.Ack, FrameMessages: 5},
	}
	if got := w.translate(runs); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
