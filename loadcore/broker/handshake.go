package broker

import (
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"leveret/loadcore/wire"
)

// handshake takes the connection from its first byte to connection.open-ok, all within Options.HandshakeTimeout. ok is
// false if that did not work out; everything the client is to know has then been sent. buf holds what came behind.
func (c *conn) handshake() (buf *readBuffer, ok bool) {
	c.nc.SetDeadline(time.Now().Add(c.srv.opts.HandshakeTimeout))
	buf = newReadBuffer(c.srv.frameMax())
	err := c.negotiate(buf)
	if err == nil {
		c.nc.SetDeadline(time.Time{})
		return buf, true
	}
	c.srv.log("connection %s: handshake failed: %v", c.name, err)
	var refusal *amqpError
	if errors.As(err, &refusal) && !refusal.silent {
		c.reply(&wire.ConnectionClose{ReplyCode: refusal.code, ReplyText: refusal.text, Class: refusal.method.Class(), Method: refusal.method.Method()})
	}
	c.linger(false)
	return nil, false
}

// negotiate is the handshake's good path. An *amqpError has to be told to the client.
func (c *conn) negotiate(buf *readBuffer) error {
	if t, ok := c.nc.(*tls.Conn); ok {
		if err := t.Handshake(); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
	}
	if err := c.protocolHeader(buf); err != nil {
		return err
	}
	start := &wire.ConnectionStart{VersionMajor: 0, VersionMinor: 9, ServerProperties: c.srv.properties(), Mechanisms: c.mechanisms(), Locales: "en_US"}
	if err := c.reply(start); err != nil {
		return err
	}
	m, err := c.expect(buf, wire.ConnectionStartOkID, "starting")
	if err != nil {
		return err
	}
	if err := c.authenticate(m.(*wire.ConnectionStartOk)); err != nil {
		return err
	}
	proposal := wire.Limits{ChannelMax: c.srv.opts.ChannelMax, FrameMax: c.srv.opts.FrameMax, Heartbeat: uint16(c.srv.opts.Heartbeat / time.Second)}
	if err := c.reply(&wire.ConnectionTune{Limits: proposal}); err != nil {
		return err
	}
	if m, err = c.expect(buf, wire.ConnectionTuneOkID, "tuning"); err != nil {
		return err
	}
	if err := c.tune(proposal, m.(*wire.ConnectionTuneOk).Limits); err != nil {
		return err
	}
	if m, err = c.expect(buf, wire.ConnectionOpenID, "opening"); err != nil {
		return err
	}
	return c.open(m.(*wire.ConnectionOpen).VirtualHost)
}

// protocolHeader reads the first eight bytes. Anything but AMQP 0-9-1 is answered with that header, and nothing else.
func (c *conn) protocolHeader(buf *readBuffer) error {
	for len(buf.unread()) < len(wire.ProtocolHeader) {
		if err := buf.fill(c.nc); err != nil {
			return err
		}
	}
	head := [8]byte(buf.unread())
	if head != wire.ProtocolHeader {
		c.nc.Write(wire.ProtocolHeader[:])
		return fmt.Errorf("the client began with % x, not with the AMQP 0-9-1 protocol header", head)
	}
	buf.consume(len(head))
	return nil
}

// reply writes one method on channel 0 at once: there is no writer yet.
func (c *conn) reply(m wire.Method) error {
	_, err := c.nc.Write(wire.AppendMethod(nil, 0, m))
	return err
}

// expect reads the next method frame of channel 0, which has to be the given one. Heartbeats are skipped.
func (c *conn) expect(buf *readBuffer, want wire.MethodID, state string) (wire.Method, error) {
	for {
		f, n, err := wire.NextFrame(buf.unread(), initialFrameMax)
		switch {
		case err != nil:
			return nil, frameError(buf.unread(), err)
		case n == 0:
			if err := buf.fill(c.nc); err != nil {
				return nil, err
			}
			continue
		case f.Type == wire.FrameHeartbeat:
			buf.consume(n)
			continue
		case f.Type != wire.FrameMethod || f.Channel != 0:
			return nil, unexpectedFrame(f)
		}
		m, err := wire.ParseMethod(f.Payload)
		if err != nil {
			return nil, methodError(f.Payload, err)
		}
		if m.ID() != want {
			return nil, hard(wire.ReplyChannelError, "unexpected method in connection state %s", state).by(m.ID())
		}
		buf.consume(n)
		return m, nil
	}
}

// initialFrameMax is RabbitMQ 3.10's limit for frames before tune-ok.
const initialFrameMax = wire.FrameMinSize

func (c *conn) mechanisms() string {
	if c.certificateName() != "" {
		return wire.MechanismPlain + " " + wire.MechanismExternal
	}
	return wire.MechanismPlain
}

// certificateName is the common name of the client's certificate, empty if it did not show one that was verified.
func (c *conn) certificateName() string {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return ""
	}
	if chains := t.ConnectionState().VerifiedChains; len(chains) > 0 {
		return chains[0][0].Subject.CommonName
	}
	return ""
}

// authenticate checks who the client is and what it can do. Passwords are compared in constant time and go nowhere else.
func (c *conn) authenticate(m *wire.ConnectionStartOk) error {
	c.tellBlocked = wire.HasCapability(m.ClientProperties, "connection.blocked")
	c.tellCancel = wire.HasCapability(m.ClientProperties, "consumer_cancel_notify")
	tell := wire.HasCapability(m.ClientProperties, "authentication_failure_close")
	switch m.Mechanism {
	case wire.MechanismExternal:
		if c.user = c.certificateName(); c.user != "" {
			return nil
		}
	case wire.MechanismPlain:
		user, password, err := wire.ParsePlainResponse(m.Response)
		if err != nil {
			return hard(wire.ReplySyntaxError, "response invalid").by(m.ID())
		}
		if c.srv.allowed(user, password, c.nc.RemoteAddr()) {
			c.user = user
			return nil
		}
		c.srv.log("connection %s: user %q refused", c.name, user)
	default:
		return hard(wire.ReplyCommandInvalid, "unknown authentication mechanism '%s'", m.Mechanism).by(m.ID())
	}
	refusal := hard(wire.ReplyAccessRefused, "Login was refused using authentication mechanism %s. For details see the broker logfile.", m.Mechanism)
	refusal.silent = !tell
	return refusal
}

// allowed checks user and password. guest, where no users are given, may come from this host only.
func (s *Server) allowed(user, password string, from net.Addr) bool {
	want, known := s.users[user]
	same := subtle.ConstantTimeCompare([]byte(password), []byte(want)) == 1
	if !known || !same {
		return false
	}
	if s.opts.Users != nil {
		return true
	}
	tcp, ok := from.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// tune takes over the client's limits. Bad ones end the connection without a word, as on RabbitMQ, which only logs them.
func (c *conn) tune(proposal, answer wire.Limits) error {
	l, err := wire.AcceptTune(proposal, answer)
	if err != nil {
		return err
	}
	c.frameMax, c.channelMax = l.FrameMax, int(l.ChannelMax)
	c.beat.Store(int64(time.Duration(l.Heartbeat) * time.Second))
	return nil
}

func (c *conn) open(vhost string) error {
	v := c.srv.vhosts[vhost]
	if v == nil {
		return hard(wire.ReplyNotAllowed, "vhost %s not found", vhost).by(wire.ConnectionOpenID)
	}
	c.vhost = v
	c.mu.Lock()
	c.state = stateRunning
	c.mu.Unlock()
	return c.reply(&wire.ConnectionOpenOk{})
}

// properties is what the broker tells about itself. Only capabilities that it has are announced.
func (s *Server) properties() wire.Table {
	return wire.Table{
		{Key: "capabilities", Value: wire.Table{
			{Key: "publisher_confirms", Value: true},
			{Key: "basic.nack", Value: true},
			{Key: "consumer_cancel_notify", Value: true},
			{Key: "connection.blocked", Value: true},
			{Key: "authentication_failure_close", Value: true},
			{Key: "per_consumer_qos", Value: true},
		}},
		{Key: "cluster_name", Value: "embedded"},
		{Key: "product", Value: Product},
		{Key: "version", Value: s.opts.Version},
		{Key: "platform", Value: "Go " + runtime.Version()},
		{Key: "information", Value: "embedded in leveret for tests and for measuring leveret itself; not a message broker to rely on"},
	}
}
