package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// background is a run that goes on until it is interrupted.
type background struct {
	dir      string
	stop     context.CancelFunc
	done     chan struct{}
	code     int
	out, err bytes.Buffer
}

func inBackground(t *testing.T, args string) *background {
	t.Helper()
	return inBackgroundFor(t, 2*time.Minute, strings.Fields(args)...)
}

// inBackgroundFor is with the longest time that the run may take.
func inBackgroundFor(t *testing.T, longest time.Duration, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	b := &background{dir: filepath.Join(t.TempDir(), "capture"), stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.code = run(ctx, append([]string{"run", "--quiet", "--format", "json", "--capture", b.dir}, args...), strings.NewReader(""), &b.out, &b.err)
	}()
	t.Cleanup(func() { cancel(); <-b.done })
	return b
}

// end interrupts the run, and returns its result and what it planned.
func (b *background) end(t *testing.T) (*result.Result, *manifest.Manifest) {
	t.Helper()
	b.stop()
	<-b.done
	var r result.Result
	var m manifest.Manifest
	text, err := os.ReadFile(filepath.Join(b.dir, manifest.FinalName))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		err = json.Unmarshal(b.out.Bytes(), &r)
	}
	if err != nil || b.code != exitInterrupted {
		t.Fatalf("exit %d, %v\n%s", b.code, err, &b.err)
	}
	return &r, &m
}

// C080 and exclusive queues, with a look at RabbitMQ while the runs go on: who consumes from what.
func TestRabbitMQHasTheConsumersThatWereLaidOut(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := "--uri " + node.URIFor(vhost)
	many := inBackground(t, uri+" --exchange many --queue-pattern q-%02d --queue-pattern-from 1 --queue-pattern-to 10 --producers 15 --consumers 30 --consumer-args x-priority=5 --qos 7 --rate 10 --confirm 50")
	own := inBackground(t, uri+" --exchange own --exclusive --queue x,y --consumers 2 --consumer-channel-count 2 --routing-key k --rate 10 --autoack")
	var consumers []string
	for deadline := time.Now().Add(time.Minute); len(consumers) < 38; {
		if time.Now().After(deadline) {
			t.Fatalf("only %d consumers: %q\n%s%s", len(consumers), consumers, &many.err, &own.err)
		}
		consumers = listed(t, node, vhost, "list_consumers", "queue_name", "ack_required", "prefetch_count", "arguments")
	}
	var want []string
	for q := range 10 {
		for range 3 {
			want = append(want, fmt.Sprintf("q-%02d true 7 [[x-priority signedint 5]]", q+1))
		}
	}
	for _, q := range []string{"x", "y"} {
		for range 4 {
			want = append(want, q+" false 0 []")
		}
	}
	// RabbitMQ names the type of the number by its width on the wire; what matters is the number.
	for i := range consumers {
		consumers[i] = strings.Replace(consumers[i], "x-priority long ", "x-priority signedint ", 1)
	}
	if !slices.Equal(consumers, want) {
		t.Errorf("consumers %q\nwant %q", consumers, want)
	}
	queues := listed(t, node, vhost, "list_queues", "name", "exclusive", "auto_delete", "consumers")
	for i, q := range queues {
		want := fmt.Sprintf("q-%02d false true 3", i+1)
		if i >= 10 {
			want = []string{"x", "y"}[i-10] + " true true 4"
		}
		if q != want || len(queues) != 12 {
			t.Errorf("queues %q: %q, want %q", queues, q, want)
		}
	}
	bindings := listed(t, node, vhost, "list_bindings", "source_name", "destination_name", "routing_key")
	if got := beginning(bindings, "own "); !slices.Equal(got, []string{"own x k", "own y k"}) {
		t.Errorf("bindings of the exclusive queues: %q", got)
	}
	if got := beginning(bindings, "many "); len(got) != 10 || got[0] != "many q-01 q-01" {
		t.Errorf("bindings of the pattern: %q", got)
	}
	r, m := many.end(t)
	if r.Counts.Sent == 0 || r.Counts.Received != r.Counts.Sent || r.Counts.Lost+r.Counts.Duplicates != 0 {
		t.Errorf("pattern: %+v", r.Counts)
	}
	keys := map[string]int{}
	for _, p := range m.Producers {
		keys[m.Topology.Routes[p.Route].RoutingKey]++
	}
	if len(m.Producers) != 15 || len(keys) != 10 || keys["q-01"] != 2 || keys["q-05"] != 2 || keys["q-06"] != 1 || keys["q-10"] != 1 {
		t.Errorf("producers by key: %v", keys)
	}
	r, m = own.end(t)
	if r.Counts.Sent == 0 || r.Counts.Received != 2*r.Counts.Sent || r.Counts.Lost+r.Counts.Duplicates != 0 || m.Connections != 2 {
		t.Errorf("exclusive: %d connections, %+v", m.Connections, r.Counts)
	}
}

// Queues that are only polled would stay for ever.
func TestPolledQueuesAreGoneAfterTheRun(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	r, code, _ := record(t, "--uri", node.URIFor(vhost), "--queue", "q", "--polling", "--pmessages", "50", "--confirm", "10")
	if code != exitOK || r.Counts.Received != 50 {
		t.Errorf("exit %d, %+v, findings %+v", code, r.Counts, r.Findings)
	}
	if left := listed(t, node, vhost, "list_queues", "name"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// C077, C078: existing queues of other properties, and predeclared ones.
func TestC078PredeclaredFromTheCommandLine(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	// The first run leaves a durable queue behind.
	if _, code, _ := record(t, "--uri", uri, "--queue", "existing", "--flag", "persistent", "--auto-delete", "false", "--pmessages", "5", "--confirm", "1"); code != exitOK {
		t.Fatal("exit", code)
	}
	for _, c := range []struct {
		args  string
		code  int
		words []string
	}{
		{"--queue existing --auto-delete true --pmessages 1", exitFailed, []string{"406", "received 'false'", "current is 'true'", "--flag persistent", "--predeclared"}},
		{"--predeclared=strict --exchange nope --consumers 0 --pmessages 10", exitFailed, []string{"404", "nope", "--predeclared=strict"}},
		{"--predeclared=strict --queue nope --pmessages 10", exitFailed, []string{"404", "nope"}},
		{"--exchange direct --type fanout --queue other --pmessages 1", exitFailed, []string{"406", "'fanout'", "'direct'", "--type direct", "--predeclared"}},
	} {
		code, _, stderr := invoke(t, append([]string{"run", "--quiet", "--uri", uri, "--capture", filepath.Join(t.TempDir(), "c")}, strings.Fields(c.args)...)...)
		if code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s", c.args, code, c.code, stderr)
		}
		for _, word := range c.words {
			if !strings.Contains(stderr, word) {
				t.Errorf("%s: %q does not say %q", c.args, stderr, word)
			}
		}
	}
	for _, c := range []struct {
		args                   string
		sent, received, queued int64
	}{
		{"--predeclared --queue existing --consumers 0 --pmessages 10 --confirm 5", 10, 0, 10},                   // bound, and reached
		{"--predeclared=strict --queue existing --consumers 0 --pmessages 10 --confirm 5", 10, 0, 10},            // by its name; of the other 10 this run knows nothing
		{"--predeclared --queue existing --pmessages 10 --confirm 5 --exchange amq.direct", 10, 30, 0},           // and read
		{"--predeclared --queue existing,more --exchange new --type fanout --pmessages 5 --confirm 5", 5, 10, 0}, // both made and found
	} {
		r, code, _ := record(t, append([]string{"--uri", uri}, strings.Fields(c.args)...)...)
		n := r.Counts
		if code != exitOK || n.Sent != c.sent || n.Received != c.received || n.QueuedAtStop != c.queued || n.Lost+n.Missing != 0 {
			t.Errorf("%s: exit %d, %+v, findings %+v", c.args, code, n, r.Findings)
		}
	}
}

// A stream is published to, and then read twice from its beginning by others: each subscription gets all of it.
func TestStreamIsReadTwice(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	stream := []string{"--uri", node.URI(t), "--queue", "s", "--stream-queue", "--routing-key", "k", "--confirm", "1000"}
	published, code, first := record(t, append(stream, "--consumers", "0", "--pmessages", "10000")...)
	if code != exitOK || published.Counts.Confirmed != 10000 || published.Verdict != result.Inconclusive {
		t.Fatalf("publishing: exit %d, %s, %+v", code, published.Verdict, published.Counts)
	}
	_, code, second := record(t, append(stream, "--producers", "0", "--consumers", "2", "--stream-consumer-offset", "first", "--exit-when", "idle")...)
	if code != exitOK {
		t.Fatal("reading: exit", code)
	}
	code, stdout, stderr := invoke(t, "analyze", first, second, "--format", "json")
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	if code != exitOK || r.Verdict != result.Pass || r.Counts.Sent != 10000 || r.Counts.Received != 20000 || r.Counts.ReceivedUnique != 20000 || r.Counts.Lost+r.Counts.Missing != 0 {
		t.Errorf("exit %d, %s, %+v, findings %+v", code, r.Verdict, r.Counts, r.Findings)
	}
}
