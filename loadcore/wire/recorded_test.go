package wire_test

import (
	"bytes"
	"encoding/hex"
	"os"
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
