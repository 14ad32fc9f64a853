package rabbitmqtest

import (
	"net"
	"net/url"
	"strconv"
)

// Addr returns host:port of the plain AMQP listener, of an existing broker the one of its URI.
func (n *Node) Addr() string {
	if n.existing != nil {
		return n.existing.uri.Host
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port))
}

// TLSAddr returns host:port of the TLS listener of a node started with Options.TLS.
func (n *Node) TLSAddr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.tlsPort)) }

// ManagementURL returns the address of the management plugin, as in http://127.0.0.1:15672.
func (n *Node) ManagementURL() string {
	if n.existing != nil {
		return n.existing.management
	}
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(n.managementPort))
}

// User returns the name of the administrator, made up when the node was.
func (n *Node) User() string {
	if n.existing != nil {
		return n.existing.uri.User.Username()
	}
	return n.rig.user
}

// Password returns the administrator's password, made up when the node was.
func (n *Node) Password() string {
	if n.existing != nil {
		password, _ := n.existing.uri.User.Password()
		return password
	}
	return n.rig.password
}

// Name returns the node's Erlang name, of an existing broker its address.
func (n *Node) Name() string { return n.name }

// URIFor returns the plain URI of a virtual host with the administrator's user and password.
func (n *Node) URIFor(vhost string) string {
	scheme := "amqp"
	if n.existing != nil {
		scheme = n.existing.uri.Scheme
	}
	return uri(scheme, n.User(), n.Password(), n.Addr(), vhost)
}

// TLSURIFor returns the amqps URI of a virtual host on a node started with Options.TLS.
func (n *Node) TLSURIFor(vhost string) string {
	return uri("amqps", n.User(), n.Password(), n.TLSAddr(), vhost)
}

// UserURI returns the URI of a virtual host for another user.
func (n *Node) UserURI(user, password, vhost string) string {
	return uri("amqp", user, password, n.Addr(), vhost)
}

func uri(scheme, user, password, addr, vhost string) string {
	u := url.URL{Scheme: scheme, User: url.UserPassword(user, password), Host: addr}
	return u.String() + "/" + url.PathEscape(vhost)
}
