package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// mark marks a capture, and fails the test where that fails.
func mark(t *testing.T, capture, text string, options ...string) {
	t.Helper()
	if code, _, stderr := invoke(t, append([]string{"mark", capture, text}, options...)...); code != exitOK {
		t.Fatalf("mark: exit %d\n%s", code, stderr)
	}
}

func analyzedJSON(t *testing.T, capture string, options ...string) *result.Result {
	t.Helper()
	_, stdout, stderr := invoke(t, append([]string{"analyze", capture, "--quiet", "--format", "json"}, options...)...)
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return &r
}

// The queue of a run with a slow consumer is purged with RabbitMQ's own tool, and the purge marked, while the run goes on: what is
// missing went with the purge, all of it sent before the mark and none of it received; without the mark it is lost.
func TestMarkedPurge(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	b := inBackground(t, "--uri "+uri+" --queue slow --auto-delete false --rate 500 --pmessages 1500 --confirm 100 --consumer-rate 200 --qos 5")
	connection, _ := filled(t, uri, "slow", 50)
	connection.Close()
	node.Ctl(t, "--vhost", vhost, "purge_queue", "slow")
	mark(t, b.dir, "purged by hand", "--purged", "slow")
	mark(t, b.dir, "that was all")
	<-b.done
	r := analyzedJSON(t, b.dir)
	c := &r.Counts
	if c.RemovedByRule < 50 || c.Lost != 0 || c.Missing != c.RemovedByRule || c.Sent != c.ReceivedUnique+c.Missing || r.Verdict != result.Pass {
		t.Errorf("%s %+v", r.Verdict, c)
	}
	if len(r.Marks) != 2 || r.Marks[0].Queue != "slow" || r.Marks[0].Text != "purged by hand" || r.Marks[1].Text != "that was all" ||
		r.Marks[1].AtNS < r.Marks[0].AtNS || r.Marks[0].AtNS < r.Window.StartNS {
		t.Fatalf("%+v", r.Marks)
	}
	_, stdout, _ := invoke(t, "export", b.dir, "--where", "removed_by_rule", "--format", "jsonl")
	rows := int64(0)
	for lines := bufio.NewScanner(strings.NewReader(stdout)); lines.Scan(); rows++ {
		var m struct {
			Sent     int64  `json:"sent_ns"`
			Received *int64 `json:"received_ns"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Sent >= r.Marks[0].AtNS || m.Received != nil {
			t.Fatalf("%v: %s, marked at %d", err, lines.Text(), r.Marks[0].AtNS)
		}
	}
	if rows != c.RemovedByRule {
		t.Errorf("%d rows of %d removed by a rule", rows, c.RemovedByRule)
	}
	_, text, _ := invoke(t, "analyze", b.dir, "--quiet")
	for _, want := range []string{"purged by hand", "that was all", "purged, as marked, "} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q\n%s", want, text)
		}
	}
	if err := os.Remove(filepath.Join(b.dir, manifest.MarksName)); err != nil {
		t.Fatal(err)
	}
	if without := analyzedJSON(t, b.dir); without.Counts.Lost != c.RemovedByRule || without.Verdict != result.Fail {
		t.Errorf("without the mark: %s %+v", without.Verdict, without.Counts)
	}
}

// A URI that was copied into a mark brings no password into the capture.
func TestMarkLeavesPasswordsOut(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--pmessages", "10")
	secret := fmt.Sprintf("s%x", rand.Uint64())
	code, _, stderr := invoke(t, "mark", dir, "moved to amqps://user:"+secret+"@host/vhost", "--at", "0")
	b, err := os.ReadFile(filepath.Join(dir, manifest.MarksName))
	if code != exitOK || err != nil || !strings.Contains(string(b), "moved to amqps://user@host/vhost") {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stderr, b)
	}
	if strings.Contains(stderr+string(b), secret) {
		t.Errorf("the password is in %s%s", stderr, b)
	}
}

// What is wrong with a mark is said with what to do, and nothing is written.
func TestMarkMistakes(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--queue", "orders,letters", "--pmessages", "10")
	tests := []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, exitUsage, "which capture? leveret mark CAPTURE TEXT"},
		{[]string{dir}, exitUsage, "what happened?"},
		{[]string{dir, "node", "stopped"}, exitUsage, `put what happened between quotation marks, "node stopped"`},
		{[]string{dir, "stopped"}, exitUsage, "the capture is over, it was recorded from"},
		{[]string{dir, "stopped", "--at", "3600"}, exitUsage, "is outside of what was recorded, from"},
		{[]string{dir, "stopped", "--at", "2026-01-31 13:30"}, exitUsage, "must be seconds after the start barrier, such as 12.5, or a time such as"},
		{[]string{dir, "stopped", "--at", "2999-01-31 13:30:05"}, exitUsage, "--at=2999-01-31 13:30:05: the year must be from 1970 to 2261"},
		{[]string{dir, "two\nlines", "--at", "0"}, exitUsage, "must be one line of UTF-8"},
		{[]string{dir, " ", "--at", "0"}, exitUsage, "without a text"},
		{[]string{dir, strings.Repeat("x", 1001), "--at", "0"}, exitUsage, "a text of 1001 bytes: at most 1000"},
		{[]string{dir, "purged", "--at", "0", "--purged", "order"}, exitUsage, "--purged=order: is no queue of the run; they are orders, letters"},
		{[]string{filepath.Join(dir, "none"), "stopped"}, exitFailed, "there is no capture at " + filepath.Join(dir, "none") + " (yet)"},
		{[]string{t.TempDir(), "stopped"}, exitFailed, "has neither manifest.json nor start.json"},
	}
	for _, tt := range tests {
		code, stdout, stderr := invoke(t, append([]string{"mark"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.says) || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d\n%s%s", tt.args, code, stderr, stdout)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, manifest.MarksName)); err == nil {
		t.Error("something was written")
	}
	mark(t, dir, "at the start", "--at", "0")
	if r := analyzedJSON(t, dir); len(r.Marks) != 1 || r.Marks[0].AtNS != r.Window.StartNS || !r.Complete || r.Verdict != result.Pass {
		t.Errorf("%s %+v, the run started at %d", r.Verdict, r.Marks, r.Window.StartNS)
	}
}
