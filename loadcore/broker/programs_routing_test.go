package broker_test

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

func exchangeDeclaredAgain(s *session) {
	conn := s.dial()
	if err := s.channel(conn).ExchangeDeclare("x", "direct", false, false, false, false, nil); err != nil {
		s.t.Fatal(err)
	}
	for _, d := range []struct {
		name, kind                    string
		durable, autoDelete, internal bool
		args                          amqp.Table
	}{
		{name: "x", kind: "direct"},
		{name: "x", kind: "fanout"},
		{name: "x", kind: "direct", durable: true},
		{name: "x", kind: "direct", autoDelete: true},
		{name: "x", kind: "direct", internal: true},
		{name: "x", kind: "direct", args: amqp.Table{"alternate-exchange": "y"}},
		{name: "amq.topic", kind: "topic", durable: true},
		{name: "amq.topic", kind: "topic"},
		{name: "amq.topic", kind: "direct", durable: true},
	} {
		ch := s.channel(conn)
		err := ch.ExchangeDeclare(d.name, d.kind, d.durable, d.autoDelete, d.internal, false, d.args)
		s.err(fmt.Sprintf("%+v", d), err)
	}
	ch := s.open()
	end := reason(ch)
	s.err("unknown type", ch.ExchangeDeclare("z", "x-imaginary", false, false, false, false, nil))
	s.closed("channel", end)
}

func exchangeDelete(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "q", nil)
	s.err("declare", ch.ExchangeDeclare("x", "fanout", false, false, false, false, nil))
	s.err("bind", ch.QueueBind("q", "", "x", false, nil))
	s.err("if unused", s.channel(conn).ExchangeDelete("x", true, false))
	s.err("unbind", ch.QueueUnbind("q", "", "x", nil))
	s.err("if unused again", ch.ExchangeDelete("x", true, false))
	s.err("declare again", ch.ExchangeDeclare("x", "topic", false, false, false, false, nil))
	s.err("bind again", ch.QueueBind("q", "#", "x", false, nil))
	s.err("delete", ch.ExchangeDelete("x", false, false))
	s.err("passive", ch.ExchangeDeclarePassive("x", "topic", false, false, false, false, nil))
}

func bindings(s *session) {
	ch := s.open()
	for _, q := range []string{"a", "b"} {
		s.queue(ch, q, nil)
	}
	s.err("bind a k", ch.QueueBind("a", "k", "amq.direct", false, nil))
	s.err("bind a k again", ch.QueueBind("a", "k", "amq.direct", false, nil))
	s.err("bind a k with arguments", ch.QueueBind("a", "k", "amq.direct", false, amqp.Table{"n": int32(1)}))
	s.err("bind b k", ch.QueueBind("b", "k", "amq.direct", false, nil))
	s.err("bind b l", ch.QueueBind("b", "l", "amq.direct", false, nil))
	send := func() {
		for _, key := range []string{"k", "l", "m"} {
			s.send(ch, "amq.direct", key, key)
		}
		s.counts(ch, "a")
		s.counts(ch, "b")
	}
	send()
	s.err("unbind a k", ch.QueueUnbind("a", "k", "amq.direct", nil))
	send()
	s.err("unbind a k with arguments", ch.QueueUnbind("a", "k", "amq.direct", amqp.Table{"n": int32(1)}))
	send()
}

func topic(s *session) {
	ch := s.open()
	patterns := []string{"", "#", "*", "a", "a.*", "a.#", "*.b", "#.b", "a.*.c", "a.#.c", "#.b.#", "*.*", "#.#", "*.#", "a.b.c", ".", "a.", "#.*.b", "*.#.c.#"}
	for i, p := range patterns {
		q := fmt.Sprint("q", i)
		s.queue(ch, q, nil)
		s.err("bind "+p, ch.QueueBind(q, p, "amq.topic", false, nil))
	}
	for _, key := range []string{"", "a", "b", "a.b", "a.b.c", "a.c", "a.x.y.c", ".", "a.", ".b", "a..c", "a.b.b", "x.y.c.z"} {
		s.send(ch, "amq.topic", key, key)
		for i, p := range patterns {
			n, err := ch.QueuePurge(fmt.Sprint("q", i), false)
			s.note("key %q pattern %q: %d %v", key, p, n, err)
		}
	}
}

func fanout(s *session) {
	ch := s.open()
	s.err("declare", ch.ExchangeDeclare("x", "fanout", false, false, false, false, nil))
	for _, q := range []string{"a", "b", "c"} {
		s.queue(ch, q, nil)
		s.err("bind", ch.QueueBind(q, "ignored "+q, "x", false, nil))
	}
	s.err("bind twice", ch.QueueBind("c", "another key", "x", false, nil))
	s.send(ch, "x", "whatever", "to all")
	for _, q := range []string{"a", "b", "c"} {
		s.get(ch, q, true)
		s.get(ch, q, true)
	}
}
