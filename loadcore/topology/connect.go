package topology

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore"
)

// heartbeat finds out that the broker is gone while it is asked to declare something.
const heartbeat = 10 * time.Second

// connect opens the connection within the endpoint's connect timeout. The error is a *loadcore.ConnectError and holds no
// password.
func connect(ctx context.Context, ep loadcore.Endpoint, name string) (*amqp.Connection, net.Conn, error) {
	timeout := loadcore.DefaultConnectTimeout
	if ep.ConnectTimeout != nil {
		timeout = *ep.ConnectTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sock, err := new(net.Dialer).DialContext(ctx, "tcp", ep.Address())
	if err != nil {
		return nil, nil, connectError(&ep, loadcore.StageDial, err)
	}
	stop := context.AfterFunc(ctx, func() { sock.Close() })
	conn, stage, err := shake(ctx, sock, &ep, name)
	if !stop() { // the real reason, whatever the closed socket led to
		if err = context.Cause(ctx); errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v (--connect-timeout): %w", timeout, err)
		}
	}
	if err != nil {
		sock.Close()
		return nil, nil, connectError(&ep, stage, err)
	}
	return conn, sock, nil
}

// shake makes an AMQP connection of a socket; closing the socket ends it.
func shake(ctx context.Context, sock net.Conn, ep *loadcore.Endpoint, name string) (*amqp.Connection, loadcore.Stage, error) {
	if ep.TLS != nil {
		secured := tls.Client(sock, ep.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, loadcore.StageTLS, err
		}
		sock = secured
	}
	conn, err := amqp.Open(&checked{Conn: sock}, config(ep, name))
	return conn, loadcore.StageLogin, err
}

func config(ep *loadcore.Endpoint, name string) amqp.Config {
	c := amqp.Config{
		Vhost:      ep.VHost,
		Heartbeat:  heartbeat,
		FrameSize:  frameMost,
		Locale:     "en_US",
		Properties: amqp.Table{"product": "leveret", "connection_name": name},
		SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: ep.User, Password: ep.Password()}},
	}
	if ep.External {
		c.SASL = []amqp.Authentication{&amqp.ExternalAuth{}}
	}
	return c
}

// connectError has few hints: a run has met this broker a moment ago, and what is usually wrong was said then.
func connectError(ep *loadcore.Endpoint, stage loadcore.Stage, err error) error {
	e := &loadcore.ConnectError{Endpoint: ep.String(), Stage: stage, Text: err.Error(), Err: err}
	var refusal *amqp.Error
	if !errors.As(err, &refusal) {
		return e
	}
	e.Text = refusal.Reason
	if refusal.Server {
		e.Code = uint16(refusal.Code)
	}
	e.Hint = loadcore.Remedy(uint16(refusal.Code), refusal.Reason)
	switch refusal.Code {
	case amqp.NotAllowed:
		e.Stage = loadcore.StageOpen
	case amqp.AccessRefused: // the library has a text of its own for it
		e.Hint = loadcore.Remedy(amqp.AccessRefused, "Login was refused")
	}
	return e
}
