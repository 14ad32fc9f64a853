package broker

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"leveret/loadcore/wire"
)

// FuzzAfterHandshake feeds arbitrary bytes to a connection that is open. Nothing may panic, nothing may hang, whatever was
// asked for is gone with the connection, and what is written back are whole frames.
func FuzzAfterHandshake(f *testing.F) {
	open := wire.AppendMethod(nil, 1, &wire.ChannelOpen{})
	f.Add(open)
	f.Add(append(open, publishes(3, 20)...))
	for _, m := range []wire.Method{
		&wire.ConfirmSelect{}, &wire.QueueDeclare{Queue: "q"}, &wire.QueueDeclare{Queue: "r", Arguments: wire.Table{{Key: "x-max-length", Value: int32(1)}}},
		&wire.QueueBind{Queue: "q", Exchange: "amq.topic", RoutingKey: "a.#"}, &wire.BasicQos{PrefetchCount: 2, Global: true},
		&wire.ExchangeDeclare{Exchange: "x", Type: "fanout", AutoDelete: true}, &wire.BasicGet{Queue: "q"}, &wire.BasicRecover{Requeue: true},
		&wire.QueueDelete{Queue: "q"}, &wire.ConnectionClose{ReplyCode: 200}, &wire.TxSelect{}, &wire.ChannelFlow{Active: true},
	} {
		f.Add(wire.AppendMethod(open, 1, m))
	}
	session := wire.AppendMethod(open[:len(open):len(open)], 1, &wire.QueueDeclare{Queue: "q"})
	session = wire.AppendMethod(session, 1, &wire.BasicConsume{Queue: "q", ConsumerTag: "c"})
	session = append(session, publishes(5, 100)...)
	session = wire.AppendNack(session, 1, 2, true, true)
	session = wire.AppendMethod(session, 1, &wire.BasicCancel{ConsumerTag: "c"})
	f.Add(session)
	faults, err := ParseFaults("duplicate@2,reorder@3,nack@4,drop@5,corrupt@6:byte=9,return@7,close-channel@8,cut@9")
	if err != nil {
		f.Fatal(err)
	}
	for _, o := range []Options{{MaxMessageSize: 100_000}, {MaxMessageSize: 100_000, Faults: faults}} {
		s, err := Start(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { s.Close() })
		fuzzServers = append(fuzzServers, s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range fuzzServers {
			feed(t, s, data)
		}
	})
}

var fuzzServers []*Server

// script is a connection that delivers given bytes and then ends, and keeps what is written.
type script struct {
	deadEnd
	in  *bytes.Reader
	mu  sync.Mutex
	out []byte
}

func (s *script) Read(b []byte) (int, error) { return s.in.Read(b) }

func (s *script) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, b...)
	return len(b), nil
}

// feed runs a connection in the state behind the handshake.
func feed(t *testing.T, s *Server, data []byte) {
	nc := &script{in: bytes.NewReader(data)}
	c := newConn(s, nc)
	c.vhost, c.frameMax, c.channelMax, c.user, c.tellCancel, c.state = s.vhosts["/"], 131072, 100, "guest", true, stateRunning
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		go c.write()
		c.read(newReadBuffer(131072))
		c.teardown()
		<-c.writerDone
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the connection does not end")
	}
	checkFrames(t, nc.out)
	for _, q := range c.vhost.queues {
		c.vhost.deleteQueue(q, false, false)
	}
	for name := range c.vhost.exchanges {
		if len(name) < 4 || name[:4] != "amq." && name != "" {
			c.vhost.deleteExchange(name, false)
		}
	}
	if n := s.mem.used.Load(); n != 0 {
		t.Fatalf("%d bytes are held when everything is gone", n)
	}
}

// checkFrames checks that what was written consists of frames; only the last may be cut, by the fault.
func checkFrames(t *testing.T, out []byte) {
	for len(out) > 0 {
		_, n, err := wire.NextFrame(out, 131072)
		if err != nil {
			t.Fatalf("the broker wrote what is no frame: %v", err)
		}
		if n == 0 {
			return
		}
		out = out[n:]
	}
}
