package wire_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"leveret/loadcore/wire"
)

// recordedFrames are all frames of the recorded sessions of a type, to begin fuzzing from.
func recordedFrames(f *testing.F, types ...byte) (frames []wire.Frame) {
	f.Helper()
	for _, talk := range recordedTalks(f) {
		for _, stream := range [][]byte{talk.client[8:], talk.server} {
			for {
				frame, n, err := wire.NextFrame(stream, 0)
				if n == 0 || err != nil {
					break
				}
				if bytes.IndexByte(types, frame.Type) >= 0 {
					frames = append(frames, frame)
				}
				stream = stream[n:]
			}
		}
	}
	if len(frames) == 0 {
		f.Fatal("no recorded frames")
	}
	return frames
}

// A stream is cut into frames that encode to the same bytes; every refusal has its reason; a longer wait for more bytes
// changes nothing of what was decided.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x01\x00\x01\x00\x00\x00\x04\x00\x14\x00\x0a\xce\x08\x00\x00\x00\x00\x00\x00\xce"), uint32(4096))
	f.Add([]byte("AMQP\x00\x00\x09\x01"), uint32(0))
	for _, talk := range recordedTalks(f) {
		f.Add(talk.client[8:], uint32(131072))
		f.Add(talk.server, uint32(0))
	}
	f.Fuzz(func(t *testing.T, stream []byte, limit uint32) {
		for len(stream) > 0 {
			frame, n, err := wire.NextFrame(stream, limit)
			size, ok := wire.FrameSize(stream)
			var fe *wire.FrameError
			switch {
			case err != nil:
				if n != 0 || !errors.As(err, &fe) || fe.Reason == "" || err.Error() == "" {
					t.Fatalf("length %d, error %#v", n, err)
				}
				return
			case n == 0:
				if ok && size <= len(stream) {
					t.Fatalf("asks for more than the %d bytes of a frame of %d", len(stream), size)
				}
				return
			}
			if n != size || (limit != 0 && uint64(n) > uint64(limit)) || cap(frame.Payload) != len(frame.Payload) {
				t.Fatalf("length %d, size %d, limit %d", n, size, limit)
			}
			if again := wire.AppendFrame(nil, frame.Type, frame.Channel, frame.Payload); !bytes.Equal(again, stream[:n]) {
				t.Fatalf("% x became % x", stream[:n], again)
			}
			for _, cut := range []int{0, 1, 6, 7, n - 1} {
				if _, n, err := wire.NextFrame(stream[:cut], limit); n != 0 || err != nil {
					t.Fatalf("the first %d bytes: %d, %v", cut, n, err)
				}
			}
			stream = stream[n:]
		}
	})
}

// What is accepted encodes to something that decodes the same, and the data plane agrees with the structures.
func FuzzMethod(f *testing.F) {
	for _, frame := range recordedFrames(f, wire.FrameMethod) {
		f.Add(frame.Payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		m, err := wire.ParseMethod(payload)
		id, args, peekErr := wire.PeekMethod(payload)
		if err != nil {
			var se *wire.SyntaxError
			var ue *wire.UnknownMethodError
			if m != nil || err.Error() == "" || !errors.As(err, &se) && !errors.As(err, &ue) {
				t.Fatalf("%v, %#v", m, err)
			}
			if peekErr == nil && dataPlaneError(id, args) == nil && se != nil {
				t.Fatalf("%s: refused (%v), but the data plane accepts it", id, err)
			}
			return
		}
		if peekErr != nil || id != m.ID() {
			t.Fatalf("%s was peeked as %s, %v", m.ID(), id, peekErr)
		}
		if err := dataPlaneError(id, args); err != nil && err != errNotDataPlane {
			t.Fatalf("the data plane refuses: %v", err)
		}
		if err := wire.CheckMethod(m, 0); err != nil {
			t.Fatalf("what was read cannot be sent: %v", err)
		}
		frame := wire.AppendMethod(nil, 3, m)
		if fast := dataPlane(t, 3, m, args); fast != nil && !sameBut(m, fast, frame) {
			t.Fatalf("%s: data plane % x, structure % x", id, fast, frame)
		}
		parsed, n, err := wire.NextFrame(frame, 0)
		if err != nil || n != len(frame) || parsed.Channel != 3 {
			t.Fatalf("%+v, %d, %v", parsed, n, err)
		}
		again, err := wire.ParseMethod(parsed.Payload)
		if err != nil || again.ID() != id || !bytes.Equal(wire.AppendMethod(nil, 3, again), frame) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

// sameBut compares frames, but for publish's immediate bit, which AppendPublish has no argument for.
func sameBut(m wire.Method, fast, frame []byte) bool {
	if p, ok := m.(*wire.BasicPublish); ok && p.Immediate {
		return len(fast) == len(frame)
	}
	return bytes.Equal(fast, frame)
}

var errNotDataPlane = errors.New("not on the data plane")

func dataPlaneError(id wire.MethodID, args []byte) (err error) {
	switch id {
	case wire.BasicPublishID:
		_, err = wire.ParsePublish(args)
	case wire.BasicDeliverID:
		var d wire.Deliver
		d, err = wire.ParseDeliver(args)
		tag, number, redelivered, other := wire.ParseDelivery(args)
		if (err == nil) != (other == nil) || !bytes.Equal(tag, d.ConsumerTag) || number != d.DeliveryTag || redelivered != d.Redelivered {
			panic("ParseDeliver and ParseDelivery disagree")
		}
	case wire.BasicReturnID:
		_, err = wire.ParseReturn(args)
	case wire.BasicGetOkID:
		_, err = wire.ParseGetOk(args)
	case wire.BasicAckID:
		_, err = wire.ParseAck(args)
	case wire.BasicNackID:
		_, err = wire.ParseNack(args)
	case wire.BasicRejectID:
		_, err = wire.ParseReject(args)
	default:
		err = errNotDataPlane
	}
	return err
}

func FuzzProperties(f *testing.F) {
	for _, frame := range recordedFrames(f, wire.FrameHeader) {
		f.Add(frame.Payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, err := wire.ParseHeader(payload)
		if err != nil {
			return
		}
		raw := wire.AppendRawHeader(nil, 1, h.BodySize, h.RawProperties)
		if parsed, _, err := wire.NextFrame(raw, 0); err != nil || !bytes.Equal(parsed.Payload, payload) {
			t.Fatalf("% x became % x, %v", payload, raw, err)
		}
		p, err := wire.ParseProperties(h.RawProperties)
		if err != nil {
			var se *wire.SyntaxError
			if !errors.As(err, &se) || !reflect.DeepEqual(p, wire.Properties{}) {
				t.Fatalf("%+v, %#v", p, err)
			}
			return
		}
		if err := wire.CheckProperties(&p, 0); err != nil || p.Present() != p.Flags {
			t.Fatalf("what was read cannot be sent: %v; flags %#x, present %#x", err, p.Flags, p.Present())
		}
		frame := wire.AppendHeader(nil, 1, h.BodySize, &p)
		parsed, _, err := wire.NextFrame(frame, 0)
		if err != nil {
			t.Fatal(err)
		}
		h2, err := wire.ParseHeader(parsed.Payload)
		if err != nil || h2.BodySize != h.BodySize {
			t.Fatalf("%+v, %v", h2, err)
		}
		again, err := wire.ParseProperties(h2.RawProperties)
		if err != nil || again.Flags != p.Flags || !bytes.Equal(wire.AppendHeader(nil, 1, h.BodySize, &again), frame) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add(wire.AppendTable(nil, everyType))
	f.Add(wire.AppendTable(nil, wire.Table{{Key: "nan", Value: math.NaN()}, {Key: "", Value: []any{}}}))
	f.Fuzz(func(t *testing.T, buf []byte) {
		table, err := wire.ParseTable(buf)
		if err != nil {
			var se *wire.SyntaxError
			if table != nil || !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(buf) {
				t.Fatalf("%+v, %#v", table, err)
			}
			return
		}
		if err := wire.CheckTable("table", table); err != nil {
			t.Fatalf("what was read cannot be sent: %v", err)
		}
		encoded := wire.AppendTable(nil, table)
		if len(encoded) != len(buf) { // only the value of a bool may differ
			t.Fatalf("% x became % x", buf, encoded)
		}
		again, err := wire.ParseTable(encoded)
		// The encoding tells all values apart, NaNs included, which == does not.
		if err != nil || !bytes.Equal(wire.AppendTable(nil, again), encoded) {
			t.Fatalf("%+v became %+v, %v", table, again, err)
		}
	})
}

// Values that come from a user rather than from the wire: either the check refuses them, or they arrive as they were.
func FuzzEncode(f *testing.F) {
	f.Add("exchange", "routing.key", []byte("a body"), uint64(7), uint16(1), true)
	f.Add("", string(make([]byte, 256)), []byte{}, uint64(math.MaxUint64), uint16(65535), false)
	f.Fuzz(func(t *testing.T, exchange, key string, body []byte, tag uint64, channel uint16, yes bool) {
		table := wire.Table{{Key: exchange, Value: key}, {Key: "list", Value: []any{yes, tag > 5, int64(tag), wire.Timestamp(tag)}}}
		methods := []wire.Method{
			&wire.BasicPublish{Exchange: exchange, RoutingKey: key, Mandatory: yes, Immediate: !yes},
			&wire.BasicDeliver{ConsumerTag: key, DeliveryTag: tag, Redelivered: yes, Exchange: exchange, RoutingKey: key},
			&wire.BasicGetOk{DeliveryTag: tag, Redelivered: yes, Exchange: exchange, RoutingKey: key, MessageCount: uint32(tag)},
			&wire.QueueDeclare{Queue: key, Passive: yes, Exclusive: !yes, NoWait: yes, Arguments: table},
			&wire.ConnectionStartOk{Mechanism: key, Response: string(body), Locale: exchange, ClientProperties: table},
			&wire.ConnectionTuneOk{Limits: wire.Limits{ChannelMax: channel, FrameMax: uint32(tag), Heartbeat: uint16(tag)}},
		}
		for _, m := range methods {
			if wire.CheckMethod(m, 0) != nil {
				if len(exchange) <= wire.MaxShortString && len(key) <= wire.MaxShortString {
					t.Fatalf("%s: %v", m.ID(), wire.CheckMethod(m, 0))
				}
				continue
			}
			frame, _, err := wire.NextFrame(wire.AppendMethod(nil, channel, m), 0)
			if err != nil || frame.Channel != channel {
				t.Fatalf("%s: %+v, %v", m.ID(), frame, err)
			}
			if got, err := wire.ParseMethod(frame.Payload); err != nil || !reflect.DeepEqual(got, m) {
				t.Fatalf("%+v became %+v, %v", m, got, err)
			}
		}
		p := wire.Properties{ContentType: exchange, CorrelationID: key, Headers: table, Priority: uint8(tag), Timestamp: tag, ClusterID: key}
		if wire.CheckProperties(&p, 0) == nil {
			header := wire.AppendHeader(nil, channel, tag, &p)
			h, err := wire.ParseHeader(header[7 : len(header)-1])
			if err != nil || h.BodySize != tag {
				t.Fatalf("%+v, %v", h, err)
			}
			got, err := wire.ParseProperties(h.RawProperties)
			p.Flags = p.Present()
			if err != nil || !reflect.DeepEqual(got, p) {
				t.Fatalf("%+v became %+v, %v", p, got, err)
			}
		}
		encodeBody(t, channel, body, uint32(tag))
	})
}

// encodeBody cuts a body and puts it together again.
func encodeBody(t *testing.T, channel uint16, body []byte, frameMax uint32) {
	t.Helper()
	limit := frameMax
	if limit != 0 {
		limit = max(limit, wire.FrameMinSize)
	}
	var got []byte
	for stream := wire.AppendBody(nil, channel, body, frameMax); len(stream) > 0; {
		frame, n, err := wire.NextFrame(stream, limit)
		if err != nil || n == 0 || frame.Channel != channel || len(frame.Payload) == 0 {
			t.Fatalf("%+v, %d, %v", frame, n, err)
		}
		got = append(got, frame.Payload...)
		stream = stream[n:]
	}
	if !bytes.Equal(got, body) {
		t.Fatalf("% x became % x", body, got)
	}
}
