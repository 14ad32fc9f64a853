package wire_test

import (
	"crypto/rand"
	"net"
	"reflect"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/wire"
)

// A second opinion: amqp091-go's client against a server that these tests play with the codec, over a pipe.

// asMap turns a table into amqp091-go's form.
func asMap(v any) any {
	switch v := v.(type) {
	case wire.Table:
		m := amqp.Table{}
		for _, f := range v {
			m[f.Key] = asMap(f.Value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = asMap(v[i])
		}
		return list
	case wire.Decimal:
		return amqp.Decimal{Scale: v.Scale, Value: v.Value}
	case wire.Timestamp:
		return time.Unix(int64(v), 0)
	}
	return v
}

// start runs f beside the test's own script; wait fails the test with its error.
func start(t *testing.T, f func() error) (wait func()) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- f() }()
	return func() {
		t.Helper()
		select {
		case err := <-result:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(linkTimeout):
			t.Fatal("amqp091-go is still waiting for an answer")
		}
	}
}

// get returns what comes next from a channel of amqp091-go's.
func get[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(linkTimeout):
		t.Fatal("amqp091-go reports nothing")
		panic("unreachable")
	}
}

// openPeer connects amqp091-go with one channel open.
func openPeer(t *testing.T) (*link, *amqp.Connection, *amqp.Channel) {
	t.Helper()
	server, client := net.Pipe()
	l := newLink(t, server)
	user, password := "some user", rand.Text()
	var conn *amqp.Connection
	var ch *amqp.Channel
	wait := start(t, func() (err error) {
		conn, err = amqp.Open(client, amqp.Config{
			Vhost: "the vhost", ChannelMax: 77, FrameSize: 5000, Heartbeat: 20 * time.Second, Locale: "en_US",
			SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}},
			Properties: amqp.Table{"product": "peer"},
		})
		if err == nil {
			ch, err = conn.Channel()
		}
		return err
	})
	l.t.Cleanup(func() { server.Close(); client.Close() })
	playHandshake(l, user, password)
	expect[*wire.ChannelOpen](l, 1)
	l.send(1, &wire.ChannelOpenOk{})
	wait()
	if conn.Major != 0 || conn.Minor != 9 || !reflect.DeepEqual(conn.Properties, asMap(everyType)) || !reflect.DeepEqual(conn.Locales, []string{"en_US", "de_DE"}) {
		t.Errorf("amqp091-go read start as %d.%d %v %v", conn.Major, conn.Minor, conn.Properties, conn.Locales)
	}
	if c := conn.Config; c.ChannelMax != 77 || c.FrameSize != 5000 || c.Heartbeat != 20*time.Second {
		t.Errorf("amqp091-go took %d, %d, %v from tune", c.ChannelMax, c.FrameSize, c.Heartbeat)
	}
	return l, conn, ch
}

func playHandshake(l *link, user, password string) {
	l.t.Helper()
	for len(l.in) < 8 {
		l.more()
	}
	if string(l.in[:8]) != string(wire.ProtocolHeader[:]) {
		l.t.Fatalf("amqp091-go begins with % x", l.in[:8])
	}
	l.in = l.in[8:]
	l.send(0, &wire.ConnectionStart{VersionMinor: 9, ServerProperties: everyType, Mechanisms: "EXTERNAL PLAIN", Locales: "en_US de_DE"})
	ok := expect[*wire.ConnectionStartOk](l, 0)
	if ok.Mechanism != wire.MechanismPlain || ok.Locale != "en_US" || ok.Response != wire.PlainResponse(user, password) {
		l.t.Errorf("start-ok: mechanism %q, locale %q, response as expected: %v", ok.Mechanism, ok.Locale, ok.Response == wire.PlainResponse(user, password))
	}
	if u, p, err := wire.ParsePlainResponse(ok.Response); u != user || p != password || err != nil {
		l.t.Errorf("the response comes apart into %q and another password: %v", u, err)
	}
	if product, _ := ok.ClientProperties.Get("product"); product != "peer" || !wire.HasCapability(ok.ClientProperties, "basic.nack") {
		l.t.Errorf("client properties %+v", ok.ClientProperties)
	}
	proposal := wire.Limits{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60}
	l.send(0, &wire.ConnectionTune{Limits: proposal})
	limits, err := wire.AcceptTune(proposal, expect[*wire.ConnectionTuneOk](l, 0).Limits)
	if err != nil || limits != (wire.Limits{ChannelMax: 77, FrameMax: 5000, Heartbeat: 20}) {
		l.t.Errorf("tune-ok: %+v, %v", limits, err)
	}
	l.frameMax = limits.FrameMax
	if open := expect[*wire.ConnectionOpen](l, 0); open.VirtualHost != "the vhost" {
		l.t.Errorf("%+v", open)
	}
	l.send(0, &wire.ConnectionOpenOk{})
}

// Each request: what amqp091-go is told to ask, what has to be read, what is answered.
func TestPeerRequests(t *testing.T) {
	args, table := amqp.Table{"k": int32(5)}, wire.Table{{Key: "k", Value: int32(5)}}
	requests := []struct {
		call  func(ch *amqp.Channel) (any, error)
		want  wire.Method
		reply wire.Method
		value any
	}{
		{func(ch *amqp.Channel) (any, error) {
			return nil, ch.ExchangeDeclare("e", "topic", true, false, true, false, args)
		},
			&wire.ExchangeDeclare{Exchange: "e", Type: "topic", Durable: true, Internal: true, Arguments: table}, &wire.ExchangeDeclareOk{}, nil},
		{func(ch *amqp.Channel) (any, error) {
			return nil, ch.ExchangeDeclarePassive("e", "topic", false, true, false, false, nil)
		}, &wire.ExchangeDeclare{Exchange: "e", Type: "topic", Passive: true, AutoDelete: true}, &wire.ExchangeDeclareOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.ExchangeBind("d", "r", "s", false, args) },
			&wire.ExchangeBind{Destination: "d", Source: "s", RoutingKey: "r", Arguments: table}, &wire.ExchangeBindOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.ExchangeUnbind("d", "r", "s", true, args) },
			&wire.ExchangeUnbind{Destination: "d", Source: "s", RoutingKey: "r", NoWait: true, Arguments: table}, nil, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.ExchangeUnbind("d", "r", "s", false, args) },
			&wire.ExchangeUnbind{Destination: "d", Source: "s", RoutingKey: "r", Arguments: table}, &wire.ExchangeUnbindOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.ExchangeDelete("e", true, false) },
			&wire.ExchangeDelete{Exchange: "e", IfUnused: true}, &wire.ExchangeDeleteOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return ch.QueueDeclare("q", true, false, true, false, args) },
			&wire.QueueDeclare{Queue: "q", Durable: true, Exclusive: true, Arguments: table},
			&wire.QueueDeclareOk{Queue: "server's", MessageCount: 1 << 30, ConsumerCount: 3}, amqp.Queue{Name: "server's", Messages: 1 << 30, Consumers: 3}},
		{func(ch *amqp.Channel) (any, error) { return ch.QueueDeclarePassive("q", false, true, false, true, nil) },
			&wire.QueueDeclare{Queue: "q", Passive: true, AutoDelete: true, NoWait: true}, nil, amqp.Queue{Name: "q"}},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.QueueBind("q", "r", "e", false, args) },
			&wire.QueueBind{Queue: "q", Exchange: "e", RoutingKey: "r", Arguments: table}, &wire.QueueBindOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.QueueUnbind("q", "r", "e", args) },
			&wire.QueueUnbind{Queue: "q", Exchange: "e", RoutingKey: "r", Arguments: table}, &wire.QueueUnbindOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return ch.QueuePurge("q", false) },
			&wire.QueuePurge{Queue: "q"}, &wire.QueuePurgeOk{MessageCount: 70000}, 70000},
		{func(ch *amqp.Channel) (any, error) { return ch.QueueDelete("q", false, true, false) },
			&wire.QueueDelete{Queue: "q", IfEmpty: true}, &wire.QueueDeleteOk{MessageCount: 12}, 12},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Qos(300, 70000, true) },
			&wire.BasicQos{PrefetchSize: 70000, PrefetchCount: 300, Global: true}, &wire.BasicQosOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Flow(true) }, &wire.ChannelFlow{Active: true}, &wire.ChannelFlowOk{Active: true}, nil},
		//lint:ignore SA1019 the deprecated method is one of the 64
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Recover(true) }, &wire.BasicRecover{Requeue: true}, &wire.BasicRecoverOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Tx() }, &wire.TxSelect{}, &wire.TxSelectOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.TxCommit() }, &wire.TxCommit{}, &wire.TxCommitOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.TxRollback() }, &wire.TxRollback{}, &wire.TxRollbackOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Confirm(false) }, &wire.ConfirmSelect{}, &wire.ConfirmSelectOk{}, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Ack(1<<40+1, true) }, &wire.BasicAck{DeliveryTag: 1<<40 + 1, Multiple: true}, nil, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Nack(2, true, false) }, &wire.BasicNack{DeliveryTag: 2, Multiple: true}, nil, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Nack(3, false, true) }, &wire.BasicNack{DeliveryTag: 3, Requeue: true}, nil, nil},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Reject(4, true) }, &wire.BasicReject{DeliveryTag: 4, Requeue: true}, nil, nil},
		{func(ch *amqp.Channel) (any, error) { _, ok, err := ch.Get("q", true); return ok, err },
			&wire.BasicGet{Queue: "q", NoAck: true}, &wire.BasicGetEmpty{}, false},
		{func(ch *amqp.Channel) (any, error) { return nil, ch.Cancel("tag", false) },
			&wire.BasicCancel{ConsumerTag: "tag"}, &wire.BasicCancelOk{ConsumerTag: "tag"}, nil},
	}
	l, _, ch := openPeer(t)
	for _, r := range requests {
		var value any
		wait := start(t, func() (err error) { value, err = r.call(ch); return err })
		if got := expect[wire.Method](l, 1); !reflect.DeepEqual(got, r.want) {
			t.Errorf("amqp091-go asks %s %+v, want %+v", got.ID(), got, r.want)
		}
		if r.reply != nil {
			l.send(1, r.reply)
		}
		wait()
		if value != r.value {
			t.Errorf("%s: amqp091-go read %+v, want %+v", r.want.ID(), value, r.value)
		}
	}
}

func TestPeerTablesOfEveryType(t *testing.T) {
	l, _, ch := openPeer(t)
	wait := start(t, func() error {
		_, err := ch.QueueDeclare("q", false, false, false, true, asMap(everyType).(amqp.Table))
		return err
	})
	if got := expect[*wire.QueueDeclare](l, 1).Arguments; !reflect.DeepEqual(asMap(got), asMap(everyType)) {
		t.Errorf("got %+v, want %+v", got, everyType)
	}
	wait()
}
