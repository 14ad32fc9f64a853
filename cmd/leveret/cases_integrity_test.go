package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// emptied reads the queue q until it is empty, and returns what the analysis says of that capture together with others.
func emptied(t *testing.T, uri string, captures ...string) *result.Result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "emptied")
	if code, _, stderr := invoke(t, "perf-test", "-h", uri, "-x", "0", "-y", "1", "-p", "-u", "q", "-ew", "empty", "--capture", dir); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, stdout, stderr := invoke(t, append(append([]string{"analyze"}, captures...), dir, "--format", "json")...)
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	return &r
}

// findingText is "" where there is no such finding.
func findingText(r *result.Result, code string) string {
	for _, f := range r.Findings {
		if f.Code == code {
			return f.Text
		}
	}
	return ""
}

// C048: a full queue that refuses: most publishes are nacked, which is no loss; a later consumer gets the acked ones, all.
func TestC048RefusedByAFullQueue(t *testing.T) {
	t.Parallel()
	uri := rabbitmqtest.Shared(t).URI(t)
	first := fill(t, uri, "-qa", "x-max-length=10,x-overflow=reject-publish", "-c", "100", "-C", "1000")
	r := emptied(t, uri, first)
	n := r.Counts
	if n.Sent != 1000 || n.Confirmed+n.Nacked != 1000 || n.Nacked < 500 || n.Received != n.Confirmed || n.ReceivedUnique != n.Received || n.Lost+n.Missing+n.Foreign != 0 {
		t.Errorf("%s, %+v", r.Verdict, n)
	}
	if d := r.Latency.Confirm.Service; d == nil || d.Count != n.Confirmed || findingText(r, "nacked") == "" || r.Verdict != result.Pass {
		t.Errorf("%s, confirm latency %+v, findings %+v", r.Verdict, d, r.Findings)
	}
}

// C049: a queue with a length limit throws away its oldest messages although they were confirmed: the last ten are there.
func TestC049ThrownAwayByALengthLimit(t *testing.T) {
	t.Parallel()
	uri := rabbitmqtest.Shared(t).URI(t)
	first := fill(t, uri, "-qa", "x-max-length=10", "-c", "100", "-C", "1000")
	r := emptied(t, uri, first)
	n := r.Counts
	if n.Confirmed != 1000 || n.Received != 10 || n.ReceivedUnique != 10 || n.Missing != 990 || n.RemovedByRule != 990 || n.Lost+n.Corrupt+n.Foreign != 0 || r.Verdict != result.Pass {
		t.Errorf("%s, %+v", r.Verdict, n)
	}
	if text := findingText(r, "removed_by_rule"); !strings.Contains(text, "producer 0 sequence 0 to 989") || !strings.Contains(text, "x-max-length=10") {
		t.Errorf("%q", text)
	}
}

// C004, C073: the run stops by time with most messages still in the queue: they are queued, none is called lost, the rate of receiving
// is that of the run alone, and the backlog is named.
func TestC004StoppedWithABacklog(t *testing.T) {
	t.Parallel()
	r, _, code, stdout, stderr := perfTest(t, "-h", rabbitmqtest.Shared(t).URI(t), "-z", "2", "-x", "1", "-y", "1", "-r", "3000", "-prsd", "0", "-R", "300", "-q", "20", "-st", "1", "-u", "q", "-c", "500")
	n := r.Counts
	if code != exitOK || r.Verdict != result.Inconclusive || n.Lost+n.Missing+n.Duplicates != 0 || n.Received+n.QueuedAtStop != n.Sent || n.Sent == 0 || n.QueuedAtStop < n.Sent/2 {
		t.Errorf("exit %d, %s, %+v\n%s%s", code, r.Verdict, n, stdout, stderr)
	}
	if findingText(r, "backlog") == "" || findingText(r, "not_drained") == "" || r.Rates.Received == nil || *r.Rates.Received > 1000 {
		t.Errorf("received %v a second, findings %+v", r.Rates.Received, r.Findings)
	}
}

// C022: what reaches no queue is confirmed all the same; no success is made of it. That nothing is bound to a built-in exchange the
// run cannot know, so that the messages are not called unroutable.
func TestC022ConfirmedAndNotRouted(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for _, c := range []struct {
		flag     string
		returned int64
	}{{"", 0}, {"-f mandatory", 100}} {
		r, _, code, stdout, stderr := perfTest(t, append([]string{"-h", uri, "-x", "1", "-y", "0", "-e", "amq.direct", "-k", "nobody", "-c", "10", "-C", "100"}, strings.Fields(c.flag)...)...)
		n := r.Counts
		if code == exitFailed || r.Verdict == result.Pass || n.Sent != 100 || n.Confirmed != 100 || n.Received != 0 || n.Returned != c.returned || n.Lost != 0 {
			t.Errorf("%s: exit %d, %s, %+v\n%s%s", c.flag, code, r.Verdict, n, stdout, stderr)
		}
		if !strings.Contains(stderr, "confirmed does not mean routed") {
			t.Errorf("%s: %s", c.flag, stderr)
		}
	}
}

// C038: bodies are checked: all are whole that come from a real broker; one flipped byte in the body of message 777 is one
// damaged message, which is named, and not also lost.
func TestC038DamagedBodies(t *testing.T) {
	load := []string{"--size", "4096", "--confirm", "100", "--queue", "q", "--qos", "100"}
	r, code, _ := record(t, append(load, "--uri", rabbitmqtest.Shared(t).URI(t), "--producers", "4", "--consumers", "4", "--pmessages", "1500")...)
	if code != exitOK {
		t.Errorf("exit %d", code)
	}
	mustBeClean(t, r, 6000)
	r, code, _ = record(t, append(load, "--pmessages", "1000", "--faults", "corrupt@777:byte=3000")...)
	if n := r.Counts; code != exitVerdict || n.Corrupt != 1 || n.CorruptUnattributed != 0 || n.Lost+n.Missing+n.Duplicates != 0 || n.Received != 1000 {
		t.Errorf("exit %d, %+v", code, n)
	}
	mustBeginWith(t, r, "corrupt", 776) // message numbers count from 1, sequences from 0
}
