package options

import (
	"strings"
	"testing"
	"time"

	"leveret/loadcore"
)

// PerfTest's two options, and our own, come to the same plan.
func TestRecoveryOptions(t *testing.T) {
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for _, c := range []struct {
		perfTest bool
		args     string
		want     loadcore.OnDisconnect
		delay    loadcore.Backoff
	}{
		{false, "", loadcore.DisconnectReconnect, loadcore.Backoff{Min: 100 * time.Millisecond, Max: second(5)}},
		{false, "--on-disconnect stop", loadcore.DisconnectStop, loadcore.DefaultReconnectDelay},
		{false, "--on-disconnect fail", loadcore.DisconnectFail, loadcore.DefaultReconnectDelay},
		{false, "--reconnect-delay 2", loadcore.DisconnectReconnect, loadcore.Backoff{Min: second(2), Max: second(2), Even: true}},
		{false, "--reconnect-delay 50ms-1m", loadcore.DisconnectReconnect, loadcore.Backoff{Min: 50 * time.Millisecond, Max: second(60)}},
		{true, "", loadcore.DisconnectReconnect, loadcore.Backoff{Min: second(5), Max: second(5), Even: true}},
		{true, "-dcr", loadcore.DisconnectStop, loadcore.Backoff{Min: second(5), Max: second(5), Even: true}},
		{true, "-cri 3", loadcore.DisconnectReconnect, loadcore.Backoff{Min: second(3), Max: second(3), Even: true}},
		{true, "-cri 30-60", loadcore.DisconnectReconnect, loadcore.Backoff{Min: second(30), Max: second(60), Even: true}},
	} {
		set, r := NewRun(nil)
		parse := func(args []string) error { _, err := set.Parse(args); return err }
		given := set.Changed
		if c.perfTest {
			p, run := NewPerfTest(nil)
			r, given = run, p.Changed
			parse = p.parseWords
		}
		if err := parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		if err := r.Recovery.Check(given); err != nil {
			t.Fatal(err)
		}
		var plan loadcore.Plan
		r.Recovery.Plan(&plan)
		if plan.OnDisconnect != c.want || plan.ReconnectDelay != c.delay || plan.ReconnectTime != loadcore.DefaultReconnectTime {
			t.Errorf("%q: %+v %+v", c.args, plan.OnDisconnect, plan.ReconnectDelay)
		}
	}
}

// What contradicts itself is refused.
func TestRecoveryOptionsThatContradict(t *testing.T) {
	for args, want := range map[string]string{
		"--disable-connection-recovery --on-disconnect reconnect": "contradict each other",
		"--disable-connection-recovery --republish":               "--republish: ",
		"--connection-recovery-interval 5 --reconnect-delay 1s":   "say the same",
		"--reconnect-delay 5s-1s":                                 "the shortest and the longest",
		"--on-disconnect never":                                   "reconnect, stop, fail",
	} {
		set, r := NewRun(nil)
		_, err := set.Parse(strings.Fields(args))
		if err == nil {
			err = r.Recovery.Check(set.Changed)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
