package broker_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

func TestFaultDelay(t *testing.T) {
	const delay = 200 * time.Millisecond
	r := newRig(t, "delay@2:fixed=200ms", broker.Options{})
	begin := time.Now()
	r.publish(r.pub, 1, 3, false)
	if acks, _ := r.answers(3); len(acks) != 3 {
		t.Errorf("%d acks", len(acks))
	}
	if q, err := r.pub.QueueDeclarePassive("q", false, false, false, false, nil); err != nil || q.Messages != 3 {
		t.Errorf("%d ready, %v; a delayed message is in its queue", q.Messages, err)
	}
	ch := r.channel()
	if _, ok, err := ch.Get("q", true); err != nil || !ok {
		t.Fatalf("message 1 is not there: %v", err)
	}
	if d, ok, err := ch.Get("q", true); err != nil || ok {
		if time.Since(begin) < delay {
			t.Errorf("got %q before its time, %v", d.Body, err)
		}
		return // this machine was too slow to look in time
	}
	ds, err := ch.Consume("q", "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 3; n++ { // 3 is not delayed, but does not overtake
		select {
		case d := <-ds:
			if after := time.Since(begin); after < delay {
				t.Errorf("message %d after %v", n, after)
			}
			if string(d.Body) != body(n) {
				t.Errorf("got %q, want message %d", d.Body, n)
			}
		case <-time.After(patience):
			t.Fatalf("message %d is not delivered", n)
		}
	}
	r.applied(broker.FaultDelay, 1)
}

func TestFaultStall(t *testing.T) {
	r := newRig(t, "stall@3:400ms", broker.Options{})
	other := r.dial()
	begin := time.Now()
	r.publish(r.pub, 1, 5, false)
	if acks, _ := r.answers(3); !slices.Equal(acks, []uint64{1, 2, 3}) {
		t.Fatalf("acks %v; what was taken before the stall is confirmed", acks)
	}
	if _, err := other.Channel(); err != nil { // nothing is read on any connection
		t.Fatal(err)
	}
	if after := time.Since(begin); after < 400*time.Millisecond {
		t.Errorf("another connection was answered %v after the publishes that begin a stall of 400 ms", after)
	}
	r.answers(2)
	r.queued(bodies(1, 2, 3, 4, 5)...)
	r.applied(broker.FaultStall, 1)
}

func TestFaultBlock(t *testing.T) {
	r := newRig(t, "block@2:300ms", broker.Options{})
	blocked := r.conn.NotifyBlocked(make(chan amqp.Blocking, 10))
	consumer := r.dial() // does not publish, so it is left alone
	ch, err := consumer.Channel()
	if err != nil {
		t.Fatal(err)
	}
	ds, err := ch.Consume("q", "", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.publish(r.pub, 1, 4, false)
	if acks, _ := r.answers(2); !slices.Equal(acks, []uint64{1, 2}) {
		t.Fatalf("acks %v", acks)
	}
	if b := <-blocked; !b.Active || b.Reason != "low on memory" {
		t.Errorf("blocked: %+v", b)
	}
	for n := 1; n <= 2; n++ {
		if d := <-ds; string(d.Body) != body(n) || d.Ack(false) != nil {
			t.Errorf("got %q, want message %d", d.Body, n)
		}
	}
	if !r.server.Stats().Blocked {
		t.Log("the alarm ended before the test could see it")
	}
	if b := <-blocked; b.Active {
		t.Errorf("unblocked: %+v", b)
	}
	r.answers(2)
	for n := 3; n <= 4; n++ {
		if d := <-ds; string(d.Body) != body(n) {
			t.Errorf("got %q, want message %d", d.Body, n)
		}
	}
	r.applied(broker.FaultBlock, 1)
}

func TestFaultCloseChannel(t *testing.T) {
	r := newRig(t, "close-channel@4:code=404:text=NOT_FOUND - so it is", broker.Options{})
	end := r.pub.NotifyClose(make(chan *amqp.Error, 1))
	r.publish(r.pub, 1, 4, false)
	if acks, _ := r.answers(3); !slices.Equal(acks, []uint64{1, 2, 3}) {
		t.Errorf("acks %v", acks)
	}
	select {
	case e := <-end:
		if e == nil || e.Code != 404 || e.Reason != "NOT_FOUND - so it is" {
			t.Errorf("closed: %+v", e)
		}
	case <-time.After(patience):
		t.Fatal("the channel stays open")
	}
	ch := r.channel() // the connection stays
	if q, err := ch.QueueDeclarePassive("q", false, false, false, false, nil); err != nil || q.Messages != 3 {
		t.Errorf("%d ready, %v; want 3", q.Messages, err)
	}
	r.applied(broker.FaultCloseChannel, 1)
}

// TestFaultCut: the client sees the confirms of what came before, then half a frame, then the end.
func TestFaultCut(t *testing.T) {
	f, err := broker.ParseFaults("cut@4")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, broker.Options{Faults: f})
	c := openRaw(t, s)
	c.send(t, 1, &wire.QueueDeclare{Queue: "q"})
	c.expect(t, wire.QueueDeclareOkID)
	c.send(t, 1, &wire.ConfirmSelect{})
	c.expect(t, wire.ConfirmSelectOkID)
	var all []byte
	for n := 1; n <= 6; n++ {
		all = wire.AppendPublish(all, 1, "", "q", false)
		all = wire.AppendHeader(all, 1, 1, nil)
		all = wire.AppendBody(all, 1, []byte{byte(n)}, c.frameMax)
	}
	c.write(t, all)
	if ack := c.expect(t, wire.BasicAckID).(*wire.BasicAck); ack.DeliveryTag != 3 || !ack.Multiple {
		t.Errorf("%+v, want all up to 3", ack)
	}
	if f, err := c.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v, %v; want the end in the middle of a frame", f, err)
	}
	r := &rig{t: t, server: s}
	r.conn = r.dial()
	r.queued("\x01", "\x02", "\x03")
	r.applied(broker.FaultCut, 1)
}

// TestFaultNumbers: messages are counted over all connections, and what is refused is not counted.
func TestFaultNumbers(t *testing.T) {
	r := newRig(t, "drop@3,drop@5", broker.Options{})
	r.publish(r.pub, 1, 2, false)
	r.answers(2)
	bad := r.channel()
	end := bad.NotifyClose(make(chan *amqp.Error, 1))
	if err := bad.Publish("no such exchange", "q", false, false, amqp.Publishing{}); err != nil {
		t.Fatal(err)
	}
	<-end
	other, err := r.dial().Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Confirm(false); err != nil {
		t.Fatal(err)
	}
	answers := other.NotifyPublish(make(chan amqp.Confirmation, 2))
	r.publish(other, 3, 4, false) // 3 is dropped
	<-answers
	<-answers
	if err := r.pub.Publish("", "nowhere", false, false, amqp.Publishing{}); err != nil { // 5: there is nothing to drop
		t.Fatal(err)
	}
	r.answers(1)
	r.publish(r.pub, 6, 6, false)
	r.answers(1)
	r.queued(bodies(1, 2, 4, 6)...)
	r.applied(broker.FaultDrop, 1)
}

// TestFaultsTogether: several faults on one message all work, and those that keep it out of its queue win.
func TestFaultsTogether(t *testing.T) {
	r := newRig(t, "duplicate@2,corrupt@2:byte=0:xor=1,reorder@2,nack@4,drop@4,duplicate@4", broker.Options{})
	r.publish(r.pub, 1, 5, false)
	acks, nacks := r.answers(5)
	if len(acks) != 4 || !slices.Equal(nacks, []uint64{4}) {
		t.Errorf("acks %v, nacks %v", acks, nacks)
	}
	r.queued(body(1), body(3), "lessage 00002", "lessage 00002", body(5))
	r.applied(broker.FaultDrop, 0)
	r.applied(broker.FaultDuplicate, 1)
}
