package broker_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// rig is a broker with faults, a queue q, and a channel with confirms to publish on.
type rig struct {
	t        *testing.T
	server   *broker.Server
	conn     *amqp.Connection
	pub      *amqp.Channel
	confirms chan amqp.Confirmation
	returns  chan amqp.Return
}

func newRig(t *testing.T, faults string, o broker.Options) *rig {
	t.Helper()
	f, err := broker.ParseFaults(faults)
	if err != nil {
		t.Fatal(err)
	}
	o.Faults = f
	r := &rig{t: t, server: start(t, o)}
	r.conn = r.dial()
	r.pub = r.channel()
	if _, err := r.pub.QueueDeclare("q", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.pub.Confirm(false); err != nil {
		t.Fatal(err)
	}
	r.confirms = r.pub.NotifyPublish(make(chan amqp.Confirmation, 20_000))
	r.returns = r.pub.NotifyReturn(make(chan amqp.Return, 100))
	return r
}

func (r *rig) dial() *amqp.Connection {
	r.t.Helper()
	conn, err := amqp.Dial(r.server.URI())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return conn
}

func (r *rig) channel() *amqp.Channel {
	r.t.Helper()
	ch, err := r.conn.Channel()
	if err != nil {
		r.t.Fatal(err)
	}
	return ch
}

// body is the text that message n carries.
func body(n int) string { return fmt.Sprintf("message %05d", n) }

// publish sends messages first to last to the queue.
func (r *rig) publish(ch *amqp.Channel, first, last int, mandatory bool) {
	r.t.Helper()
	for n := first; n <= last; n++ {
		if err := ch.Publish("", "q", mandatory, false, amqp.Publishing{Body: []byte(body(n))}); err != nil {
			r.t.Fatalf("message %d: %v", n, err)
		}
	}
}

// answers waits for n confirms and returns the tags of acks and nacks.
func (r *rig) answers(n int) (acks, nacks []uint64) {
	r.t.Helper()
	for range n {
		select {
		case c := <-r.confirms:
			if c.Ack {
				acks = append(acks, c.DeliveryTag)
			} else {
				nacks = append(nacks, c.DeliveryTag)
			}
		case <-time.After(patience):
			r.t.Fatalf("%d acks and %d nacks, want %d answers", len(acks), len(nacks), n)
		}
	}
	return acks, nacks
}

// queued takes everything out of the queue, which holds exactly these bodies in this order.
func (r *rig) queued(want ...string) {
	r.t.Helper()
	ch, err := r.dial().Channel()
	if err != nil {
		r.t.Fatal(err)
	}
	var got []string
	for {
		d, ok, err := ch.Get("q", true)
		if err != nil {
			r.t.Fatal(err)
		}
		if !ok {
			break
		}
		if d.Redelivered {
			r.t.Errorf("%q is marked as redelivered", d.Body)
		}
		got = append(got, string(d.Body))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the queue holds %q, want %q", got, want)
	}
}

func (r *rig) applied(kind broker.FaultKind, want uint64) {
	r.t.Helper()
	if n := r.server.Stats().Faults[kind]; n != want {
		r.t.Errorf("%s was applied %d times, want %d", kind, n, want)
	}
}

// bodies are the texts of these messages.
func bodies(numbers ...int) (list []string) {
	for _, n := range numbers {
		list = append(list, body(n))
	}
	return list
}

// upTo are the numbers 1 to n without some.
func upTo(n int, without ...int) (list []int) {
	for i := 1; i <= n; i++ {
		if !slices.Contains(without, i) {
			list = append(list, i)
		}
	}
	return list
}

func TestFaultDrop(t *testing.T) {
	r := newRig(t, "drop@1000-7000/1000", broker.Options{})
	r.publish(r.pub, 1, 10_000, false)
	acks, nacks := r.answers(10_000)
	if len(acks) != 10_000 || len(nacks) != 0 {
		t.Errorf("%d acks, %d nacks; a dropped message is confirmed like any other", len(acks), len(nacks))
	}
	r.queued(bodies(upTo(10_000, 1000, 2000, 3000, 4000, 5000, 6000, 7000)...)...)
	r.applied(broker.FaultDrop, 7)
	if n := r.server.Stats().Published; n != 10_000 {
		t.Errorf("published %d", n)
	}
}

func TestFaultDuplicate(t *testing.T) {
	r := newRig(t, "duplicate@2,duplicate@4-5", broker.Options{})
	r.publish(r.pub, 1, 6, false)
	r.answers(6)
	r.queued(bodies(1, 2, 2, 3, 4, 4, 5, 5, 6)...)
	r.applied(broker.FaultDuplicate, 3)
}

// TestFaultDuplicateToManyQueues: every queue that the message reaches gets it twice.
func TestFaultDuplicateToManyQueues(t *testing.T) {
	r := newRig(t, "duplicate@1", broker.Options{})
	if err := r.pub.QueueBind("q", "", "amq.fanout", false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pub.QueueDeclare("other", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.pub.QueueBind("other", "", "amq.fanout", false, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.pub.Publish("amq.fanout", "", false, false, amqp.Publishing{Body: []byte("m")}); err != nil {
		t.Fatal(err)
	}
	r.answers(1)
	r.queued("m", "m")
	if q, err := r.pub.QueueDeclarePassive("other", false, false, false, false, nil); err != nil || q.Messages != 2 {
		t.Errorf("the other queue has %d messages, %v", q.Messages, err)
	}
}

func TestFaultCorrupt(t *testing.T) {
	// "message 00002": byte 3 is 's' = 0x73; xored with 0xff it is 0x8c. Byte 0 is 'm' = 0x6d; xored with 1 it is 'l'.
	// Byte 13 is behind the end.
	r := newRig(t, "corrupt@2:byte=3,corrupt@3:xor=1,corrupt@4:byte=13", broker.Options{})
	r.publish(r.pub, 1, 5, false)
	r.answers(5)
	r.queued(body(1), "mes\x8cage 00002", "lessage 00003", body(4), body(5))
	r.applied(broker.FaultCorrupt, 2)
}

func TestFaultReorder(t *testing.T) {
	// 3 comes behind 4, 7 behind 8 and 8 behind 9.
	r := newRig(t, "reorder@3,reorder@7-8", broker.Options{})
	r.publish(r.pub, 1, 10, false)
	r.answers(10)
	r.queued(bodies(1, 2, 4, 3, 5, 6, 9, 8, 7, 10)...)
	r.applied(broker.FaultReorder, 3)
}

// TestFaultReorderLast: without a successor the message stays, counted as ready, and is delivered in the end.
func TestFaultReorderLast(t *testing.T) {
	r := newRig(t, "reorder@2:hold=50ms", broker.Options{})
	r.publish(r.pub, 1, 2, false)
	r.answers(2)
	if q, err := r.pub.QueueDeclarePassive("q", false, false, false, false, nil); err != nil || q.Messages != 2 {
		t.Fatalf("%d ready, %v; want 2", q.Messages, err)
	}
	ds, err := r.channel().Consume("q", "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		select {
		case d := <-ds:
			if string(d.Body) != body(n) {
				t.Errorf("got %q, want message %d", d.Body, n)
			}
		case <-time.After(patience):
			t.Fatalf("message %d is not delivered", n)
		}
	}
}

// TestFaultReorderOfTwoChannels: the successor is the next message of the same channel, not of another one.
func TestFaultReorderOfTwoChannels(t *testing.T) {
	r := newRig(t, "reorder@2", broker.Options{})
	other, err := r.dial().Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Confirm(false); err != nil {
		t.Fatal(err)
	}
	answers := other.NotifyPublish(make(chan amqp.Confirmation, 1))
	r.publish(r.pub, 1, 2, false)
	r.answers(2)
	r.publish(other, 3, 3, false)
	<-answers
	r.publish(r.pub, 4, 4, false)
	r.answers(1)
	r.queued(bodies(1, 3, 4, 2)...)
}

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

func TestFaultNack(t *testing.T) {
	r := newRig(t, "nack@3,nack@6-7,nack@9", broker.Options{})
	r.publish(r.pub, 1, 8, false)
	acks, nacks := r.answers(8)
	if !slices.Equal(nacks, []uint64{3, 6, 7}) || !slices.Equal(acks, []uint64{1, 2, 4, 5, 8}) {
		t.Errorf("acks %v, nacks %v", acks, nacks)
	}
	plain := r.channel() // without confirms there is nothing to say no with
	r.publish(plain, 9, 9, false)
	if _, err := plain.QueueDeclarePassive("q", false, false, false, false, nil); err != nil { // the broker has it
		t.Fatal(err)
	}
	r.queued(bodies(1, 2, 4, 5, 8, 9)...)
	r.applied(broker.FaultNack, 3)
}

func TestFaultReturn(t *testing.T) {
	r := newRig(t, "return@2,return@5", broker.Options{})
	r.publish(r.pub, 1, 3, true)
	r.publish(r.pub, 4, 5, false)
	if acks, nacks := r.answers(5); len(acks) != 5 {
		t.Errorf("acks %v, nacks %v; a returned message is confirmed", acks, nacks)
	}
	select {
	case back := <-r.returns:
		if back.ReplyCode != 312 || back.ReplyText != "NO_ROUTE" || string(back.Body) != body(2) || back.RoutingKey != "q" || back.Exchange != "" {
			t.Errorf("returned %+v", back)
		}
	default:
		t.Error("nothing was returned before the confirm")
	}
	r.queued(bodies(1, 3, 4, 5)...)
	r.applied(broker.FaultReturn, 1)
	if n := r.server.Stats().Returned; n != 1 {
		t.Errorf("%d returned", n)
	}
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
