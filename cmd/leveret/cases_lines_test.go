package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
)

// Real reports that PerfTest's command lines must get right, by the numbers they have in the project's list.

// noNumber is what a division by zero prints.
var noNumber = regexp.MustCompile(`\b(NaN|Inf|Infinity)\b`)

func TestCasesAsPerfTestLines(t *testing.T) {
	t.Parallel()
	uri := rabbitmqtest.Shared(t).URI(t)
	for _, c := range []struct {
		line           string
		sent, received int64
		verdict        result.Verdict
		said           string // on standard error or output
	}{
		// C001, with a faster rate: the pattern counts, not -u; two of its four queues have a producer and a consumer.
		{"-x 2 -y 2 -u q1 -qp c1-%d -qpf 1 -qpt 4 -ad false -ct 5 -mp priority=5 -vr 500:5 -pmessages 100", 200, 200, result.Pass, "2 producers, 2 consumers, 4 queues"},
		// C025: competing consumers; and priorities, with which order is not judged.
		{"-x 1 -y 4 -u c25 -C 10000 -c 500 -q 20", 10000, 10000, result.Pass, ""},
		{"-x 1 -y 1 -u c25p -qa x-max-priority=5 -mp priority=3 -C 500 -c 50", 500, 500, result.Pass, "order"},
		// C077: a built-in exchange is not declared again; a quorum queue is durable and not auto-delete.
		{"-e amq.direct -f persistent -u c77 -C 10", 10, 10, result.Pass, ""},
		{"-qq -u c77q -ad true -C 10 -c 5", 10, 10, result.Pass, "--auto-delete=true has no effect"},
		// C105: one message, and none in a whole run.
		{"-x 1 -y 1 -P 60 -z 1 -prsd 0 -u c105", 1, 1, result.Pass, "Reached time limit"},
		{"-x 1 -y 1 -r 0 -z 1 -u c105", 0, 0, result.Inconclusive, "sending rate avg: 0 msg/s"},
	} {
		t.Run(c.line, func(t *testing.T) {
			r, _, code, stdout, stderr := perfTest(t, append([]string{"-h", uri}, strings.Fields(c.line)...)...)
			n := r.Counts
			if code != exitOK || n.Sent != c.sent || n.Received != c.received || r.Verdict != c.verdict || n.Lost+n.Missing+n.Duplicates+n.OutOfOrder+n.Corrupt != 0 {
				t.Errorf("exit %d, %s, %+v\n%s%s", code, r.Verdict, n, stdout, stderr)
			}
			if !strings.Contains(stdout+stderr, c.said) {
				t.Errorf("no %q in\n%s%s", c.said, stdout, stderr)
			}
			if noNumber.MatchString(stdout + stderr) {
				t.Errorf("no number:\n%s%s", stdout, stderr)
			}
		})
	}
}

// C018, C077, C001: refused before anything is connected; the broker of these lines is not there.
func TestCasesThatAreRefusedBeforeConnecting(t *testing.T) {
	for line, want := range map[string]string{
		"-qp q -qpf 1 -qpt 2":        "no place for the number",
		"-qp q-%s -qpf 1 -qpt 2":     "%s is no verb for a whole number",
		"-qp q-%d-%d -qpf 1 -qpt 2":  "more than one place",
		"-qp q-%d -qpf 5 -qpt 4":     "is above",
		"-qq":                        "quorum queue needs a name",
		"-x 1 -qpg 5":                "unknown option -qpg",
		"-C 10 stray":                `unexpected word "stray"`,
		"-r 1 -q 10 -A 20 -y 1 -u q": "--multi-ack-every=20 with --qos=10",
	} {
		code, stdout, stderr := invoke(t, append([]string{"perf-test", "-h", "amqp://127.0.0.1:1"}, strings.Fields(line)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", line, code, exitUsage, want, stdout, stderr)
		}
	}
}

// C043: a plus sign stays one, and %40 is the at sign: the login works with what was meant only.
func TestC043PasswordsOfURIs(t *testing.T) {
	digits := fmt.Sprint(time.Now().UnixNano())
	for password, written := range map[string]string{"a+" + digits: "a+" + digits, "p@" + digits: "p%40" + digits, "a^b(,d" + digits: "a^b(,d" + digits} {
		b, err := broker.Start(broker.Options{Users: map[string]string{"u": password}})
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]int{written: exitOK, digits: exitFailed} {
			code, _, stderr := invoke(t, "perf-test", "-h", "amqp://u:"+text+"@"+b.Addr().String()+"/", "-C", "1", "--capture", filepath.Join(t.TempDir(), "c"))
			if code != want || strings.Contains(stderr, digits) {
				t.Errorf("exit %d, want %d\n%s", code, want, strings.ReplaceAll(stderr, digits, "***"))
			}
		}
		b.Close()
	}
}

// C045: RabbitMQ from 4.1 on closes a connection whose frame_max is below 8192; its text and the remedy are shown.
func TestC045FrameMaxBelowTheBrokersLeast(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	n := startNewer(t, node.Addr())
	uri := strings.Replace(node.URI(t), node.Addr(), n.listener.Addr().String(), 1)
	code, stdout, stderr := invoke(t, "perf-test", "-h", uri, "-M", "4096", "-C", "1", "--capture", filepath.Join(t.TempDir(), "c"))
	for _, want := range []string{"negotiated frame_max = 4096", "minimum allowed value (8192)", "--framemax"} {
		if code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, no %q\n%s%s", code, want, stdout, stderr)
		}
	}
	if code, _, stderr = invoke(t, "perf-test", "-h", uri, "-M", "8192", "-C", "1", "--capture", filepath.Join(t.TempDir(), "c")); code != exitOK {
		t.Errorf("with 8192: exit %d\n%s", code, stderr)
	}
}

// C068: a consumer that waits for more than is ever sent does not wait for ever, and the reason is named.
func TestC068ConsumerLimitAboveThePublishers(t *testing.T) {
	r, _, code, stdout, stderr := perfTest(t, "-h", rabbitmqtest.Shared(t).URI(t), "-r", "20", "-prsd", "0", "-x", "1", "-C", "10", "-y", "1", "-D", "20", "-u", "q")
	if code != exitOK || r.Verdict != result.Pass || r.Counts.Sent != 10 || r.Counts.Received != 10 || !strings.Contains(r.StopReason, "1 of 1 consumers have not reached their message limit") {
		t.Errorf("exit %d, %s, %q, %+v\n%s%s", code, r.Verdict, r.StopReason, r.Counts, stdout, stderr)
	}
}

// C084: with automatic acks what the broker has pushed is received; what the consumer did not get to is discarded, no loss.
func TestC084AutomaticAcksAndAConsumerRate(t *testing.T) {
	r, m, code, stdout, stderr := perfTest(t, "-h", rabbitmqtest.Shared(t).URI(t), "-a", "-x", "1", "-y", "1", "-R", "100", "-C", "2000", "-z", "2", "-st", "2", "-u", "q", "-c", "100")
	n := r.Counts
	if code != exitOK || n.Sent != 2000 || n.Lost+n.Missing+n.Duplicates != 0 || n.Received+n.QueuedAtStop != 2000 || n.DiscardedAtStop == 0 {
		t.Errorf("exit %d, %s, %+v\n%s%s", code, r.Verdict, n, stdout, stderr)
	}
	// 100 a second, for the run and the drain at most: the rest was not worked on.
	if span := m.Outcome.DrainEndNS - m.Outcome.BarrierNS; n.Received-n.DiscardedAtStop > 100*(span/1e9+2) {
		t.Errorf("%d of %d discarded after %d ns", n.DiscardedAtStop, n.Received, span)
	}
}

// C102: a message above the broker's limit: its text, exit 1, unconfirmed, and not sent again, whether channels are opened again or
// not, at once or only after the run's end.
func TestC102MessageAboveTheBrokersLimit(t *testing.T) {
	t.Parallel()
	b, err := broker.Start(broker.Options{MaxMessageSize: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, recovery := range []string{"-dcr", "", "--reconnect-delay 1ms", "--on-disconnect fail", "-cri 60"} {
		r, m, code, stdout, stderr := perfTest(t, append([]string{"-h", b.URI(), "-s", "17000000", "-C", "1", "-c", "1", "-u", "q"}, strings.Fields(recovery)...)...)
		n := r.Counts
		if code != exitFailed || n.Sent != 1 || n.Unconfirmed != 1 || n.Confirmed+n.Received+n.Lost != 0 || r.Verdict != result.Inconclusive || len(m.Outcome.Failures) != 1 || len(m.Outcome.Recoveries) > 0 {
			t.Errorf("%q: exit %d, %s, %+v, %+v\n%s%s", recovery, code, r.Verdict, n, m.Outcome, stdout, stderr)
		}
		for _, want := range []string{"message size 17000000 is larger than configured max size 16777216", "a smaller --size"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: no %q\n%s", recovery, want, stderr)
			}
		}
	}
}

// C090: one line says why the run ended, and behind it there is the summary alone.
func TestC090StopReasonThenSummary(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	for name, c := range map[string]struct {
		line string
		code int
		want string
	}{
		"time":  {"-z 1 -r 100 -prsd 0", exitOK, "test stopped (Reached time limit)"},
		"limit": {"-C 10", exitOK, "test stopped (Producer reached message limit)"},
		"gone":  {"-r 1000 -prsd 0 -z 4", exitFailed, "test stopped ("},
	} {
		b, err := broker.Start(broker.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			time.AfterFunc(time.Second, func() { b.Close() })
		}
		code, stdout, stderr := invoke(t, append([]string{"perf-test", "-h", b.URI(), "-d", "t1", "-c", "10", "-u", "q", "--capture", filepath.Join(t.TempDir(), "c")}, strings.Fields(c.line)...)...)
		b.Close()
		lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, c.want) })
		if code != c.code || at < 0 || at != len(lines)-5 || strings.Count(stdout, "test stopped (") != 1 {
			t.Errorf("%s: exit %d, want %d\n%s%s", name, code, c.code, stdout, stderr)
		}
		if strings.Count(stderr, "\n") > 40 {
			t.Errorf("%s: the reason is hidden among %d lines\n%s", name, strings.Count(stderr, "\n"), stderr)
		}
	}
}

// C082: the last incomplete group of a consumer that leaves an empty queue is acked, so that nothing comes back.
func TestC082LastGroupIsAcked(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	fill(t, uri, "-C", "15", "-c", "15")
	_, m, code, stdout, stderr := perfTest(t, "-h", uri, "-x", "0", "-y", "1", "-p", "-u", "q", "-A", "10", "-ew", "empty")
	if code != exitOK || m.Outcome.Received != 15 || m.Outcome.Acked != 15 || m.Outcome.Ends[manifest.EndConsumerEmpty] != 1 {
		t.Errorf("exit %d, %+v\n%s%s", code, m.Outcome, stdout, stderr)
	}
	if left := listed(t, node, vhost, "list_queues", "name", "messages"); !slices.Equal(left, []string{"q 0"}) {
		t.Errorf("%q", left)
	}
}

// fill publishes to the queue q, which stays, and has no consumer; it returns the capture's directory.
func fill(t *testing.T, uri string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "filled")
	code, _, stderr := invoke(t, append([]string{"perf-test", "-h", uri, "-x", "1", "-y", "0", "-u", "q", "-k", "k", "-ad", "false", "--capture", dir}, args...)...)
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	return dir
}
