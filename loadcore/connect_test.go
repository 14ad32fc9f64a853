package loadcore

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// wantConnectError probes and checks the error: one line, within the timeout, nothing secret.
func wantConnectError(t *testing.T, uri string, timeout time.Duration, stage Stage, want ...string) *ConnectError {
	t.Helper()
	secret := fmt.Sprintf("s%d", time.Now().UnixNano())
	ep := mustParse(t, uri)
	ep.SetPassword(secret)
	start := time.Now()
	_, err := Probe(t.Context(), ep, ConnectOptions{Timeout: timeout})
	took := time.Since(start)
	var e *ConnectError
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a *ConnectError", err)
	}
	text := err.Error()
	if e.Stage != stage {
		t.Errorf("stage %q, want %q (%s)", e.Stage, stage, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("error %q does not say %q", text, w)
		}
	}
	if strings.Contains(text, "\n") || strings.Contains(text, secret) {
		t.Errorf("error %q: not one line, or it shows the password", text)
	}
	if took > timeout+5*time.Second { // generous: not a measurement, but hanging is another matter
		t.Errorf("it took %v with a timeout of %v", took, timeout)
	}
	return e
}

// closedPort is a port of loopback that nothing listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// C052 and C100: what is at the other end is not what the URI says.
func TestConnectErrors(t *testing.T) {
	noLeaks(t)
	const enough, short = 20 * time.Second, 300 * time.Millisecond
	t.Run("refused", func(t *testing.T) {
		e := wantConnectError(t, "amqp://"+closedPort(t), enough, StageDial, "connection refused", "nothing listens on port")
		if e.Code != 0 {
			t.Errorf("code %d", e.Code)
		}
	})
	t.Run("no such host", func(t *testing.T) {
		wantConnectError(t, "amqp://no-such-host.invalid", enough, StageResolve, "no-such-host.invalid")
	})
	t.Run("plain to TLS", func(t *testing.T) {
		// Erlang's and most others' TLS answer with an alert: a record of type 21, version 3.x, length 2.
		addr := rawListener(t, nil, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 8))
			c.Write([]byte{21, 3, 3, 0, 2, 2, 10})
		})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "the server speaks TLS on this port: write the URI with amqps://")
		// Go's just closes.
		cert := selfSigned(t, "localhost")
		addr = rawListener(t, &tls.Config{Certificates: []tls.Certificate{cert.pair}}, func(c net.Conn) { io.Copy(io.Discard, c) })
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "a TLS port wants amqps://")
	})
	t.Run("TLS to plain AMQP", func(t *testing.T) {
		// As RabbitMQ does with what is no protocol header: its own header, then the end.
		addr := rawListener(t, nil, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 8))
			c.Write(wire.ProtocolHeader[:])
		})
		wantConnectError(t, "amqps://"+addr, enough, StageTLS, "the server does not speak TLS on this port; 5671 is usual for amqps")
	})
	t.Run("HTTP", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) {
			c.Read(make([]byte, 100))
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "this is an HTTP port")
		wantConnectError(t, "amqps://"+addr, enough, StageTLS, "this is an HTTP port")
	})
	t.Run("another AMQP", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 8))
			c.Write([]byte("AMQP\x03\x01\x00\x00"))
		})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "protocol 3, version 1.0.0")
	})
	t.Run("mute", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) { io.Copy(io.Discard, c) })
		wantConnectError(t, "amqp://"+addr, short, StageProtocol, "accepted the connection and did not answer within 300ms")
		wantConnectError(t, "amqps://"+addr, short, StageTLS, "no answer within 300ms")
	})
	t.Run("closes at once", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) {})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "5672 is usual for amqp")
	})
	t.Run("garbage", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) {
			c.Write(bytes.Repeat([]byte{0x42}, 64))
			io.Copy(io.Discard, c)
		})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "unknown frame type")
	})
	t.Run("a frame too large", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) {
			c.Write([]byte{wire.FrameMethod, 0, 0, 0x7f, 0xff, 0xff, 0xff})
			io.Copy(io.Discard, c)
		})
		wantConnectError(t, "amqp://"+addr, enough, StageProtocol, "frame-max")
	})
	t.Run("closes after the login", func(t *testing.T) {
		ep := startStub(t, &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
			if _, ok := m.(*wire.ConnectionStartOk); ok {
				c.Close()
			}
			return true
		}})
		wantConnectError(t, ep.String(), enough, StageLogin, "user or password may be wrong")
	})
	t.Run("mechanism not offered", func(t *testing.T) {
		ep := startStub(t, &stub{mechs: "PLAIN AMQPLAIN"})
		wantConnectError(t, ep.String()+"?auth_mechanism=external", enough, StageLogin, "EXTERNAL is not offered; the broker offers PLAIN, AMQPLAIN")
	})
	t.Run("interrupted", func(t *testing.T) {
		addr := rawListener(t, nil, func(c net.Conn) { io.Copy(io.Discard, c) })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err := Probe(ctx, mustParse(t, "amqp://"+addr), ConnectOptions{})
		if err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("error %v", err)
		}
	})
}

func TestConnectRefusedByTheBroker(t *testing.T) {
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	e := wantConnectError(t, "amqp://"+b.Addr().String(), time.Minute, StageLogin, "ACCESS_REFUSED", "user or password is wrong")
	if e.Code != 403 {
		t.Errorf("code %d, want 403", e.Code)
	}
	_, err = Probe(t.Context(), mustParse(t, "amqp://"+b.Addr().String()+"/no-such"), ConnectOptions{})
	if !errors.As(err, &e) || e.Stage != StageOpen || e.Code != 530 || !strings.Contains(e.Error(), "no-such") {
		t.Errorf("error %v", err)
	}
	got, err := Probe(t.Context(), mustParse(t, b.URI()), ConnectOptions{})
	if err != nil || got.Product == "" || got.FrameMaxBytes != 131072 || got.ChannelMax != 2047 || got.SameHost == nil || !*got.SameHost || got.TLSVerified != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// C016: a broker that proposes no limits at all.
func TestTuneWithoutLimits(t *testing.T) {
	noLeaks(t)
	s := &stub{}
	s.onMessage = func(c *stubConn, m stubMessage) {
		if st, verdict := ReadStamp(m.body); verdict != 1 || len(m.body) != 200_000 || st.Seq != m.tag-1 {
			t.Errorf("message %d: %d bytes, verdict %d, sequence %d", m.tag, len(m.body), verdict, st.Seq)
		}
		c.send(wire.AppendAck(nil, m.channel, m.tag, false))
	}
	first := true
	s.onMethod = func(c *stubConn, _ uint16, m wire.Method) bool {
		if _, ok := m.(*wire.ConnectionStartOk); ok && first {
			first = false
			c.method(0, &wire.ConnectionTune{}) // 0, 0, 0
			return true
		}
		return false
	}
	ep := startStub(t, s)
	plan := oneQueue(ep, "q", nil, nil)
	plan.Producers = append(plan.Producers, confirmed(200_000, 3))
	plan.Connections = 1
	out, _ := runPlan(t, plan)
	if out.Sent != 3 || out.Confirmed != 3 || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
	if got := s.conns[0].answer; got.FrameMax != 131072 || got.ChannelMax == 0 {
		t.Errorf("tune-ok %+v, want a frame-max of 131072", got)
	}
}

// certificate is one made for a test.
type certificate struct {
	pair tls.Certificate
	file string // PEM of the certificate
	key  string
}

func selfSigned(t *testing.T, names ...string) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := certificate{file: filepath.Join(t.TempDir(), "cert.pem"), key: filepath.Join(t.TempDir(), "key.pem")}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	for file, data := range map[string][]byte{c.file: certPEM, c.key: keyPEM} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c.pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return c
}

// C057 and C099: the name that is asked for is the host of the URI, and the certificate has to be for it.
func TestTLSNames(t *testing.T) {
	cert := selfSigned(t, "localhost", "broker.example")
	var asked []string
	b, err := broker.Start(broker.Options{TLS: &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		asked = append(asked, h.ServerName)
		return &cert.pair, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	_, port, _ := net.SplitHostPort(b.Addr().String())
	for _, c := range []struct {
		name, host string
		options    TLSOptions
		sni        string
		wantErr    string
	}{
		{"host of the URI", "localhost", TLSOptions{CACert: cert.file}, "localhost", ""},
		{"an IP literal sends none", "127.0.0.1", TLSOptions{CACert: cert.file}, "", "the certificate is for localhost, broker.example: connect by one of these"},
		{"an IP literal with a name", "127.0.0.1", TLSOptions{CACert: cert.file, ServerName: "broker.example"}, "broker.example", ""},
		{"another name than the certificate's", "localhost", TLSOptions{CACert: cert.file, ServerName: "other.example"}, "other.example", "broker.example"},
		{"an unknown authority", "localhost", TLSOptions{}, "localhost", "--cacert"},
		{"not verified", "127.0.0.1", TLSOptions{Insecure: true}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = nil
			ep := mustParse(t, "amqps://"+c.host+":"+port)
			if err := ep.ConfigureTLS(c.options); err != nil {
				t.Fatal(err)
			}
			got, err := Probe(t.Context(), ep, ConnectOptions{})
			if c.wantErr == "" && err != nil || c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
			if err == nil && (got.TLSVerified == nil || *got.TLSVerified == c.options.Insecure) {
				t.Errorf("verified %v", got.TLSVerified)
			}
			if len(asked) != 1 || asked[0] != c.sni {
				t.Errorf("the server was asked for %q, want %q", asked, c.sni)
			}
		})
	}
}

func TestTLSOptionErrors(t *testing.T) {
	cert := selfSigned(t, "localhost")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		uri  string
		o    TLSOptions
		want []string
	}{
		{"amqps://h", TLSOptions{CACert: "/no/such.pem"}, []string{"--cacert", "/no/such.pem"}},
		{"amqps://h", TLSOptions{CACert: empty}, []string{"--cacert", empty, "no PEM certificate"}},
		{"amqps://h", TLSOptions{Cert: cert.file}, []string{"--cert", cert.file, "--key"}},
		{"amqps://h", TLSOptions{Key: cert.key}, []string{"--key", cert.key, "--cert"}},
		{"amqps://h", TLSOptions{Cert: "/no/such.pem", Key: cert.key}, []string{"--cert", "/no/such.pem"}},
		{"amqps://h", TLSOptions{Cert: cert.file, Key: "/no/key.pem"}, []string{"--key", "/no/key.pem"}},
		{"amqps://h", TLSOptions{Cert: cert.file, Key: cert.file}, []string{"--cert", "--key", cert.file}},
		{"amqp://h", TLSOptions{Insecure: true}, []string{"--insecure", "amqps://"}},
		{"amqp://h", TLSOptions{CACert: cert.file}, []string{"--cacert", "amqps://"}},
	} {
		ep := mustParse(t, c.uri)
		err := ep.ConfigureTLS(c.o)
		if err == nil {
			t.Errorf("%+v: accepted", c.o)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: error %q does not say %q", c.o, err, w)
			}
		}
	}
	ep := mustParse(t, "amqps://h?server_name_indication=a&verify=verify_none")
	if err := ep.ConfigureTLS(TLSOptions{ServerName: "b", Cert: cert.file, Key: cert.key}); err != nil {
		t.Fatal(err)
	}
	if ep.TLS.ServerName != "b" || !ep.TLS.InsecureSkipVerify || len(ep.TLS.Certificates) != 1 {
		t.Errorf("options do not lie over the URI's: %+v", ep.TLSOptions)
	}
}
