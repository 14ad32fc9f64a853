package rabbitmqtest

import (
	"fmt"
	"strings"
)

// Options describe private nodes. The zero value is a node that listens for plain AMQP and has the management plugin.
type Options struct {
	// TLS adds a TLS listener with certificates made for this node (Node.Certificates, Node.TLSURI), and authentication
	// by client certificate (mechanism EXTERNAL; the user is the certificate's common name). A client certificate is
	// verified if one is sent, and not demanded.
	TLS bool
	// RabbitMQ4 starts the RabbitMQ 4 that `make rabbitmq4` lays (Find4), for tests that take longer.
	RabbitMQ4 bool
	// Plugins to enable beside rabbitmq_management.
	Plugins []string
	// Config holds further lines for rabbitmq.conf, for example "channel_max = 10\n".
	Config string
	// Fixed ports in place of free ones, for a node that a person uses; 0 takes a free one.
	Port, ManagementPort int
}

// Indexes into a node's block of ports.
const (
	epmdPortIndex = 1 + iota
	distPortIndex
	amqpPortIndex
	tlsPortIndex
	managementPortIndex
)

// plugins returns the content of the enabled_plugins file.
func (o Options) plugins() string {
	names := append([]string{"rabbitmq_management"}, o.Plugins...)
	if o.TLS {
		names = append(names, "rabbitmq_auth_mechanism_ssl")
	}
	return "[" + strings.Join(names, ",") + "].\n"
}

// config returns the content of rabbitmq.conf. Statistics are collected, and shown, every second, not every five, so
// that tests that compare with the management API need not wait long. The log goes to the standard output, which is a file: RabbitMQ's own
// log files are written seconds late.
func (n *Node) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, `listeners.tcp.1 = 127.0.0.1:%d
management.tcp.ip = 127.0.0.1
management.tcp.port = %d
collect_statistics_interval = 1000
management.sample_retention_policies.global.minute = 1
management.sample_retention_policies.basic.minute = 1
management.sample_retention_policies.detailed.10 = 1
default_user = %s
default_pass = %s
loopback_users = none
log.file = false
log.console = true
log.console.level = info
`, n.port, n.managementPort, n.rig.user, n.rig.password)
	if n.certificates != nil {
		fmt.Fprintf(&b, `listeners.ssl.1 = 127.0.0.1:%d
ssl_options.cacertfile = %s
ssl_options.certfile = %s
ssl_options.keyfile = %s
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
auth_mechanisms.1 = PLAIN
auth_mechanisms.2 = AMQPLAIN
auth_mechanisms.3 = EXTERNAL
ssl_cert_login_from = common_name
`, n.tlsPort, n.certificates.CACert, n.certificates.ServerCert, n.certificates.ServerKey)
	}
	for i, name := range n.cluster {
		if i == 0 {
			b.WriteString("cluster_formation.peer_discovery_backend = classic_config\n")
		}
		fmt.Fprintf(&b, "cluster_formation.classic_config.nodes.%d = %s\n", i+1, name)
	}
	b.WriteString(n.options.Config)
	return b.String()
}
