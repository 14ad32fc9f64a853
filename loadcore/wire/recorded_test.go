package wire_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"

	"leveret/loadcore/wire"
)

// talk is one recorded connection, each direction's bytes.
type talk struct {
	name           string
	client, server []byte
}

// talks are the recorded connections in the order of the file.
type talks []*talk

func (list talks) named(t *testing.T, name string) *talk {
	t.Helper()
	for _, talk := range list {
		if talk.name == name {
			return talk
		}
	}
	t.Fatalf("no session %q was recorded", name)
	return nil
}

func recordedTalks(t testing.TB) (list talks) {
	t.Helper()
	text, err := os.ReadFile("testdata/rabbitmq.hex")
	if err != nil {
		t.Fatal(err)
	}
	var now *talk
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "== "); ok {
			now = &talk{name: name}
			list = append(list, now)
			continue
		}
		chunk, err := hex.DecodeString(line[2:])
		if err != nil {
			t.Fatal(err)
		}
		if line[0] == '>' {
			now.client = append(now.client, chunk...)
		} else {
			now.server = append(now.server, chunk...)
		}
	}
	return list
}

// said is what one direction said: methods in order, and the messages between them.
type said struct {
	methods    []wire.Method
	messages   []message
	heartbeats int
}

type message struct {
	properties wire.Properties
	size       uint64
	body       []byte
	frames     int // body frames
}

// of returns the methods of type M that were said, in order.
func of[M wire.Method](s said) (list []M) {
	for _, m := range s.methods {
		if m, ok := m.(M); ok {
			list = append(list, m)
		}
	}
	return list
}

// listen parses every frame of one direction and checks that it encodes to the same bytes again.
func listen(t *testing.T, name string, stream []byte) (s said) {
	t.Helper()
	for offset := 0; offset < len(stream); {
		f, n, err := wire.NextFrame(stream[offset:], 0)
		if n == 0 {
			t.Fatalf("%s: offset %d of %d: %v", name, offset, len(stream), err)
		}
		frame := stream[offset : offset+n]
		switch f.Type {
		case wire.FrameMethod:
			s.methods = append(s.methods, again(t, name, f, frame))
		case wire.FrameHeader:
			s.messages = append(s.messages, againHeader(t, name, f, frame))
		case wire.FrameBody:
			if len(s.messages) > 0 { // one session has a body without a header
				last := &s.messages[len(s.messages)-1]
				last.body = append(last.body, f.Payload...)
				last.frames++
			}
			same(t, name, "body", wire.AppendBody(nil, f.Channel, f.Payload, 0), frame)
		case wire.FrameHeartbeat:
			s.heartbeats++
			same(t, name, "heartbeat", wire.AppendHeartbeat(nil), frame)
		}
		offset += n
	}
	return s
}

func same(t *testing.T, name, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s: encoded again\n% x\nrecorded\n% x", name, what, got, want)
	}
}

func again(t *testing.T, name string, f wire.Frame, frame []byte) wire.Method {
	t.Helper()
	m, err := wire.ParseMethod(f.Payload)
	if err != nil {
		t.Fatalf("%s: %v in % x", name, err, frame)
	}
	same(t, name, m.ID().String(), wire.AppendMethod(nil, f.Channel, m), frame)
	if err := wire.CheckMethod(m, 131072); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	_, args, err := wire.PeekMethod(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if fast := dataPlane(t, f.Channel, m, args); fast != nil {
		same(t, name, m.ID().String()+" on the data plane", fast, frame)
	}
	return m
}

// dataPlane parses and encodes with the functions that do not allocate; nil if there are none for the method.
func dataPlane(t *testing.T, channel uint16, m wire.Method, args []byte) (frame []byte) {
	t.Helper()
	var err error
	switch m.(type) {
	case *wire.BasicPublish:
		var v wire.Publish
		v, err = wire.ParsePublish(args)
		frame = wire.AppendPublish(nil, channel, string(v.Exchange), string(v.RoutingKey), v.Mandatory)
	case *wire.BasicDeliver:
		var v wire.Deliver
		v, err = wire.ParseDeliver(args)
		frame = wire.AppendDeliver(nil, channel, string(v.ConsumerTag), v.DeliveryTag, v.Redelivered, v.Exchange, v.RoutingKey)
	case *wire.BasicReturn:
		var v wire.Return
		v, err = wire.ParseReturn(args)
		frame = wire.AppendReturn(nil, channel, v.Code, string(v.Text), v.Exchange, v.RoutingKey)
	case *wire.BasicGetOk:
		var v wire.GetOk
		v, err = wire.ParseGetOk(args)
		frame = wire.AppendGetOk(nil, channel, v.DeliveryTag, v.Redelivered, v.Exchange, v.RoutingKey, v.MessageCount)
	case *wire.BasicAck:
		var v wire.Settle
		v, err = wire.ParseAck(args)
		frame = wire.AppendAck(nil, channel, v.DeliveryTag, v.Multiple)
	case *wire.BasicNack:
		var v wire.Settle
		v, err = wire.ParseNack(args)
		frame = wire.AppendNack(nil, channel, v.DeliveryTag, v.Multiple, v.Requeue)
	case *wire.BasicReject:
		var v wire.Settle
		v, err = wire.ParseReject(args)
		frame = wire.AppendReject(nil, channel, v.DeliveryTag, v.Requeue)
	}
	if err != nil {
		t.Error(err)
	}
	return frame
}

func againHeader(t *testing.T, name string, f wire.Frame, frame []byte) message {
	t.Helper()
	h, err := wire.ParseHeader(f.Payload)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p, err := wire.ParseProperties(h.RawProperties)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	same(t, name, "header", wire.AppendHeader(nil, f.Channel, h.BodySize, &p), frame)
	same(t, name, "raw header", wire.AppendRawHeader(nil, f.Channel, h.BodySize, h.RawProperties), frame)
	return message{properties: p, size: h.BodySize}
}

func TestRecordedSessions(t *testing.T) {
	if *recordURI != "" {
		recordAll(t, *recordURI, "testdata/rabbitmq.hex")
	}
	talks := recordedTalks(t)
	if len(talks) != 3+len(refusals) {
		t.Errorf("%d sessions, want %d", len(talks), 3+len(refusals))
	}
	used := map[wire.MethodID]bool{}
	for _, talk := range talks {
		for _, s := range []said{clientOf(t, talk), serverOf(t, talk)} {
			for _, m := range s.methods {
				used[m.ID()] = true
			}
			for i, m := range s.messages {
				if uint64(len(m.body)) != m.size {
					t.Errorf("%s: message %d: %d bytes, announced %d", talk.name, i, len(m.body), m.size)
				}
			}
		}
	}
	// All 64 methods but secure, secure-ok and recover-async, which neither RabbitMQ 3.10 nor these clients use, and
	// a nack from the server is the same method as one from the client.
	if len(used) != 61 {
		t.Errorf("%d different methods were recorded, want 61", len(used))
	}
}

func clientOf(t *testing.T, talk *talk) said {
	t.Helper()
	if len(talk.client) < 8 || string(talk.client[:4]) != "AMQP" {
		t.Fatalf("%s: the client does not begin with a protocol header", talk.name)
	}
	if talk.name == "refused: end octet" || talk.name == "refused: protocol version" {
		return said{} // not to be parsed: see TestRecordedRefusals
	}
	return listen(t, talk.name+" >", talk.client[8:])
}

func serverOf(t *testing.T, talk *talk) said {
	t.Helper()
	if talk.name == "refused: protocol version" {
		return said{}
	}
	return listen(t, talk.name+" <", talk.server)
}

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
