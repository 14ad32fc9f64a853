package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"leveret/cmd/internal/plan"
)

// planText plans a command line in text; its words are split at spaces.
func planText(t *testing.T, command string) string {
	t.Helper()
	code, stdout, stderr := invoke(t, append([]string{"plan"}, strings.Fields(command)...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("plan %s: exit %d, %s", command, code, stderr)
	}
	return stdout
}

func planJSON(t *testing.T, command string) plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := json.Unmarshal([]byte(planText(t, "--format json "+command)), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// mustBe compares a planned number, to six digits, as thirds are among them; nil is -1.
func mustBe(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	has := -1.0
	if got != nil {
		has = *got
	}
	if math.Abs(has-want) > 1e-6*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, has, want)
	}
}

// Expected numbers by hand: producers x limit, or producers x rate x time, times the queues that each message reaches, and for
// streams times their consumers.
func TestPlannedTotals(t *testing.T) {
	for _, c := range []struct {
		command                              string
		sent, sentRate, received, perMessage float64 // -1: not known
	}{
		{"perf-test -x 1 -y 4 -C 100", 100, -1, 400, 4},                                           // C023
		{"perf-test -x 3 -r 2000 -z 240", 1440000, 6000, 1440000, 1},                              // C098
		{"perf-test -x 2 -X 3 -C 5 -y 0", 30, -1, 0, 0},                                           // C069
		{"run --producers 2 --producer-channel-count 3 --pmessages 5 --queue a,b", 30, -1, 60, 2}, // both queues have the key
		{"perf-test -x 15 -y 30 -qp q-%d -qpf 1 -qpt 10 -C 10", 150, -1, 150, 1},                  // C080
		{"perf-test -x 15 -y 5 -qp q-%d -qpf 1 -qpt 10 -C 10", 150, -1, 100, 2. / 3},              // q-1 to q-5 are read, by 10 of the producers
		{"perf-test -x 2 -y 10 -qp q-%d -qpf 1 -qpt 10 -C 10 -t fanout", 20, -1, 200, 10},         //
		{"perf-test -sq -u s -x 1 -y 2 -C 10000", 10000, -1, 20000, 2},                            // each reads all of a stream
		{"perf-test -C 10 -r 5 -z 60 -u q", 10, 5, 10, 1},                                         // the limit comes first
		{"perf-test -C 1000 -r 5 -z 60 -u q", 300, 5, 300, 1},                                     // the time comes first
		{"perf-test -vr 10:5 -vr 0:5 -z 20 -u q", 100, 5, 100, 1},                                 // 2 x 50
		{"perf-test -P 0.5 -z 10 -u q", 20, 2, 20, 1},                                             // C105
		{"perf-test -r 0 -u q -z 10", 0, 0, 0, 1},                                                 // connects only
		{"perf-test -u q", -1, -1, -1, 1},                                                         // as much as goes
		{"perf-test -u q -C 100 -D 20 -y 2", 100, -1, 40, 1},                                      // consumers stop first
		{"perf-test -x 0 -u q", 0, 0, -1, -1},                                                     // what is in the queue
		{"perf-test -K -u q -C 10", 10, -1, 0, 0},                                                 // no binding fits
		{"perf-test -K -k # -t topic -u q -C 10", 10, -1, 10, 1},                                  //
		{"perf-test -rkcs 3 -t fanout -u a,b -C 9", 9, -1, 18, 2},                                 //
		{"perf-test -t x-random -u q -C 10", 10, -1, -1, -1},                                      // a plugin's type
		{"perf-test -p=strict -e mine -u q -C 10", 10, -1, -1, -1},                                // bindings are others'
		{"perf-test --predeclared=strict -u q -C 10", 10, -1, 10, 1},                              // by the default exchange
		{"perf-test -na -u q -C 10 -y 1", 10, -1, -1, 1},                                          // refused ones come again
		{"perf-test -na -re false -u q -C 10 -y 1", 10, -1, 10, 1},                                //
	} {
		p := planJSON(t, c.command)
		mustBe(t, c.command+": sent", p.Expected.Sent, c.sent)
		mustBe(t, c.command+": sent a second", p.Expected.SentPerSecond, c.sentRate)
		mustBe(t, c.command+": received", p.Expected.Received, c.received)
		mustBe(t, c.command+": deliveries a message", p.Expected.FanOut, c.perMessage)
	}
}

func TestPlanShowsWhoHasWhichQueue(t *testing.T) {
	p := planJSON(t, "perf-test -x 15 -y 30 -qp q-%d -qpf 1 -qpt 10 -C 10")
	if c := p.Connections; c != (plan.Connections{Total: 45, Producers: 15, Consumers: 30, Channels: 45}) {
		t.Errorf("connections %+v", c)
	}
	if len(p.Queues) != 2 || len(p.Producers) != 1 || len(p.Consumers) != 2 {
		t.Fatalf("groups: %+v", p)
	}
	for i, want := range []struct {
		first, last string
		producers   int
		messages    float64
	}{{"q-1", "q-5", 2, 20}, {"q-6", "q-10", 1, 10}} {
		q := p.Queues[i]
		if q.Count != 5 || q.First != want.first || q.Last != want.last || q.Producers != want.producers || q.Consumers != 3 || !q.ByName || *q.Messages != want.messages {
			t.Errorf("queues %d: %+v", i, q)
		}
	}
	// 15 consumers share 20 messages of a queue by three, 15 share 10.
	for i, want := range []float64{20. / 3, 10. / 3} {
		if c := p.Consumers[i]; c.Count != 15 || c.Queues != 1 || !c.Shared {
			t.Errorf("consumers %d: %+v", i, c)
		} else {
			mustBe(t, "messages of a consumer", c.Messages, want)
		}
	}
}

// 500 queues are a few lines, and nothing is connected to: no such host exists.
func TestPlanIsShort(t *testing.T) {
	text := planText(t, "perf-test -h amqp://user:top-"+"hidden@no-such-host.invalid -qp perf-test-%03d -qpf 1 -qpt 500 -x 500 -y 500 -r 2 -z 60 -f persistent -c 10")
	if n := strings.Count(text, "\n"); n > 14 {
		t.Errorf("%d lines", n)
	}
	if strings.Contains(text, "top-hidden") {
		t.Error("the password is in it")
	}
	for _, want := range []string{"no-such-host.invalid", "1,000 with 1,000 channels", "perf-test-001 ... perf-test-500 (500): classic, durable",
		"1 producer and 1 consumer each; 120 messages, 2 a second each", "persistent, confirms with a window of 10",
		"500 producers: 120 messages", "sent: 60,000 messages, 1,000 a second", "received: 60,000 messages, 1,000 a second; 1 a message", "1m0s have passed"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestPlanSaysWhatTheRunWouldNote(t *testing.T) {
	if text := planText(t, "perf-test -x 1 -y 1 -u q -r 10 -z 5"); !strings.Contains(text, "begins at random within 1s (--producer-random-start-delay)") {
		t.Error(text)
	}
	if text := planText(t, "perf-test -x 1 -y 1 -u q -r 10 -z 5 -prsd 0"); strings.Contains(text, "at random") {
		t.Error(text)
	}
	text := planText(t, "perf-test -x 1 -y 1 -p -e mine -C 10 -hst 4")
	for _, want := range []string{"no consumer is started", "no Java virtual machine", "declared if it is not there"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestPlanRefusesWhatTheRunRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"perf-test -qq", "quorum queue needs a name"},
		{"perf-test -q 10 -A 20 -y 1", "20"}, // C081
		{"run --queue-pattern q --queue-pattern-from 1 --queue-pattern-to 2", "no place for the number"},
		{"--format xml run", "--format=xml"},
		{"--format", "needs a value"},
		{"walk --rate 5", `unexpected word "walk"`},
		{"--no-such-option", "unknown option"},
	} {
		code, stdout, stderr := invoke(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("plan %s: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"plan", "--help"}, {"help", "plan"}, {"plan", "perf-test", "--help"}} {
		if code, stdout, stderr := invoke(t, args...); code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
}
