package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/topology"
)

// C080: 15 producers and 30 consumers over 10 queues.
func TestC080LanesGoRoundTheQueues(t *testing.T) {
	l := mustLayOut(t, "--queue-pattern", "q-%d", "--queue-pattern-from", "1", "--queue-pattern-to", "10", "--producers", "15", "--consumers", "30")
	topology.Resolve(l.Topology)
	producers, consumers := make([]int, 10), make([]int, 10)
	for _, p := range l.Producers {
		producers[l.Topology.Routes[p.Route].Queues[0]]++
	}
	for _, c := range l.Consumers {
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
		"given twice":            {[]string{"--queue-args", "x-max-length=10,x-expires=5,x-max-length=20"}, "classic false true [{x-expires 5} {x-max-length 20}]"},
		"as PerfTest types them": {[]string{"--queue-args", "x-max-length=10,x-overflow=reject-publish,x-single-active-consumer=true,x-dead-letter-exchange=amq.default"},
			"classic false true [{x-max-length 10} {x-overflow reject-publish} {x-single-active-consumer true} {x-dead-letter-exchange }]"},
	} {
		q := mustLayOut(t, append(c.args, "--queue", "a", "--qos", "10")...).Topology.Queues[0]
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
	for _, c := range l.Consumers {
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
		"--queue-args a=1,a=2":                                   "--queue-args has a more than once",
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
		if got := strings.Join(l.Notes, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
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
		if got := SettleDurability(top, version); got != want || top.Queues[0].Durable != (want == 1) || top.Queues[1].Durable || top.Queues[3].Durable {
			t.Errorf("%q: %d changed, want %d: %+v", version, got, want, top.Queues)
		}
	}
}
