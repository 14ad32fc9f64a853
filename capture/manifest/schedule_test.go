package manifest

import (
	"math"
	"testing"
)

func TestPlanned(t *testing.T) {
	rate := func(n int64) Rate { return Rate{Messages: n, PerNS: 1e9} }
	ten := int64(10)
	for _, c := range []struct {
		p       Producer
		ns      int64
		planned int64
		mean    float64
		text    string
	}{
		{Producer{}, 5e9, 0, 0, ""},
		{Producer{Rate: rate(100)}, 10e9, 1000, 100, ""},
		{Producer{Rate: rate(100), PhaseNS: 1e9}, 10e9, 900, 100, ""},
		// due at 3.3, 13.3, ... 993.3 ms: a hundred of them
		{Producer{Rate: rate(100), PhaseNS: 3_333_333}, 1e9, 100, 100, ""},
		{Producer{Rate: Rate{Messages: 1, PerNS: math.MaxInt64}, PhaseNS: math.MaxInt64}, 1e18, 0, 1e9 / float64(math.MaxInt64), ""},
		{Producer{Rate: rate(100), PhaseNS: 1e9}, 0.5e9, 0, 100, ""},
		// 100 and none: 50 on the average; 3.5 s are a cycle of 100, a full step, half of the pause
		{Producer{Stages: []Stage{{rate(100), rate(100), 1e9}, {rate(0), rate(0), 1e9}}}, 3.5e9, 200, 50, "2 stages in turn (100 msg/s for 1 s, none for 1 s)"},
		// 254.9 ms of it: due at 0, 2, ... 254 ms
		{Producer{Stages: []Stage{{rate(500), rate(500), 2e9}}, PhaseNS: 745_100_000}, 1e9, 128, 500, "1 stage, over and over (500 msg/s for 2 s)"},
		// from 0 to 10 in 10 s: 50 a cycle; t*t/2 by t, which is 8 at 4 s
		{Producer{Stages: []Stage{{rate(0), rate(10), 10e9}}}, 14e9, 58, 5, "1 stage, over and over (0 to 10 msg/s over 10 s)"},
		{Producer{Rate: rate(100), Arrivals: ArrivalsPoisson, Seed: 3, CatchUp: &ten}, 1e9, 100, 100, "Poisson arrivals (seed 3), at most 10 late slots sent"},
		{Producer{Rate: rate(1), CatchUp: new(int64)}, 1e9, 1, 1, "late slots not sent"},
	} {
		if got := c.p.Planned(c.ns); got != c.planned {
			t.Errorf("%+v: %d planned in %d ns, want %d", c.p, got, c.ns, c.planned)
		}
		if got := c.p.MeanRate(); got != c.mean {
			t.Errorf("%+v: %v a second, want %v", c.p, got, c.mean)
		}
		if got := c.p.DescribeSchedule(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if timed := c.mean > 0; c.p.Timed() != timed {
			t.Errorf("%+v: timed %v", c.p, c.p.Timed())
		}
	}
}
