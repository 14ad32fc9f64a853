package main

import (
	"strings"
	"testing"
)

// A hundred messages in the first half of each second, none in the second: two seconds hold two hundred, wherever the
// machine was meanwhile.
func TestVariableRate(t *testing.T) {
	t.Parallel()
	r, _, _ := record(t, "--queue", "q", "--variable-rate", "200:0.5", "--variable-rate", "0:0.5", "--time", "2", "--confirm", "50")
	if c := r.Counts; c.Sent+c.NotSent != 200 || c.Received != c.Sent {
		t.Errorf("%+v", c)
	}
	if !r.Config.OpenLoop || r.Config.RateTotal == nil || *r.Config.RateTotal != 100 || r.Config.CoalesceNS != 0 ||
		r.Config.Schedule != "2 stages in turn (200 msg/s for 0.5 s, none for 0.5 s)" {
		t.Errorf("%+v", r.Config)
	}
}

// The same seed offers the same messages: as many in the same time, at the same times.
func TestPoissonArrivalsAreReproducible(t *testing.T) {
	t.Parallel()
	var sent [2]int64
	for i := range sent {
		r, _, _ := record(t, "--queue", "q", "--rate", "500", "--arrivals", "poisson", "--seed", "5", "--catch-up", "none", "--time", "1")
		sent[i] = r.Counts.Sent + r.Counts.NotSent
		if want := "Poisson arrivals (seed 5), late slots not sent"; r.Config.Schedule != want {
			t.Errorf("schedule %q, want %q", r.Config.Schedule, want)
		}
	}
	// four standard deviations of a count whose mean is 500
	if sent[0] != sent[1] || sent[0] < 500-90 || sent[0] > 500+90 || sent[0] == 500 {
		t.Errorf("messages offered: %d and %d", sent[0], sent[1])
	}
}

func TestCoalescingIsInTheRecord(t *testing.T) {
	for _, c := range []struct {
		args string
		want int64
	}{
		{"--confirm 1000 --pmessages 1000 --coalesce 200us", 200_000},
		{"--confirm 1000 --pmessages 1000 --coalesce 50us", 50_000},
		{"--confirm 1000 --pmessages 1000", 0},
		{"--confirm 5 --pmessages 1000 --qos 5 --coalesce 200us", 0}, // nothing to gather
		{"--confirm 1000 --pmessages 100 --rate 1000", 0},
	} {
		r, _, _ := record(t, append(strings.Fields(c.args), "--queue", "q")...)
		if r.Config.CoalesceNS != c.want {
			t.Errorf("%s: bound %d ns, want %d", c.args, r.Config.CoalesceNS, c.want)
		}
	}
}
