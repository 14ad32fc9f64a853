package broker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// authority signs certificates made for one test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.key = newKey(t)
	template := certificate("test authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func (a *authority) sign(name string) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, certificate(name), a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func startTLS(t *testing.T) (*broker.Server, *authority) {
	t.Helper()
	a := newAuthority(t)
	return start(t, broker.Options{TLS: &tls.Config{
		Certificates: []tls.Certificate{a.sign("broker")}, ClientCAs: a.pool, ClientAuth: tls.VerifyClientCertIfGiven,
	}}), a
}

func TestTLS(t *testing.T) {
	s, a := startTLS(t)
	if !strings.HasPrefix(s.URI(), "amqps://127.0.0.1:") {
		t.Errorf("URI %s", s.URI())
	}
	conn, err := amqp.DialTLS(s.URI(), &tls.Config{RootCAs: a.pool})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := pattern(1, 500_000)
	if err := ch.Publish("", q.Name, false, false, amqp.Publishing{Body: want}); err != nil {
		t.Fatal(err)
	}
	if m, ok, err := ch.Get(q.Name, true); err != nil || !ok || string(m.Body) != string(want) {
		t.Errorf("got %d bytes, %v %v", len(m.Body), ok, err)
	}
}

// TestExternal: a verified certificate is a login; without one EXTERNAL is neither offered nor taken.
func TestExternal(t *testing.T) {
	s, a := startTLS(t)
	external := amqp.Config{
		SASL:            []amqp.Authentication{&amqp.ExternalAuth{}},
		TLSClientConfig: &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{a.sign("a client")}},
	}
	conn, err := amqp.DialConfig(s.URI(), external)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	external.TLSClientConfig = &tls.Config{RootCAs: a.pool}
	if conn, err := amqp.DialConfig(s.URI(), external); !errors.Is(err, amqp.ErrSASL) {
		t.Errorf("without a certificate: %v", err)
		if err == nil {
			conn.Close()
		}
	}
	external.TLSClientConfig = &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{newAuthority(t).sign("a stranger")}}
	if conn, err := amqp.DialConfig(s.URI(), external); err == nil {
		conn.Close()
		t.Error("a certificate of an unknown authority is accepted")
	}
}

// TestPlainToTLS: a client that speaks AMQP to the TLS port gets no AMQP back, and the broker serves on.
func TestPlainToTLS(t *testing.T) {
	s, a := startTLS(t)
	c := dialRaw(t, s)
	c.write(t, wire.ProtocolHeader[:])
	got, _ := io.ReadAll(c.nc)
	if strings.Contains(string(got), "AMQP") {
		t.Errorf("answered with %q", got)
	}
	conn, err := amqp.DialTLS(s.URI(), &tls.Config{RootCAs: a.pool})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// TestCutTLS: a cut under TLS is a cut, without the farewell that TLS has.
func TestCutTLS(t *testing.T) {
	a := newAuthority(t)
	f, err := broker.ParseFaults("cut@2")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, broker.Options{Faults: f, TLS: &tls.Config{Certificates: []tls.Certificate{a.sign("broker")}}})
	c := dialRaw(t, s)
	c.useTLS(&tls.Config{RootCAs: a.pool, ServerName: "127.0.0.1"})
	c.handshake(t, nil, 0)
	c.send(t, 1, &wire.ChannelOpen{})
	c.expect(t, wire.ChannelOpenOkID)
	for range 2 {
		msg := wire.AppendPublish(nil, 1, "", "q", false)
		c.write(t, wire.AppendHeader(msg, 1, 0, nil))
	}
	if _, err := c.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want the end in the middle of a frame", err)
	}
}
