package loadcore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// C020: each message is acked the instant its last byte is read, when the sender's write call may not have returned yet.
func TestConfirmBeforeTheWriteReturns(t *testing.T) {
	noLeaks(t)
	const n = 20_000
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		c.send(wire.AppendAck(nil, m.channel, m.tag, false))
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: n}}, nil))
	sent, acked := rec.sent(t), rec.settled(t, event.Ack)
	if len(sent) != n || len(acked) != n || out.Sent != n || out.Confirmed != n {
		t.Errorf("sent %d, acked %d, outcome %+v", len(sent), len(acked), *out)
	}
	for id, at := range acked {
		if at < sent[id].Sent {
			t.Fatalf("%v was confirmed %d ns before it was sent", id, sent[id].Sent-at)
		}
	}
	if len(rec.sends) != n { // a full window flushes a batch of one
		t.Errorf("%d batches, want %d of one message each", len(rec.sends), n)
	}
}

func TestConfirmsOutOfOrder(t *testing.T) {
	noLeaks(t)
	const n, group = 10_000, 10
	var held []uint64
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		held = append(held, m.tag)
		if len(held) < group {
			return
		}
		// the last, then all below but the first two as nacks, one by one, then the rest at once
		var out []byte
		out = wire.AppendAck(out, m.channel, held[group-1], false)
		for i := group - 2; i >= 2; i-- {
			out = wire.AppendNack(out, m.channel, held[i], false, false)
		}
		out = wire.AppendAck(out, m.channel, held[group-1], true)
		out = wire.AppendAck(out, m.channel, held[0], false) // contradicts: settled just now
		c.send(out)
		held = held[:0]
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: group, Limit: n}}, nil))
	acked, nacked := rec.settled(t, event.Ack), rec.settled(t, event.Nack)
	if want := n / group * 3; len(acked) != want || out.Confirmed != int64(want) {
		t.Errorf("acked %d, outcome %d, want %d", len(acked), out.Confirmed, want)
	}
	if want := n / group * 7; len(nacked) != want || out.Nacked != int64(want) {
		t.Errorf("nacked %d, outcome %d, want %d", len(nacked), out.Nacked, want)
	}
	for id := range acked {
		if _, both := nacked[id]; both {
			t.Fatalf("%v is acked and nacked", id)
		}
	}
	if want := int64(n / group); out.ContradictoryConfirms != want {
		t.Errorf("contradictory %d, want %d", out.ContradictoryConfirms, want)
	}
}

// C046: a broker that never confirms.
func TestConfirmsThatNeverCome(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10}}, nil)
	plan.ConfirmTimeout = 500 * time.Millisecond
	plan.Time = 20 * time.Second
	out, rec := runPlan(t, plan)
	if out.Sent != 10 || len(rec.sent(t)) != 10 || out.Confirmed != 0 {
		t.Errorf("sent %d, confirmed %d, want 10 and 0", out.Sent, out.Confirmed)
	}
	if len(out.Failures) != 1 || out.Failures[0].Producer == nil || !strings.Contains(out.Failures[0].Text, "10 messages were not confirmed within 500ms") {
		t.Errorf("failures %+v", out.Failures)
	}
	if out.Drained {
		t.Error("drained, with 10 messages unconfirmed")
	}
	if took := time.Duration(out.PublishStopNS - out.BarrierNS); took > 10*time.Second {
		t.Errorf("the failure came after %v", took)
	}
}

// C046: the connection is dropped with 100 messages unconfirmed.
func TestConnectionDroppedWithConfirmsPending(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if m.tag == 100 {
			c.Close()
		}
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 100}}, nil))
	if out.Sent != 100 || out.Confirmed != 0 || len(rec.settlements) != 0 {
		t.Errorf("sent %d, confirmed %d, settlements %v", out.Sent, out.Confirmed, rec.settlements)
	}
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "100 messages were not confirmed") {
		t.Errorf("failures %+v", out.Failures)
	}
	states := fmt.Sprint(rec.states(0))
	if states != "[connecting open lost]" {
		t.Errorf("states %s", states)
	}
	if !strings.Contains(out.StopReason, "not all of them as planned") {
		t.Errorf("stop reason %q", out.StopReason)
	}
}

// A write call that carries five messages breaks off after the first byte of the second: three were not sent, so that no
// confirm is missing for them. Two are not confirmed, or, with one byte, one.
func TestUnsentMessagesAreNotUnconfirmed(t *testing.T) {
	for _, x := range []struct {
		taken int // whole messages before the byte
		note  string
		text  string
	}{
		{1, "producer 0: 2 messages unconfirmed", "; 2 messages were not confirmed"},
		{0, "producer 0: 1 message unconfirmed", "; 1 message was not confirmed"},
	} {
		e, _ := bare([]manifest.Producer{{Size: 12, Confirm: 5, Batch: 5, Limit: 5}}, nil)
		p := e.producers[0]
		c := e.conn(0)
		n := p.take()
		p.stamp(n)
		p.ch.conn.out.lock()
		if n != 5 || !p.begin(n) {
			t.Fatalf("%d to send", n)
		}
		e.connectionLost(c, loss{text: "gone"}) // the reader may notice it first
		p.written(n, x.taken*len(p.enc.frames(1))+1, errors.New("broken pipe"))
		e.describeLosses()
		if got := (&run{engine: e}).confirmNotes(); len(got) != 1 || got[0] != x.note {
			t.Errorf("%q, want %q", got, x.note)
		}
		if got := e.failures[0].Text; got != "gone"+x.text {
			t.Errorf("%q, want %q behind", got, x.text)
		}
		if p.count.sent.Load() != int64(x.taken)+1 || p.count.notSent.Load() != 4-int64(x.taken) {
			t.Errorf("%d sent, %d not", p.count.sent.Load(), p.count.notSent.Load())
		}
	}
}

func TestConfirmOfATagThatWasNeverIssued(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		c.send(wire.AppendAck(nil, m.channel, 7, false))
	}})
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 5}}, nil))
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "basic.ack for delivery tag 7 on channel 1, where only 5 were published") {
		t.Errorf("failures %+v", out.Failures)
	}
}

// A returned message is a settlement of its own besides its ack.
func TestReturns(t *testing.T) {
	noLeaks(t)
	const n = 1000
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		var out []byte
		if m.tag%10 == 0 {
			out = wire.AppendReturn(out, m.channel, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte(m.key))
			out = wire.AppendHeader(out, m.channel, uint64(len(m.body)), nil)
			out = wire.AppendBody(out, m.channel, m.body, 131072)
		}
		c.send(wire.AppendAck(out, m.channel, m.tag, false))
	}})
	out, rec := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 40, Confirm: 50, Limit: n, Mandatory: true}}, nil))
	returned, acked := rec.settled(t, event.Return), rec.settled(t, event.Ack)
	if len(returned) != n/10 || out.Returned != n/10 || len(acked) != n {
		t.Errorf("returned %d, outcome %d, acked %d", len(returned), out.Returned, len(acked))
	}
	for id := range returned {
		if id.seq%10 != 9 { // tag 10 is sequence 9
			t.Errorf("%v was not returned by the broker", id)
		}
	}
}
