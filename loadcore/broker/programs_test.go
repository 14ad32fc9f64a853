package broker_test

import (
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// programs are what a client can do, and what each broker answers is written down. See TestConformance.
var programs = []struct {
	name string
	run  func(*session)
}{
	{"queue declared again", queueDeclaredAgain},
	{"queue arguments", queueArguments},
	{"exchange declared again", exchangeDeclaredAgain},
	{"names", names},
	{"not there", notThere},
	{"exclusive queue", exclusiveQueue},
	{"queue delete", queueDelete},
	{"exchange delete", exchangeDelete},
	{"auto-delete", autoDelete},
	{"server-named queue", serverNamed},
	{"bindings", bindings},
	{"topic", topic},
	{"fanout", fanout},
	{"mandatory", mandatory},
	{"publish refused", publishRefused},
	{"confirms", confirms},
	{"transactions of a publisher", publisherTransactions},
	{"transactions of a consumer", consumerTransactions},
	{"transactions and confirms", transactionsAndConfirms},
	{"acks", acks},
	{"requeue", requeue},
	{"requeue in the middle", requeueInTheMiddle},
	{"get", get},
	{"prefetch", prefetch},
	{"prefetch of the channel", prefetchOfTheChannel},
	{"consumers", consumers},
	{"turns", turns},
	{"cancel", cancel},
	{"cancelled by the broker", cancelledByTheBroker},
	{"channel ends", channelEnds},
	{"length bound", lengthBound},
	{"recover", recoverAll},
	{"purge", purge},
	{"not implemented anywhere", notImplementedAnywhere},
	{"properties", properties},
	{"login", login},
}

func queueDeclaredAgain(s *session) {
	conn := s.dial()
	s.queue(s.channel(conn), "plain", nil)
	s.queue(s.channel(conn), "bounded", amqp.Table{"x-max-length": int32(5), "x-overflow": "reject-publish"})
	for _, d := range []struct {
		name                           string
		durable, autoDelete, exclusive bool
		args                           amqp.Table
	}{
		{name: "plain"},
		{name: "plain", durable: true},
		{name: "plain", autoDelete: true},
		{name: "plain", exclusive: true},
		{name: "plain", args: amqp.Table{"x-max-length": int32(5)}},
		{name: "plain", args: amqp.Table{"x-queue-type": "classic"}},
		{name: "plain", args: amqp.Table{"x-queue-type": "quorum"}},
		{name: "plain", args: amqp.Table{"x-message-ttl": int32(1000)}},
		{name: "plain", args: amqp.Table{"label": "other"}},
		{name: "bounded"},
		{name: "bounded", args: amqp.Table{"x-max-length": int32(5)}},
		{name: "bounded", args: amqp.Table{"x-max-length": int32(6), "x-overflow": "reject-publish"}},
		{name: "bounded", args: amqp.Table{"x-max-length": int64(5), "x-overflow": "reject-publish"}},
		{name: "bounded", args: amqp.Table{"x-max-length": int16(5), "x-overflow": "drop-head"}},
	} {
		ch := s.channel(conn)
		_, err := ch.QueueDeclare(d.name, d.durable, d.autoDelete, d.exclusive, false, d.args)
		s.err(fmt.Sprintf("%+v", d), err)
		if err == nil {
			ch.Close()
		}
	}
}

func queueArguments(s *session) {
	conn := s.dial()
	for i, args := range []amqp.Table{
		{"x-max-length": "many"},
		{"x-max-length": int32(-1)},
		{"x-max-length": true},
		{"x-overflow": "spill"},
		{"x-overflow": int32(1)},
		{"x-queue-type": "sorted"},
		{"x-queue-type": int32(3)},
		{"x-queue-type": "classic", "x-max-length": uint8(3)},
		{"x-max-length": int64(1) << 40},
		{"owner": "somebody"},
	} {
		ch := s.channel(conn)
		_, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, false, args)
		s.err(fmt.Sprint(args), err)
	}
}

func names(s *session) {
	conn := s.dial()
	try := func(what string, f func(*amqp.Channel) error) { s.err(what, f(s.channel(conn))) }
	try("reserved queue", func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare("amq.mine", false, false, false, false, nil)
		return err
	})
	try("reserved exchange", func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare("amq.mine", "direct", false, false, false, false, nil)
	})
	try("default exchange", func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare("", "direct", true, false, false, false, nil)
	})
	try("default exchange, passive", func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive("", "direct", true, false, false, false, nil)
	})
	try("delete default exchange", func(ch *amqp.Channel) error { return ch.ExchangeDelete("", false, false) })
	try("delete amq.direct", func(ch *amqp.Channel) error { return ch.ExchangeDelete("amq.direct", false, false) })
	try("line ends", func(ch *amqp.Channel) error {
		q, err := ch.QueueDeclare("two\r\nlines", false, false, false, false, nil)
		s.note("declared %q", q.Name)
		return err
	})
	try("empty name", func(ch *amqp.Channel) error { _, err := ch.QueuePurge("", false); return err })
}

func notThere(s *session) {
	conn := s.dial()
	s.queue(s.channel(conn), "q", nil)
	try := func(what string, f func(*amqp.Channel) error) { s.err(what, f(s.channel(conn))) }
	try("passive queue", func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive("none", false, false, false, false, nil)
		return err
	})
	try("passive exchange", func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive("none", "direct", false, false, false, false, nil)
	})
	try("purge", func(ch *amqp.Channel) error { _, err := ch.QueuePurge("none", false); return err })
	try("get", func(ch *amqp.Channel) error { _, _, err := ch.Get("none", true); return err })
	try("consume", func(ch *amqp.Channel) error {
		_, err := ch.Consume("none", "", true, false, false, false, nil)
		return err
	})
	try("delete queue", func(ch *amqp.Channel) error {
		n, err := ch.QueueDelete("none", false, false, false)
		s.note("deleted %d messages", n)
		return err
	})
	try("delete exchange", func(ch *amqp.Channel) error { return ch.ExchangeDelete("none", false, false) })
	try("bind queue", func(ch *amqp.Channel) error { return ch.QueueBind("none", "k", "amq.direct", false, nil) })
	try("bind to exchange", func(ch *amqp.Channel) error { return ch.QueueBind("q", "k", "none", false, nil) })
	try("bind both", func(ch *amqp.Channel) error { return ch.QueueBind("none", "k", "nowhere", false, nil) })
	try("bind default", func(ch *amqp.Channel) error { return ch.QueueBind("q", "k", "", false, nil) })
	try("unbind what is not bound", func(ch *amqp.Channel) error { return ch.QueueUnbind("q", "k", "amq.direct", nil) })
	try("unbind from nothing", func(ch *amqp.Channel) error { return ch.QueueUnbind("q", "k", "none", nil) })
	try("cancel", func(ch *amqp.Channel) error { return ch.Cancel("none", false) })
}

func exclusiveQueue(s *session) {
	owner := s.open()
	if _, err := owner.QueueDeclare("mine", false, false, true, false, nil); err != nil {
		s.t.Fatal(err)
	}
	s.counts(owner, "mine")
	other := s.dial()
	try := func(what string, f func(*amqp.Channel) error) { s.err(what, f(s.channel(other))) }
	try("declare", func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare("mine", false, false, true, false, nil)
		return err
	})
	try("passive", func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive("mine", false, false, true, false, nil)
		return err
	})
	try("consume", func(ch *amqp.Channel) error {
		_, err := ch.Consume("mine", "", true, false, false, false, nil)
		return err
	})
	try("get", func(ch *amqp.Channel) error { _, _, err := ch.Get("mine", true); return err })
	try("purge", func(ch *amqp.Channel) error { _, err := ch.QueuePurge("mine", false); return err })
	try("bind", func(ch *amqp.Channel) error { return ch.QueueBind("mine", "k", "amq.direct", false, nil) })
	try("delete", func(ch *amqp.Channel) error { _, err := ch.QueueDelete("mine", false, false, false); return err })
	pub := s.channel(other)
	s.publish(pub, "mine", "into it")
	s.counts(owner, "mine")
	s.conns[0].Close()
	ch := s.channel(other)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var err error
		if _, err = ch.QueueDeclarePassive("mine", false, false, false, false, nil); err == nil {
			continue
		}
		if e, ok := err.(*amqp.Error); ok && e.Code == amqp.ResourceLocked { // its owner is still going
			ch = s.channel(other)
			continue
		}
		s.err("after the owner's end", err)
		return
	}
	s.t.Error("the queue outlives its owner")
}

func queueDelete(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	s.queue(ch, "q", nil)
	s.publish(ch, "q", "one", "two")
	_, err := s.channel(conn).QueueDelete("q", false, true, false)
	s.err("if empty", err)
	consumer := s.channel(conn)
	if err := consumer.Qos(1, 0, false); err != nil {
		s.t.Fatal(err)
	}
	s.receive(s.consume(consumer, "q", "c", false), 1)
	_, err = s.channel(conn).QueueDelete("q", true, false, false)
	s.err("if unused", err)
	n, err := s.channel(conn).QueueDelete("q", false, false, false)
	s.note("deleted %d", n)
	s.err("delete", err)
	s.counts(ch, "q")
}

func autoDelete(s *session) {
	conn := s.dial()
	ch := s.channel(conn)
	if _, err := ch.QueueDeclare("q", false, true, false, false, nil); err != nil {
		s.t.Fatal(err)
	}
	s.counts(ch, "q") // no consumer yet: it stays
	s.consume(ch, "q", "a", true)
	s.consume(ch, "q", "b", true)
	s.err("cancel a", ch.Cancel("a", false))
	s.counts(ch, "q")
	s.err("cancel b", ch.Cancel("b", false))
	s.counts(ch, "q")

	ch = s.channel(conn)
	s.err("declare x", ch.ExchangeDeclare("x", "direct", false, true, false, false, nil))
	s.queue(ch, "r", nil)
	s.err("bind", ch.QueueBind("r", "k", "x", false, nil))
	s.err("bind", ch.QueueBind("r", "l", "x", false, nil))
	s.err("unbind", ch.QueueUnbind("r", "k", "x", nil))
	s.err("passive", ch.ExchangeDeclarePassive("x", "direct", false, true, false, false, nil))
	s.err("unbind", ch.QueueUnbind("r", "l", "x", nil))
	s.err("passive", ch.ExchangeDeclarePassive("x", "direct", false, true, false, false, nil))
}

func serverNamed(s *session) {
	ch := s.open()
	q, err := ch.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("prefix %q, %d characters", q.Name[:8], len(q.Name))
	s.names[q.Name] = "GENERATED"
	s.err("bind the last one under its name", ch.QueueBind("", "", "amq.direct", false, nil))
	s.send(ch, "amq.direct", q.Name, "hello")
	s.counts(ch, q.Name)
	s.get(ch, "", true)
	d, err := ch.Consume("", "", true, false, false, false, nil)
	s.err("consume the last one", err)
	_ = d
	_, err = ch.QueueDeclare(q.Name, false, false, true, false, nil)
	s.err("declare by the generated name", err)
}
