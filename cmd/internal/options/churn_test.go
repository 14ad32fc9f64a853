package options

import (
	"errors"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
)

func parseChurn(t *testing.T, what string, args ...string) (manifest.Churn, *Churn, error) {
	t.Helper()
	set, c := NewChurn(func(string) string { return "redacted" })
	if _, err := set.Parse(args); err != nil {
		return manifest.Churn{}, c, err
	}
	m, err := c.Plan(what, "p-", set.Changed)
	return m, c, err
}

func TestChurnPlans(t *testing.T) {
	m, c, err := parseChurn(t, manifest.ChurnConnection, "--rate", "250", "--channels", "3", "--time", "60", "--concurrency", "40", "--lifetime", "2", "--operation-timeout", "1.5", "--operations", "9000")
	if err != nil || m.Rate != perSecond(250) || m.Channels != 3 || m.Connections != 0 || m.Concurrency != 40 || m.Alive != 540 || m.Limit != 9000 || m.TimeoutNS != 15e8 || m.Queue != nil || c.Time != time.Minute {
		t.Errorf("%+v, %v", m, err)
	}
	if m, _, err := parseChurn(t, manifest.ChurnQueue, "--quorum-queue", "--exchange", "amq.topic", "--queue-args", "x-max-length=5", "--connections", "4"); err != nil ||
		m.Queue.Type != "quorum" || !m.Queue.Durable || len(m.Queue.Arguments) != 2 || m.Queue.Name != "p-" || m.Exchange != "amq.topic" || m.Connections != 4 || m.Alive != 100 || m.Rate != perSecond(100) {
		t.Errorf("%+v, %v", m, err)
	}
	if m, _, err := parseChurn(t, manifest.ChurnBinding, "--ramp", "0:50:10", "--arrivals", "poisson", "--seed", "7", "--lifetime", "3"); err != nil ||
		m.Exchange != "amq.direct" || m.Rate.Messages != 0 || len(m.Stages) != 1 || m.Arrivals != manifest.ArrivalsPoisson || m.Seed != 7 || m.Alive != 250 { // at most 50 a second, 3 s each
		t.Errorf("%+v, %v", m, err)
	}
	if m, _, err := parseChurn(t, manifest.ChurnChannel, "--rate", "-1", "--lifetime", "3"); err != nil || m.Timed() || m.Alive != 100 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestChurnMistakes(t *testing.T) {
	for _, c := range []struct{ what, args, want string }{
		{manifest.ChurnConnection, "--rate 0", "--rate=0: 0 is no rate: give operations per second"},
		{manifest.ChurnConnection, "--rate 1e18", "--rate=1e18: must be operations per second, from 0.000001 to 1000000000"},
		{manifest.ChurnConnection, "--ramp 0:1e18:5", "--ramp=0:1e18:5: must be operations per second"},
		{manifest.ChurnConnection, "--rate 1e-9", "--rate=1e-9: must be operations per second, from 0.000001 to 1000000000"},
		{manifest.ChurnConnection, "--lifetime 1e10", "--lifetime=1e10: must be a number of seconds from 0 to 4611686018"},
		{manifest.ChurnConnection, "--rate 5 --ramp 0:5:1", "--rate and --ramp"},
		{manifest.ChurnConnection, "--connections 5", "--connections: means nothing for connection churn"},
		{manifest.ChurnConnection, "--rate 1000 --lifetime 3600", "--lifetime=3600: at 1000 a second some 3600000"},
		{manifest.ChurnChannel, "--channels 5", "--channels: means nothing for channel churn"},
		{manifest.ChurnChannel, "--concurrency 0", "--concurrency=0: must be from 1"},
		{manifest.ChurnConsumer, "--exclusive", "--exclusive: means nothing"},
		{manifest.ChurnConsumer, "--stream-queue", "which streams do not have"},
		{manifest.ChurnBinding, "--exchange amq.default", "nothing can be bound to the default exchange"},
		{manifest.ChurnQueue, "--quorum-queue --stream-queue", "give one of them"},
		{manifest.ChurnQueue, "--quorum-queue --durable=false", "--durable=false: a quorum queue is durable and never exclusive; leave out --durable=false"},
		{manifest.ChurnQueue, "--quorum-queue --exclusive", "--exclusive: a quorum queue is durable and never exclusive; leave out --exclusive"},
		{manifest.ChurnQueue, "--producers 5", "unknown option --producers"},
	} {
		_, _, err := parseChurn(t, c.what, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.what, c.args, err, c.want)
		}
	}
	set, _ := NewChurn(nil)
	if _, err := set.Parse([]string{"--lifetime", "-1"}); err == nil || !errors.As(err, new(*UsageError)) {
		t.Error(err)
	}
}
