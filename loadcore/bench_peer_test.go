package loadcore

import (
	"net"
	"sync/atomic"
	"testing"

	"leveret/loadcore/wire"

	amqp "github.com/rabbitmq/amqp091-go"
)

// peerSocket is amqp091-go's end of a connection: a pipe to a stub, until discard has it swallow what is written, and
// feedReader has reads come from feed instead.
type peerSocket struct {
	net.Conn
	stub    *stubConn
	discard atomic.Bool
	fed     atomic.Bool
	feed    chan []byte // whole frames; closed at the end
	left    []byte
}

func (s *peerSocket) Write(p []byte) (int, error) {
	if s.discard.Load() {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

func (s *peerSocket) Read(p []byte) (int, error) {
	if !s.fed.Load() {
		return s.Conn.Read(p)
	}
	if len(s.left) == 0 {
		frames, open := <-s.feed
		if !open {
			return 0, net.ErrClosed
		}
		s.left = frames
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// feedReader makes the reader, which waits at the pipe, come back and take from feed. What is written is swallowed from here.
func (s *peerSocket) feedReader() {
	s.discard.Store(true)
	s.fed.Store(true)
	// A reader that has not come to the pipe again since then takes from feed already, and nobody takes this.
	go s.stub.send(wire.AppendHeartbeat(nil))
}

// peerOnPipe opens an amqp091-go channel without a socket.
func peerOnPipe(b *testing.B) (*peerSocket, *amqp.Channel) {
	b.Helper()
	near, far := net.Pipe()
	broker := &stubConn{
		Conn: far, stub: &stub{mechs: "PLAIN", limits: wire.Limits{ChannelMax: 2047, FrameMax: 131072}},
		tags: map[uint16]uint64{}, partial: map[uint16]*stubMessage{}, left: map[uint16]uint64{},
	}
	go broker.serve()
	s := &peerSocket{Conn: near, stub: broker, feed: make(chan []byte, 1)}
	conn, err := amqp.Open(s, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{}}, Vhost: "/"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		near.Close() // neither side has anything to say any more
		far.Close()
	})
	ch, err := conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	return s, ch
}
