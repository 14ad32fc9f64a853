package wire_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/wire"
)

// peerPublishing has all properties that amqp091-go can send: 13, without the reserved last one.
var peerPublishing = amqp.Publishing{
	Headers: asMap(everyType).(amqp.Table), ContentType: "text/plain", ContentEncoding: "identity", DeliveryMode: 2, Priority: 7,
	CorrelationId: "correlation", ReplyTo: "reply", Expiration: "3600000", MessageId: "message", Timestamp: time.Unix(1700000001, 0),
	Type: "kind", UserId: "user", AppId: "leveret", Body: large,
}

func TestPeerPublishes(t *testing.T) {
	l, _, ch := openPeer(t)
	for _, size := range []int{0, 12, 4992, 4993, 10000} { // frame-max is 5000
		msg := peerPublishing
		msg.Body = []byte(strings.Repeat("b", size))
		wait := start(t, func() error { return ch.Publish("some exchange", "some key", true, true, msg) })
		if p := expect[*wire.BasicPublish](l, 1); *p != (wire.BasicPublish{Exchange: "some exchange", RoutingKey: "some key", Mandatory: true, Immediate: true}) {
			t.Errorf("%+v", p)
		}
		got, body := l.content(1)
		want := allProperties("user")
		want.ClusterID, want.Flags = "", 0xfff8
		if string(body) != string(msg.Body) || !reflect.DeepEqual(asMap(got.Headers), asMap(want.Headers)) {
			t.Errorf("%d bytes came as %d; headers %+v", size, len(body), got.Headers)
		}
		got.Headers = want.Headers // compared above: amqp091-go writes them in random order
		if !reflect.DeepEqual(got, *want) {
			t.Errorf("got %+v, want %+v", got, *want)
		}
		wait()
	}
}

func TestPeerReadsMessages(t *testing.T) {
	l, _, ch := openPeer(t)
	var deliveries <-chan amqp.Delivery
	wait := start(t, func() (err error) {
		deliveries, err = ch.ConsumeWithContext(context.Background(), "q", "tag", false, true, true, false, amqp.Table{"x-priority": int32(-1)})
		return err
	})
	want := &wire.BasicConsume{Queue: "q", ConsumerTag: "tag", NoLocal: true, Exclusive: true, Arguments: wire.Table{{Key: "x-priority", Value: int32(-1)}}}
	if got := expect[*wire.BasicConsume](l, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	l.send(1, &wire.BasicConsumeOk{ConsumerTag: "tag"})
	wait()

	content := func(frames []byte) []byte {
		frames = wire.AppendHeader(frames, 1, uint64(len(large)), allProperties("user"))
		return wire.AppendBody(frames, 1, large, 4096)
	}
	l.write(content(wire.AppendDeliver(nil, 1, "tag", 1<<40, true, []byte("some exchange"), []byte("some key"))))
	d := get(t, deliveries)
	checkDelivery(t, &d)
	if d.ConsumerTag != "tag" || d.DeliveryTag != 1<<40 || !d.Redelivered {
		t.Errorf("delivered: %q %d %v", d.ConsumerTag, d.DeliveryTag, d.Redelivered)
	}

	wait = start(t, func() (err error) { d, _, err = ch.Get("q", false); return err })
	expect[*wire.BasicGet](l, 1)
	l.write(content(wire.AppendGetOk(nil, 1, 17, false, []byte("some exchange"), []byte("some key"), 1<<31)))
	wait()
	checkDelivery(t, &d)
	if d.DeliveryTag != 17 || d.Redelivered || d.MessageCount != 1<<31 {
		t.Errorf("got: %d %v %d", d.DeliveryTag, d.Redelivered, d.MessageCount)
	}

	returns := ch.NotifyReturn(make(chan amqp.Return, 1))
	l.write(content(wire.AppendReturn(nil, 1, wire.ReplyNoRoute, "NO_ROUTE", []byte("some exchange"), []byte("some key"))))
	r := get(t, returns)
	if r.ReplyCode != amqp.NoRoute || r.ReplyText != "NO_ROUTE" {
		t.Errorf("returned: %d %q", r.ReplyCode, r.ReplyText)
	}
	checkDelivery(t, &amqp.Delivery{
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Body: r.Body, Headers: r.Headers, ContentType: r.ContentType, ContentEncoding: r.ContentEncoding,
		DeliveryMode: r.DeliveryMode, Priority: r.Priority, CorrelationId: r.CorrelationId, ReplyTo: r.ReplyTo, Expiration: r.Expiration,
		MessageId: r.MessageId, Timestamp: r.Timestamp, Type: r.Type, UserId: r.UserId, AppId: r.AppId,
	})
}

func checkDelivery(t *testing.T, d *amqp.Delivery) {
	t.Helper()
	got := amqp.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode, Priority: d.Priority,
		CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId, Timestamp: d.Timestamp,
		Type: d.Type, UserId: d.UserId, AppId: d.AppId, Body: d.Body,
	}
	if !reflect.DeepEqual(got, peerPublishing) || d.Exchange != "some exchange" || d.RoutingKey != "some key" {
		t.Errorf("amqp091-go read %q %q %+v", d.Exchange, d.RoutingKey, got)
	}
}

func TestPeerConfirms(t *testing.T) {
	l, _, ch := openPeer(t)
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, 10))
	wait := start(t, func() error { return ch.Confirm(false) })
	expect[*wire.ConfirmSelect](l, 1)
	l.send(1, &wire.ConfirmSelectOk{})
	wait()
	for range 6 {
		wait := start(t, func() error { return ch.Publish("", "q", false, false, amqp.Publishing{}) })
		expect[*wire.BasicPublish](l, 1)
		if p, body := l.content(1); p.Flags != 0 || len(body) != 0 {
			t.Errorf("%+v", p)
		}
		wait()
	}
	l.write(wire.AppendAck(nil, 1, 1, false))
	l.write(wire.AppendNack(nil, 1, 3, true, false))
	l.write(wire.AppendNack(nil, 1, 4, false, false))
	l.write(wire.AppendAck(nil, 1, 6, true))
	for tag, ack := range []bool{true, false, false, false, true, true} {
		if c := get(t, confirms); c.DeliveryTag != uint64(tag+1) || c.Ack != ack {
			t.Errorf("%+v, want tag %d acked %v", c, tag+1, ack)
		}
	}
}

func TestPeerNotices(t *testing.T) {
	l, conn, ch := openPeer(t)
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 2))
	cancels := ch.NotifyCancel(make(chan string, 1))
	flows := ch.NotifyFlow(make(chan bool, 1))
	l.send(0, &wire.ConnectionBlocked{Reason: "low on disk"})
	l.write(wire.AppendHeartbeat(nil))
	l.send(0, &wire.ConnectionUnblocked{})
	if b := get(t, blocked); !b.Active || b.Reason != "low on disk" {
		t.Errorf("%+v", b)
	}
	if b := get(t, blocked); b.Active {
		t.Errorf("%+v", b)
	}
	l.send(1, &wire.BasicCancel{ConsumerTag: "gone", NoWait: true})
	if tag := get(t, cancels); tag != "gone" {
		t.Errorf("cancelled %q", tag)
	}
	l.send(1, &wire.ChannelFlow{Active: false})
	if get(t, flows) || expect[*wire.ChannelFlowOk](l, 1).Active {
		t.Error("flow was read as active")
	}
	wait := start(t, func() error { return conn.UpdateSecret("new one", "expired") })
	if u := expect[*wire.ConnectionUpdateSecret](l, 0); *u != (wire.ConnectionUpdateSecret{NewSecret: "new one", Reason: "expired"}) {
		t.Errorf("%+v", u)
	}
	l.send(0, &wire.ConnectionUpdateSecretOk{})
	wait()
}

func TestPeerCloses(t *testing.T) {
	l, conn, ch := openPeer(t)
	closes := ch.NotifyClose(make(chan *amqp.Error, 1))
	l.send(1, &wire.ChannelClose{ReplyCode: wire.ReplyNotFound, ReplyText: "NOT_FOUND - no queue 'q'", Class: 50, Method: 10})
	expect[*wire.ChannelCloseOk](l, 1)
	if e := get(t, closes); e.Code != amqp.NotFound || e.Reason != "NOT_FOUND - no queue 'q'" || !e.Server {
		t.Errorf("%+v", e)
	}

	// A text that does not fit arrives cut, and the frame is whole.
	closes = conn.NotifyClose(make(chan *amqp.Error, 1))
	l.send(0, &wire.ConnectionClose{ReplyCode: wire.ReplyConnectionForced, ReplyText: strings.Repeat("ü", 200)})
	expect[*wire.ConnectionCloseOk](l, 0)
	if e := get(t, closes); e.Code != amqp.ConnectionForced || e.Reason != strings.Repeat("ü", 126)+"..." {
		t.Errorf("%+v", e)
	}

	l, conn, ch = openPeer(t)
	wait := start(t, func() error { return errors.Join(ch.Close(), conn.Close()) })
	if c := expect[*wire.ChannelClose](l, 1); c.ReplyCode != wire.ReplySuccess || c.Class != 0 || c.Method != 0 {
		t.Errorf("%+v", c)
	}
	l.send(1, &wire.ChannelCloseOk{})
	if c := expect[*wire.ConnectionClose](l, 0); c.ReplyCode != wire.ReplySuccess || c.ReplyText != "kthxbai" {
		t.Errorf("%+v", c)
	}
	l.send(0, &wire.ConnectionCloseOk{})
	wait()
}
