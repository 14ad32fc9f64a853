package main

import (
	"strings"
	"testing"
)

// --by asks for tables by producer, consumer and queue, of run as of analyze; another word is refused.
func TestGroupedReport(t *testing.T) {
	r, code, _ := record(t, "--producers", "2", "--consumers", "3", "--pmessages", "40", "--confirm", "10", "--by", "producer,consumer")
	if code != exitOK || len(r.Groupings) != 2 || r.Groupings[0].By != "producer" {
		t.Fatalf("%d, %+v", code, r.Groupings)
	}
	for i, g := range r.Groupings {
		// without a queue's name each consumer has its own, and receives all 80
		if want := []int64{40, 80}[i]; g.Total != 2+i || g.LeastMessages != want || g.MostMessages != want || g.Members[0].Latency.Delivery.Service == nil {
			t.Errorf("%+v", g)
		}
	}
	_, report, _ := invoke(t, "analyze", r.Captures[0], "--by", "queue")
	if !strings.Contains(report, "\nBy queue (messages received from it, service latency)\n") || strings.Contains(report, "By producer") {
		t.Error(report)
	}
	if code, _, stderr := invoke(t, "analyze", r.Captures[0], "--by", "flavor"); code != exitUsage || !strings.Contains(stderr, `"flavor"`) {
		t.Errorf("%d %s", code, stderr)
	}
}
