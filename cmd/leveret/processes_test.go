package main

import (
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Producers and consumers of one host, recorded by two processes, are one run: every message is joined, by the clock that
// the processes share.
func TestTwoProcessesOfOneHost(t *testing.T) {
	t.Parallel()
	uri := launchBroker(t)
	from, to := filepath.Join(t.TempDir(), "producers"), filepath.Join(t.TempDir(), "consumers")
	const n = "2000"
	consumers := launch(t, "", "run", "--quiet", "--no-analyze", "--uri", uri, "--queue", "q", "--auto-delete", "false", "--producers", "0", "--consumers", "2", "--cmessages", "1000", "--time", "60", "--capture", to)
	producers := launch(t, "", "run", "--quiet", "--no-analyze", "--uri", uri, "--queue", "q", "--auto-delete", "false", "--producers", "1", "--consumers", "0", "--rate", "1000", "--pmessages", n, "--confirm", "100", "--time", "60", "--capture", from)
	for _, p := range []*process{producers, consumers} {
		if code := p.await(t); code != exitOK {
			t.Fatalf("exit %d: %s", code, p.said())
		}
	}
	for _, dirs := range [][]string{{from, to}, {to, from}} {
		r := analyzedCapture(t, dirs...)
		c := r.Counts
		if c.Sent != 2000 || c.Confirmed != 2000 || c.Received != 2000 || c.ReceivedUnique != 2000 || c.Lost+c.Foreign+c.Duplicates > 0 || r.Verdict == result.Fail {
			t.Errorf("%s %+v", r.Verdict, c)
		}
		if len(r.Clocks) > 0 || !r.Complete {
			t.Errorf("clocks %+v, complete %v", r.Clocks, r.Complete)
		}
		for _, f := range r.Findings {
			if f.Code == "clock_skew" || f.Code == "clocks_differ" || f.Code == "not_one_run" {
				t.Errorf("%+v", f)
			}
		}
		// The clocks are one: no message was received before it was sent, and none in less than loopback needs.
		for _, d := range []*result.Distribution{r.Latency.Delivery.Service, r.Latency.Delivery.Response} {
			if d == nil || d.Count != 2000 || *d.MinNS <= 0 || d.Negative > 0 {
				t.Errorf("%+v %s", d, strings.Join(r.LatencyRemarks, " "))
			}
		}
	}
}
