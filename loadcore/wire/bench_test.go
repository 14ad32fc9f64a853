package wire

import "testing"

// One message of 12 bytes, as the engine publishes it: method, header, body, encoded from nothing.
func BenchmarkPublishEncode(b *testing.B) {
	props := []byte{0x10, 0x00, 0x02} // delivery mode 2
	body := make([]byte, 12)
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendPublish(buf[:0], 1, "", "some-queue", false)
		buf = AppendRawHeader(buf, 1, uint64(len(body)), props)
		buf = AppendBody(buf, 1, body, 131072)
	}
	b.SetBytes(int64(len(buf)))
}

// One delivered message of 12 bytes, as the engine reads it: three frames, method and header parsed.
func BenchmarkDeliverParse(b *testing.B) {
	stream := AppendDeliver(nil, 1, "consumer-0", 12345, false, nil, []byte("some-queue"))
	stream = AppendRawHeader(stream, 1, 12, []byte{0x10, 0x00, 0x02})
	stream = AppendBody(stream, 1, make([]byte, 12), 131072)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		method, n, _ := NextFrame(stream, 131072)
		_, args, _ := PeekMethod(method.Payload)
		if d, err := ParseDeliver(args); err != nil || d.DeliveryTag != 12345 {
			b.Fatal(d, err)
		}
		header, m, _ := NextFrame(stream[n:], 131072)
		if h, err := ParseHeader(header.Payload); err != nil || h.BodySize != 12 {
			b.Fatal(h, err)
		}
		if body, _, err := NextFrame(stream[n+m:], 131072); err != nil || len(body.Payload) != 12 {
			b.Fatal(body, err)
		}
	}
}

// One confirm, as it comes: frame and method.
func BenchmarkAckParse(b *testing.B) {
	frame := AppendAck(nil, 1, 12345, true)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		f, _, _ := NextFrame(frame, 131072)
		_, args, _ := PeekMethod(f.Payload)
		if s, err := ParseAck(args); err != nil || s.DeliveryTag != 12345 {
			b.Fatal(s, err)
		}
	}
}

// One frame's bounds alone.
func BenchmarkNextFrame(b *testing.B) {
	frame := AppendBody(nil, 1, make([]byte, 12), 131072)
	b.ReportAllocs()
	for b.Loop() {
		if _, n, err := NextFrame(frame, 131072); n != 20 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// One acknowledgement written.
func BenchmarkAckEncode(b *testing.B) {
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendAck(buf[:0], 1, 12345, true)
	}
}

// One delivery written, as the broker does it.
func BenchmarkDeliverEncode(b *testing.B) {
	buf := make([]byte, 0, 4096)
	key, props, body := []byte("some-queue"), []byte{0x10, 0x00, 0x02}, make([]byte, 12)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendDeliver(buf[:0], 1, "consumer-0", 12345, false, nil, key)
		buf = AppendRawHeader(buf, 1, uint64(len(body)), props)
		buf = AppendBody(buf, 1, body, 131072)
	}
	b.SetBytes(int64(len(buf)))
}
