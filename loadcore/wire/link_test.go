package wire_test

import (
	"net"
	"testing"
	"time"

	"leveret/loadcore/wire"
)

// link is one end of a connection, driven by a test step by step: what it reads and writes goes through the codec.
type link struct {
	t        *testing.T
	conn     net.Conn
	in       []byte
	frameMax uint32
}

// linkTimeout bounds a whole test's traffic, so that a peer that stays silent fails it.
const linkTimeout = 20 * time.Second

func newLink(t *testing.T, conn net.Conn) *link {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(linkTimeout)); err != nil {
		t.Fatal(err)
	}
	return &link{t: t, conn: conn}
}

func (l *link) write(b []byte) {
	l.t.Helper()
	if _, err := l.conn.Write(b); err != nil {
		l.t.Fatalf("writing to the peer: %v", err)
	}
}

func (l *link) send(channel uint16, m wire.Method) {
	l.t.Helper()
	if err := wire.CheckMethod(m, l.frameMax); err != nil {
		l.t.Fatal(err)
	}
	l.write(wire.AppendMethod(nil, channel, m))
}

// more reads what the peer has to say next.
func (l *link) more() {
	l.t.Helper()
	var chunk [65536]byte
	n, err := l.conn.Read(chunk[:])
	if n == 0 {
		l.t.Fatalf("reading from the peer: %v, with % x in hand", err, l.in)
	}
	l.in = append(l.in, chunk[:n]...)
}

// next returns the next frame; it stays valid.
func (l *link) next() wire.Frame {
	l.t.Helper()
	for {
		f, n, err := wire.NextFrame(l.in, l.frameMax)
		if err != nil {
			l.t.Fatal(err)
		}
		if n > 0 {
			l.in = l.in[n:] // more appends behind it, never over it
			return f
		}
		l.more()
	}
}

// expect returns the next frame's method, which has to be an M on the channel. Heartbeats are passed over.
func expect[M wire.Method](l *link, channel uint16) M {
	l.t.Helper()
	f := l.next()
	for f.Type == wire.FrameHeartbeat {
		f = l.next()
	}
	if f.Type != wire.FrameMethod || f.Channel != channel {
		l.t.Fatalf("frame of type %d on channel %d (% x), want a method on channel %d", f.Type, f.Channel, f.Payload, channel)
	}
	m, err := wire.ParseMethod(f.Payload)
	if err != nil {
		l.t.Fatal(err)
	}
	want, ok := m.(M)
	if !ok {
		l.t.Fatalf("channel %d: got %s %+v, want a %T", channel, m.ID(), m, want)
	}
	return want
}

// content returns the message whose header and body frames come next on the channel.
func (l *link) content(channel uint16) (wire.Properties, []byte) {
	l.t.Helper()
	f := l.next()
	if f.Type != wire.FrameHeader || f.Channel != channel {
		l.t.Fatalf("frame of type %d on channel %d, want a header on channel %d", f.Type, f.Channel, channel)
	}
	h, err := wire.ParseHeader(f.Payload)
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := wire.ParseProperties(h.RawProperties)
	if err != nil {
		l.t.Fatal(err)
	}
	var body []byte
	for uint64(len(body)) < h.BodySize {
		f := l.next()
		if f.Type != wire.FrameBody || f.Channel != channel {
			l.t.Fatalf("frame of type %d on channel %d, want a body on channel %d", f.Type, f.Channel, channel)
		}
		body = append(body, f.Payload...)
	}
	if uint64(len(body)) != h.BodySize {
		l.t.Fatalf("body of %d bytes, announced %d", len(body), h.BodySize)
	}
	return p, body
}

// publish sends a whole message as a client.
func (l *link) publish(channel uint16, exchange, key string, mandatory bool, p *wire.Properties, body []byte) {
	l.t.Helper()
	if err := wire.CheckProperties(p, l.frameMax); err != nil {
		l.t.Fatal(err)
	}
	b := wire.AppendPublish(nil, channel, exchange, key, mandatory)
	b = wire.AppendHeader(b, channel, uint64(len(body)), p)
	l.write(wire.AppendBody(b, channel, body, l.frameMax))
}

// login does the client's part of the handshake up to start-ok.
func (l *link) login(user, password string) *wire.ConnectionStart {
	l.t.Helper()
	l.write(wire.ProtocolHeader[:])
	start := expect[*wire.ConnectionStart](l, 0)
	l.send(0, &wire.ConnectionStartOk{
		ClientProperties: wire.ClientProperties("leveret", "1.2.3", "codec test"),
		Mechanism:        wire.MechanismPlain,
		Response:         wire.PlainResponse(user, password),
		Locale:           "en_US",
	})
	return start
}

// open logs in, tunes and opens the vhost "/".
func (l *link) open(user, password string, wish wire.Limits) wire.Limits {
	l.t.Helper()
	l.login(user, password)
	tune := expect[*wire.ConnectionTune](l, 0)
	limits, err := wire.Negotiate(wish, tune.Limits)
	if err != nil {
		l.t.Fatal(err)
	}
	l.frameMax = limits.FrameMax
	l.send(0, &wire.ConnectionTuneOk{Limits: limits})
	l.send(0, &wire.ConnectionOpen{VirtualHost: "/"})
	expect[*wire.ConnectionOpenOk](l, 0)
	return limits
}
