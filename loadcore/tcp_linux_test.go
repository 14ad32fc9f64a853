package loadcore

import (
	"crypto/tls"
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

func TestTCPOptions(t *testing.T) {
	for _, o := range []TCPOptions{{SendBuffer: 1 << 31}, {ReceiveBuffer: -1}} {
		if err := o.check(); err == nil || !strings.Contains(err.Error(), "-buffer-size=") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	plain, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	cert := selfSigned(t, "localhost")
	secured, err := broker.Start(broker.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert.pair}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { secured.Close() })
	for _, uri := range []string{plain.URI(), secured.URI()} {
		ep := mustParse(t, uri)
		if ep.TLS != nil {
			if err := ep.ConfigureTLS(TLSOptions{Insecure: true}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := Probe(t.Context(), ep, ConnectOptions{TCP: TCPOptions{SendBuffer: 16384, ReceiveBuffer: 32768, Delay: true}})
		// The kernel doubles both (socket(7), SO_SNDBUF and SO_RCVBUF).
		want := manifest.Socket{SendBufferBytes: 2 * 16384, ReceiveBufferBytes: 2 * 32768}
		if err != nil || b.Socket == nil || *b.Socket != want {
			t.Errorf("%v: %+v, %v, want %+v", ep, b.Socket, err, want)
		}
		b, err = Probe(t.Context(), ep, ConnectOptions{})
		if err != nil || b.Socket == nil || !b.Socket.NoDelay || b.Socket.SendBufferBytes == want.SendBufferBytes {
			t.Errorf("%v without options: %+v, %v", ep, b.Socket, err)
		}
	}
}
