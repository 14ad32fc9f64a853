package management

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"
)

// remedy says what to do about a question that got no answer; "" if nothing is known.
func remedy(err error) string {
	const plugin = "enable the plugin on the broker (rabbitmq-plugins enable rabbitmq_management), and give the port that it listens on (15672, with TLS 15671)"
	var noTLS tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var lookup *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: " + plugin
	case errors.As(err, &lookup):
		return "correct the host in --management-uri"
	case errors.As(err, &noTLS):
		return "no TLS is spoken there: write http://"
	case errors.As(err, &authority):
		return "give the certificate that signed it as --cacert, or --insecure to verify nothing"
	case errors.As(err, &host), errors.As(err, &invalid):
		return "connect by a name that the certificate has, or give --insecure to verify nothing"
	}
	switch text := err.Error(); {
	case strings.Contains(text, "HTTP response to HTTPS client"):
		return "no TLS is spoken there: write http://"
	case strings.Contains(text, `malformed HTTP response "AMQP`):
		return "that is the port of AMQP: " + plugin
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return "TLS is spoken there: write https://"
	}
	return ""
}

// inLine keeps what somebody else wrote on one line, and short.
func inLine(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
