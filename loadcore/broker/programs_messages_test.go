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

func prefetch(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3", "4", "5", "6", "7")
	ch := s.channel(conn)
	s.err("qos", ch.Qos(2, 0, false))
	ds := s.consume(ch, "q", "c", false)
	s.receive(ds, 2)
	s.nothing(ds)
	s.counts(pub, "q")
	s.err("ack", ch.Ack(1, false))
	s.receive(ds, 1)
	s.nothing(ds)
	s.err("qos does not change this consumer", ch.Qos(0, 0, false))
	s.nothing(ds)
	s.err("ack", ch.Ack(3, true))
	s.receive(ds, 2)
	s.nothing(ds)
	auto := s.channel(conn)
	s.err("qos", auto.Qos(1, 0, false))
	s.receive(s.consume(auto, "q", "auto", true), 2) // automatic acks are not counted
	s.counts(pub, "q")
}

func prefetchOfTheChannel(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.queue(pub, "r", nil)
	s.publish(pub, "q", "q1", "q2", "q3", "q4", "q5")
	s.publish(pub, "r", "r1", "r2", "r3", "r4", "r5")
	ch := s.channel(conn)
	s.err("qos", ch.Qos(3, 0, true))
	q := s.consume(ch, "q", "cq", false)
	s.receive(q, 3)
	r := s.consume(ch, "r", "cr", false)
	s.nothing(r)
	s.err("ack", ch.Ack(3, true))
	s.note("%d more", s.either(q, r, 3)) // in whatever order
	s.nothing(q)
	s.nothing(r)
	s.err("qos lifted", ch.Qos(0, 0, true))
	s.note("%d more", s.either(q, r, 4))
	s.counts(pub, "q")
	s.counts(pub, "r")
}

func consumers(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "q", nil)
	s.consume(ch, "q", "c", false)
	s.counts(ch, "q")
	_, err := s.channel(conn).Consume("q", "x", false, true, false, false, nil)
	s.err("exclusive, but used", err)
	s.err("cancel", ch.Cancel("c", false))
	ex := s.channel(conn)
	_, err = ex.Consume("q", "x", false, true, false, false, nil)
	s.err("exclusive", err)
	_, err = s.channel(conn).Consume("q", "c", false, false, false, false, nil)
	s.err("used exclusively", err)
	s.err("cancel", ex.Cancel("x", false))
	_, err = ch.Consume("q", "c", false, false, false, false, nil)
	s.err("free again", err)
	d, err := ch.Consume("q", "", false, false, false, false, nil)
	s.err("generated tag", err)
	_ = d
	s.counts(ch, "q")
}

// turns: two consumers of one queue get its messages in turn.
func turns(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	a := s.consume(s.channel(conn), "q", "a", true)
	b := s.consume(s.channel(conn), "q", "b", true)
	for i := range 6 {
		s.publish(pub, "q", fmt.Sprint(i))
	}
	s.receive(a, 3)
	s.receive(b, 3)
}

func cancel(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3")
	ch := s.channel(conn)
	s.err("qos", ch.Qos(2, 0, false))
	ds := s.consume(ch, "q", "c", false)
	s.receive(ds, 2)
	s.err("cancel", ch.Cancel("c", false))
	s.counts(pub, "q") // what was delivered stays unacked
	s.err("ack after cancel", ch.Ack(1, false))
	s.err("nack after cancel", ch.Nack(2, false, true))
	s.eventually(pub, "q", 2, 0)
	s.receive(s.consume(ch, "q", "d", false), 2)
}

func cancelledByTheBroker(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "q", nil)
	cancels := ch.NotifyCancel(make(chan string, 1))
	ds := s.consume(ch, "q", "c", false)
	s.publish(ch, "q", "1")
	s.receive(ds, 1)
	n, err := s.channel(conn).QueueDelete("q", false, false, false)
	s.note("deleted %d", n)
	s.err("delete", err)
	select {
	case tag := <-cancels:
		s.note("cancelled %q", tag)
	case <-time.After(patience):
		s.t.Error("not cancelled")
	}
	s.err("ack of what is gone", ch.Ack(1, false))
	s.queue(ch, "q", nil)
	s.counts(ch, "q")
}

func channelEnds(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3")
	ch := s.channel(conn)
	s.receive(s.consume(ch, "q", "c", false), 3)
	s.err("ack 2", ch.Ack(2, false))
	s.err("close", ch.Close())
	s.eventually(pub, "q", 2, 0)
	other := s.open()
	s.receive(s.consume(other, "q", "d", false), 2)
	s.conns[1].Close()
	s.eventually(pub, "q", 2, 0)
	s.get(pub, "q", true)
	s.get(pub, "q", true)
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
	s.err("recover", ch.Recover(true))
	s.eventually(pub, "q", 2, 0)
	s.get(ch, "q", true)
	s.get(ch, "q", true)
	end := reason(ch)
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

func notImplementedAnywhere(s *session) {
	ch := s.open()
	s.queue(ch, "q", nil)
	end := reason(ch)
	s.err("immediate", ch.Publish("", "q", false, true, amqp.Publishing{}))
	s.closed("channel", end)
	ch = s.open()
	end = reason(ch)
	s.err("prefetch size", ch.Qos(0, 1000, false))
	s.closed("channel", end)
	ch = s.open()
	end = reason(ch)
	s.err("flow off", ch.Flow(false))
	s.closed("channel", end)
	ch = s.open()
	s.err("flow on", ch.Flow(true))
	ds := s.consume(ch, "q", "c", false)
	_ = ds
	ch.Cancel("c", true)
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

func login(s *session) {
	_, err := amqp.DialConfig(s.uri, amqp.Config{Vhost: "nowhere"})
	s.err("vhost", err)
	_, err = amqp.DialConfig(s.uri, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "nobody", Password: s.t.Name()}}})
	s.err("user", err)
}
