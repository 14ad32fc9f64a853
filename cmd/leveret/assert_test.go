package main

import (
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Assertions, percentiles and a window from the command line: what is met, what is not, and what is no assertion at all.
func TestAssertAndWindowFromTheCommandLine(t *testing.T) {
	dir := t.TempDir() + "/capture"
	code, stdout, stderr := invoke(t, "run", "--quiet", "--rate", "500", "--pmessages", "1000", "--confirm", "100", "--capture", dir, "--warmup", "1",
		"--assert", "lost == 0", "--assert", "sent == 1000") // however slow the machine is
	if code != exitOK || !strings.Contains(stdout, "met      lost == 0: it is 0 messages") || !strings.Contains(stdout, " s of a run of ") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, c := range []struct {
		args string
		code int
		want string // in what is printed
	}{
		{"--assert duplicates>0", exitVerdict, "duplicates>0: it is 0 messages"},
		{"--assert p99.9(delivery.response)<1ns", exitVerdict, "assertion_not_met"},
		{"--assert p99.9(delivery.response)<1h", exitUsage, "                           ^"},
		{"--assert max(ack)<1ns --assert rate(sent)>=1", exitVerdict, "met      rate(sent)>=1: it is"},
		{"--percentiles 12.5,99.999", exitOK, "above 99.999 %"},
		{"--percentiles 12.5,0", exitUsage, `"0" must be a number above 0`},
		{"--from 500", exitUsage, "is not in the run, which published for "},
		{"--from 0.5 --to 900", exitUsage, "is not in the run, which published for "},
		{"--from 1 --to 0.5", exitUsage, "end before it begins"},
		{"--from 1 --warmup 0.5", exitUsage, "give one of them"},
		{"--from 0.5 --to 1.5", exitOK, "0.5 to 1.5 s of a run of "},
		{"--findings 0", exitUsage, "from 1 to 100000"},
	} {
		code, stdout, stderr := invoke(t, append([]string{"analyze", dir}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
	code, stdout, _ = invoke(t, "analyze", dir, "--format", "json", "--from", "1", "--percentiles", "99.999", "--assert", "lost == 0")
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v", code, err)
	}
	d := r.Latency.Delivery.Response
	if p := r.Window.Part; p == nil || p.Cohort != 500 || d.Messages() != 500 || len(d.Asked) != 1 || d.Asked[0].Percent != 99.999 || *d.Asked[0].ValueNS != *d.MaxNS {
		t.Errorf("%+v, %+v", r.Window, d)
	}
	if len(r.Assertions) != 1 || !r.Assertions[0].Met || *r.Assertions[0].Value != 0 || r.Counts.Sent != 1000 {
		t.Errorf("%+v, %+v", r.Assertions, r.Counts)
	}
}

// What no run can show is refused before it begins.
func TestNoRunForNothing(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run --time 2 --warmup 2", "the run lasts 2 s"},
		{"run --time 2 --to 3", "the run lasts 2 s"},
		{"run --assert p99", "needs a latency"},
		{"perf-test --assert lost=0", "one of < <= > >= == !="},
	} {
		if code, _, stderr := invoke(t, strings.Fields(c.args)...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d\n%s", c.args, code, stderr)
		}
	}
}
