package layout

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// described is a layout in a few words, for tables: random keys are shown as UUID.
func described(l *Layout) string {
	var b strings.Builder
	for _, e := range l.Topology.Exchanges {
		fmt.Fprintf(&b, "exchange %q %s declare=%v\n", e.Name, e.Type, e.Declare)
	}
	for _, q := range l.Topology.Queues {
		fmt.Fprintf(&b, "queue %q %s durable=%v auto-delete=%v exclusive=%v server-named=%v %v\n", q.Name, q.Type, q.Durable, q.AutoDelete, q.Exclusive, q.ServerNamed, q.Arguments)
	}
	for _, k := range l.Topology.Bindings {
		fmt.Fprintf(&b, "binding %q %d %q\n", k.Exchange, k.Queue, k.RoutingKey)
	}
	for _, r := range l.Topology.Routes {
		fmt.Fprintf(&b, "route %q %q random=%v\n", r.Exchange, r.RoutingKey, r.Random)
	}
	for _, p := range l.Producers {
		fmt.Fprintf(&b, "producer on %d route %d of %d\n", p.Connection, p.Route, p.Routes)
	}
	for _, c := range l.Consumers {
		fmt.Fprintf(&b, "consumer on %d queues %v\n", c.Connection, c.Queues)
	}
	fmt.Fprintf(&b, "connections %d\n", l.Connections)
	text := uuidForm.ReplaceAllString(b.String(), "UUID")
	return regexp.MustCompile(`(ID-queue-\d)-[0-9a-f]{8}`).ReplaceAllString(text, "$1-HEX")
}

var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// The forms are those of PerfTest's MulticastParams.
func TestLayoutForms(t *testing.T) {
	pattern := func(to string, more ...string) []string {
		return append([]string{"--queue-pattern", "q-%d", "--queue-pattern-from", "1", "--queue-pattern-to", to}, more...)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no queue: one a consumer": {[]string{"--consumers", "2"}, `
exchange "direct" direct declare=true
queue "" classic durable=false auto-delete=true exclusive=false server-named=true []
queue "" classic durable=false auto-delete=true exclusive=false server-named=true []
binding "direct" 0 "UUID"
binding "direct" 1 "UUID"
route "direct" "UUID" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
consumer on 2 queues [1]
connections 3
`},
		"two queues, one key, every consumer reads both": {[]string{"--queue", "a,b", "--routing-key", "k", "--consumers", "1", "--consumer-channel-count", "2", "--type", "topic"}, `
exchange "topic" topic declare=true
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
queue "b" classic durable=false auto-delete=true exclusive=false server-named=false []
binding "topic" 0 "k"
binding "topic" 1 "k"
route "topic" "k" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0 1]
consumer on 1 queues [0 1]
connections 2
`},
		"pattern: keys are names, lanes in turn": {pattern("2", "--producers", "3", "--consumers", "1", "--consumer-channel-count", "3", "--flag", "persistent", "--auto-delete", "false"), `
exchange "direct" direct declare=true
queue "q-1" classic durable=true auto-delete=false exclusive=false server-named=false []
queue "q-2" classic durable=true auto-delete=false exclusive=false server-named=false []
binding "direct" 0 "q-1"
binding "direct" 1 "q-2"
route "direct" "q-1" random=false
route "direct" "q-2" random=false
producer on 0 route 0 of 0
producer on 1 route 1 of 0
producer on 2 route 0 of 0
consumer on 3 queues [0]
consumer on 3 queues [1]
consumer on 3 queues [0]
connections 4
`},
		"pattern with a key: every queue gets every message": {pattern("2", "--routing-key", "k", "--exchange", "e", "--type", "fanout"), `
exchange "e" fanout declare=true
queue "q-1" classic durable=false auto-delete=true exclusive=false server-named=false []
queue "q-2" classic durable=false auto-delete=true exclusive=false server-named=false []
binding "e" 0 "k"
binding "e" 1 "k"
route "e" "k" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"default exchange, pattern": {pattern("2", "--exchange", "amq.default", "--producers", "2", "--consumers", "0"), `
exchange "" direct declare=false
queue "q-1" classic durable=false auto-delete=true exclusive=false server-named=false []
queue "q-2" classic durable=false auto-delete=true exclusive=false server-named=false []
route "" "q-1" random=false
route "" "q-2" random=false
producer on 0 route 0 of 0
producer on 1 route 1 of 0
connections 2
`},
		"default exchange by its empty name, one queue": {[]string{"--exchange=", "--queue", "a"}, `
exchange "" direct declare=false
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
route "" "a" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"built-in exchange has its own type": {[]string{"--exchange", "amq.fanout", "--queue", "a", "--routing-key", ""}, `
exchange "amq.fanout" fanout declare=false
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
binding "amq.fanout" 0 ""
route "amq.fanout" "" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"bindings left to others": {[]string{"--queue", "a", "--skip-binding-queues", "--routing-key", "k"}, `
exchange "direct" direct declare=true
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
route "direct" "k" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"random keys": {[]string{"--queue", "a", "--routing-key", "#", "--type", "topic", "--random-routing-key"}, `
exchange "topic" topic declare=true
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
binding "topic" 0 "#"
route "topic" "UUID" random=true
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"cached keys, all producers take all of them": {[]string{"--queue", "a", "--type", "fanout", "--routing-key-cache-size", "3", "--producers", "2"}, `
exchange "fanout" fanout declare=true
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
binding "fanout" 0 "UUID"
route "fanout" "UUID" random=false
route "fanout" "UUID" random=false
route "fanout" "UUID" random=false
producer on 0 route 0 of 3
producer on 1 route 0 of 3
consumer on 2 queues [0]
connections 3
`},
		"strict: nothing declared, nothing bound, the default exchange leads to the queue": {[]string{"--queue", "a", "--predeclared=strict"}, `
exchange "" direct declare=false
queue "a" classic durable=false auto-delete=true exclusive=false server-named=false []
route "" "a" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
connections 2
`},
		"predeclared without a queue: no consumer": {[]string{"--predeclared", "--exchange", "e", "--routing-key", "k", "--consumers", "3"}, `
exchange "e" direct declare=true
route "e" "k" random=false
producer on 0 route 0 of 0
connections 1
`},
		"exclusive, named: all consumers on one connection": {[]string{"--queue", "a,b", "--exclusive", "--consumers", "2", "--consumer-channel-count", "2", "--routing-key", "k"}, `
exchange "direct" direct declare=true
queue "a" classic durable=false auto-delete=true exclusive=true server-named=false []
queue "b" classic durable=false auto-delete=true exclusive=true server-named=false []
binding "direct" 0 "k"
binding "direct" 1 "k"
route "direct" "k" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0 1]
consumer on 1 queues [0 1]
consumer on 1 queues [0 1]
consumer on 1 queues [0 1]
connections 2
`},
		"exclusive pattern: the consumers of one queue share the connection of the first": {pattern("2", "--exclusive", "--consumers", "4", "--producers", "0"), `
exchange "direct" direct declare=true
queue "q-1" classic durable=false auto-delete=true exclusive=true server-named=false []
queue "q-2" classic durable=false auto-delete=true exclusive=true server-named=false []
binding "direct" 0 "q-1"
binding "direct" 1 "q-2"
consumer on 0 queues [0]
consumer on 1 queues [1]
consumer on 0 queues [0]
consumer on 1 queues [1]
connections 2
`},
		"exclusive queues without a consumer are not there": {pattern("3", "--exclusive", "--consumers", "1", "--producers", "3"), `
exchange "direct" direct declare=true
queue "q-1" classic durable=false auto-delete=true exclusive=true server-named=false []
binding "direct" 0 "q-1"
route "direct" "q-1" random=false
route "direct" "q-2" random=false
route "direct" "q-3" random=false
producer on 0 route 0 of 0
producer on 1 route 1 of 0
producer on 2 route 2 of 0
consumer on 3 queues [0]
connections 4
`},
		"exclusive without names: ours": {[]string{"--exclusive", "--consumers", "2", "--routing-key", "k"}, `
exchange "direct" direct declare=true
queue "ID-queue-0-HEX" classic durable=false auto-delete=true exclusive=true server-named=false []
queue "ID-queue-1-HEX" classic durable=false auto-delete=true exclusive=true server-named=false []
binding "direct" 0 "k"
binding "direct" 1 "k"
route "direct" "k" random=false
producer on 0 route 0 of 0
consumer on 1 queues [0]
consumer on 2 queues [1]
connections 3
`},
	} {
		if got := described(mustLayOut(t, c.args...)); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s: got\n%swant%s", name, got, c.want)
		}
	}
}
