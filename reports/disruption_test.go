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

// Of one episode the effect is said, of several each; a loss with what moved on its connection, and when it had caught up.
func TestEpisodesAreTold(t *testing.T) {
	r := baseResult()
	r.Config.StartedNS = start
	at := func(ms int64) *int64 { ns := start + ms*1_000_000; return &ns }
	catchUp, still := int64(second/2), int64(second)
	one := result.Episode{Losses: 1, Text: "killed", FirstNS: *at(2000), LastNS: *at(3000), RecoverNS: second, RecoveredAll: true, StandstillFromNS: at(1900), StandstillNS: &still,
		CaughtUpNS: at(3500), CatchUpNS: &catchUp, FirstEffectNS: *at(1900), LastEffectNS: *at(3500)}
	outage := result.Outage{LostNS: *at(2000), RecoveredNS: at(3000), DurationNS: second, Attempts: 1, Text: "killed", FirstEffectNS: at(1900), MovedNS: at(3100), CaughtUpNS: at(3500), CatchUpNS: &catchUp}
	r.Disruption = &result.Disruption{Losses: 1, Recovered: 1, FirstNS: *at(2000), LastNS: *at(3000), Episodes: []result.Episode{one}, EpisodesTotal: 1, Outages: []result.Outage{outage}}
	again := one
	again.Losses, again.RecoveredAll, again.CatchUpNS, again.StandstillNS, again.Text = 3, false, nil, nil, "stopped"
	again.FirstNS, again.FirstEffectNS, again.LastEffectNS = *at(5000), *at(5000), *at(6000)
	several := *r.Disruption
	several.Episodes, several.EpisodesTotal = []result.Episode{one, again}, 2
	effect := "from 1.900 to 3.500: recovered 1.000 s after the first loss, caught up with the schedule 0.500 s after that"
	for _, tt := range []struct {
		d    *result.Disruption
		want []string
		not  string
	}{
		{r.Disruption, []string{"\n  effect        " + effect + "\n",
			"lost at 2.000, back at 3.000 (1.000 s, 1 attempt): killed; nothing moved on it from 1.900 to 3.100; caught up at 3.500, 0.500 s after it was back\n"}, "episode"},
		{&several, []string{"\n  episode 1     1 loss, at 2.000; effect " + effect + "; nothing was confirmed or received for 1.000 s from 1.900 on; killed\n",
			"\n  episode 2     3 losses, the first at 5.000; effect from 5.000 to 6.000: not all was recovered before the run ended; stopped\n"}, "\n  effect "},
	} {
		r.Disruption = tt.d
		text := textOf(t, r, TextOptions{Width: 400})
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, tt.not) {
			t.Errorf("%q in\n%s", tt.not, text)
		}
	}
}
