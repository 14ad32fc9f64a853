package broker_test

import (
	"fmt"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func mandatory(s *session) {
	ch := s.open()
	s.queue(ch, "q", nil)
	returns := ch.NotifyReturn(make(chan amqp.Return, 10))
	if err := ch.Confirm(false); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range []struct {
		exchange, key string
		mandatory     bool
	}{{"", "q", true}, {"", "nowhere", false}, {"", "nowhere", true}, {"amq.fanout", "k", true}, {"", "q", true}} {
		d, err := ch.PublishWithDeferredConfirm(m.exchange, m.key, m.mandatory, false, amqp.Publishing{Body: []byte("b"), Type: "t", DeliveryMode: 2})
		if err != nil {
			s.t.Fatal(err)
		}
		ok, err := d.WaitContext(s.t.Context())
		s.note("%+v: confirmed %v %v", m, ok, err)
		select { // the return comes before the confirm
		case r := <-returns:
			s.note("returned %d %q exchange %q key %q body %q type %q mode %d", r.ReplyCode, r.ReplyText, r.Exchange, r.RoutingKey, r.Body, r.Type, r.DeliveryMode)
		default:
			s.note("not returned")
		}
	}
	s.counts(ch, "q")
}

func publishRefused(s *session) {
	conn := s.dial()
	s.err("declare", s.channel(conn).ExchangeDeclare("inner", "direct", false, false, true, false, nil))
	for _, exchange := range []string{"none", "inner"} {
		ch := s.channel(conn)
		end := reason(ch)
		s.err("publish to "+exchange, ch.Publish(exchange, "k", false, false, amqp.Publishing{}))
		s.closed("channel", end)
	}
	ch := s.channel(conn)
	end := reason(ch)
	s.err("wrong user", ch.Publish("", "k", false, false, amqp.Publishing{UserId: "somebody else"}))
	s.closed("channel", end)
	ch = s.channel(conn)
	end = reason(ch)
	s.err("direct reply-to", ch.Publish("", "k", false, false, amqp.Publishing{ReplyTo: "amq.rabbitmq.reply-to"}))
	s.closed("channel", end)
}

func confirms(s *session) {
	ch := s.open()
	s.queue(ch, "q", nil)
	s.err("before confirms", ch.Publish("", "q", false, false, amqp.Publishing{Body: []byte("unconfirmed")}))
	s.err("select", ch.Confirm(false))
	s.err("select again", ch.Confirm(false))
	for i := range 5 {
		d, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp.Publishing{Body: []byte("m")})
		if err != nil {
			s.t.Fatal(err)
		}
		ok, err := d.WaitContext(s.t.Context())
		s.note("%d: tag %d confirmed %v %v", i, d.DeliveryTag, ok, err)
	}
	s.counts(ch, "q")
}

func acks(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3", "4", "5", "6")
	ch := s.channel(conn)
	ds := s.consume(ch, "q", "c", false)
	s.receive(ds, 6)
	s.err("ack 2", ch.Ack(2, false))
	s.err("ack 4 and below", ch.Ack(4, true))
	s.err("reject 5", ch.Reject(5, false))
	s.err("ack all", ch.Ack(0, true))
	s.err("ack all of nothing", ch.Ack(0, true))
	s.counts(ch, "q")
	s.err("cancel", ch.Cancel("c", false))
	for _, wrong := range []struct {
		first    uint64 // acked before; 0: nothing
		tag      uint64
		multiple bool
		left     int // messages that come back
	}{{1, 1, false, 1}, {0, 7, false, 2}, {2, 2, true, 0}, {0, 99, true, 2}, {0, 0, false, 2}, {2, 2, false, 1}} {
		s.publish(pub, "q", "one", "two")
		ch := s.channel(conn)
		end := reason(ch)
		s.receive(s.consume(ch, "q", "c", false), 2)
		if wrong.first != 0 {
			s.err("ack", ch.Ack(wrong.first, wrong.multiple))
		}
		s.note("ack wrong %+v", wrong)
		ch.Ack(wrong.tag, wrong.multiple)
		s.closed("channel", end)
		s.eventually(pub, "q", wrong.left, 0)
		if _, err := pub.QueuePurge("q", false); err != nil {
			s.t.Fatal(err)
		}
	}
}

func requeue(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3")
	ch := s.channel(conn)
	if err := ch.Qos(1, 0, false); err != nil {
		s.t.Fatal(err)
	}
	ds := s.consume(ch, "q", "c", false)
	s.receive(ds, 1)
	s.err("nack", ch.Nack(1, false, true)) // back to the head, and delivered again
	s.receive(ds, 1)
	s.err("reject", ch.Reject(2, true))
	s.receive(ds, 1)
	s.err("ack", ch.Ack(3, false))
	s.receive(ds, 1)
	s.err("nack for good", ch.Nack(4, false, false))
	s.receive(ds, 1)
	s.err("ack", ch.Ack(5, true))
	s.nothing(ds)
	s.counts(pub, "q")
}

func requeueInTheMiddle(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3", "4", "5", "6")
	ch := s.channel(conn)
	for range 4 {
		s.get(ch, "q", false)
	}
	s.err("nack 3", ch.Nack(3, false, true))
	s.err("nack 1", ch.Nack(1, false, true))
	s.err("nack 2", ch.Nack(2, false, true))
	s.eventually(pub, "q", 5, 0)
	other := s.channel(conn)
	for range 6 {
		s.get(other, "q", true)
	}
	s.err("nack the rest", ch.Nack(0, true, true))
	s.eventually(pub, "q", 1, 0)
	s.get(other, "q", true)
}

func get(s *session) {
	ch := s.open()
	s.queue(ch, "q", nil)
	s.get(ch, "q", false)
	s.publish(ch, "q", "1", "2", "3")
	s.get(ch, "q", false)
	s.get(ch, "q", true)
	s.counts(ch, "q")
	s.err("requeue", ch.Nack(1, false, true))
	s.eventually(ch, "q", 2, 0)
	s.get(ch, "q", true)
	s.get(ch, "q", true)
	s.get(ch, "q", true)
}

func lengthBound(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "head", amqp.Table{"x-max-length": int32(3)})
	s.publish(ch, "head", "1", "2", "3", "4", "5")
	s.counts(ch, "head")
	s.get(ch, "head", false)
	s.publish(ch, "head", "6", "7")
	s.counts(ch, "head")
	s.err("requeue", ch.Nack(1, false, true)) // over the bound: the oldest goes
	s.eventually(ch, "head", 3, 0)
	s.get(ch, "head", true)

	s.queue(ch, "tail", amqp.Table{"x-max-length": int32(2), "x-overflow": "reject-publish"})
	s.queue(ch, "copy", nil)
	for _, q := range []string{"tail", "copy"} {
		s.err("bind", ch.QueueBind(q, "", "amq.fanout", false, nil))
	}
	for i := range 4 {
		d, err := ch.PublishWithDeferredConfirm("amq.fanout", "", false, false, amqp.Publishing{Body: []byte(fmt.Sprint(i))})
		if err != nil {
			s.t.Fatal(err)
		}
		ok, err := d.WaitContext(s.t.Context())
		s.note("%d confirmed %v %v", i, ok, err)
	}
	s.counts(ch, "tail")
	s.counts(ch, "copy")
	s.get(ch, "tail", true)

	s.queue(ch, "none", amqp.Table{"x-max-length": int32(0)})
	s.publish(ch, "none", "1")
	s.counts(ch, "none")
	ds := s.consume(ch, "none", "c", true)
	s.publish(ch, "none", "2")
	s.receive(ds, 1)
}

func recoverAll(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3")
	ch := s.channel(conn)
	for range 3 {
		s.get(ch, "q", false)
	}
	s.err("ack", ch.Ack(2, false))
	//lint:ignore SA1019 the deprecated method is what is tested
	s.err("recover", ch.Recover(true))
	s.eventually(pub, "q", 2, 0)
	s.get(ch, "q", true)
	s.get(ch, "q", true)
	end := reason(ch)
	//lint:ignore SA1019 the deprecated method is what is tested
	s.err("recover without requeue", ch.Recover(false))
	s.closed("channel", end)
}

func purge(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "q", nil)
	s.publish(ch, "q", "1", "2", "3")
	s.get(ch, "q", false)
	n, err := ch.QueuePurge("q", false)
	s.note("purged %d", n)
	s.err("purge", err)
	s.counts(ch, "q")
	s.err("requeue", ch.Nack(1, false, true))
	s.eventually(ch, "q", 1, 0)
}

func properties(s *session) {
	ch := s.open()
	s.queue(ch, "q", nil)
	s.err("publish", ch.Publish("", "q", false, false, amqp.Publishing{
		Headers:     amqp.Table{"n": int64(5), "list": []any{int32(1), "two"}, "sub": amqp.Table{"k": true}},
		ContentType: "text/plain", ContentEncoding: "utf-8", DeliveryMode: 2, Priority: 7, CorrelationId: "c", ReplyTo: "r",
		MessageId: "m", Timestamp: time.Unix(1700000000, 0), Type: "t", AppId: "a",
		Body: []byte(strings.Repeat("long ", 100_000)),
	}))
	d := s.get(ch, "q", true)
	d.Acknowledger, d.Body = nil, d.Body[:10]
	s.note("%+v", d)
	s.err("empty", ch.Publish("", "q", false, false, amqp.Publishing{}))
	s.get(ch, "q", true)
}
