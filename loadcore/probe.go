package loadcore

import (
	"context"
	"net"
	"net/netip"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// ConnectOptions are the limits of one connection. Zero values take what the endpoint's query options say, else the
// defaults of a Plan.
type ConnectOptions struct {
	Name       string // shown by the broker
	Timeout    time.Duration
	FrameMax   uint32 // bytes
	ChannelMax uint16
	Heartbeat  time.Duration // negative: none
	Source     netip.Addr    // local address to connect from; the zero Addr: the system's choice
	TCP        TCPOptions

	passed func(Stage) // where set, is told what was just done: StageDial, StageTLS, StageOpen
}

// Probe connects, learns what the broker says about itself and what it allows, and closes. Errors are *ConnectError.
func Probe(ctx context.Context, ep Endpoint, o ConnectOptions) (manifest.Broker, error) {
	o = o.withDefaults(&ep)
	l, err := open(ctx, &ep, o)
	if err != nil {
		return manifest.Broker{}, err
	}
	defer l.tcp.Close()
	b := manifest.Broker{
		Product:       l.text("product"),
		Version:       l.text("version"),
		Node:          l.text("cluster_name"),
		URI:           ep.String(),
		SameHost:      sameHost(l.tcp),
		FrameMaxBytes: l.limits.FrameMax, ChannelMax: l.limits.ChannelMax, HeartbeatSeconds: l.limits.Heartbeat,
		Socket: socketOf(l.tcp),
	}
	if ep.TLS != nil {
		verified := !ep.TLS.InsecureSkipVerify
		b.TLSVerified = &verified
	}
	l.leave(o.Timeout)
	return b, nil
}

func (l *link) text(property string) string {
	v, _ := l.server.Get(property)
	s, _ := v.(string)
	return s
}

// sameHost: a connection whose two ends have one address does not leave the machine. Another address may still be this
// machine's, behind a proxy or in a container; that cannot be seen from here.
func sameHost(c net.Conn) *bool {
	local, ok1 := c.LocalAddr().(*net.TCPAddr)
	remote, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return nil
	}
	same := local.IP.Equal(remote.IP) || remote.IP.IsLoopback()
	return &same
}

// leave says goodbye and waits for the answer, so that the broker logs no error; what goes wrong no longer matters.
func (l *link) leave(timeout time.Duration) {
	l.sock.SetDeadline(time.Now().Add(timeout))
	m := &wire.ConnectionClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}
	if _, err := l.sock.Write(wire.AppendMethod(nil, 0, m)); err != nil {
		return
	}
	buf := l.ahead
	for {
		f, n, err := wire.NextFrame(buf, l.limits.FrameMax)
		if err != nil {
			return
		}
		if n == 0 {
			chunk := make([]byte, 1024)
			k, err := l.sock.Read(chunk)
			if err != nil {
				return
			}
			buf = append(buf, chunk[:k]...)
			continue
		}
		buf = buf[n:]
		if f.Type == wire.FrameMethod {
			if id, _, err := wire.PeekMethod(f.Payload); err != nil || id == wire.ConnectionCloseOkID {
				return
			}
		}
	}
}
