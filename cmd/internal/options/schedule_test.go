package options

import (
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
)

func TestStagesInTheOrderOfTheCommandLine(t *testing.T) {
	set, run, err := parseRun(t, "--variable-rate", "100:10", "--ramp", "100:0.5:1.5", "--variable-rate=0:2m")
	if err != nil {
		t.Fatal(err)
	}
	hundred, none := manifest.Rate{Messages: 100, PerNS: 1e9}, manifest.Rate{PerNS: 1e9}
	want := []manifest.Stage{
		{From: hundred, To: hundred, ForNS: 10e9},
		{From: hundred, To: manifest.Rate{Messages: 5, PerNS: 10e9}, ForNS: 1.5e9},
		{From: none, To: none, ForNS: 120e9},
	}
	if len(run.Stages) != 3 || run.Stages[0] != want[0] || run.Stages[1] != want[1] || run.Stages[2] != want[2] {
		t.Errorf("%+v", run.Stages)
	}
	if err := run.Schedule.Check(set.Changed); err != nil {
		t.Error(err)
	}
	if v := set.Values(); v["variable-rate"] != "100:10,0:2m" || v["ramp"] != "100:0.5:1.5" || v["seed"] != "1" || v["catch-up"] != "all" || v["arrivals"] != "even" || v["coalesce"] != "0s" {
		t.Errorf("recorded as %v", v)
	}
}

// C105: an interval below a second, and slow ones, exactly.
func TestPublishingInterval(t *testing.T) {
	for text, want := range map[string]time.Duration{"0.5": 500 * time.Millisecond, "0.1": 100 * time.Millisecond, "60": time.Minute} {
		set, run, err := parseRun(t, "--publishing-interval", text, "--arrivals", "poisson", "--seed", "9", "--catch-up", "none")
		if err != nil || run.Schedule.Check(set.Changed) != nil {
			t.Fatal(err)
		}
		var p manifest.Producer
		run.Schedule.Apply(&p)
		if p.Rate != (manifest.Rate{Messages: 1, PerNS: int64(want)}) || p.Arrivals != manifest.ArrivalsPoisson || p.Seed != 9 || p.CatchUp == nil || *p.CatchUp != 0 {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func TestSchedulesThatContradict(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--rate 5 --variable-rate 5:1", "--rate and --variable-rate: each of them says when messages are due"},
		{"--rate 5 --publishing-interval 1", "--rate and --publishing-interval"},
		{"--publishing-interval 1 --ramp 0:5:1", "--publishing-interval and --ramp"},
		{"--rate 5 --variable-rate 5:1 --ramp 0:1:1", "give one"},
		{"--arrivals poisson", "--arrivals=poisson: without a rate"},
		{"--arrivals poisson --rate -1", "without a rate"},
		{"--catch-up none", "--catch-up: without a rate"},
	} {
		set, run, err := parseRun(t, strings.Fields(c.args)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Schedule.Check(set.Changed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}
