package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/topology"
)

// described is a layout in a few words, for tables: random keys are shown as UUID.
func described(l *layout) string {
	var b strings.Builder
	for _, e := range l.topology.Exchanges {
		fmt.Fprintf(&b, "exchange %q %s declare=%v\n", e.Name, e.Type, e.Declare)
	}
	for _, q := range l.topology.Queues {
		fmt.Fprintf(&b, "queue %q %s durable=%v auto-delete=%v exclusive=%v server-named=%v %v\n", q.Name, q.Type, q.Durable, q.AutoDelete, q.Exclusive, q.ServerNamed, q.Arguments)
	}
	for _, k := range l.topology.Bindings {
		fmt.Fprintf(&b, "binding %q %d %q\n", k.Exchange, k.Queue, k.RoutingKey)
	}
	for _, r := range l.topology.Routes {
		fmt.Fprintf(&b, "route %q %q random=%v\n", r.Exchange, r.RoutingKey, r.Random)
	}
	for _, p := range l.producers {
		fmt.Fprintf(&b, "producer on %d route %d of %d\n", p.Connection, p.Route, p.Routes)
	}
	for _, c := range l.consumers {
		fmt.Fprintf(&b, "consumer on %d queues %v\n", c.Connection, c.Queues)
	}
	fmt.Fprintf(&b, "connections %d\n", l.connections)
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

// C080: 15 producers and 30 consumers over 10 queues.
func TestC080LanesGoRoundTheQueues(t *testing.T) {
	l := mustLayOut(t, "--queue-pattern", "q-%d", "--queue-pattern-from", "1", "--queue-pattern-to", "10", "--producers", "15", "--consumers", "30")
	topology.Resolve(l.topology)
	producers, consumers := make([]int, 10), make([]int, 10)
	for _, p := range l.producers {
		producers[l.topology.Routes[p.Route].Queues[0]]++
	}
	for _, c := range l.consumers {
		consumers[c.Queues[0]]++
	}
	if !slices.Equal(producers, []int{2, 2, 2, 2, 2, 1, 1, 1, 1, 1}) || !slices.Equal(consumers, []int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}) {
		t.Errorf("producers %v, consumers %v", producers, consumers)
	}
}

func TestQueueArguments(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string // type, durable, auto-delete, arguments
	}{
		"quorum":                 {[]string{"--quorum-queue"}, "quorum true false [{x-queue-type quorum}]"},
		"quorum by type":         {[]string{"--queue-args", "x-queue-type=quorum"}, "quorum true false [{x-queue-type quorum}]"},
		"quorum, both":           {[]string{"--quorum-queue", "--queue-args", "x-queue-type=quorum,x-delivery-limit=3"}, "quorum true false [{x-delivery-limit 3} {x-queue-type quorum}]"},
		"stream":                 {[]string{"--stream-queue"}, "stream true false [{x-queue-type stream} {x-max-length-bytes 20000000000} {x-stream-max-segment-size-bytes 500000000}]"},
		"stream, no end":         {[]string{"--stream-queue", "--max-length-bytes", "0"}, "stream true false [{x-queue-type stream} {x-stream-max-segment-size-bytes 500000000}]"},
		"stream, bounded":        {[]string{"--stream-queue", "--max-length-bytes", "50gb", "--stream-max-segment-size-bytes", "1gb", "--max-age", "PT15M"}, "stream true false [{x-queue-type stream} {x-max-length-bytes 50000000000} {x-stream-max-segment-size-bytes 1000000000} {x-max-age 900s}]"},
		"stream, argument given": {[]string{"--stream-queue", "--queue-args", "x-max-length-bytes=1000000000"}, "stream true false [{x-max-length-bytes 1000000000} {x-queue-type stream} {x-stream-max-segment-size-bytes 500000000}]"},
		"days":                   {[]string{"--stream-queue", "--max-age", "P5DT8H", "--max-length-bytes", "0", "--leader-locator", "balanced"}, "stream true false [{x-queue-type stream} {x-stream-max-segment-size-bytes 500000000} {x-max-age 460800s} {x-queue-leader-locator balanced}]"},
		"classic, bounded":       {[]string{"--max-length-bytes", "10mb"}, "classic false true [{x-max-length-bytes 10000000}]"},
		"as PerfTest types them": {[]string{"--queue-args", "x-max-length=10,x-overflow=reject-publish,x-single-active-consumer=true,x-dead-letter-exchange=amq.default"},
			"classic false true [{x-max-length 10} {x-overflow reject-publish} {x-single-active-consumer true} {x-dead-letter-exchange }]"},
	} {
		q := mustLayOut(t, append(c.args, "--queue", "a", "--qos", "10")...).topology.Queues[0]
		if got := fmt.Sprint(q.Type, " ", q.Durable, " ", q.AutoDelete, " ", q.Arguments); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestStreamOffsets(t *testing.T) {
	for text, want := range map[string]any{
		"first": "first", "LAST": "last", "next": "next", "5000": int64(5000), "2h": "2h", "7D": "7D",
		"2001-09-09T01:46:40Z": manifest.Timestamp(1e9), "2001-09-09T03:46+02:00": manifest.Timestamp(1e9 - 40),
	} {
		if got, err := streamOffset(text); err != nil || got != want {
			t.Errorf("%s: %v (%T), %v; want %v (%T)", text, got, got, err, want, want)
		}
	}
	for _, text := range []string{"", "soon", "-1", "1.5", "2001-09-09", "9223372036854775808"} {
		if got, err := streamOffset(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
	l := mustLayOut(t, "--stream-queue", "--queue", "s", "--stream-consumer-offset", "first", "--consumer-args", "x-priority=3", "--consumers", "2")
	for _, c := range l.consumers {
		if fmt.Sprint(c.Arguments) != "[{x-priority 3} {x-stream-offset first}]" || c.Prefetch != 200 {
			t.Errorf("%+v", c)
		}
	}
}

// What a broker refuses, or what could not mean what it says, is refused before anything is connected.
func TestLayoutRefusals(t *testing.T) {
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"--quorum-queue", []string{"quorum queue needs a name", "--queue"}}, // C077
		{"--stream-queue", []string{"stream queue needs a name", "--queue"}},
		{"--queue q --quorum-queue --stream-queue", []string{"--quorum-queue and --stream-queue"}},
		{"--queue q --quorum-queue --queue-args x-queue-type=classic", []string{"--quorum-queue", "x-queue-type=classic"}},
		{"--queue q --stream-queue --queue-args x-queue-type=quorum", []string{"--stream-queue", "x-queue-type=quorum"}},
		{"--queue q --quorum-queue --exclusive", []string{"--exclusive", "quorum"}},
		{"--queue q --stream-queue --exclusive", []string{"--exclusive", "stream"}},
		{"--queue q --stream-queue --autoack", []string{"--autoack", "stream", "--qos"}},
		{"--queue q --queue-args x-queue-type=stream --autoack", []string{"--autoack", "stream", "--qos"}},
		{"--queue q --queue-args x-queue-type=stream", []string{"--qos", "stream"}},
		{"--queue q --stream-queue --polling", []string{"--polling", "basic.get"}},
		{"--queue q --stream-queue --nack", []string{"--nack"}},
		{"--queue q --stream-queue --global-qos 5", []string{"--global-qos=5", "stream", "--qos"}},
		{"--queue q --quorum-queue --global-qos 5", []string{"--global-qos=5", "quorum", "--qos"}},
		{"--ptxsize 10 --confirm 5", []string{"--ptxsize=10", "--confirm=5"}},
		{"--queue q --max-age PT1H", []string{"--max-age", "classic", "--stream-queue"}},
		{"--queue q --quorum-queue --stream-max-segment-size-bytes 1mb", []string{"--stream-max-segment-size-bytes", "quorum"}},
		{"--queue q --stream-consumer-offset first", []string{"--stream-consumer-offset", "--stream-queue"}},
		{"--queue q --stream-queue --stream-max-segment-size-bytes 4gb", []string{"--stream-max-segment-size-bytes=4000000000", "3000000000"}},
		{"--queue q --stream-queue --max-length-bytes 400mb", []string{"--max-length-bytes=400000000", "500000000"}},
		{"--queue a,b --exchange amq.default", []string{"--exchange=amq.default", "--queue names 2"}},
		{"--exchange amq.default", []string{"--exchange=amq.default", "--queue names 0"}},
		{"--queue a,b --predeclared=strict", []string{"--predeclared=strict", "default exchange", "--queue names 2"}},
		{"--queue a --exclusive --predeclared=strict", []string{"--exclusive", "--predeclared=strict"}},
		{"--predeclared --producers 0", []string{"nothing to do", "--queue"}},
		{"--json-body --stamp body", []string{"--stamp=body", "header"}},
		{"--queue amq.gen-x", []string{"amq.gen-x", "--predeclared"}},
	} {
		_, err := laidOut(t, strings.Fields(c.args)...)
		if err == nil {
			t.Errorf("%s: accepted", c.args)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", c.args, err, word)
			}
		}
	}
}

func TestLayoutNotes(t *testing.T) {
	for args, want := range map[string]string{
		"--predeclared --exchange e --routing-key k":             "no consumer is started",
		"--queue q --quorum-queue --auto-delete true":            "--auto-delete=true has no effect", // C077
		"--autoack --nack":                                       "--nack has no effect",
		"--autoack --multi-ack-every 5":                          "--multi-ack-every has no effect",
		"--requeue=false":                                        "--requeue has no effect without --nack",
		"--polling-interval 5":                                   "--polling-interval has no effect without --polling",
		"--polling --qos 5":                                      "--qos and --global-qos have no effect",
		"--consumer-rate 10":                                     "give --qos",
		"--consumer-latency 500":                                 "give --qos",
		"--variable-size 100:1 --size 50":                        "--size has no effect",
		"--body-content-type text/plain":                         "without --body",
		"--queue a --exclusive --consumers 0 --routing-key k":    "1 of 1 exclusive queues have no consumer",
		"--random-routing-key --routing-key-cache-size 4":        "--random-routing-key has no effect",
		"--consumer-rate 10 --qos 5":                             "",
		"--consumer-rate 10 --autoack":                           "",
		"--queue a --confirm 10 --flag persistent --pmessages 5": "",
	} {
		l := mustLayOut(t, strings.Fields(args)...)
		if got := strings.Join(l.notes, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: notes %q, want %q", args, got, want)
		}
	}
}

// C027: the versions are those around RabbitMQ 4.3.0, from which on transient queues must be exclusive; a version that cannot
// be read counts as a new one, as in PerfTest.
func TestC027DurableWhereTheBrokerWantsIt(t *testing.T) {
	for version, want := range map[string]int{
		"3.10.8": 0, "4.2.9": 0, "4.3.0": 1, "4.3.0-rc.1": 1, "4.10.0": 1, "5.0.0": 1, "3.13.0+dev": 0, "": 1, "unknown": 1, "4.3": 1,
	} {
		top := &manifest.Topology{Queues: []manifest.Queue{
			{Name: "transient", Declare: true}, {Name: "exclusive", Declare: true, Exclusive: true}, {Name: "durable", Declare: true, Durable: true}, {Name: "theirs"},
		}}
		if got := settleDurability(top, version); got != want || top.Queues[0].Durable != (want == 1) || top.Queues[1].Durable || top.Queues[3].Durable {
			t.Errorf("%q: %d changed, want %d: %+v", version, got, want, top.Queues)
		}
	}
}
