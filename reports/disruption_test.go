package reports

import (
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Each loss has its label, one length (the record's, not that of the recorded text) and what else the text says; the outage is named where
// it would contradict what is said of the whole run.
func TestLostConnectionsAreTold(t *testing.T) {
	r := baseResult()
	r.Config.StartedNS = start
	back := int64(start + 3*second + second/4)
	outage := result.Outage{LostNS: start + 2*second, RecoveredNS: &back, DurationNS: second + second/4, Attempts: 4, Text: "connection reset by peer",
		Recovery: "after 1.249 s, 4 attempts, at amqp://host, 1 message in doubt"}
	wide := outage
	wide.Connection, wide.RecoveredNS, wide.Recovery, wide.Attempts = 100000, nil, "", 1
	caughtUp := int64(start + 4*second)
	r.Disruption = &result.Disruption{Losses: 2, Recovered: 1, Attempts: 5, FirstNS: start + 2*second, LastNS: back, DownNS: second + second/4, CaughtUpNS: &caughtUp,
		Outages: []result.Outage{outage, wide}}
	r.Steadiness = &result.Steadiness{LeftOutNS: 3 * second}
	lost, socket, work := 0.25, 0.3, 0.7
	r.Generator = &result.Generator{LostShare: &lost, Self: &result.Self{SocketShare: &socket, WorkShare: &work}}
	text := textOf(t, r, TextOptions{Width: 200})
	for _, want := range []string{
		"\n  connection 0       lost at 2.000, back at 3.250 (1.250 s, 4 attempts): connection reset by peer; at amqp://host, 1 message in doubt\n",
		"\n  connection 100000  lost at 2.000, not recovered (1 attempt): connection reset by peer\n",
		"after 4.000 no message was sent over 100 ms late",
		"taken together at least one was away for 1.250 s",
		"steady        too few intervals are left to tell; without 3.000 s in which connections were lost or the schedule was caught up with\n",
		"waited for a lost connection or the socket 30 % of the time",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	short := 0.1
	r.Generator.LostShare = &short
	if text := textOf(t, r, TextOptions{Width: 200}); !strings.Contains(text, "waited for the socket 30 % of the time") {
		t.Errorf("the socket is not named in\n%s", text)
	}
}
