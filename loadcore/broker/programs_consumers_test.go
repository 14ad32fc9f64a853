package broker_test

import (
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

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

func login(s *session) {
	_, err := amqp.DialConfig(s.uri, amqp.Config{Vhost: "nowhere"})
	s.err("vhost", err)
	_, err = amqp.DialConfig(s.uri, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "nobody", Password: s.t.Name()}}})
	s.err("user", err)
}
