package loadcore

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"leveret/loadcore/wire"
)

// stub is a scripted broker on loopback: it answers what setting up and closing asks for, and leaves the rest to the test.
type stub struct {
	t      *testing.T
	ln     net.Listener
	limits wire.Limits // proposed in tune
	mechs  string

	// onMessage is called for every message that has come in whole, onMethod before the usual answer to a method; true
	// means that the test has answered.
	onMessage func(c *stubConn, m stubMessage)
	onMethod  func(c *stubConn, channel uint16, m wire.Method) bool
	// onOpen is called when a connection is open.
	onOpen func(c *stubConn)
	// onHeartbeat is called for every heartbeat.
	onHeartbeat func()

	serving sync.WaitGroup
	mu      sync.Mutex
	conns   []*stubConn
}

// stubMessage is a published message with the number that the channel's confirms give it.
type stubMessage struct {
	channel uint16
	tag     uint64
	key     string
	props   []byte // flags and list, as they came
	body    []byte
}

// stubConn is one connection of a stub. The test writes to it from onMessage and onMethod, or with send from elsewhere.
type stubConn struct {
	net.Conn
	stub     *stub
	wmu      sync.Mutex
	buf      []byte
	answer   wire.Limits // of tune-ok
	tags     map[uint16]uint64
	partial  map[uint16]*stubMessage
	left     map[uint16]uint64
	messages int
}

func startStub(t *testing.T, s *stub) Endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.t, s.ln = t, ln
	if s.mechs == "" {
		s.mechs = "PLAIN AMQPLAIN"
	}
	if s.limits == (wire.Limits{}) {
		s.limits = wire.Limits{ChannelMax: 2047, FrameMax: 131072}
	}
	s.serving.Go(s.accept)
	t.Cleanup(s.stop)
	return mustParse(t, "amqp://"+ln.Addr().String())
}

func (s *stub) stop() {
	s.ln.Close()
	s.mu.Lock()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

func (s *stub) accept() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		sc := &stubConn{Conn: c, stub: s, tags: map[uint16]uint64{}, partial: map[uint16]*stubMessage{}, left: map[uint16]uint64{}}
		s.mu.Lock()
		s.conns = append(s.conns, sc)
		s.mu.Unlock()
		s.serving.Go(func() {
			defer sc.Close()
			if err := sc.serve(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.t.Logf("stub: %v", err)
			}
		})
	}
}

func (c *stubConn) send(frames []byte) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.Write(frames)
}

func (c *stubConn) method(channel uint16, m wire.Method) { c.send(wire.AppendMethod(nil, channel, m)) }

func (c *stubConn) serve() error {
	var header [8]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		return err
	}
	c.method(0, &wire.ConnectionStart{VersionMinor: 9, Mechanisms: c.stub.mechs, Locales: "en_US"})
	chunk := make([]byte, 64<<10)
	for {
		f, n, err := wire.NextFrame(c.buf, 0)
		if err != nil {
			return err
		}
		if n == 0 {
			k, err := c.Read(chunk)
			if err != nil {
				return err
			}
			c.buf = append(c.buf, chunk[:k]...)
			continue
		}
		if err := c.frame(f); err != nil {
			return err
		}
		c.buf = c.buf[n:]
	}
}

func (c *stubConn) frame(f wire.Frame) error {
	if c.left[f.Channel] > 0 && f.Type != wire.FrameBody && f.Type != wire.FrameHeartbeat {
		c.stub.t.Errorf("stub: a frame of type %d in the middle of a message on channel %d", f.Type, f.Channel)
	}
	switch f.Type {
	case wire.FrameHeader:
		h, err := wire.ParseHeader(f.Payload)
		if err != nil {
			return err
		}
		c.left[f.Channel] = h.BodySize
		c.partial[f.Channel].props = bytes.Clone(h.RawProperties)
		return nil
	case wire.FrameBody:
		m := c.partial[f.Channel]
		m.body = append(m.body, f.Payload...)
		if c.left[f.Channel] -= uint64(len(f.Payload)); c.left[f.Channel] == 0 {
			c.tags[f.Channel]++
			m.tag = c.tags[f.Channel]
			c.messages++
			if c.stub.onMessage != nil {
				c.stub.onMessage(c, *m)
			}
		}
		return nil
	case wire.FrameHeartbeat:
		if c.stub.onHeartbeat != nil {
			c.stub.onHeartbeat()
		}
		return nil
	}
	m, err := wire.ParseMethod(f.Payload)
	if err != nil {
		return err
	}
	if p, ok := m.(*wire.BasicPublish); ok {
		c.partial[f.Channel] = &stubMessage{channel: f.Channel, key: p.RoutingKey}
		return nil
	}
	if c.stub.onMethod != nil && c.stub.onMethod(c, f.Channel, m) {
		return nil
	}
	return c.usual(f.Channel, m)
}

// usual answers as a broker does when all is well; every queue is empty.
func (c *stubConn) usual(channel uint16, m wire.Method) error {
	switch m := m.(type) {
	case *wire.ConnectionStartOk:
		c.method(0, &wire.ConnectionTune{Limits: c.stub.limits})
	case *wire.ConnectionTuneOk:
		c.answer = m.Limits
	case *wire.ConnectionOpen:
		c.method(0, &wire.ConnectionOpenOk{})
		if c.stub.onOpen != nil {
			c.stub.onOpen(c)
		}
	case *wire.ConnectionClose:
		c.method(0, &wire.ConnectionCloseOk{})
		return io.EOF
	case *wire.ChannelOpen:
		c.method(channel, &wire.ChannelOpenOk{})
	case *wire.ChannelClose:
		c.method(channel, &wire.ChannelCloseOk{})
	case *wire.ConfirmSelect:
		c.method(channel, &wire.ConfirmSelectOk{})
	case *wire.TxSelect:
		c.method(channel, &wire.TxSelectOk{})
	case *wire.BasicQos:
		c.method(channel, &wire.BasicQosOk{})
	case *wire.BasicConsume:
		c.method(channel, &wire.BasicConsumeOk{ConsumerTag: m.ConsumerTag})
	case *wire.BasicCancel:
		c.method(channel, &wire.BasicCancelOk{ConsumerTag: m.ConsumerTag})
	case *wire.QueueDeclare:
		c.method(channel, &wire.QueueDeclareOk{Queue: m.Queue, ConsumerCount: 1})
	}
	return nil
}

// rawListener answers every connection with what serve does with it.
func rawListener(t *testing.T, config *tls.Config, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		ln = tls.NewListener(ln, config)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		serving.Wait()
	})
	return ln.Addr().String()
}
