package loadcore

import (
	"math"
	"slices"
	"testing"

	"leveret/capture/manifest"
)

// The arrivals as another program computes them by what gaps says, at 1000 messages a second.
func TestPoissonArrivals(t *testing.T) {
	for _, c := range []struct {
		seed     uint64
		producer uint16
		want     []int64
	}{
		{1, 0, []int64{1472190, 1950641, 2470110, 3384616, 4656527, 5347827}},
		{1, 1, []int64{1518236, 3330145, 4738191, 5871384, 6143033, 6607294}},
		{42, 0, []int64{84736, 2022311, 3783123, 4037911, 5107673, 5212383}},
	} {
		s := scheduleOf(&manifest.Producer{Rate: perSecond(1000), Arrivals: manifest.ArrivalsPoisson, Seed: c.seed, PhaseNS: 5}, c.producer, 100)
		for n, want := range c.want {
			if s.due != 105+want {
				t.Errorf("seed %d, producer %d: arrival %d at %d, want %d", c.seed, c.producer, n, s.due-105, want)
			}
			s.next()
		}
	}
	s := scheduleOf(&manifest.Producer{Rate: perSecond(1), Arrivals: manifest.ArrivalsPoisson, Seed: 7}, 3, 0)
	for range 99_999 {
		s.next()
	}
	if s.due != 100_219_758_710_790 {
		t.Errorf("the 100,000th arrival is at %d", s.due)
	}
}

// The law of the gaps: mean 1, variance 1, no more than x with probability 1 - e^-x; neighbours do not depend on each other.
// The seed is fixed: four standard deviations are allowed.
func TestGapsAreExponential(t *testing.T) {
	const n = 400_000
	g := newGaps(1, 0)
	all := make([]float64, n)
	sum, squares, product := 0.0, 0.0, 0.0
	for i := range all {
		whole, part := g.gap(uint64(i))
		x := float64(whole) + float64(part)/(1<<64)
		all[i], sum, squares = x, sum+x, squares+(x-1)*(x-1)
		if i > 0 {
			product += (x - 1) * (all[i-1] - 1)
		}
	}
	root := math.Sqrt(n)
	if mean := sum / n; math.Abs(mean-1) > 4/root {
		t.Errorf("mean %v", mean)
	}
	if variance := squares / n; math.Abs(variance-1) > 4*math.Sqrt(8)/root { // the variance of (x-1)^2 is 9-1
		t.Errorf("variance %v", variance)
	}
	if c := product / n; math.Abs(c) > 4/root {
		t.Errorf("neighbours are correlated by %v", c)
	}
	slices.Sort(all)
	worst := 0.0
	for i, x := range all {
		worst = max(worst, math.Abs(1-math.Exp(-x)-float64(i)/n))
	}
	if worst*root > 1.95 { // Kolmogorov and Smirnov: exceeded once in a thousand seeds
		t.Errorf("the distribution is off by %v", worst)
	}
}

// A ramp with Poisson arrivals: as many as the rate gives, on the average, in each part of it.
func TestPoissonArrivalsOfVaryingRate(t *testing.T) {
	s := scheduleOf(&manifest.Producer{Stages: stagesOf([3]int64{0, 10_000, 10}, [3]int64{0, 0, 10}), Arrivals: manifest.ArrivalsPoisson, Seed: 1}, 0, 0)
	var counts [4]float64
	for s.due < 20e9 {
		counts[s.due/5e9]++
		s.next()
	}
	// t*t/2 thousands: 12,500 by 5 s, 37,500 from there to 10 s, then none
	for i, want := range []float64{12_500, 37_500, 0, 0} {
		if math.Abs(counts[i]-want) > 4*math.Sqrt(want) {
			t.Errorf("%v arrivals in part %d, want about %v", counts[i], i, want)
		}
	}
}

func TestRandomPhases(t *testing.T) {
	p := make([]manifest.Producer, 10_000)
	RandomPhases(p, 1, 1e9)
	again := make([]manifest.Producer, 10_000)
	RandomPhases(again, 1, 1e9)
	sum := 0.0
	for i := range p {
		if p[i].PhaseNS < 1e6 || p[i].PhaseNS > 1e9 || p[i].PhaseNS != again[i].PhaseNS {
			t.Fatalf("producer %d: phase %d", i, p[i].PhaseNS)
		}
		sum += float64(p[i].PhaseNS)
	}
	// mean of 1 ms and 1 s, standard deviation of the mean 999 ms / sqrt(12 * 10,000)
	if mean := sum / 10_000; math.Abs(mean-500.5e6) > 4*999e6/math.Sqrt(120_000) {
		t.Errorf("mean phase %v", mean)
	}
	RandomPhases(again, 2, 1e9)
	if again[0].PhaseNS == p[0].PhaseNS && again[1].PhaseNS == p[1].PhaseNS {
		t.Error("another seed gives the same phases")
	}
	RandomPhases(p, 1, 1e6)
	if p[0].PhaseNS != 1e6 {
		t.Errorf("phase %d", p[0].PhaseNS)
	}
}
