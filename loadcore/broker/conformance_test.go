package broker_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
)

func TestMain(m *testing.M) { rabbitmqtest.Main(m) }

// TestConformance runs the same programs, written with amqp091-go, against a real RabbitMQ and the embedded broker. Each
// writes down what it sees, reply codes and texts included, and both records have to be the same.
func TestConformance(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			uri := node.URI(t)
			want := perform(t, uri, p.run)
			got := perform(t, twin(t, uri), p.run)
			if diff := difference(want, got); diff != "" {
				t.Errorf("RabbitMQ and the embedded broker differ:\n%s", diff)
			}
			if len(want) == 0 {
				t.Error("the program wrote nothing down")
			}
		})
	}
}

// twin starts an embedded broker with the user, password and vhost of the URI and returns its URI.
func twin(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal("the node's URI cannot be parsed")
	}
	password, _ := u.User.Password()
	vhost, err := url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), "/"))
	if err != nil {
		t.Fatal("the node's URI cannot be parsed")
	}
	s := start(t, broker.Options{Users: map[string]string{u.User.Username(): password}, VHosts: []string{vhost}})
	u.Host = s.Addr().String()
	return u.String()
}

// start runs a broker for the time of the test.
func start(t testing.TB, o broker.Options) *broker.Server {
	t.Helper()
	s, err := broker.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// session is one run of a program.
type session struct {
	t      *testing.T
	uri    string
	record []string
	conns  []*amqp.Connection
	names  map[string]string // names that the broker made up, to what the record calls them
}

func perform(t *testing.T, uri string, run func(*session)) []string {
	s := &session{t: t, uri: uri, names: map[string]string{}}
	run(s)
	for _, c := range s.conns {
		c.Close()
	}
	return s.record
}

// note writes a line into the record.
func (s *session) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	for name, stands := range s.names {
		line = strings.ReplaceAll(line, name, stands)
	}
	s.record = append(s.record, line)
}

// err notes the outcome of an operation.
func (s *session) err(what string, err error) {
	s.note("%s: %s", what, outcome(err))
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if e, ok := err.(*amqp.Error); ok {
		return fmt.Sprintf("%d %q", e.Code, e.Reason)
	}
	return err.Error()
}

const patience = 10 * time.Second

func (s *session) dial() *amqp.Connection {
	s.t.Helper()
	c, err := amqp.Dial(s.uri)
	if err != nil {
		s.t.Fatal("dial: ", err)
	}
	s.conns = append(s.conns, c)
	return c
}

func (s *session) channel(c *amqp.Connection) *amqp.Channel {
	s.t.Helper()
	ch, err := c.Channel()
	if err != nil {
		s.t.Fatal("channel: ", err)
	}
	return ch
}

// open is a channel on a connection of its own.
func (s *session) open() *amqp.Channel { s.t.Helper(); return s.channel(s.dial()) }

// queue declares a plain queue with the given arguments and must succeed.
func (s *session) queue(ch *amqp.Channel, name string, args amqp.Table) {
	s.t.Helper()
	if _, err := ch.QueueDeclare(name, false, false, false, false, args); err != nil {
		s.t.Fatal("declare: ", err)
	}
}

// publish sends messages with these bodies to a queue, and waits until the broker has them.
func (s *session) publish(ch *amqp.Channel, queue string, bodies ...string) {
	s.t.Helper()
	if err := ch.Confirm(false); err != nil {
		s.t.Fatal("confirm: ", err)
	}
	for _, b := range bodies {
		d, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{Body: []byte(b)})
		if err != nil {
			s.t.Fatal("publish: ", err)
		}
		if _, err := d.WaitContext(s.t.Context()); err != nil {
			s.t.Fatal("confirm: ", err)
		}
	}
}

// send publishes one message through an exchange, and waits until the broker has it: RabbitMQ counts what it still carries
// to its queue as not there.
func (s *session) send(ch *amqp.Channel, exchange, key, body string) {
	s.t.Helper()
	if err := ch.Confirm(false); err != nil {
		s.t.Fatal("confirm: ", err)
	}
	d, err := ch.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{Body: []byte(body)})
	if err != nil {
		s.t.Fatal("publish: ", err)
	}
	if _, err := d.WaitContext(s.t.Context()); err != nil {
		s.t.Fatal("confirm: ", err)
	}
}

// counts notes what a passive declare says.
func (s *session) counts(ch *amqp.Channel, queue string) {
	q, err := ch.QueueDeclarePassive(queue, false, false, false, false, nil)
	if err != nil {
		s.err("counts of "+queue, err)
		return
	}
	s.note("%s: %d ready, %d consumers", queue, q.Messages, q.Consumers)
}

// eventually waits until a passive declare shows these counts: RabbitMQ requeues behind a client's back.
func (s *session) eventually(ch *amqp.Channel, queue string, ready, consumers int) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		q, err := ch.QueueDeclarePassive(queue, false, false, false, false, nil)
		if err != nil {
			s.t.Fatal("counts: ", err)
		}
		if q.Messages == ready && q.Consumers == consumers {
			s.note("%s: %d ready, %d consumers, in the end", queue, ready, consumers)
			return
		}
	}
	s.t.Errorf("%s never shows %d ready, %d consumers", queue, ready, consumers)
}

// consume must succeed.
func (s *session) consume(ch *amqp.Channel, queue, tag string, autoAck bool) <-chan amqp.Delivery {
	s.t.Helper()
	d, err := ch.Consume(queue, tag, autoAck, false, false, false, nil)
	if err != nil {
		s.t.Fatal("consume: ", err)
	}
	return d
}

// receive notes the next n deliveries and returns them.
func (s *session) receive(ds <-chan amqp.Delivery, n int) []amqp.Delivery {
	s.t.Helper()
	var got []amqp.Delivery
	for range n {
		select {
		case d, ok := <-ds:
			if !ok {
				s.note("deliveries ended")
				return got
			}
			s.note("delivered %q tag %d redelivered %v consumer %s", d.Body, d.DeliveryTag, d.Redelivered, d.ConsumerTag)
			got = append(got, d)
		case <-time.After(patience):
			s.t.Errorf("got %d deliveries, want %d", len(got), n)
			return got
		}
	}
	return got
}

// either counts deliveries from two consumers, up to n.
func (s *session) either(a, b <-chan amqp.Delivery, n int) int {
	for i := range n {
		select {
		case <-a:
		case <-b:
		case <-time.After(patience):
			s.t.Errorf("got %d deliveries, want %d", i, n)
			return i
		}
	}
	return n
}

// nothing notes whether no delivery comes for a moment.
func (s *session) nothing(ds <-chan amqp.Delivery) {
	select {
	case d := <-ds:
		s.note("delivered %q, one too many", d.Body)
	case <-time.After(150 * time.Millisecond):
		s.note("no more")
	}
}

// get notes one basic.get.
func (s *session) get(ch *amqp.Channel, queue string, autoAck bool) amqp.Delivery {
	d, ok, err := ch.Get(queue, autoAck)
	switch {
	case err != nil:
		s.err("get", err)
	case !ok:
		s.note("get: empty")
	default:
		s.note("got %q tag %d redelivered %v left %d exchange %q key %q", d.Body, d.DeliveryTag, d.Redelivered, d.MessageCount, d.Exchange, d.RoutingKey)
	}
	return d
}

// closed waits for the end of a channel and notes why.
func (s *session) closed(what string, reason chan *amqp.Error) {
	select {
	case e := <-reason:
		if e == nil {
			s.note("%s closed", what)
			return
		}
		s.note("%s closed: %s", what, outcome(e))
	case <-time.After(patience):
		s.t.Errorf("%s stays open", what)
	}
}

func reason(ch interface {
	NotifyClose(chan *amqp.Error) chan *amqp.Error
}) chan *amqp.Error {
	return ch.NotifyClose(make(chan *amqp.Error, 1))
}

// difference shows two records side by side from the first line that differs; "" if none does.
func difference(want, got []string) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			fmt.Fprintf(&b, "line %d\n  RabbitMQ: %s\n  embedded: %s\n", i+1, w, g)
		}
	}
	return b.String()
}
