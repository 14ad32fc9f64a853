package loadcore

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strings"
	"time"

	"leveret/loadcore/wire"
)

// link is a connection whose handshake is done: open at the broker, nothing on it yet.
type link struct {
	tcp    net.Conn // closing it ends everything at once
	sock   net.Conn // what frames go through: tcp itself, or TLS over it
	limits wire.Limits
	server wire.Table // the broker's properties
	ahead  []byte     // what was read behind the handshake
	secret string     // that it logged in with, where it may change
}

// withDefaults fills in what is not set, from the endpoint's query options first.
func (o ConnectOptions) withDefaults(ep *Endpoint) ConnectOptions {
	if o.Timeout == 0 {
		o.Timeout = DefaultConnectTimeout
		if ep.ConnectTimeout != nil {
			o.Timeout = *ep.ConnectTimeout
		}
	}
	if o.FrameMax == 0 {
		o.FrameMax = DefaultFrameMax
		if ep.FrameMax != nil {
			o.FrameMax = *ep.FrameMax
		}
	}
	if o.ChannelMax == 0 {
		o.ChannelMax = DefaultChannelMax
		if ep.ChannelMax != nil {
			o.ChannelMax = *ep.ChannelMax
		}
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
		if ep.Heartbeat != nil {
			o.Heartbeat = *ep.Heartbeat
		}
	}
	return o
}

// heartbeatSeconds rounds up, so that a wish for less than a second does not turn heartbeats off.
func (o ConnectOptions) heartbeatSeconds() uint16 {
	if o.Heartbeat <= 0 {
		return 0
	}
	return uint16(min((o.Heartbeat+time.Second-1)/time.Second, 65535))
}

// open connects and shakes hands; o has its defaults. o.Timeout bounds all of it together. The error is a *ConnectError.
func open(ctx context.Context, ep *Endpoint, o ConnectOptions) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	tcp, err := dialer(o.Source, o.TCP).DialContext(ctx, "tcp", ep.Address())
	if err == nil {
		if err = o.TCP.setDelay(tcp); err != nil {
			tcp.Close()
		}
	}
	if err != nil {
		return nil, dialError(ep, o.Timeout, err)
	}
	o.pass(StageDial)
	// From here on the context acts through the socket's deadline, which ends reads and writes alike.
	stop := context.AfterFunc(ctx, func() { tcp.SetDeadline(time.Unix(1, 0)) })
	l := &link{tcp: tcp, sock: tcp}
	if err := l.shake(ctx, ep, o); err != nil {
		stop()
		tcp.Close()
		return nil, err
	}
	if !stop() { // it ended at the very last moment, and may still be setting the deadline
		tcp.Close()
		return nil, answerError(ep, StageOpen, o.Timeout, nil, ctx.Err())
	}
	return l, nil
}

func (l *link) shake(ctx context.Context, ep *Endpoint, o ConnectOptions) error {
	if ep.TLS != nil {
		secured := tls.Client(l.tcp, ep.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			return tlsError(ep, o.Timeout, err)
		}
		l.sock = secured
		o.pass(StageTLS)
	}
	h := &handshake{ctx: ctx, link: l, ep: ep, o: o, stage: StageProtocol}
	for _, step := range []func() error{h.start, h.tune, h.openVHost} {
		if err := step(); err != nil {
			return err
		}
	}
	l.ahead = h.buf
	o.pass(StageOpen)
	return nil
}

func (o *ConnectOptions) pass(s Stage) {
	if o.passed != nil {
		o.passed(s)
	}
}

// handshake is the conversation on channel 0 up to connection.open-ok (AMQP 0-9-1 section 2.2.4).
type handshake struct {
	ctx   context.Context
	link  *link
	ep    *Endpoint
	o     ConnectOptions
	stage Stage
	buf   []byte     // read and not taken yet
	chunk [4096]byte // of one read
}

// handshakeFrameMax bounds the frames in front of tune: RabbitMQ's own limit for them is 4096, others send more.
const handshakeFrameMax = 1 << 17

func (h *handshake) start() error {
	if err := h.send(wire.ProtocolHeader[:]); err != nil {
		return err
	}
	m, err := h.receive()
	if err != nil {
		return err
	}
	start, ok := m.(*wire.ConnectionStart)
	if !ok {
		return h.unexpected(m)
	}
	h.link.server = start.ServerProperties
	mechanism, response := wire.MechanismPlain, ""
	if h.ep.External {
		mechanism = wire.MechanismExternal
	} else {
		secret := h.ep.Password()
		response = wire.PlainResponse(h.ep.User, secret)
		if h.ep.tokens != nil {
			h.link.secret = secret
		}
	}
	h.stage = StageLogin
	if !wire.HasMechanism(start.Mechanisms, mechanism) {
		return h.notOffered(mechanism, start.Mechanisms)
	}
	return h.send(wire.AppendMethod(nil, 0, &wire.ConnectionStartOk{
		ClientProperties: wire.ClientProperties("leveret", version(), h.o.Name),
		Mechanism:        mechanism, Response: response, Locale: "en_US",
	}))
}

func (h *handshake) tune() error {
	m, err := h.receive()
	if err != nil {
		return err
	}
	tune, ok := m.(*wire.ConnectionTune)
	if _, more := m.(*wire.ConnectionSecure); more {
		return h.fail("the broker asks for another round of authentication, which PLAIN and EXTERNAL do not have", "")
	}
	if !ok {
		return h.unexpected(m)
	}
	h.stage = StageTune
	wish := wire.Limits{ChannelMax: h.o.ChannelMax, FrameMax: h.o.FrameMax, Heartbeat: h.o.heartbeatSeconds()}
	limits, err := wire.Negotiate(wish, tune.Limits)
	if err != nil {
		return h.fail(err.Error(), "")
	}
	if wish.Heartbeat == 0 {
		limits.Heartbeat = 0 // the client decides (AMQP 0-9-1, connection.tune-ok)
	}
	h.link.limits = limits
	h.stage = StageOpen
	out := wire.AppendMethod(nil, 0, &wire.ConnectionTuneOk{Limits: limits})
	return h.send(wire.AppendMethod(out, 0, &wire.ConnectionOpen{VirtualHost: h.ep.VHost}))
}

func (h *handshake) openVHost() error {
	m, err := h.receive()
	if err != nil {
		return err
	}
	if _, ok := m.(*wire.ConnectionOpenOk); !ok {
		return h.unexpected(m)
	}
	return nil
}

func (h *handshake) send(p []byte) error {
	if _, err := h.link.sock.Write(p); err != nil {
		return h.broken(err)
	}
	return nil
}

// receive returns the next method on channel 0. connection.close is an error with the broker's code and text.
func (h *handshake) receive() (wire.Method, error) {
	for {
		f, n, err := wire.NextFrame(h.buf, handshakeFrameMax)
		if err != nil || h.stage == StageProtocol && n == 0 && len(h.buf) >= 8 && h.buf[0] == 'A' {
			return nil, h.broken(err)
		}
		if n == 0 {
			if err := h.fill(); err != nil {
				return nil, h.broken(err)
			}
			continue
		}
		h.buf = h.buf[n:]
		if f.Type == wire.FrameHeartbeat {
			continue
		}
		if f.Type != wire.FrameMethod || f.Channel != 0 {
			return nil, h.fail(fmt.Sprintf("unexpected frame of type %d on channel %d", f.Type, f.Channel), "")
		}
		m, err := wire.ParseMethod(f.Payload)
		if err != nil {
			return nil, h.fail(err.Error(), "")
		}
		if refused, ok := m.(*wire.ConnectionClose); ok {
			return nil, h.refused(refused)
		}
		return m, nil
	}
}

func (h *handshake) fill() error {
	n, err := h.link.sock.Read(h.chunk[:])
	h.buf = append(h.buf, h.chunk[:n]...)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

func (h *handshake) refused(m *wire.ConnectionClose) error {
	// The answer is a courtesy: the socket is closed right after it.
	h.link.sock.Write(wire.AppendMethod(nil, 0, &wire.ConnectionCloseOk{}))
	e := &ConnectError{Endpoint: h.ep.String(), Stage: h.stage, Code: uint16(m.ReplyCode), Text: m.ReplyText}
	switch e.Hint = Remedy(e.Code, e.Text); {
	case h.stage == StageLogin && m.ReplyCode == wire.ReplyAccessRefused:
		e.Hint = h.loginHint()
	case h.stage == StageOpen && m.ReplyCode == wire.ReplyNotAllowed && e.Hint == Remedy(e.Code, ""):
		e.Hint = hintVHost
	}
	return e
}

func (h *handshake) loginHint() string {
	switch {
	case h.ep.External && h.ep.TLS != nil && len(h.ep.TLS.Certificates) == 0:
		return "EXTERNAL logs in by the client's certificate: give it with --cert and --key"
	case h.ep.External:
		return "the broker has no user of the name that it takes from the client's certificate (ssl_cert_login_from), or that user may not log in from here"
	case h.ep.tokens != nil:
		return "the broker did not accept the token: its key, issuer, audience and scopes must be those that the broker is configured for"
	}
	return hintLogin
}

func (h *handshake) notOffered(mechanism, offered string) error {
	text := fmt.Sprintf("SASL mechanism %s is not offered; the broker offers %s", mechanism, strings.Join(strings.Fields(offered), ", "))
	hint := ""
	if mechanism == wire.MechanismExternal {
		hint = "RabbitMQ offers EXTERNAL on TLS connections, with the plugin rabbitmq_auth_mechanism_ssl and EXTERNAL among its auth_mechanisms"
		if h.ep.TLS == nil {
			hint += ": write the URI with amqps://"
		}
	}
	return h.fail(text, hint)
}

// broken is for errors of the socket and of framing. A context that has ended is the real cause.
func (h *handshake) broken(err error) error {
	if cause := h.ctx.Err(); cause != nil {
		err = cause
	}
	if err == nil {
		err = fmt.Errorf("protocol header instead of a frame")
	}
	e := answerError(h.ep, h.stage, h.o.Timeout, h.buf, err)
	if limits := h.link.limits; h.stage == StageOpen && isClosed(err) && limits.FrameMax < rabbitFrameMin {
		// RabbitMQ 4.1 and later say the reason to their log only, and close after some seconds.
		e.Text += fmt.Sprintf(" after it was told negotiated frame_max = %d, which is lower than the minimum allowed value (%d) of RabbitMQ from 4.1 on", limits.FrameMax, rabbitFrameMin)
		e.Hint = hintFrameMax
	}
	return e
}

// rabbitFrameMin is the least frame_max that RabbitMQ 4.1 and later take; the protocol's own is 4096.
const rabbitFrameMin = 8192

func (h *handshake) fail(text, hint string) error {
	return &ConnectError{Endpoint: h.ep.String(), Stage: h.stage, Text: text, Hint: hint}
}

func (h *handshake) unexpected(m wire.Method) error {
	return h.fail(fmt.Sprintf("the broker sent %s, which is out of place here", m.ID()), "")
}

// version is what the build says of itself.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
