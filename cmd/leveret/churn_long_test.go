//go:build long

package main

import (
	"path/filepath"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// 100 connections a second for a minute against RabbitMQ, beside a run of messages whose verdict stays PASS; both captures are one
// result together, too.
func TestAMinuteOfConnectionChurnBesideARun(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	uri := node.URI(t)
	load, churn := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "churn")
	beside := launch(t, "", "run", "--quiet", "--no-analyze", "--uri", uri, "--queue", "beside", "--auto-delete", "false", "--flag", "persistent",
		"--rate", "1000", "--confirm", "100", "--qos", "100", "--time", "70", "--capture", load)
	awaitRecording(t, beside, load, 1)
	time.Sleep(3 * time.Second)
	code, stdout, stderr := invoke(t, "churn", "connection", "--uri", uri, "--rate", "100", "--channels", "1", "--time", "60", "--capture", churn)
	t.Logf("exit %d\n%s\n%s", code, stderr, stdout)
	if code != exitOK {
		t.Errorf("exit %d", code)
	}
	if code := beside.await(t); code != exitOK {
		t.Fatalf("exit %d: %s", code, beside.said())
	}
	x := analyzedCapture(t, churn)
	c := x.Churn[0]
	// On a machine that has other work to do, all places may be taken in the last moment.
	if x.Verdict != result.Pass || c.Made+c.NotBegun != 6000 || c.NotBegun > 100 || c.Undone != c.Made || c.Failed+c.UndoFailed+*c.Left != 0 || *c.MadePerS < 95 || c.Make.Response.Count != c.Made {
		t.Errorf("%s: %+v", x.Verdict, c)
	}
	r := analyzedCapture(t, load)
	d := r.Latency.Delivery.Response
	t.Logf("the run beside it: %s, %d sent, %d received, response latency p50 %v, p99 %v, max %v", r.Verdict, r.Counts.Sent, r.Counts.ReceivedUnique,
		time.Duration(*d.P50NS), time.Duration(*d.P99NS), time.Duration(*d.MaxNS))
	if r.Verdict != result.Pass || r.Counts.Lost+r.Counts.Missing > 0 {
		t.Errorf("%s: %+v, %+v", r.Verdict, r.Counts, r.Findings)
	}
	if both := analyzedCapture(t, load, churn); both.Verdict != result.Pass || len(both.Churn) != 1 || both.Counts.ReceivedUnique != r.Counts.ReceivedUnique {
		t.Errorf("together %s: %+v", both.Verdict, both.Findings)
	}
}
