package options

import (
	"math"
	"strings"
	"time"

	"leveret/loadcore"
)

func (r *Run) brokerOptions(d dialect, redactURI redactor) []*Option {
	about := "amqp:// or amqps:// URI of the broker; without it the run goes through the embedded broker and measures leveret, not RabbitMQ"
	if d.perfTest {
		about = "amqp:// or amqps:// URI of the broker"
	}
	env := ""
	if !d.perfTest {
		env = "LEVERET_URI"
		about += "; may also stand in the environment variable LEVERET_URI, which keeps a password out of the list of processes"
	}
	return []*Option{
		{Name: "uri", PerfTest: []string{"h"}, Arg: "URI", Group: groupBroker, Env: env, Redact: redactURI, value: text(&r.URI, d.uri), Help: about},
		{Name: "uris", PerfTest: []string{"H"}, Arg: "URI,...", Group: groupBroker, Redact: redactEach(redactURI), value: plainList(&r.URIs), Help: "several brokers, instead of --uri: user, password, vhost and scheme are the first one's, the others give host and port"},
		{Name: "connection-allocation", PerfTest: []string{"cal"}, Arg: "HOW", Group: groupBroker, value: choice(&r.ConnectionAllocation, "random", "random", "round-robin"), Help: "of several brokers, random gives a connection any one, the others being its fallbacks; round-robin exactly one, in turn"},
		{Name: "servers-startup-timeout", PerfTest: []string{"sst"}, Arg: "SECONDS", Group: groupBroker, value: d.lenient(seconds(&r.ServersStartupTimeout, 0, 0)), Help: "how long to wait for brokers that are not there yet; 0: not at all"},
		{Name: "servers-up-limit", PerfTest: []string{"sul"}, Arg: "N", Group: groupBroker, value: d.lenient(integer(&r.ServersUpLimit, 0, 0, math.MaxUint16)), Help: "how many of several brokers must be there; 0: all; the others are left out of the run"},
		{Name: "cacert", Arg: "FILE", Group: groupBroker, value: text(&r.CACert, ""), Help: "PEM file of the authorities to trust instead of the system's (amqps)"},
		{Name: "cert", Arg: "FILE", Group: groupBroker, value: text(&r.Cert, ""), Help: "PEM file of the client's certificate (amqps)"},
		{Name: "key", Arg: "FILE", Group: groupBroker, value: text(&r.Key, ""), Help: "PEM file of the client's private key (amqps)"},
		{Name: "server-name-indication", PerfTest: []string{"sni"}, Arg: "NAME", Group: groupBroker, value: oneName(&r.ServerName), Help: "name to ask for (SNI) and to check the certificate against, instead of the URI's host"},
		{Name: "insecure", Group: groupBroker, value: toggle(&r.Insecure, false), Help: "accept any certificate; warned about, and recorded"},
		{Name: "sasl-external", PerfTest: []string{"se"}, Group: groupBroker, value: toggle(&r.SASLExternal, false), Help: "log in by the client's certificate (EXTERNAL) instead of user and password"},
	}
}

func (r *Run) transportOptions(d dialect) []*Option {
	return []*Option{
		{Name: "connect-timeout", Arg: "SECONDS", Group: groupBroker, value: seconds(&r.ConnectTimeout, 10*time.Second, time.Millisecond), Help: "time allowed for one connection to open, handshakes included, and for each answer to what is asked on it later"},
		{Name: "declare-timeout", Arg: "SECONDS", Group: groupBroker, value: seconds(&r.DeclareTimeout, 30*time.Second, time.Millisecond), Help: "time allowed to declare the topology, and 50 ms more for each exchange, queue and binding"},
		{Name: "heartbeat", PerfTest: []string{"b"}, Arg: "SECONDS", Group: groupBroker, value: wholeSeconds(&r.Heartbeat, 0, 0), Help: "heartbeat to ask for, whole seconds; 0 takes the broker's"},
		{Name: "framemax", PerfTest: []string{"M"}, Arg: "BYTES", Group: groupBroker, value: size(&r.FrameMax, 0, 0), Help: "largest frame to ask for; 0 takes the broker's"},
		{Name: "tcp-send-buffer-size", PerfTest: []string{"tsbs"}, Arg: "BYTES", Group: groupBroker, value: d.lenient(size(&r.TCPSendBuffer, d.buffer, 0)), Help: "send buffer of each connection (SO_SNDBUF); 0: the system's"},
		{Name: "tcp-receive-buffer-size", PerfTest: []string{"trbs"}, Arg: "BYTES", Group: groupBroker, value: d.lenient(size(&r.TCPReceiveBuffer, d.buffer, 0)), Help: "receive buffer of each connection (SO_RCVBUF); 0: the system's"},
		{Name: "tcp-no-delay", PerfTest: []string{"tnd"}, Arg: "true|false", Group: groupBroker, value: toggle(&r.TCPNoDelay, true), Help: "send small segments at once (TCP_NODELAY)"},
		{Name: "connect-rate", Arg: "N", Group: groupBroker, value: integer(&r.ConnectRate, 1000, 0, math.MaxInt32), Help: "connections to begin a second, at most 32 at the same time; 0: as many as the broker takes"},
		{Name: "source-address", Arg: "IP,...", Group: groupBroker, value: list(&r.SourceAddress), Help: "addresses of this host to connect from, in turn; each has local ports of its own (a broker on loopback gets more addresses by itself where one is too few)"},
		{Name: "coalesce", Arg: "TIME", Group: groupBroker, value: brief(&r.Coalesce, 0, loadcore.MaxCoalesce), Help: "in closed loop, leave what the broker sends in small pieces unread for at most so long, to read more at once; part of the latencies, and not to be had with a rate; 0: off; 200us is a bound to try where the broker sends many small frames and the client has few processors"},
		{Name: "drive", Arg: "DRIVE", Group: groupBroker, value: choice(&r.Drive, "auto", "auto", "dedicated", "shared"), Help: "dedicated: each connection has goroutines of its own; shared: a few schedulers own all connections, made for tens of thousands of slow ones; auto: shared above 256 connections or 4096 channels"},
		{Name: "pin", Arg: "WHERE", Group: groupBroker, value: choice(&r.Pin, "off", "off", "thread", "cpu"), Help: "give each goroutine of a connection a thread of its own (thread), kept on one processor (cpu, Linux); dedicated drive only; usually slower"},
	}
}

func (r *Run) oauth2Options() []*Option {
	o := &r.OAuth2
	return []*Option{
		{Name: "oauth2-token-endpoint", PerfTest: []string{"o2uri"}, Arg: "URI", Group: groupBroker, Redact: redactUserInfo, value: text(&o.TokenEndpoint, ""), Help: "take OAuth2 tokens from here, instead of a password, and renew them while the run goes on"},
		{Name: "oauth2-client-id", PerfTest: []string{"o2id"}, Arg: "ID", Group: groupBroker, value: text(&o.ClientID, ""), Help: "who asks for tokens"},
		{Name: "oauth2-client-secret", PerfTest: []string{"o2sec"}, Arg: "SECRET", Group: groupBroker, Redact: hide, value: text(&o.ClientSecret, ""), Help: "the secret of that client; never shown or recorded"},
		{Name: "oauth2-grant-type", PerfTest: []string{"o2gr"}, Arg: "TYPE", Group: groupBroker, value: text(&o.GrantType, "client_credentials"), Help: "how tokens are granted"},
		{Name: "oauth2-parameters", PerfTest: []string{"o2p"}, Arg: "KEY=VALUE", Group: groupBroker, Many: true, Redact: hideValues, value: keyValues(&o.Parameters), Help: "further parameters of the request for a token; repeatable; their values are never shown or recorded"},
	}
}

const hidden = "(not shown)"

func hide(text string) string {
	if text == "" {
		return ""
	}
	return hidden
}

// hideValues keeps the keys of KEY=VALUE,KEY=VALUE.
func hideValues(text string) string {
	items := strings.Split(text, ",")
	for i, item := range items {
		if key, _, ok := strings.Cut(item, "="); ok {
			items[i] = key + "=" + hidden
		} else {
			items[i] = hide(item) // the rest of a value with a comma, perhaps
		}
	}
	return strings.Join(items, ",")
}

// redactUserInfo hides user and password, and the query, of a URI of any scheme.
func redactUserInfo(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return hide(text)
	}
	rest, _, _ = strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

func redactEach(redact redactor) redactor {
	if redact == nil {
		return nil
	}
	return func(text string) string {
		items := strings.Split(text, ",")
		for i := range items {
			items[i] = redact(strings.TrimSpace(items[i]))
		}
		return strings.Join(items, ",")
	}
}
