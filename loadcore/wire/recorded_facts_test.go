package wire_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"leveret/loadcore/wire"
)

// What the recorded sessions have to mean, by what was done in them (sessions_test.go) and what RabbitMQ documents.

func TestRecordedHandshake(t *testing.T) {
	s := serverOf(t, recordedTalks(t).named(t, "codec"))
	start := of[*wire.ConnectionStart](s)[0]
	if start.VersionMajor != 0 || start.VersionMinor != 9 || start.Locales != "en_US" {
		t.Errorf("%+v", start)
	}
	for key, want := range map[string]string{"product": "RabbitMQ", "version": "3.10.8", "cluster_name": "leveret-test"} {
		if got, _ := start.ServerProperties.Get(key); got != want {
			t.Errorf("%s = %v, want %s", key, got, want)
		}
	}
	for _, name := range []string{"publisher_confirms", "basic.nack", "consumer_cancel_notify", "connection.blocked",
		"authentication_failure_close", "exchange_exchange_bindings", "per_consumer_qos"} {
		if !wire.HasCapability(start.ServerProperties, name) {
			t.Errorf("capability %s is missing", name)
		}
	}
	if wire.HasCapability(start.ServerProperties, "teleportation") {
		t.Error("a capability that was not announced is there")
	}
	if !wire.HasMechanism(start.Mechanisms, "PLAIN") || wire.HasMechanism(start.Mechanisms, "EXTERNAL") || wire.HasMechanism(start.Mechanisms, "AMQ") {
		t.Errorf("mechanisms %q", start.Mechanisms)
	}
	if tune := of[*wire.ConnectionTune](s)[0]; tune.Limits != (wire.Limits{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60}) {
		t.Errorf("%+v", tune)
	}
	if s.heartbeats == 0 {
		t.Error("no heartbeat from the server")
	}
}

// RabbitMQ gives every property and every table type back as it was sent.
func TestRecordedMessages(t *testing.T) {
	talk := recordedTalks(t).named(t, "codec")
	c, s := clientOf(t, talk), serverOf(t, talk)
	want := allProperties("recorder")
	want.Flags = 0xfffc // all 14
	if got := c.messages[0]; !reflect.DeepEqual(got.properties, *want) || got.frames != 2 || !bytes.Equal(got.body, large) {
		t.Errorf("sent %d frames, %+v", got.frames, got.properties)
	}
	if got := of[*wire.QueueDeclare](c)[0].Arguments; !reflect.DeepEqual(got, everyType) {
		t.Errorf("queue arguments %+v", got)
	}
	back, first, dead := s.messages[0], s.messages[1], s.messages[len(s.messages)-1]
	if back.properties.MessageID != "lost" || string(back.body) != "back" {
		t.Errorf("returned %+v", back)
	}
	if !reflect.DeepEqual(first.properties, *want) || first.frames != 2 || !bytes.Equal(first.body, large) {
		t.Errorf("delivered in %d frames: %+v", first.frames, first.properties)
	}
	if r := of[*wire.BasicReturn](s)[0]; *r != (wire.BasicReturn{ReplyCode: 312, ReplyText: "NO_ROUTE", RoutingKey: "nowhere"}) {
		t.Errorf("%+v", r)
	}
	if g := of[*wire.BasicGetOk](s)[0]; *g != (wire.BasicGetOk{DeliveryTag: 1, Exchange: "hop", RoutingKey: "key", MessageCount: 2}) {
		t.Errorf("%+v", g)
	}
	checkDeadLetter(t, dead, of[*wire.QueueDeclareOk](s)[2].Queue)
}

// checkDeadLetter looks at the one message whose headers RabbitMQ decoded and encoded itself.
func checkDeadLetter(t *testing.T, dead message, queue string) {
	t.Helper()
	for _, f := range everyType {
		if got, ok := dead.properties.Headers.Get(f.Key); !ok || !reflect.DeepEqual(got, f.Value) {
			t.Errorf("header %s came back as %#v, was %#v", f.Key, got, f.Value)
		}
	}
	deaths, _ := dead.properties.Headers.Get("x-death")
	list, _ := deaths.([]any)
	if len(list) != 1 {
		t.Fatalf("x-death is %#v", deaths)
	}
	death, _ := list[0].(wire.Table)
	if n, ok := death.Int("count"); n != 1 || !ok {
		t.Errorf("count %d in %+v", n, death)
	}
	if reason, _ := death.Get("reason"); reason != "rejected" {
		t.Errorf("reason %v", reason)
	}
	if at, _ := death.Get("time"); reflect.TypeOf(at) != reflect.TypeFor[wire.Timestamp]() {
		t.Errorf("time %#v", at)
	}
	if from, _ := death.Get("queue"); from != queue {
		t.Errorf("queue %v, want %s", from, queue)
	}
	if keys, _ := death.Get("routing-keys"); !reflect.DeepEqual(keys, []any{queue}) {
		t.Errorf("routing keys %#v, want %s", keys, queue)
	}
}

func TestRecordedAnswers(t *testing.T) {
	talks := recordedTalks(t)
	s := serverOf(t, talks.named(t, "codec"))
	if got := of[*wire.QueueDeclareOk](s); *got[0] != (wire.QueueDeclareOk{Queue: "letters"}) || *got[1] != (wire.QueueDeclareOk{Queue: "letters", MessageCount: 3}) {
		t.Errorf("%+v", got)
	}
	redelivered, tags := []bool{}, []uint64{}
	for _, d := range of[*wire.BasicDeliver](s)[:9] {
		redelivered, tags = append(redelivered, d.Redelivered), append(tags, d.DeliveryTag)
		if d.ConsumerTag != "reader" {
			t.Errorf("%+v", d)
		}
	}
	// get took tag 1 and gave it back by reject; the other two had not been out before.
	if want := []bool{true, false, false, true, true, true, true, true, true}; !reflect.DeepEqual(redelivered, want) {
		t.Errorf("redelivered %v, want %v", redelivered, want)
	}
	if want := []uint64{2, 3, 4, 5, 6, 7, 8, 9, 10}; !reflect.DeepEqual(tags, want) {
		t.Errorf("delivery tags %v, want %v", tags, want)
	}
	if confirms := of[*wire.BasicAck](s); len(confirms) != 4 || *confirms[3] != (wire.BasicAck{DeliveryTag: 4}) {
		t.Errorf("confirms %+v", confirms)
	}
	closes := of[*wire.ChannelClose](s)
	if len(closes) != 2 || *closes[0] != (wire.ChannelClose{ReplyCode: wire.ReplyNotFound, ReplyText: "NOT_FOUND - no queue 'missing' in vhost '/'", Class: 50, Method: 10}) {
		t.Errorf("%+v", closes)
	}
	if c := closes[1]; c.ReplyCode != wire.ReplyPreconditionFailed || !strings.HasPrefix(c.ReplyText, "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'letters'") {
		t.Errorf("%+v", c)
	}
	if c := of[*wire.BasicCancel](s); len(c) != 1 || !c[0].NoWait || !strings.HasPrefix(c[0].ConsumerTag, "amq.ctag-") {
		t.Errorf("%+v", c)
	}
	alarm := serverOf(t, talks.named(t, "alarm"))
	if b := of[*wire.ConnectionBlocked](alarm); len(b) != 1 || b[0].Reason != "low on memory" || len(of[*wire.ConnectionUnblocked](alarm)) != 1 {
		t.Errorf("%+v", b)
	}
}

func TestRecordedRefusals(t *testing.T) {
	talks := recordedTalks(t)
	for name, want := range map[string]*wire.ConnectionClose{
		"wrong password": {ReplyCode: wire.ReplyAccessRefused, ReplyText: "ACCESS_REFUSED - Login was refused using " +
			"authentication mechanism PLAIN. For details see the broker logfile."},
		"missing vhost":   {ReplyCode: wire.ReplyNotAllowed, ReplyText: "NOT_ALLOWED - vhost missing not found", Class: 10, Method: 40},
		"end octet":       {ReplyCode: wire.ReplyFrameError, ReplyText: "FRAME_ERROR - type 1, all octets = <<0,20,0,10,0>>: {invalid_frame_end_marker,207}"},
		"unexpected body": {ReplyCode: wire.ReplyUnexpectedFrame, ReplyText: "UNEXPECTED_FRAME - expected method frame, got non method frame instead"},
		"frame-max 0":     nil, // a limit must not be answered with "none"; RabbitMQ says nothing and drops the connection
		"channel-max 0":   nil,
	} {
		got := of[*wire.ConnectionClose](serverOf(t, talks.named(t, "refused: "+name)))
		switch {
		case want == nil && len(got) == 0:
		case want == nil || len(got) != 1 || *got[0] != *want:
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := talks.named(t, "refused: protocol version").server; !bytes.Equal(got, wire.ProtocolHeader[:]) {
		t.Errorf("another version is answered with % x", got)
	}
	_, _, err := wire.NextFrame(talks.named(t, "refused: protocol version").server, 0)
	if err == nil || !strings.Contains(err.Error(), "protocol header AMQP 0-0-9") {
		t.Errorf("a protocol header instead of a frame: %v", err)
	}
	// The frame that RabbitMQ complains of is the one that NextFrame complains of: the last the client sent.
	stream := talks.named(t, "refused: end octet").client[8:]
	for {
		_, n, err := wire.NextFrame(stream, 131072)
		if err != nil {
			if len(stream) != 13 || !strings.Contains(err.Error(), "end octet is 0xcf") {
				t.Errorf("%d bytes left: %v", len(stream), err)
			}
			break
		}
		if n == 0 {
			t.Error("the bad end octet was accepted")
			break
		}
		stream = stream[n:]
	}
}
