package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// churned runs a churn into a fresh capture and returns its result with the exit code.
func churned(t *testing.T, args ...string) (*result.Result, int, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	code, stdout, stderr := invoke(t, slices.Concat([]string{"churn"}, args, []string{"--quiet", "--format", "json", "--capture", dir})...)
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("exit %d, no result (%v)\n%s", code, err, stderr)
	}
	if len(r.Churn) != 1 {
		t.Fatalf("%+v", r.Churn)
	}
	return &r, code, dir
}

// Each kind through the command against RabbitMQ, beside each other in one virtual host: all were made and undone, the record says so
// again when it is analyzed once more, and the broker has nothing of it any more.
func TestRabbitMQChurn(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	t.Run("kinds", func(t *testing.T) {
		for _, c := range []struct {
			args  string
			steps []string
		}{
			{"connection --channels 2", []string{"tcp connect", "amqp handshake", "channel.open", "connection.close"}},
			{"channel", []string{"channel.open", "channel.close"}},
			{"queue --exchange amq.topic", []string{"queue.declare", "queue.bind", "queue.delete"}},
			{"consumer --quorum-queue", []string{"basic.consume", "basic.cancel"}},
			{"binding --exchange amq.topic", []string{"queue.bind", "queue.unbind"}},
		} {
			t.Run(c.args, func(t *testing.T) {
				t.Parallel()
				r, code, dir := churned(t, append(strings.Fields(c.args), "--uri", uri, "--rate", "50", "--lifetime", "0.1", "--time", "1")...)
				if code != exitOK || r.Verdict != result.Pass || len(r.Findings) > 0 || !r.Complete {
					t.Errorf("exit %d, %s: %+v", code, r.Verdict, r.Findings)
				}
				x := r.Churn[0]
				var steps []string
				for _, s := range x.Steps {
					steps = append(steps, s.Step)
					want := int64(50)
					if s.Step == "channel.open" && strings.HasPrefix(c.args, "connection") {
						want = 100
					}
					if s.Done != want || s.Failed != 0 {
						t.Errorf("%+v", s)
					}
				}
				if x.Made != 50 || x.Undone != 50 || !slices.Equal(steps, c.steps) || x.Make.Response == nil || x.Make.Response.Count != 50 || *x.Left != 0 {
					t.Errorf("%+v, %q", x, steps)
				}
				again := analyzedCapture(t, dir)
				if x.Make.Response == nil || x.Make.Response.P99NS == nil {
					t.Fatal("no latency")
				}
				if *again.Churn[0].Make.Response.P99NS != *x.Make.Response.P99NS || again.Verdict != r.Verdict {
					t.Errorf("analyzed again: %+v", again.Churn[0].Make.Response)
				}
			})
		}
	})
	if left := listed(t, node, vhost, "list_queues", "name"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	// The management API goes on naming connections for a while; rabbitmqctl asks those that there are.
	for deadline := time.Now().Add(20 * time.Second); ; {
		connections := node.Ctl(t, "list_connections", "--quiet", "vhost", "name")
		if !strings.Contains(connections, vhost) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("connections are left: %s", connections)
		}
	}
}

// A broker that is killed in the middle fails the operations from then on, each with its reason; the load goes on to its end, and the
// verdict is FAIL.
func TestChurnOfABrokerThatIsKilled(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"connection", "queue"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			broker := exec.Command(os.Args[0], "broker", "--listen", "127.0.0.1:0")
			broker.Env = append(os.Environ(), asMain+"=1")
			out, err := broker.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := broker.Start(); err != nil {
				t.Fatal(err)
			}
			defer broker.Wait()
			defer broker.Process.Kill()
			uri, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(1200*time.Millisecond, func() { broker.Process.Kill() })
			r, code, _ := churned(t, what, "--uri", strings.TrimSpace(uri), "--rate", "100", "--time", "2.5", "--shutdown-timeout", "2")
			x := r.Churn[0]
			if code != exitVerdict || r.Verdict != result.Fail || !r.Complete || x.Made == 0 || x.Failed == 0 || x.Made+x.Failed+x.NotBegun != 250 || len(x.Failures) == 0 {
				t.Errorf("exit %d, %s, %+v", code, r.Verdict, x)
			}
			if !slices.ContainsFunc(r.Findings, func(f result.Finding) bool {
				return f.Code == "churn_failed" && strings.Contains(f.Text, "refused")
			}) {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}

// Ctrl-C in the middle: what is held is undone, the record is closed, and the report is made.
func TestChurnInterrupted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "capture")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(filepath.Join(dir, manifest.StartName)); err != nil && t.Context().Err() == nil; _, err = os.Stat(filepath.Join(dir, manifest.StartName)) {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
		cancel()
	}()
	var stdout, stderr strings.Builder
	code := run(ctx, []string{"churn", "consumer", "--rate", "100", "--lifetime", "50", "--capture", dir}, strings.NewReader(""), &stdout, &stderr)
	report := strings.Join(strings.Fields(stdout.String()), " ")
	if code != exitInterrupted || !strings.Contains(report, "interrupted: the run was interrupted by the user") || !strings.Contains(report, "Consumer churn") ||
		!strings.Contains(report, "0 left at the broker") || !strings.Contains(stderr.String(), "ended: interrupted, after ") {
		t.Errorf("exit %d\n%s\n%s", code, &stdout, &stderr)
	}
	r := analyzedCapture(t, dir)
	if c := r.Churn[0]; c.Made == 0 || c.Undone != c.Made || !r.Complete || c.Undo.Service == nil || c.Undo.Service.Count != c.Undone {
		t.Errorf("%+v", c)
	}
}

func TestChurnMistakes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"churn", exitUsage, "what? leveret churn KIND, one of connection, channel, queue, consumer, binding"},
		{"churn vhost", exitUsage, `"vhost" is none of the kinds: connection, channel, queue, consumer, binding`},
		{"churn queue consumer", exitUsage, `2 kinds, "consumer" among them`},
		{"churn channel --channels 3", exitUsage, "--channels: means nothing for channel churn"},
		{"churn channel --time 1 --warmup 2", exitUsage, "the run lasts 1 s"},
		{"churn channel --uri amqp://127.0.0.1:1 --faults drop@3", exitUsage, "--faults works on the embedded broker only"},
		{"churn queue --uri amqp://127.0.0.1:1", exitFailed, "refused"},
		{"churn queue --time 1 --exchange nowhere --capture " + t.TempDir() + "/c", exitFailed, "--exchange=nowhere: "},
	} {
		code, stdout, stderr := invoke(t, strings.Fields(c.args)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s\n%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}

// A capture of operations has no messages: export says what it has, and compare that there is nothing to compare.
func TestChurnIsNoRun(t *testing.T) {
	_, _, dir := churned(t, "queue", "--rate", "100", "--operations", "5") // two steps each, on the embedded broker
	code, stdout, stderr := invoke(t, "export", dir, "--format", "jsonl")
	if code != exitOK || stdout != "" || !strings.Contains(stderr, "this capture holds no messages; it holds churn: --rows churn") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	file := filepath.Join(t.TempDir(), "x.jsonl")
	code, _, stderr = invoke(t, "export", dir, "--rows", "churn", "-o", file)
	if b, err := os.ReadFile(file); code != exitOK || err != nil || strings.Count(string(b), "\n") != 10 || strings.Contains(stderr, "no messages") {
		t.Errorf("exit %d, %v\n%s\n%s", code, err, b, stderr)
	}
	_, _, messages := record(t, "--pmessages", "10")
	for _, args := range [][]string{{messages, dir}, {dir, messages}} {
		code, stdout, stderr = invoke(t, append([]string{"compare"}, args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, dir+" holds churn and no messages: churn captures cannot be compared") {
			t.Errorf("compare %v: exit %d\n%s\n%s", args, code, stdout, stderr)
		}
	}
}
