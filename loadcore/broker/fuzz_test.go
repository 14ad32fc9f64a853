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
		if q.unacked != 0 || len(q.consumers) != 0 || q.exclusiveTo != nil || q.exclusive {
			t.Fatalf("%s is left with %d unacked, %d consumers", q.name, q.unacked, len(q.consumers))
		}
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

// FuzzSession lets a client do sensible things in senseless order: every byte is one request on one of two channels.
func FuzzSession(f *testing.F) {
	s, err := Start(Options{MaxMessageSize: 100_000})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	requests := sessionRequests()
	f.Add([]byte{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30})
	f.Add([]byte{2, 12, 12, 12, 14, 16, 18, 20, 15, 17, 2, 13, 13, 30, 31, 32, 33, 34, 35})
	f.Add([]byte{2, 10, 12, 12, 12, 12, 14, 24, 18, 26, 20, 12, 12, 28, 2, 36, 38, 40})
	f.Fuzz(func(t *testing.T, picks []byte) {
		var data []byte
		for ch := uint16(1); ch <= 2; ch++ {
			data = wire.AppendMethod(data, ch, &wire.ChannelOpen{})
		}
		for _, p := range picks[:min(len(picks), 300)] {
			data = requests[int(p/2)%len(requests)](data, uint16(p%2)+1)
		}
		feed(t, s, data)
	})
}

// sessionRequests append one request each.
func sessionRequests() []func([]byte, uint16) []byte {
	method := func(m wire.Method) func([]byte, uint16) []byte {
		return func(b []byte, ch uint16) []byte { return wire.AppendMethod(b, ch, m) }
	}
	publish := func(exchange, key string, mandatory bool, size int) func([]byte, uint16) []byte {
		return func(b []byte, ch uint16) []byte {
			b = wire.AppendPublish(b, ch, exchange, key, mandatory)
			b = wire.AppendHeader(b, ch, uint64(size), nil)
			return wire.AppendBody(b, ch, make([]byte, size), 0)
		}
	}
	settle := func(tag uint64, multiple, requeue, reject bool) func([]byte, uint16) []byte {
		return func(b []byte, ch uint16) []byte {
			if reject {
				return wire.AppendNack(b, ch, tag, multiple, requeue)
			}
			return wire.AppendAck(b, ch, tag, multiple)
		}
	}
	return []func([]byte, uint16) []byte{
		method(&wire.ConfirmSelect{}),
		method(&wire.QueueDeclare{Queue: "q"}),
		method(&wire.QueueDeclare{Queue: "short", Arguments: wire.Table{{Key: "x-max-length", Value: int32(2)}}}),
		method(&wire.QueueDeclare{Queue: "full", Arguments: wire.Table{{Key: "x-max-length", Value: int32(2)}, {Key: "x-overflow", Value: "reject-publish"}}}),
		method(&wire.QueueDeclare{Queue: "auto", AutoDelete: true, Exclusive: true}),
		method(&wire.QueueBind{Queue: "short", Exchange: "amq.fanout"}),
		publish("", "q", false, 12),
		method(&wire.BasicConsume{Queue: "q", ConsumerTag: "manual"}),
		method(&wire.BasicConsume{Queue: "q", ConsumerTag: "automatic", NoAck: true}),
		settle(1, false, false, false),
		settle(0, true, false, false),
		settle(2, false, true, true),
		settle(0, true, true, true),
		method(&wire.BasicQos{PrefetchCount: 2}),
		method(&wire.BasicQos{PrefetchCount: 2, Global: true}),
		method(&wire.BasicGet{Queue: "q"}),
		method(&wire.BasicCancel{ConsumerTag: "manual"}),
		method(&wire.BasicRecover{Requeue: true}),
		method(&wire.QueuePurge{Queue: "q"}),
		method(&wire.QueueDelete{Queue: "q"}),
		method(&wire.ChannelClose{ReplyCode: 200}),
		method(&wire.ChannelOpen{}),
		method(&wire.ChannelCloseOk{}),
		publish("amq.fanout", "", false, 5000),
		publish("", "full", true, 0),
		publish("", "nowhere", true, 100),
		method(&wire.BasicConsume{Queue: "short", ConsumerTag: "exclusive", Exclusive: true}),
		method(&wire.BasicConsume{Queue: "auto", ConsumerTag: "auto", NoAck: true}),
		method(&wire.BasicCancel{ConsumerTag: "auto"}),
		method(&wire.QueueBind{Queue: "q", Exchange: "amq.fanout"}),
		method(&wire.QueueUnbind{Queue: "q", Exchange: "amq.fanout"}),
	}
}
