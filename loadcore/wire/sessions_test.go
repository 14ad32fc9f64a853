package wire_test

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/wire"
)

// What was said in the recorded sessions. The client's side of "codec" is this package's; that RabbitMQ answered as it
// did shows that it understood.

// everyType is a table of every type.
var everyType = wire.Table{
	{Key: "x-t", Value: true}, {Key: "x-b", Value: int8(-3)}, {Key: "x-B", Value: uint8(253)},
	{Key: "x-s", Value: int16(-300)}, {Key: "x-u", Value: uint16(65000)},
	{Key: "x-I", Value: int32(-70000)}, {Key: "x-i", Value: uint32(4000000000)}, {Key: "x-l", Value: int64(-5000000000)},
	{Key: "x-f", Value: float32(0.25)}, {Key: "x-d", Value: float64(-1e100)},
	{Key: "x-D", Value: wire.Decimal{Scale: 2, Value: 1234}},
	{Key: "x-S", Value: "grüße"}, {Key: "x-x", Value: []byte{0, 1, 254, 255}},
	{Key: "x-A", Value: []any{"a", int64(1), nil, []any{false}, wire.Table{{Key: "in", Value: int32(5)}}}},
	{Key: "x-T", Value: wire.Timestamp(1700000000)},
	{Key: "x-F", Value: wire.Table{{Key: "deep", Value: wire.Table{{Key: "deeper", Value: "yes"}}}}},
	{Key: "x-V", Value: nil},
}

// allProperties are all 14; RabbitMQ insists that the user is the connection's.
func allProperties(user string) *wire.Properties {
	return &wire.Properties{
		ContentType: "text/plain", ContentEncoding: "identity", Headers: everyType, DeliveryMode: wire.Persistent, Priority: 7,
		CorrelationID: "correlation", ReplyTo: "reply", Expiration: "3600000", MessageID: "message", Timestamp: 1700000001,
		Type: "kind", UserID: user, AppID: "leveret", ClusterID: "cluster",
	}
}

// large is longer than one frame of 4096 bytes.
var large = bytes.Repeat([]byte("0123456789abcdef"), 257)

// codecSession uses every method a client has, over a connection to a broker that holds nothing yet.
func codecSession(l *link, user, password string) {
	l.t.Helper()
	limits := l.open(user, password, wire.Limits{FrameMax: 4096, Heartbeat: 1})
	l.send(0, &wire.ConnectionUpdateSecret{NewSecret: "", Reason: "test"})
	expect[*wire.ConnectionUpdateSecretOk](l, 0)
	for _, channel := range []uint16{1, 2, limits.ChannelMax} {
		l.send(channel, &wire.ChannelOpen{})
		expect[*wire.ChannelOpenOk](l, channel)
	}
	l.send(1, &wire.ChannelFlow{Active: true})
	expect[*wire.ChannelFlowOk](l, 1)
	topologyPart(l)
	publishPart(l, user)
	consumePart(l)
	transactionPart(l)
	deadLetterPart(l, limits.ChannelMax)
	channelClosePart(l, limits.ChannelMax)
	for l.next().Type != wire.FrameHeartbeat { // the server's, within a second
	}
	l.write(wire.AppendHeartbeat(nil))
	l.send(1, &wire.QueueDelete{Queue: "letters"})
	expect[*wire.QueueDeleteOk](l, 1)
	l.send(1, &wire.ExchangeDelete{Exchange: "hop", IfUnused: true})
	expect[*wire.ExchangeDeleteOk](l, 1)
	l.send(1, &wire.ChannelClose{ReplyCode: wire.ReplySuccess, ReplyText: "done"})
	expect[*wire.ChannelCloseOk](l, 1)
	l.send(0, &wire.ConnectionClose{ReplyCode: wire.ReplySuccess, ReplyText: "done"})
	expect[*wire.ConnectionCloseOk](l, 0)
	l.conn.Close()
}

func topologyPart(l *link) {
	l.send(1, &wire.ExchangeDeclare{Exchange: "hop", Type: "direct", Durable: true, Arguments: wire.Table{{Key: "alternate-exchange", Value: "amq.fanout"}}})
	expect[*wire.ExchangeDeclareOk](l, 1)
	l.send(1, &wire.ExchangeDeclare{Exchange: "hop", Passive: true})
	expect[*wire.ExchangeDeclareOk](l, 1)
	l.send(1, &wire.ExchangeDeclare{Exchange: "inside", Type: "fanout", AutoDelete: true, Internal: true, NoWait: true})
	l.send(1, &wire.ExchangeBind{Destination: "inside", Source: "hop", RoutingKey: "k", Arguments: wire.Table{{Key: "a", Value: "b"}}})
	expect[*wire.ExchangeBindOk](l, 1)
	l.send(1, &wire.ExchangeUnbind{Destination: "inside", Source: "hop", RoutingKey: "k", Arguments: wire.Table{{Key: "a", Value: "b"}}})
	expect[*wire.ExchangeUnbindOk](l, 1)
	l.send(1, &wire.QueueDeclare{Queue: "letters", Durable: true, Arguments: everyType})
	expect[*wire.QueueDeclareOk](l, 1)
	l.send(1, &wire.QueueBind{Queue: "letters", Exchange: "hop", RoutingKey: "key", Arguments: everyType})
	expect[*wire.QueueBindOk](l, 1)
	l.send(1, &wire.QueueBind{Queue: "letters", Exchange: "hop", RoutingKey: "other", NoWait: true})
	l.send(1, &wire.QueueUnbind{Queue: "letters", Exchange: "hop", RoutingKey: "other"})
	expect[*wire.QueueUnbindOk](l, 1)
}

func publishPart(l *link, user string) {
	l.send(1, &wire.ConfirmSelect{})
	expect[*wire.ConfirmSelectOk](l, 1)
	l.publish(1, "hop", "key", true, allProperties(user), large)
	expect[*wire.BasicAck](l, 1)
	l.publish(1, "", "letters", false, nil, nil)
	expect[*wire.BasicAck](l, 1)
	l.publish(1, "", "letters", false, &wire.Properties{DeliveryMode: wire.Transient}, []byte("third"))
	expect[*wire.BasicAck](l, 1)
	l.publish(1, "", "nowhere", true, &wire.Properties{MessageID: "lost"}, []byte("back"))
	expect[*wire.BasicReturn](l, 1)
	l.content(1)
	expect[*wire.BasicAck](l, 1)
	l.send(1, &wire.QueueDeclare{Queue: "letters", Passive: true})
	expect[*wire.QueueDeclareOk](l, 1)
}

// consumePart takes the three messages of "letters" in all ways there are, and ends with none left.
func consumePart(l *link) {
	l.send(1, &wire.BasicGet{Queue: "letters"})
	expect[*wire.BasicGetOk](l, 1)
	l.content(1)
	l.send(1, &wire.BasicReject{DeliveryTag: 1, Requeue: true})
	l.send(1, &wire.BasicQos{PrefetchCount: 10})
	expect[*wire.BasicQosOk](l, 1)
	l.send(1, &wire.BasicConsume{Queue: "letters", ConsumerTag: "reader", Arguments: wire.Table{{Key: "x-priority", Value: int32(3)}}})
	expect[*wire.BasicConsumeOk](l, 1)
	for range 3 {
		expect[*wire.BasicDeliver](l, 1)
		l.content(1)
	}
	l.send(1, &wire.BasicNack{DeliveryTag: 4, Multiple: true, Requeue: true})
	for range 3 {
		expect[*wire.BasicDeliver](l, 1)
		l.content(1)
	}
	l.send(1, &wire.BasicRecover{Requeue: true})
	for range 3 { // recover-ok comes behind or before the deliveries: what it requeues goes to the same consumer
		f := l.next()
		for f.Type != wire.FrameMethod {
			f = l.next()
		}
		if id, _, _ := wire.PeekMethod(f.Payload); id == wire.BasicRecoverOkID {
			expect[*wire.BasicDeliver](l, 1)
		}
		l.content(1)
	}
	l.send(1, &wire.BasicAck{DeliveryTag: 9, Multiple: true})
	l.send(1, &wire.BasicGet{Queue: "letters", NoAck: true})
	expect[*wire.BasicGetEmpty](l, 1)
	l.send(1, &wire.BasicCancel{ConsumerTag: "reader"})
	expect[*wire.BasicCancelOk](l, 1)
	l.send(1, &wire.QueuePurge{Queue: "letters"})
	expect[*wire.QueuePurgeOk](l, 1)
}

func transactionPart(l *link) {
	l.send(2, &wire.TxSelect{})
	expect[*wire.TxSelectOk](l, 2)
	l.publish(2, "", "letters", false, nil, []byte("kept"))
	l.send(2, &wire.TxCommit{})
	expect[*wire.TxCommitOk](l, 2)
	l.publish(2, "", "letters", false, nil, []byte("undone"))
	l.send(2, &wire.TxRollback{})
	expect[*wire.TxRollbackOk](l, 2)
	l.send(2, &wire.QueuePurge{Queue: "letters"})
	if n := expect[*wire.QueuePurgeOk](l, 2).MessageCount; n != 1 {
		l.t.Fatalf("purged %d messages, want the one committed", n)
	}
}

// deadLetterPart makes RabbitMQ encode headers itself: a rejected message comes back with x-death added, which is an
// array of tables with times and counts in it.
func deadLetterPart(l *link, channel uint16) {
	l.send(channel, &wire.QueueDeclare{Exclusive: true, AutoDelete: true, Arguments: wire.Table{
		{Key: "x-dead-letter-exchange", Value: ""}, {Key: "x-dead-letter-routing-key", Value: "letters"}}})
	queue := expect[*wire.QueueDeclareOk](l, channel).Queue
	l.send(channel, &wire.BasicConsume{Queue: queue, NoLocal: true, Exclusive: true})
	expect[*wire.BasicConsumeOk](l, channel)
	l.publish(channel, "", queue, false, &wire.Properties{Headers: everyType}, []byte("dead"))
	d := expect[*wire.BasicDeliver](l, channel)
	l.content(channel)
	l.send(channel, &wire.BasicNack{DeliveryTag: d.DeliveryTag})
	l.send(channel, &wire.BasicConsume{Queue: "letters", ConsumerTag: "undertaker", NoAck: true, NoWait: true})
	expect[*wire.BasicDeliver](l, channel)
	l.content(channel)
	l.send(channel, &wire.QueueDelete{Queue: queue, NoWait: true})
	expect[*wire.BasicCancel](l, channel) // consumer_cancel_notify
	l.send(channel, &wire.BasicCancel{ConsumerTag: "undertaker", NoWait: true})
}

func channelClosePart(l *link, channel uint16) {
	l.send(channel, &wire.QueueDeclare{Queue: "missing", Passive: true})
	expect[*wire.ChannelClose](l, channel)
	l.send(channel, &wire.ChannelCloseOk{})
	l.send(2, &wire.QueueDeclare{Queue: "letters"}) // not durable: another queue than there is
	expect[*wire.ChannelClose](l, 2)
	l.send(2, &wire.ChannelCloseOk{})
}

// alarmSession publishes while the broker has an alarm, which is set and lifted by the functions given.
func alarmSession(l *link, set, lift func()) {
	l.send(1, &wire.ChannelOpen{})
	expect[*wire.ChannelOpenOk](l, 1)
	set()
	l.publish(1, "", "nowhere", false, nil, []byte("x"))
	expect[*wire.ConnectionBlocked](l, 0)
	lift()
	expect[*wire.ConnectionUnblocked](l, 0)
	l.send(0, &wire.ConnectionClose{ReplyCode: wire.ReplySuccess})
	expect[*wire.ConnectionCloseOk](l, 0)
	l.conn.Close()
}

// refusals provoke an answer from the broker, each on a connection of its own.
var refusals = []struct {
	name    string
	provoke func(l *link, user, password string)
}{
	{"wrong password", func(l *link, user, _ string) { l.login(user, "not it") }},
	{"missing vhost", func(l *link, user, password string) {
		l.login(user, password)
		l.send(0, &wire.ConnectionTuneOk{Limits: expect[*wire.ConnectionTune](l, 0).Limits})
		l.send(0, &wire.ConnectionOpen{VirtualHost: "missing"})
	}},
	{"frame-max 0", tuneWith(func(l *wire.Limits) { l.FrameMax = 0 })},
	{"channel-max 0", tuneWith(func(l *wire.Limits) { l.ChannelMax = 0 })},
	{"protocol version", func(l *link, _, _ string) { l.write([]byte("AMQP\x00\x01\x00\x00")) }},
	{"end octet", func(l *link, user, password string) {
		l.open(user, password, wire.Limits{})
		frame := wire.AppendMethod(nil, 1, &wire.ChannelOpen{})
		frame[len(frame)-1] = 0xCF
		l.write(frame)
	}},
	{"unexpected body", func(l *link, user, password string) {
		l.open(user, password, wire.Limits{})
		l.send(1, &wire.ChannelOpen{})
		expect[*wire.ChannelOpenOk](l, 1)
		l.write(wire.AppendFrame(nil, wire.FrameBody, 1, []byte("x")))
	}},
}

func tuneWith(change func(*wire.Limits)) func(l *link, user, password string) {
	return func(l *link, user, password string) {
		l.login(user, password)
		limits := expect[*wire.ConnectionTune](l, 0).Limits
		change(&limits)
		l.send(0, &wire.ConnectionTuneOk{Limits: limits})
	}
}

// amqp091Session is another client's view of some of it.
func amqp091Session(t *testing.T, address string, uri amqp.URI) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	uri.Host = host
	if uri.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	conn, err := amqp.Dial(uri.String())
	if err != nil {
		t.Fatal("amqp091-go cannot connect")
	}
	defer conn.Close()
	if err := amqp091Traffic(conn, uri.Username); err != nil {
		t.Fatal(err)
	}
}

func amqp091Traffic(conn *amqp.Connection, user string) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	q, err := ch.QueueDeclare("", false, true, true, false, amqp.Table{"x-max-length": int32(5), "x-queue-mode": "default", "x-any": []any{int64(1), "a"}})
	if err != nil {
		return err
	}
	confirm, err := ch.PublishWithDeferredConfirm("", q.Name, true, false, amqp.Publishing{
		ContentType: "a", ContentEncoding: "b", Headers: amqp.Table{"h": amqp.Decimal{Scale: 1, Value: -5}}, DeliveryMode: 2, Priority: 3,
		CorrelationId: "c", ReplyTo: "d", Expiration: "60000", MessageId: "e", Timestamp: time.Unix(1700000002, 0), Type: "f", UserId: user, AppId: "g",
		Body: []byte("from another client"),
	})
	if err != nil {
		return err
	}
	if !confirm.Wait() {
		return fmt.Errorf("nacked")
	}
	d, ok, err := ch.Get(q.Name, false)
	if err != nil || !ok || string(d.Body) != "from another client" {
		return fmt.Errorf("get: %v %v %q", err, ok, d.Body)
	}
	if err := ch.Ack(d.DeliveryTag, false); err != nil {
		return err
	}
	return ch.Close()
}
