package topology_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/topology"
	"leveret/loadcore/wire"
)

// refuser is a broker on loopback that takes everything but queues, which it answers with refusal.
func refuser(t *testing.T, refusal func(channel uint16) []byte) loadcore.Endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
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
				refuse(c, refusal)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		serving.Wait()
	})
	return endpoint(t, "amqp://"+ln.Addr().String())
}

func refuse(c net.Conn, refusal func(channel uint16) []byte) {
	c.SetDeadline(time.Now().Add(time.Minute))
	io.ReadFull(c, make([]byte, len(wire.ProtocolHeader)))
	method := func(channel uint16, m wire.Method) { c.Write(wire.AppendMethod(nil, channel, m)) }
	method(0, &wire.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US"})
	var buf []byte
	for {
		f, n, err := wire.NextFrame(buf, 0)
		if err != nil {
			return
		}
		if n == 0 {
			chunk := make([]byte, 4096)
			k, err := c.Read(chunk)
			if err != nil {
				return
			}
			buf = append(buf, chunk[:k]...)
			continue
		}
		buf = buf[n:]
		if f.Type != wire.FrameMethod {
			continue
		}
		m, err := wire.ParseMethod(f.Payload)
		if err != nil {
			return
		}
		switch m.(type) {
		case *wire.ConnectionStartOk:
			method(0, &wire.ConnectionTune{Limits: wire.Limits{ChannelMax: 2047, FrameMax: 131072}})
		case *wire.ConnectionOpen:
			method(0, &wire.ConnectionOpenOk{})
		case *wire.ChannelOpen:
			method(f.Channel, &wire.ChannelOpenOk{})
		case *wire.ExchangeDeclare:
			method(f.Channel, &wire.ExchangeDeclareOk{})
		case *wire.QueueDeclare:
			c.Write(refusal(f.Channel))
		case *wire.ConnectionCloseOk:
			return
		case *wire.ConnectionClose:
			method(0, &wire.ConnectionCloseOk{})
			return
		}
	}
}

// C027: what RabbitMQ 4.3 sends for a queue that is neither durable nor exclusive. It closes the whole connection, and its text is
// several lines, cut at the 255 bytes of a short string.
func TestC027TransientQueueRefused(t *testing.T) {
	const text = "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore.\n" +
		"The feature will be removed from a future major RabbitMQ version, regardless of the configuration; actual version to be determined.\nTo..."
	if len(text) > 255 {
		t.Fatalf("%d bytes", len(text))
	}
	ep := refuser(t, func(uint16) []byte {
		return wire.AppendMethod(nil, 0, &wire.ConnectionClose{ReplyCode: wire.ReplyInternalError, ReplyText: text})
	})
	_, err := topology.Declare(t.Context(), ep, "test", &manifest.Topology{Queues: []manifest.Queue{{Name: "q1", Type: "classic", AutoDelete: true, Declare: true}}})
	var refused *topology.Error
	if !errors.As(err, &refused) || refused.Code != 541 || refused.Text != text {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{`"q1"`, "541", "is deprecated. By default, this feature is not permitted anymore. The", "--flag persistent", "--exclusive"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q is more than a line", err)
	}
}

// Only a refusal that may be about the type of queue is taken for one: not one that says something else, and none of a type that
// every RabbitMQ has. The texts are RabbitMQ's.
func TestTypeOfQueueRefused(t *testing.T) {
	const unsupported = "PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost '/': \"unsupported queue type 'TYPE'\""
	for _, c := range []struct {
		code       wire.ReplyCode
		text, kind string
		want       string // "": not told of types
	}{
		{wire.ReplyInternalError, "INTERNAL_ERROR", "foo", "x-queue-type=foo"},
		{wire.ReplyInternalError, "INTERNAL_ERROR", "quorum", ""},
		{wire.ReplyInternalError, "INTERNAL_ERROR - vhost 'v' is down", "foo", ""},
		{wire.ReplyPreconditionFailed, strings.Replace(unsupported, "TYPE", "foo", 1), "foo", "x-queue-type=foo"},
		{wire.ReplyPreconditionFailed, strings.Replace(unsupported, "TYPE", "quorum", 1), "quorum", ""},
	} {
		ep := refuser(t, func(uint16) []byte {
			return wire.AppendMethod(nil, 0, &wire.ConnectionClose{ReplyCode: c.code, ReplyText: c.text})
		})
		_, err := topology.Declare(t.Context(), ep, "test", &manifest.Topology{Queues: []manifest.Queue{{Name: "q", Type: c.kind, Durable: true, Declare: true}}})
		var refused *topology.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Remedy, c.want) || strings.Contains(refused.Remedy, "RabbitMQ has classic, quorum, stream") != (c.want != "") {
			t.Errorf("%d %s of type %s: %v", c.code, c.text, c.kind, err)
		}
	}
}
