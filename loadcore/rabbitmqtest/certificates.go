package rabbitmqtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certificates are the paths of PEM files made for one node, valid for two days.
type Certificates struct {
	// CACert signed the others.
	CACert string
	// ServerCert is for localhost, 127.0.0.1 and ::1.
	ServerCert, ServerKey string
	// ClientCert's common name is CertUser.
	ClientCert, ClientKey string
	// CertUser is the user that the client certificate stands for. It is made by Node.AddCertUser.
	CertUser string
}

// TLSConfig returns the client's side for a node started with Options.TLS: it trusts the node's authority and no other,
// and shows the client certificate.
func (c *Certificates) TLSConfig() (*tls.Config, error) {
	pool, err := c.pool()
	if err != nil {
		return nil, err
	}
	cert, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
	if err != nil {
		return nil, fmt.Errorf("reading the client's certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

func (c *Certificates) pool() (*x509.CertPool, error) {
	text, err := os.ReadFile(c.CACert)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading the authority's certificate: none in %s", c.CACert)
	}
	return pool, nil
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// makeCertificates writes a new authority, a server's and a client's certificate into dir.
func makeCertificates(dir string) (*Certificates, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	c := &Certificates{
		CACert:     in("ca.pem"),
		ServerCert: in("server.pem"), ServerKey: in("server-key.pem"),
		ClientCert: in("client.pem"), ClientKey: in("client-key.pem"),
		CertUser: "cert-user-" + secret(4),
	}
	ca, err := newAuthority(c.CACert)
	if err != nil {
		return nil, err
	}
	err = ca.issue(c.ServerCert, c.ServerKey, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return nil, err
	}
	return c, ca.issue(c.ClientCert, c.ClientKey, &x509.Certificate{
		Subject:     pkix.Name{CommonName: c.CertUser},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func newAuthority(certFile string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "leveret test authority"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading our certificate: %w", err)
	}
	return &authority{cert: cert, key: key}, writePEM(certFile, "CERTIFICATE", der)
}

// issue completes the template, signs it for a new key and writes both.
func (a *authority) issue(certFile, keyFile string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	if err := writePEM(certFile, "CERTIFICATE", der); err != nil {
		return err
	}
	return writePEM(keyFile, "PRIVATE KEY", keyDER)
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-24 * time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate: %w", err)
	}
	return der, nil
}

func writePEM(path, kind string, der []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("writing a certificate: %w", err)
	}
	return nil
}
