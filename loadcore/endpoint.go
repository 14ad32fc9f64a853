package loadcore

import (
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"time"
)

// Ports that AMQP is registered at.
const (
	DefaultPort    = 5672
	DefaultTLSPort = 5671
)

// Endpoint is where a broker is and how to log in. Its password never shows: not in String, not through fmt, not in JSON.
type Endpoint struct {
	Host  string // name or IP literal without brackets; an IPv6 zone is kept
	Port  int
	User  string
	VHost string
	// External logs in with SASL EXTERNAL (the name in the client's certificate) instead of PLAIN.
	External bool
	// TLS is nil for a plain connection.
	TLS *tls.Config `json:"-"`
	// TLSOptions are what TLS was made from.
	TLSOptions TLSOptions

	// Limits that the URI's query asked for; nil where it did not.
	Heartbeat      *time.Duration
	FrameMax       *uint32
	ChannelMax     *uint16
	ConnectTimeout *time.Duration

	password *string // behind a pointer, so that fmt never prints it
	tokens   *Tokens // where the password changes
}

// SetPassword replaces the password.
func (e *Endpoint) SetPassword(password string) { e.password = &password }

// Password is the secret itself, for logging in: it must not reach any output, file or error.
func (e Endpoint) Password() string {
	if e.tokens != nil {
		return e.tokens.secret()
	}
	if e.password == nil {
		return ""
	}
	return *e.password
}

// Address is host:port as net.Dial wants it.
func (e Endpoint) Address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// String is the endpoint as a URI without its password and without query options.
func (e Endpoint) String() string {
	var b strings.Builder
	if e.TLS != nil {
		b.WriteString("amqps://")
	} else {
		b.WriteString("amqp://")
	}
	if e.User != "" {
		b.WriteString(percentEncode(e.User))
		b.WriteByte('@')
	}
	host := e.Host
	if strings.Contains(host, ":") {
		host = "[" + strings.ReplaceAll(host, "%", "%25") + "]"
	}
	b.WriteString(host)
	b.WriteByte(':')
	b.WriteString(strconv.Itoa(e.Port))
	b.WriteByte('/')
	b.WriteString(percentEncode(e.VHost)) // the vhost "/" shows as %2F and cannot be misread
	return b.String()
}

// GoString keeps %#v from walking the struct.
func (e Endpoint) GoString() string { return "loadcore.Endpoint(" + e.String() + ")" }
