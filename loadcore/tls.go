package loadcore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// TLSOptions say how the broker's certificate is checked and which one the client shows. Files are PEM.
type TLSOptions struct {
	CACert     string // file of certificates to trust instead of the system's
	Cert, Key  string // files of the client's certificate and of its key
	ServerName string // name asked for (SNI) and checked, instead of the host
	Insecure   bool   // the broker's certificate is not verified
}

// merge lays the options that over sets over o.
func (o TLSOptions) merge(over TLSOptions) TLSOptions {
	for _, f := range []struct{ to, from *string }{
		{&o.CACert, &over.CACert}, {&o.Cert, &over.Cert}, {&o.Key, &over.Key}, {&o.ServerName, &over.ServerName},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	o.Insecure = o.Insecure || over.Insecure
	return o
}

// ConfigureTLS lays o over the options that the URI gave and makes the endpoint's TLS configuration from both. It fails for
// an endpoint without TLS that is given options all the same. Errors name the option and the file.
func (e *Endpoint) ConfigureTLS(o TLSOptions) error {
	if e.TLS == nil {
		if o != (TLSOptions{}) {
			return fmt.Errorf("--%s given for a connection without TLS: write the URI with amqps://", o.firstSet())
		}
		return nil
	}
	merged := e.TLSOptions.merge(o)
	config, err := merged.config(e.Host)
	if err != nil {
		return err
	}
	e.TLS, e.TLSOptions = config, merged
	return nil
}

func (o TLSOptions) firstSet() string {
	switch {
	case o.CACert != "":
		return "cacert"
	case o.Cert != "":
		return "cert"
	case o.Key != "":
		return "key"
	case o.ServerName != "":
		return "server-name-indication"
	}
	return "insecure"
}

// config makes the configuration for a host. The name that is asked for and checked is the host of the URI; crypto/tls
// sends no SNI for an IP literal, as RFC 6066 section 3 wants it, and then checks the address against the certificate.
func (o TLSOptions) config(host string) (*tls.Config, error) {
	name := o.ServerName
	if name == "" {
		name, _, _ = strings.Cut(host, "%") // certificates know no IPv6 zones
	}
	c := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.Insecure}
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert: %s holds no PEM certificate", o.CACert)
		}
	}
	if o.Cert == "" && o.Key == "" {
		return c, nil
	}
	cert, err := o.clientCertificate()
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{cert}
	return c, nil
}

func (o TLSOptions) clientCertificate() (tls.Certificate, error) {
	if o.Key == "" {
		return tls.Certificate{}, fmt.Errorf("--cert %s needs --key, the file of its private key", o.Cert)
	}
	if o.Cert == "" {
		return tls.Certificate{}, fmt.Errorf("--key %s needs --cert, the file of its certificate", o.Key)
	}
	certPEM, err := os.ReadFile(o.Cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--cert: %w", err)
	}
	keyPEM, err := os.ReadFile(o.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--key: %w", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--cert %s with --key %s: %w", o.Cert, o.Key, err)
	}
	return cert, nil
}

// certificateHint says what to do about a certificate that was refused; "" if err is another matter.
func certificateHint(err error) string {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return namesOf(host.Certificate) + ": connect by one of these, give it as --server-name-indication, or --insecure to verify nothing"
	case errors.As(err, &authority):
		return "give the certificate that signed it as --cacert, or --insecure to verify nothing"
	case errors.As(err, &invalid):
		return "--insecure verifies nothing"
	}
	return ""
}

// namesOf says what names and addresses a certificate is for (its SANs; the common name does not count, RFC 6125).
func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	const most = 20
	switch n := len(names); {
	case n == 0:
		return "the certificate is for no name at all (no SAN)"
	case n > most:
		names = append(names[:most], fmt.Sprintf("and %d more", n-most))
	}
	return "the certificate is for " + strings.Join(names, ", ")
}
