package wire

import (
	"errors"
	"strings"
)

// Capabilities that this package's clients announce. RabbitMQ acts on them: without authentication_failure_close a wrong
// password ends in a bare disconnect, without consumer_cancel_notify nobody learns that a queue was deleted, without
// connection.blocked a publisher cannot tell an alarm from a slow broker.
var clientCapabilities = []string{
	"publisher_confirms",
	"basic.nack",
	"consumer_cancel_notify",
	"connection.blocked",
	"authentication_failure_close",
	"exchange_exchange_bindings",
	"per_consumer_qos",
}

// ClientProperties returns what connection.start-ok tells the server about the client: product, version, platform,
// capabilities and the name that RabbitMQ lists the connection under, which is left out if empty.
func ClientProperties(product, version, connectionName string) Table {
	capabilities := make(Table, len(clientCapabilities))
	for i, name := range clientCapabilities {
		capabilities[i] = Field{Key: name, Value: true}
	}
	t := Table{
		{Key: "product", Value: product},
		{Key: "version", Value: version},
		{Key: "platform", Value: "Go"},
		{Key: "capabilities", Value: capabilities},
	}
	if connectionName != "" {
		t = append(t, Field{Key: "connection_name", Value: connectionName})
	}
	return t
}

// HasCapability reports whether the peer's properties (ConnectionStart.ServerProperties, ConnectionStartOk.
// ClientProperties) announce the capability.
func HasCapability(properties Table, name string) bool {
	v, _ := properties.Get("capabilities")
	capabilities, _ := v.(Table)
	v, _ = capabilities.Get(name)
	yes, _ := v.(bool)
	return yes
}

// SASL mechanisms.
const (
	MechanismPlain    = "PLAIN"
	MechanismExternal = "EXTERNAL" // the response is empty: the TLS certificate speaks
)

// HasMechanism reports whether the server offers the mechanism; mechanisms is ConnectionStart.Mechanisms.
func HasMechanism(mechanisms, name string) bool {
	for m := range strings.FieldsSeq(mechanisms) {
		if m == name {
			return true
		}
	}
	return false
}

// PlainResponse is the response of the mechanism PLAIN (RFC 4616) without an authorization identity. It contains the
// password: never print it.
func PlainResponse(user, password string) string {
	return "\x00" + user + "\x00" + password
}

// ParsePlainResponse takes a PLAIN response apart, with RabbitMQ's strictness: no authorization identity, and no further
// NUL. The error does not repeat the response.
func ParsePlainResponse(response string) (user, password string, err error) {
	part := strings.Split(response, "\x00")
	if len(part) != 3 || part[0] != "" {
		return "", "", errors.New("cannot read the PLAIN response: it is not NUL, user, NUL, password")
	}
	return part[1], part[2], nil
}
