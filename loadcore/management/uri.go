// Package management asks a broker's management API (RabbitMQ's HTTP API, rabbitmq_management) for what AMQP does not tell:
// who the broker is, its queues, policies and bindings as they are, and figures while a run goes on.
//
//	target, err := management.ParseURI("http://user:pass@host:15672")
//	client := management.NewClient(target, nil)
//	m, notes, err := client.Facts(ctx, vhost, &topology)      // before the run; into the manifest
//	sampler := client.Watch(management.Watch{...})             // rows of figures, at an interval
//	...the run...
//	sampler.Stop()
//
// What flows in are JSON documents of bounded size, each asked for with a deadline; what flows out are plain values of
// capture/manifest and capture/event. Nothing that the API answers, or fails to, is an error of the run: it becomes a note.
//
// It speaks HTTP itself: the well-kept client library for Go reads answers without a bound, takes no context, opens a
// connection for each question, and makes 0 of a figure that the broker did not give.
package management

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Ports of the API where the URI has none.
const (
	DefaultPort    = "15672"
	DefaultTLSPort = "15671"
)

// Target is where the API is, and who asks. Its password never shows: not in String, not through fmt, not in JSON.
type Target struct {
	Host string // without port
	User string // "": none given
	TLS  bool

	base     string // scheme://host:port and the path before /api
	password *string
}

// SetLogin gives user and password where the URI had none.
func (t *Target) SetLogin(user, password string) {
	if t.User == "" {
		t.User, t.password = user, &password
	}
}

// String is the URI without the password.
func (t Target) String() string {
	scheme, rest, _ := strings.Cut(t.base, "://")
	if t.User == "" {
		return t.base
	}
	return scheme + "://" + url.User(t.User).String() + "@" + rest
}

// GoString keeps %#v from walking the struct.
func (t Target) GoString() string { return "management.Target(" + t.String() + ")" }

// ParseURI reads http[s]://[user[:password]@]host[:port][/path]. The path is what a proxy puts in front of /api; a trailing
// /api is taken away. Errors repeat nothing of the URI: what is wrong with it may be its password.
func ParseURI(text string) (Target, error) {
	const encode = "percent-encode what is special in user and password (/ is %2F, ? is %3F, # is %23, @ is %40)"
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, errors.New("management URI: it cannot be read: want http://USER:PASSWORD@HOST:15672, and " + encode)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, errors.New("management URI: it must begin with http:// or https://")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery || strings.Contains(u.Path, "@"):
		return Target{}, errors.New("management URI: only a path can follow the host: " + encode)
	case u.Hostname() == "":
		return Target{}, errors.New("management URI: it has no host: want http://USER:PASSWORD@HOST:15672")
	}
	t := Target{Host: u.Hostname(), TLS: u.Scheme == "https"}
	port := u.Port()
	if port == "" {
		if port = DefaultPort; t.TLS {
			port = DefaultTLSPort
		}
	}
	path := strings.TrimSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), "/api")
	t.base = u.Scheme + "://" + net.JoinHostPort(t.Host, port) + strings.TrimSuffix(path, "/")
	if u.User != nil {
		t.User = u.User.Username()
		password, _ := u.User.Password()
		t.password = &password
	}
	return t, nil
}

// Redacted is a URI as it may be shown. One that cannot be read may hold a password anywhere, so nothing of it is shown.
func Redacted(text string) string {
	if text == "" {
		return ""
	}
	t, err := ParseURI(text)
	if err != nil {
		return "(unreadable URI)"
	}
	return t.String()
}
