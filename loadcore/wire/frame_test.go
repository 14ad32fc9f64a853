package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestNextFrameNeedsEveryByte(t *testing.T) {
	whole := []byte{1, 0, 7, 0, 0, 0, 3, 'a', 'b', 'c', 0xCE}
	for i := range whole {
		if f, n, err := NextFrame(whole[:i], 4096); n != 0 || err != nil || f.Payload != nil {
			t.Errorf("%d of %d bytes: %+v, %d, %v", i, len(whole), f, n, err)
		}
	}
	f, n, err := NextFrame(append(whole, 3, 0), 4096)
	if err != nil || n != len(whole) || f.Type != FrameMethod || f.Channel != 7 || string(f.Payload) != "abc" {
		t.Errorf("got %+v, %d, %v", f, n, err)
	}
	if cap(f.Payload) != 3 {
		t.Errorf("capacity %d lets an append run over the end octet, want 3", cap(f.Payload))
	}
	if got := AppendFrame([]byte("before"), 1, 7, []byte("abc")); string(got) != "before"+string(whole) {
		t.Errorf("AppendFrame: % x", got)
	}
}

func TestNextFrameTakesEveryType(t *testing.T) {
	for _, typ := range []byte{FrameMethod, FrameHeader, FrameBody, FrameHeartbeat} {
		frame := []byte{typ, 0, 0, 0, 0, 0, 0, 0xCE}
		if f, n, err := NextFrame(frame, 0); err != nil || n != 8 || f.Type != typ || len(f.Payload) != 0 {
			t.Errorf("type %d: %+v, %d, %v", typ, f, n, err)
		}
	}
	if got := AppendHeartbeat(nil); !bytes.Equal(got, []byte{8, 0, 0, 0, 0, 0, 0, 0xCE}) {
		t.Errorf("heartbeat: % x", got)
	}
}

func TestNextFrameRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		bytes  string
		limit  uint32
		offset int
		text   string
	}{
		{"wrong end octet", "\x01\x00\x01\x00\x00\x00\x02ab\xCF", 0, 9, "end octet is 0xcf, not 0xce"},
		{"type 0", "\x00\x00\x00\x00\x00\x00\x00", 0, 0, "unknown frame type"},
		{"type 4, between body and heartbeat", "\x04\x00\x00\x00\x00\x00\x00", 0, 0, "unknown frame type"},
		{"type 9", "\x09\x00\x00\x00\x00\x00\x00", 0, 0, "unknown frame type"},
		{"heartbeat on a channel", "\x08\x00\x01\x00\x00\x00\x00", 0, 1, "belongs on channel 0"},
		{"heartbeat with payload", "\x08\x00\x00\x00\x00\x00\x01", 0, 3, "no payload"},
		{"oversized heartbeat", "\x08\x00\x00\xff\xff\xff\xff", 4096, 3, "no payload"},
		{"one byte over frame-max", "\x03\x00\x01\x00\x00\x0f\xf9", 4096, 3, "frame-max"},
		{"the largest length", "\x03\x00\x01\xff\xff\xff\xff", 4096, 3, "frame-max"},
		{"the largest length without limit", "\x03\x00\x01\xff\xff\xff\xff", 0, 3, "larger than any peer has reason"},
		{"a negative 32-bit length without limit", "\x03\x00\x01\x80\x00\x00\x00", 0, 3, "larger than any peer has reason"},
		{"server of AMQP 1.0", "AMQP\x00\x01\x00\x00", 4096, 0, "protocol header AMQP 0-1-0: it wants another version"},
		{"HTTP server", "HTTP/1.1 400 Bad Request", 4096, 0, "speaks HTTP"},
		{"TLS alert", "\x15\x03\x03\x00\x02\x02\x46", 4096, 0, "speaks TLS"},
	} {
		_, n, err := NextFrame([]byte(c.bytes), c.limit)
		var fe *FrameError
		if n != 0 || !errors.As(err, &fe) {
			t.Errorf("%s: length %d, error %v", c.name, n, err)
			continue
		}
		if fe.Offset != c.offset || fe.Limit != c.limit || fe.Type != c.bytes[0] || fe.ReplyCode() != 501 || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %+v", c.name, fe)
		}
	}
}

// A frame of exactly frame-max bytes is the largest that may come, and the smallest limit is honored to the byte.
func TestNextFrameAtTheLimit(t *testing.T) {
	head := []byte{FrameBody, 0, 1, 0, 0, 0x0f, 0xf8} // 4088 payload bytes
	frame := append(append(head, make([]byte, 4088)...), FrameEnd)
	if _, n, err := NextFrame(frame, 4096); n != 4096 || err != nil {
		t.Errorf("a frame of 4096 bytes under frame-max 4096: %d, %v", n, err)
	}
	if _, _, err := NextFrame(frame, 4095); err == nil {
		t.Error("a frame of 4096 bytes under frame-max 4095 was accepted")
	}
	if _, _, err := NextFrame(head, math.MaxUint32); err != nil {
		t.Errorf("the largest frame-max: %v", err)
	}
}

func TestFrameSize(t *testing.T) {
	if n, ok := FrameSize([]byte{3, 0, 1, 0, 1, 0xff}); n != 0 || ok {
		t.Errorf("six bytes of head: %d, %v", n, ok)
	}
	if n, ok := FrameSize([]byte{3, 0, 1, 0, 1, 0xff, 0xf8}); n != 131072 || !ok {
		t.Errorf("a full frame of RabbitMQ's default frame-max: %d, %v, want 131072", n, ok)
	}
}

// Case C064: bodies are cut at frame-max minus 8, not at frame-max.
func TestAppendBodyCutsAtFrameMaxMinus8(t *testing.T) {
	for _, c := range []struct {
		size     int
		frameMax uint32
		want     []int // payload bytes of each frame
	}{
		{0, 131072, nil},
		{1, 131072, []int{1}},
		{131063, 131072, []int{131063}},
		{131064, 131072, []int{131064}},
		{131065, 131072, []int{131064, 1}},
		{262128, 131072, []int{131064, 131064}},
		{262129, 131072, []int{131064, 131064, 1}},
		{4088, 4096, []int{4088}},
		{4089, 4096, []int{4088, 1}},
		{300000, 0, []int{300000}}, // no limit
		{4089, 8, []int{4088, 1}},  // below what every peer has to accept
		{4089, 1, []int{4088, 1}},  // and far below
		{5000, math.MaxUint32, []int{5000}},
	} {
		body := make([]byte, c.size)
		for i := range body {
			body[i] = byte(i * 31)
		}
		stream := AppendBody([]byte("xy"), 258, body, c.frameMax)[2:]
		limit := c.frameMax
		if limit != 0 {
			limit = max(limit, FrameMinSize)
		}
		var got []byte
		for i, want := range c.want {
			f, n, err := NextFrame(stream, limit)
			if err != nil || f.Type != FrameBody || f.Channel != 258 || len(f.Payload) != want {
				t.Fatalf("%d bytes, frame-max %d, frame %d: %d payload bytes, error %v, want %d", c.size, c.frameMax, i, len(f.Payload), err, want)
			}
			got = append(got, f.Payload...)
			stream = stream[n:]
		}
		if len(stream) != 0 || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, frame-max %d: body differs or %d bytes are left", c.size, c.frameMax, len(stream))
		}
	}
}

// Splitting a body grows the destination once.
func TestAppendBodyGrowsOnce(t *testing.T) {
	body := make([]byte, 1<<20)
	want := len(body) + (len(body)/4088+1)*FrameOverhead
	if got := AppendBody(nil, 1, body, 4096); len(got) != want {
		t.Errorf("%d bytes, want %d", len(got), want)
	}
	if raceEnabled {
		return // the race detector allocates as well
	}
	if n := testing.AllocsPerRun(10, func() { AppendBody(nil, 1, body, 4096) }); n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

// Arbitrary bytes behind a head never panic and never yield a frame that the head does not describe.
func TestNextFrameByteFlips(t *testing.T) {
	good := AppendAck(nil, 1, 5, true)
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			f, n, err := NextFrame(bad, 4096)
			if n > 0 && (err != nil || n != int(binary.BigEndian.Uint32(bad[3:]))+8 || len(f.Payload) != n-8) {
				t.Errorf("byte %d bit %d: %+v, %d, %v", i, bit, f, n, err)
			}
		}
	}
}
