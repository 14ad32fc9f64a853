package broker_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// rawClient speaks frames, for what a client library would not send and for speed.
type rawClient struct {
	nc         net.Conn
	buf        []byte
	begin, end int
	frameMax   uint32
}

const rawDeadline = 20 * time.Second

// dialRaw connects without the handshake.
func dialRaw(t testing.TB, s *broker.Server) *rawClient {
	t.Helper()
	return dialAddr(t, s.Addr().String())
}

func dialAddr(t testing.TB, addr string) *rawClient {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(rawDeadline))
	return &rawClient{nc: nc, buf: make([]byte, 256<<10), frameMax: wire.DefaultFrameMax}
}

// openRaw connects, logs in as guest and opens channel 1.
func openRaw(t testing.TB, s *broker.Server) *rawClient {
	t.Helper()
	c := dialRaw(t, s)
	c.handshake(t, wire.ClientProperties("test", "1", ""), 0)
	c.send(t, 1, &wire.ChannelOpen{})
	c.expect(t, wire.ChannelOpenOkID)
	return c
}

func (c *rawClient) handshake(t testing.TB, properties wire.Table, heartbeat uint16) {
	t.Helper()
	c.write(t, wire.ProtocolHeader[:])
	c.expect(t, wire.ConnectionStartID)
	c.send(t, 0, &wire.ConnectionStartOk{ClientProperties: properties, Mechanism: "PLAIN", Response: wire.PlainResponse("guest", "guest"), Locale: "en_US"})
	tune := c.expect(t, wire.ConnectionTuneID).(*wire.ConnectionTune)
	tune.Heartbeat = heartbeat
	c.send(t, 0, &wire.ConnectionTuneOk{Limits: tune.Limits})
	c.send(t, 0, &wire.ConnectionOpen{VirtualHost: "/"})
	c.expect(t, wire.ConnectionOpenOkID)
}

func (c *rawClient) write(t testing.TB, b []byte) {
	t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		t.Fatal(err)
	}
}

func (c *rawClient) send(t testing.TB, channel uint16, m wire.Method) {
	t.Helper()
	c.write(t, wire.AppendMethod(nil, channel, m))
}

// next returns the next frame, valid until the next call. io.EOF is the end between two frames.
func (c *rawClient) next() (wire.Frame, error) {
	for {
		f, n, err := wire.NextFrame(c.buf[c.begin:c.end], c.frameMax)
		if err != nil {
			return f, err
		}
		if n > 0 {
			c.begin += n
			return f, nil
		}
		if err := c.fill(); err != nil {
			if err == io.EOF && c.begin != c.end {
				err = io.ErrUnexpectedEOF
			}
			return f, err
		}
	}
}

func (c *rawClient) fill() error {
	copy(c.buf, c.buf[c.begin:c.end])
	c.begin, c.end = 0, c.end-c.begin
	n, err := c.nc.Read(c.buf[c.end:])
	c.end += n
	if n > 0 {
		return nil
	}
	return err
}

// method returns the next frame that is not a heartbeat, as a method.
func (c *rawClient) method() (wire.Method, error) {
	for {
		f, err := c.next()
		if err != nil {
			return nil, err
		}
		switch f.Type {
		case wire.FrameHeartbeat:
			continue
		case wire.FrameMethod:
			return wire.ParseMethod(f.Payload)
		}
		return nil, fmt.Errorf("frame of type %d where a method was expected", f.Type)
	}
}

func (c *rawClient) expect(t testing.TB, id wire.MethodID) wire.Method {
	t.Helper()
	m, err := c.method()
	if err != nil {
		t.Fatalf("waiting for %s: %v", id, err)
	}
	if m.ID() != id {
		t.Fatalf("got %s %+v, want %s", m.ID(), m, id)
	}
	return m
}

// useTLS wraps the connection before the handshake.
func (c *rawClient) useTLS(config *tls.Config) { c.nc = tls.Client(c.nc, config) }
