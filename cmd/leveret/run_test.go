package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/capture/schema"
	"leveret/loadcore/rabbitmqtest"
)

// mustBeClean checks a run in which nothing may be missing, damaged or out of place.
func mustBeClean(t *testing.T, r *result.Result, messages int64) {
	t.Helper()
	c := r.Counts
	if r.Verdict != result.Pass || c.Sent != messages || c.Confirmed != messages || c.Received != messages || c.ReceivedUnique != messages {
		t.Errorf("verdict %s, counts %+v, want PASS and %d; findings %+v", r.Verdict, c, messages, r.Findings)
	}
	if c.Lost+c.Missing+c.Duplicates+c.Corrupt+c.CorruptUnattributed+c.OutOfOrder+c.Foreign+c.Unconfirmed != 0 || !r.Complete {
		t.Errorf("complete %v, counts %+v, want only zeros", r.Complete, c)
	}
}

func TestCleanRunsOverRabbitMQ(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	ca := node.Certificates(t).CACert
	for _, c := range []struct {
		name string
		args []string
	}{
		{"classic queue, manual acks", []string{"--uri", node.URI(t)}},
		{"over TLS", []string{"--uri", node.TLSURI(t), "--cacert", ca}},
		{"persistent on a quorum queue", []string{"--uri", node.URI(t), "--quorum-queue", "--flag", "persistent"}},
		{"multiple acks with prefetch", []string{"--uri", node.URI(t), "--multi-ack-every", "10", "--qos", "100", "--size", "64"}},
		{"automatic acks", []string{"--uri", node.URI(t), "--autoack", "--size", "1024"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, code, _ := record(t, append(c.args, "--queue", "q", "--pmessages", "20000", "--confirm", "1000")...)
			mustBeClean(t, r, 20000)
			if code != exitOK || r.Broker.Embedded || r.Broker.Product != "RabbitMQ" {
				t.Errorf("exit %d, broker %+v", code, r.Broker)
			}
		})
	}
}

func TestManyProducersAndConsumersOverBothBrokers(t *testing.T) {
	for name, uri := range map[string]string{"RabbitMQ": rabbitmqtest.Shared(t).URI(t), "embedded": ""} {
		t.Run(name, func(t *testing.T) {
			r, _, _ := record(t, "--uri", uri, "--producers", "2", "--producer-channel-count", "3", "--consumers", "2",
				"--consumer-channel-count", "2", "--queue", "q", "--pmessages", "2000", "--confirm", "100", "--qos", "50")
			mustBeClean(t, r, 12000)
		})
	}
}

// Without a queue name each consumer has a queue of its own: fan-out 4 is neither loss nor duplication (C023).
func TestServerNamedQueuesFanOut(t *testing.T) {
	for name, uri := range map[string]string{"RabbitMQ": rabbitmqtest.Shared(t).URI(t), "embedded": ""} {
		t.Run(name, func(t *testing.T) {
			r, code, _ := record(t, "--uri", uri, "--consumers", "4", "--pmessages", "100", "--confirm", "10")
			c := r.Counts
			if code != exitOK || r.Verdict != result.Pass || c.Sent != 100 || c.Received != 400 || c.Duplicates != 0 || c.Lost != 0 {
				t.Errorf("exit %d, %s, %+v", code, r.Verdict, c)
			}
		})
	}
}

// The embedded broker loses 7, repeats 5, damages 3 and reorders 2 of 100,000; the analysis has to say exactly that.
func TestFaultsAreCountedToTheMessage(t *testing.T) {
	const faults = "drop@10000-70000/10000,duplicate@1001-1005,corrupt@2000-2002:byte=%d,reorder@3000,reorder@4000"
	for _, c := range []struct{ size, flipped int }{
		{12, 11},  // a byte of the checksum: the identity is intact
		{64, 40},  // a byte of the body
		{1000, 9}, // the checksum again, in a body that is longer than a template
	} {
		t.Run(fmt.Sprintf("%d bytes", c.size), func(t *testing.T) {
			r, code, _ := record(t, "--pmessages", "100000", "--confirm", "1000", "--queue", "q", "--size", fmt.Sprint(c.size),
				"--faults", fmt.Sprintf(faults, c.flipped))
			n := r.Counts
			if n.Sent != 100000 || n.Confirmed != 100000 || n.Lost != 7 || n.Duplicates != 5 || n.Corrupt != 3 || n.CorruptUnattributed != 0 || n.OutOfOrder != 2 {
				t.Errorf("counts %+v", n)
			}
			if code != exitVerdict || r.Verdict != result.Fail {
				t.Errorf("exit %d, verdict %s", code, r.Verdict)
			}
			// Message number N, counted from 1, has sequence N-1.
			for finding, first := range map[string]int64{"lost": 9999, "duplicate": 1000, "corrupt": 1999} {
				mustBeginWith(t, r, finding, first)
			}
		})
	}
}

func mustBeginWith(t *testing.T, r *result.Result, code string, sequence int64) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Code == code {
			if len(f.First) == 0 || f.First[0].Sequence != sequence || f.First[0].Producer != 0 {
				t.Errorf("finding %s begins with %+v, want sequence %d", code, f.First, sequence)
			}
			return
		}
	}
	t.Errorf("no finding %s in %+v", code, r.Findings)
}

// With a flipped byte of the identity the damaged message cannot be told from a lost one; the counts say so.
func TestCorruptIdentityIsNotAttributed(t *testing.T) {
	r, code, _ := record(t, "--pmessages", "1000", "--confirm", "100", "--queue", "q", "--faults", "corrupt@500:byte=3")
	n := r.Counts
	// Byte 3 holds bits 32 to 39 of the identity: the high bits of the sequence and the low ones of the producer. The claimed
	// message was never sent, so the damaged one stays unattributed and its message is missing.
	if code != exitVerdict || n.Corrupt != 1 || n.CorruptUnattributed != 1 || n.Lost != 1 {
		t.Errorf("exit %d, counts %+v", code, n)
	}
}

// C010: interrupted, a capture is closed, readable, and says so.
func TestInterruptLeavesAClosedCapture(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "capture")
			cmd := exec.Command(os.Args[0], "run", "--queue", "q", "--rate", "2000", "--confirm", "100", "--time", "60", "--capture", dir)
			cmd.Env = append(os.Environ(), asMain+"=1")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			time.Sleep(2 * time.Second)
			for range 2 { // as timeout(1) does: that is one
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || strings.Count(stderr.String(), "stopping") != 1 || !strings.Contains(stderr.String(), "recorded into") {
				t.Fatalf("exit %d, want %d\n%s", code, exitInterrupted, stderr.String())
			}
			code, out, _ := invoke(t, "analyze", dir)
			if code != exitOK || !strings.Contains(out, "interrupted") {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
}

// C010: of a run that is killed every whole batch is analyzed; the result is marked incomplete, and nothing is called lost.
func TestC010KilledRunIsAnalyzed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	cmd := exec.Command(os.Args[0], "run", "--queue", "q", "--rate", "5000", "--confirm", "100", "--time", "60", "--capture", dir)
	cmd.Env = append(os.Environ(), asMain+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	written := func() int64 {
		info, err := os.Stat(filepath.Join(dir, manifest.JournalName))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for deadline := time.Now().Add(time.Minute); written() < schema.JournalHeaderSize+8*schema.RecordSize && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	code, out, stderr := invoke(t, "analyze", dir, "--format", "json")
	var r result.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	n := r.Counts
	if code != exitOK || r.Complete || r.Verdict != result.Inconclusive || n.Sent == 0 || n.Lost+n.Missing+n.Duplicates+n.Corrupt != 0 {
		t.Errorf("exit %d, complete %v, %s, %+v\n%s", code, r.Complete, r.Verdict, n, stderr)
	}
}

func TestNoAnalyzeRecordsOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	code, stdout, _ := invoke(t, "run", "--pmessages", "10", "--confirm", "1", "--capture", dir, "--no-analyze")
	if code != exitOK || stdout != "" {
		t.Fatalf("exit %d, stdout %s", code, stdout)
	}
	if code, stdout, _ = invoke(t, "analyze", dir); code != exitOK || !strings.Contains(stdout, "PASS") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
	code, _, stderr := invoke(t, "run", "--pmessages", "10", "--capture", dir)
	if code != exitFailed || !strings.Contains(stderr, dir) {
		t.Errorf("a directory that holds a capture was taken again: exit %d, %s", code, stderr)
	}
}

// A run that failed has the same exit code whether it is analyzed at once or not, and says why.
func TestNoAnalyzeTellsThatTheRunFailed(t *testing.T) {
	args := []string{"run", "--quiet", "--pmessages", "10", "--confirm", "1", "--confirm-timeout", "0.3", "--drain-timeout", "0.1", "--shutdown-timeout", "0.1", "--faults", "stall@3:1h"}
	for _, more := range [][]string{nil, {"--no-analyze"}} {
		code, _, stderr := invoke(t, append(append(args, "--capture", filepath.Join(t.TempDir(), "a")), more...)...)
		if code != exitFailed || more != nil && !strings.Contains(stderr, "not confirmed within") {
			t.Errorf("%v: exit %d\n%s", more, code, stderr)
		}
	}
}

func TestStrictFailsOnInconclusive(t *testing.T) {
	args := []string{"run", "--quiet", "--consumers", "0", "--queue", "q", "--pmessages", "10", "--confirm", "1", "--auto-delete", "false"}
	code, out, stderr := invoke(t, append(args, "--capture", filepath.Join(t.TempDir(), "a"))...)
	if code != exitOK || !strings.Contains(out, "INCONCLUSIVE") || !strings.Contains(stderr, "INCONCLUSIVE:") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	if code, _, _ = invoke(t, append(args, "--strict", "--capture", filepath.Join(t.TempDir(), "b"))...); code != exitVerdict {
		t.Errorf("--strict: exit %d", code)
	}
}

// A broker that reads nothing for a second: response latency shows that second, service latency of what was sent before
// and after does not.
func TestStallShowsInResponseLatency(t *testing.T) {
	r, _, _ := record(t, "--queue", "q", "--rate", "1000", "--confirm", "100", "--time", "4", "--faults", "stall@1500:1s")
	response, service := r.Latency.Confirm.Response, r.Latency.Confirm.Service
	if response == nil || service == nil {
		t.Fatalf("latency %+v", r.Latency)
	}
	// 4000 messages; those due in the stalled second wait for up to 1 s: the 960th longest of 1000 waits about 40 ms, the
	// 99th percentile (the 40th longest) about 960 ms. With a window of 100 at most 100 of them were sent before the end of the stall.
	if *response.P99NS < 800e6 || *service.P95NS > 100e6 {
		t.Errorf("response p99 %d ns, service p95 %d ns", *response.P99NS, *service.P95NS)
	}
	if r.Counts.Sent != 4000 || r.Counts.Received != 4000 {
		t.Errorf("counts %+v", r.Counts)
	}
}

// Auto-delete queues go with their last limited consumer: what the drain asks then must not cost the producers' channels.
func TestConsumerLimitWithoutConfirmsFinishes(t *testing.T) {
	for name, uri := range map[string]string{"RabbitMQ": rabbitmqtest.Shared(t).URI(t), "embedded": ""} {
		t.Run(name, func(t *testing.T) {
			r, code, _ := record(t, "--uri", uri, "--time", "1", "--rate", "2000", "--cmessages", "500", "--autoack")
			if code != exitOK || r.Counts.Received < 500 {
				t.Errorf("exit %d, %s, %+v", code, r.Verdict, r.Findings)
			}
		})
	}
}

// A broker that refuses everything has proved nothing.
func TestEverythingRefusedIsInconclusive(t *testing.T) {
	r, code, _ := record(t, "--pmessages", "100", "--confirm", "10", "--faults", "nack@*")
	if code != exitOK || r.Verdict != result.Inconclusive || r.Counts.Nacked != 100 {
		t.Errorf("exit %d, %s, %+v", code, r.Verdict, r.Counts)
	}
}
