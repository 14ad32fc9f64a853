package loadcore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParseURI reads an AMQP URI, amqp[s]://[user[:password]@]host[:port][/vhost][?option=value&...], by the rules of RabbitMQ's
// URI specification, and refuses what could be read in two ways:
//
//	no path, or a bare "/"   vhost "/"   (the specification's empty vhost exists on no broker)
//	/%2F                     vhost "/"
//	a raw / in the vhost     refused
//	a second @, any #        refused: most likely they belong to the password
//	::1:5672                 refused: brackets are missing
//	+                        a plus sign, never a space
//
// Missing parts are guest, guest, localhost, 5672 or, with amqps, 5671. The query options are in query.go. TLS is configured
// from the files that the query names; ConfigureTLS adds to it. Errors never repeat any part of the URI in front of the
// host, and nothing that could be a piece of a password with characters that end it early.
func ParseURI(uri string) (Endpoint, error) {
	e, err := parseURI(uri)
	if err != nil {
		return Endpoint{}, fmt.Errorf("AMQP URI: %w", err)
	}
	return e, nil
}

func parseURI(uri string) (Endpoint, error) {
	e := Endpoint{Host: "localhost", Port: DefaultPort, User: "guest", VHost: "/"}
	e.SetPassword("guest")
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return e, errors.New("it must begin with amqp:// or amqps://")
	}
	switch strings.ToLower(scheme) {
	case "amqp":
	case "amqps":
		e.TLS, e.Port = &tls.Config{}, DefaultTLSPort
	default:
		return e, errors.New("it must begin with amqp:// or amqps://")
	}
	authority, path, query, err := splitURI(rest)
	if err != nil {
		return e, err
	}
	hostport := authority
	if at := strings.IndexByte(authority, '@'); at >= 0 {
		hostport = authority[at+1:]
		if err := e.parseUser(authority[:at]); err != nil {
			return e, err
		}
	}
	if err := e.parseHost(hostport); err != nil {
		return e, err
	}
	if err := e.parseVHost(path); err != nil {
		return e, err
	}
	if err := e.parseQuery(query); err != nil {
		return e, err
	}
	return e, e.ConfigureTLS(TLSOptions{})
}

// splitURI cuts what follows the scheme into authority, path (with its slash, or "") and query. A password with a raw / ? #
// or @ would end it early and shift everything behind it; such URIs are refused here, before any piece is looked at.
func splitURI(rest string) (authority, path, query string, err error) {
	for _, r := range rest {
		if r <= ' ' || r == 0x7f {
			return "", "", "", errors.New("it has a space or control character: percent-encode it (a space is %20)")
		}
	}
	if strings.Contains(rest, "#") {
		return "", "", "", errors.New("it has a '#': percent-encode the password (# is %23)")
	}
	authority = rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	path, query, _ = strings.Cut(path, "?")
	switch at := strings.Count(rest, "@"); {
	case at > 1:
		return "", "", "", errors.New("it has more than one '@': percent-encode the password, and the vhost (@ is %40)")
	case at == 1 && !strings.Contains(authority, "@"):
		return "", "", "", errors.New("it has a '/' or '?' in front of the '@': percent-encode the password (/ is %2F, ? is %3F, @ is %40)")
	}
	return authority, path, query, nil
}

func (e *Endpoint) parseUser(userinfo string) error {
	user, password, hasPassword := strings.Cut(userinfo, ":")
	var err error
	if e.User, err = percentDecode(user); err != nil {
		return fmt.Errorf("the user: %w", err)
	}
	if !hasPassword {
		return nil
	}
	decoded, err := percentDecode(password)
	if err != nil {
		return fmt.Errorf("the password: %w", err)
	}
	e.SetPassword(decoded)
	return nil
}

// parseHost reads host[:port]. It shows neither in its errors: without an @ both may be pieces of a password.
func (e *Endpoint) parseHost(hostport string) error {
	host, port := hostport, ""
	switch {
	case strings.HasPrefix(hostport, "["):
		end := strings.IndexByte(hostport, ']')
		if end < 0 {
			return errors.New("the host begins with '[' and has no ']'")
		}
		address, err := ipv6Literal(hostport[1:end])
		if err != nil {
			return err
		}
		e.Host, host, port = address, "", hostport[end+1:]
		if port != "" && port[0] != ':' {
			return errors.New("only :port can follow the ']' of the host")
		}
	case strings.Count(hostport, ":") > 1:
		return errors.New("the host has more than one ':': write an IPv6 address in brackets, as amqp://[::1]:5672, and percent-encode a password's ':' and '@'")
	case strings.Contains(hostport, ":"):
		i := strings.IndexByte(hostport, ':')
		host, port = hostport[:i], hostport[i:]
	}
	if host != "" {
		if i := strings.IndexFunc(host, notInHostName); i >= 0 {
			return errors.New("the host has a character that no host name has (letters, digits, '-', '.', '_'): if it belongs to the password, percent-encode the password")
		}
		e.Host = host
	}
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	if err != nil || n == 0 || port[1] == '+' {
		return errors.New("what follows the host's ':' is not a port (1 to 65535): if it belongs to the password, percent-encode the password")
	}
	e.Port = int(n)
	return nil
}

func notInHostName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' || r >= 0x80)
}

// ipv6Literal reads what stands between brackets: an IPv6 address, its zone behind %25 (RFC 6874).
func ipv6Literal(s string) (string, error) {
	literal, err := percentDecode(s)
	if err != nil {
		return "", fmt.Errorf("the host's zone (%%25 in front of it): %w", err)
	}
	address, err := netip.ParseAddr(literal)
	if err != nil || !address.Is6() {
		return "", errors.New("what stands between the host's brackets is not an IPv6 address")
	}
	return literal, nil
}

func (e *Endpoint) parseVHost(path string) error {
	if path == "" || path == "/" {
		return nil
	}
	segment := path[1:]
	if strings.Contains(segment, "/") {
		return errors.New("the vhost has a raw '/': write %2F for a '/' in its name (the vhost / itself is /%2F)")
	}
	vhost, err := percentDecode(segment)
	if err != nil {
		return fmt.Errorf("the vhost: %w", err)
	}
	// The protocol's shortstr bounds the path of connection.open (AMQP 0-9-1 section 4.2.5.3).
	if len(vhost) > 255 {
		return fmt.Errorf("the vhost has %d bytes, at most 255 fit", len(vhost))
	}
	e.VHost = vhost
	return nil
}

// percentDecode is strict, and does not repeat its input, which may be a secret.
func percentDecode(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errNotEncoded
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", errNotEncoded
		}
		out = append(out, byte(b))
		i += 2
	}
	return string(out), nil
}

// percentEncode leaves only the characters that RFC 3986 calls unreserved.
func percentEncode(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

var errNotEncoded = errors.New("a '%' is not followed by two hexadecimal digits: percent-encode it (% is %25)")
