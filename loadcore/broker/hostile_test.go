package broker_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// TestNotAMQP: anything but the protocol header is answered with it, and nothing else.
func TestNotAMQP(t *testing.T) {
	s := start(t, broker.Options{})
	for _, begin := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"AMQP\x00\x01\x00\x00",                         // AMQP 1.0
		"AMQP\x01\x01\x08\x00",                         // 0-8
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", // TLS
		strings.Repeat("\x00", 100_000),
	} {
		c := dialRaw(t, s)
		c.nc.Write([]byte(begin)) // may fail half way: the broker does not wait for the rest
		got, err := io.ReadAll(c.nc)
		if err != nil && len(begin) < 1000 {
			t.Errorf("%.20q: %v", begin, err)
		}
		if err == nil && !bytes.Equal(got, wire.ProtocolHeader[:]) {
			t.Errorf("%.20q is answered with %q", begin, got)
		}
	}
}

// TestSilence: a client that does not finish the handshake is not waited for.
func TestSilence(t *testing.T) {
	s := start(t, broker.Options{HandshakeTimeout: 100 * time.Millisecond})
	for _, begin := range []string{"", "AM", "AMQP\x00\x00\x09\x01", "AMQP\x00\x00\x09\x01\x01\x00\x00\x00\x00\x10"} {
		c := dialRaw(t, s)
		c.write(t, []byte(begin))
		if _, err := io.ReadAll(c.nc); err != nil {
			t.Errorf("%q: %v; want the end of the connection", begin, err)
		}
	}
	connections(t, s, 0)
}

// slowConn writes in small pieces of random size.
type slowConn struct {
	net.Conn
	rnd *rand.Rand
	max int
}

func (c slowConn) Write(b []byte) (int, error) {
	for sent := 0; sent < len(b); {
		n := min(1+c.rnd.IntN(c.max), len(b)-sent)
		if _, err := c.Conn.Write(b[sent : sent+n]); err != nil {
			return sent, err
		}
		sent += n
	}
	return len(b), nil
}

// TestPieces: frames that come in pieces of any size, down to single bytes, are the same frames.
func TestPieces(t *testing.T) {
	for _, piece := range []int{1, 2, 7, 100, 5000, 100_000} {
		t.Run(fmt.Sprint(piece), func(t *testing.T) {
			s := start(t, broker.Options{})
			conn, err := amqp.DialConfig(s.URI(), amqp.Config{
				FrameSize: 4096 + piece,
				Dial: func(network, addr string) (net.Conn, error) {
					nc, err := net.Dial(network, addr)
					return slowConn{nc, rand.New(rand.NewPCG(uint64(piece), 5)), piece}, err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			if err := ch.Confirm(false); err != nil {
				t.Fatal(err)
			}
			sizes := []int{0, 1, 12, 4000, 4088, 4089, 10_000}
			if piece > 50 {
				sizes = append(sizes, 131064, 131065, 300_000, 3_000_000)
			}
			for i, size := range sizes {
				d, err := ch.PublishWithDeferredConfirm("", "q", true, false, amqp.Publishing{Body: pattern(i, size), Type: fmt.Sprint(i)})
				if err != nil {
					t.Fatal(err)
				}
				if ok, err := d.WaitContext(t.Context()); !ok || err != nil {
					t.Fatalf("size %d: confirmed %v, %v", size, ok, err)
				}
				m, ok, err := ch.Get("q", true)
				if err != nil || !ok || !bytes.Equal(m.Body, pattern(i, size)) || m.Type != fmt.Sprint(i) {
					t.Fatalf("size %d: got %d bytes, type %q, %v %v", size, len(m.Body), m.Type, ok, err)
				}
			}
		})
	}
}

func pattern(seed, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + seed + i>>8)
	}
	return b
}

// TestInterleavedContents: messages of several channels whose frames alternate.
func TestInterleavedContents(t *testing.T) {
	s := start(t, broker.Options{})
	c := openRaw(t, s)
	const channels = 5
	for ch := uint16(2); ch <= channels; ch++ {
		c.send(t, ch, &wire.ChannelOpen{})
		c.expect(t, wire.ChannelOpenOkID)
	}
	c.send(t, 1, &wire.QueueDeclare{Queue: "q"})
	c.expect(t, wire.QueueDeclareOkID)
	var all []byte
	for ch := uint16(1); ch <= channels; ch++ {
		all = wire.AppendPublish(all, ch, "", "q", false)
	}
	for ch := uint16(1); ch <= channels; ch++ {
		all = wire.AppendHeader(all, ch, 3, nil)
	}
	for part := range 3 {
		for ch := uint16(1); ch <= channels; ch++ {
			all = wire.AppendBody(all, ch, []byte{byte('a' + part + int(ch)*3)}, 0)
		}
	}
	c.write(t, all)
	for ch := 1; ch <= channels; ch++ {
		c.send(t, 1, &wire.BasicGet{Queue: "q", NoAck: true})
		c.expect(t, wire.BasicGetOkID)
		c.next()
		f, err := c.next()
		want := []byte{byte('a' + ch*3), byte('b' + ch*3), byte('c' + ch*3)}
		if err != nil || !bytes.Equal(f.Payload, want) {
			t.Errorf("message %d is %q, %v; want %q", ch, f.Payload, err, want)
		}
	}
}

// TestMessageSize: at the limit a message is taken, over it the channel is closed and nothing of it is kept.
func TestMessageSize(t *testing.T) {
	s := start(t, broker.Options{MaxMessageSize: 200_000})
	conn, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		size int
		ok   bool
	}{{200_000, true}, {200_001, false}, {5_000_000, false}, {199_999, true}} {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		end := reason(ch)
		if err := ch.Publish("", "q", false, false, amqp.Publishing{Body: make([]byte, c.size)}); err != nil {
			t.Fatal(err)
		}
		if c.ok {
			if m, ok, err := ch.Get("q", true); err != nil || !ok || len(m.Body) != c.size {
				t.Errorf("%d bytes: got %d, %v %v", c.size, len(m.Body), ok, err)
			}
			continue
		}
		want := fmt.Sprintf("PRECONDITION_FAILED - message size %d is larger than configured max size 200000", c.size)
		select {
		case e := <-end:
			if e == nil || e.Code != 406 || e.Reason != want {
				t.Errorf("%d bytes: %v", c.size, e)
			}
		case <-time.After(patience):
			t.Errorf("%d bytes are taken", c.size)
		}
	}
}

// TestUnfinishedMessages: many messages begun and none finished hold no more than one of the largest.
func TestUnfinishedMessages(t *testing.T) {
	s := start(t, broker.Options{MaxMessageSize: 100_000})
	c := openRaw(t, s)
	for ch := uint16(1); ; ch++ {
		if ch > 1 {
			c.nc.Write(wire.AppendMethod(nil, ch, &wire.ChannelOpen{}))
		}
		msg := wire.AppendPublish(nil, ch, "", "q", false)
		msg = wire.AppendHeader(msg, ch, 90_000, nil)
		msg = wire.AppendBody(msg, ch, make([]byte, 30_000), 0)
		if _, err := c.nc.Write(msg); err != nil || ch == 10 {
			break
		}
	}
	for {
		m, err := c.method()
		if err != nil {
			t.Fatal("the end without a reason: ", err)
		}
		if closing, ok := m.(*wire.ConnectionClose); ok {
			if closing.ReplyCode != wire.ReplyResourceError || !strings.Contains(closing.ReplyText, "unfinished messages on this connection hold more than 100000 bytes") {
				t.Errorf("%+v", closing)
			}
			return
		}
	}
}

// TestGarbageAfterHandshake: random bytes end the connection and nothing else.
func TestGarbageAfterHandshake(t *testing.T) {
	s := start(t, broker.Options{})
	rnd := rand.New(rand.NewPCG(11, 12))
	for range 30 {
		c := openRaw(t, s)
		junk := make([]byte, 1+rnd.IntN(5000))
		for i := range junk {
			junk[i] = byte(rnd.Uint32())
		}
		c.nc.Write(junk)
		c.nc.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, c.nc); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("the connection does not end")
		}
	}
	conn, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal("nobody else is served any more: ", err)
	}
	conn.Close()
}

// TestCloseWithoutAnswer: a client that does not answer connection.close is waited for only so long.
func TestCloseWithoutAnswer(t *testing.T) {
	t.Parallel() // it waits
	s := start(t, broker.Options{})
	c := openRaw(t, s)
	c.send(t, 99, &wire.ConfirmSelect{})
	c.expect(t, wire.ConnectionCloseID)
	c.send(t, 1, &wire.QueueDeclare{Queue: "too late"}) // ignored
	if _, err := c.next(); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	if n := s.Stats().Queues; n != 0 {
		t.Errorf("%d queues", n)
	}
}
