package broker_test

import (
	amqp "github.com/rabbitmq/amqp091-go"
)

func publisherTransactions(s *session) {
	conn := s.dial()
	ch, other := s.channel(conn), s.channel(conn)
	s.queue(other, "q", nil)
	s.err("select", ch.Tx())
	s.err("select again", ch.Tx())
	returns := ch.NotifyReturn(make(chan amqp.Return, 10))
	publish := func(key, body string) {
		s.err("publish "+body, ch.Publish("", key, true, false, amqp.Publishing{Body: []byte(body), Type: "t"}))
	}
	returned := func() {
		select {
		case r := <-returns:
			s.note("returned %d key %q body %q type %q", r.ReplyCode, r.RoutingKey, r.Body, r.Type)
		default:
			s.note("not returned")
		}
	}
	publish("q", "one")
	publish("q", "two")
	s.counts(ch, "q") // nothing is there before the commit
	s.err("commit", ch.TxCommit())
	s.counts(ch, "q")
	publish("q", "three")
	s.err("rollback", ch.TxRollback())
	s.err("commit of nothing", ch.TxCommit())
	s.counts(ch, "q")
	publish("nowhere", "four")
	publish("q", "five")
	s.counts(ch, "q")
	returned()
	s.err("commit", ch.TxCommit())
	returned() // it has come before commit-ok
	s.counts(other, "q")
	publish("q", "six")
	s.err("close", ch.Close())
	for range 4 { // one, two, five; six is gone with its channel
		s.get(other, "q", true)
	}
}

func consumerTransactions(s *session) {
	conn := s.dial()
	pub := s.channel(conn)
	s.queue(pub, "q", nil)
	s.publish(pub, "q", "1", "2", "3", "4", "5", "6")
	ch := s.channel(conn)
	s.err("select", ch.Tx())
	if err := ch.Qos(3, 0, false); err != nil {
		s.t.Fatal(err)
	}
	ds := s.consume(ch, "q", "c", false)
	s.receive(ds, 3)
	s.err("ack 2 and below", ch.Ack(2, true))
	s.nothing(ds) // the prefetch is free at the commit only
	s.err("commit", ch.TxCommit())
	s.receive(ds, 2)
	s.err("ack 3", ch.Ack(3, false))
	s.err("nack 4", ch.Nack(4, false, true))
	s.err("rollback", ch.TxRollback())
	s.err("ack 4", ch.Ack(4, false)) // they are unacked again
	s.err("commit", ch.TxCommit())
	s.receive(ds, 1)
	s.err("nack 3", ch.Nack(3, false, true))
	s.err("commit", ch.TxCommit())
	s.receive(ds, 1) // 3 anew
	s.err("ack all, uncommitted", ch.Ack(0, true))
	s.err("close", ch.Close())
	s.eventually(pub, "q", 3, 0) // 3, 5 and 6

	ch = s.channel(conn)
	end := reason(ch)
	s.err("select", ch.Tx())
	s.err("an unknown tag", ch.Ack(7, false))
	s.closed("channel", end)
}

func transactionsAndConfirms(s *session) {
	conn := s.dial()
	for _, order := range []struct {
		what string
		do   []func(*amqp.Channel) error
	}{
		{"confirm and tx", []func(*amqp.Channel) error{func(ch *amqp.Channel) error { return ch.Confirm(false) }, (*amqp.Channel).Tx}},
		{"tx and confirm", []func(*amqp.Channel) error{(*amqp.Channel).Tx, func(ch *amqp.Channel) error { return ch.Confirm(false) }}},
		{"commit alone", []func(*amqp.Channel) error{(*amqp.Channel).TxCommit}},
		{"rollback alone", []func(*amqp.Channel) error{(*amqp.Channel).TxRollback}},
	} {
		ch := s.channel(conn)
		for _, do := range order.do {
			s.err(order.what, do(ch))
		}
	}
	// A queue that refuses one of the messages fails the commit, though others of it were taken.
	setup := s.channel(conn)
	s.queue(setup, "short", amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
	ch := s.channel(conn)
	end := reason(ch)
	s.err("select", ch.Tx())
	for range 3 {
		s.err("publish", ch.Publish("", "short", false, false, amqp.Publishing{Body: []byte("b")}))
	}
	s.err("commit", ch.TxCommit())
	s.closed("channel", end)
}
