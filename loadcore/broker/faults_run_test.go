package broker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
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
