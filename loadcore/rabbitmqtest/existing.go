package rabbitmqtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// Environment variables that lead the shared node to an existing broker.
const (
	URIVariable        = "LEVERET_TEST_URI"
	ManagementVariable = "LEVERET_TEST_MANAGEMENT"
)

// existing is a broker that somebody else runs.
type existing struct {
	uri        *url.URL // scheme, user and host; the virtual host is each test's own
	management string
}

// useExisting reads the environment; nil without an error means that no existing broker is named. Errors never hold the
// URI, which has a password.
func useExisting(ctx context.Context) (*Node, error) {
	text := os.Getenv(URIVariable)
	if text == "" {
		return nil, nil
	}
	uri, err := url.Parse(text)
	if err != nil || (uri.Scheme != "amqp" && uri.Scheme != "amqps") || uri.Hostname() == "" {
		return nil, fmt.Errorf("%s is not an amqp://user:password@host:port URI (its text is not shown: it may hold a "+
			"password); special characters of the password must be percent-encoded", URIVariable)
	}
	if uri.User == nil {
		uri.User = url.UserPassword("guest", "guest") // RabbitMQ's own default
	}
	if uri.Port() == "" {
		uri.Host = net.JoinHostPort(uri.Hostname(), map[string]string{"amqp": "5672", "amqps": "5671"}[uri.Scheme])
	}
	management := strings.TrimSuffix(os.Getenv(ManagementVariable), "/")
	if management == "" {
		management = "http://" + net.JoinHostPort(uri.Hostname(), "15672")
	}
	n := &Node{existing: &existing{uri: uri, management: management}, name: uri.Host, shared: true}
	var overview struct{}
	if err := n.request(ctx, "GET", "overview", nil, &overview); err != nil {
		return nil, fmt.Errorf("%s is set, but tests need a virtual host each, and so the broker's management API "+
			"(plugin rabbitmq_management, an administrator's user; set %s where it is not at %s): %w",
			URIVariable, ManagementVariable, management, err)
	}
	return n, nil
}
