package compare

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

func claims(c *result.Comparison) bool {
	return slices.ContainsFunc(c.Metrics, func(m result.ComparedMetric) bool {
		return m.Changes[0].Verdict != result.ChangeNoise
	})
}

// Ten runs against ten, 2 % between runs: a shift of 5 % is found, in every metric or in one alone.
func TestAShiftOfFivePercentIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const repetitions = 200
	found, all := 0, 0
	for range repetitions {
		c := compared(t, Options{}, noisy("base", 10, 1, random), noisy("candidate", 10, 1.05, random))
		if len(c.Metrics) != 6 {
			t.Fatalf("%d metrics", len(c.Metrics))
		}
		each := 0
		for _, m := range c.Metrics {
			if m.Changes[0].Verdict != result.ChangeNoise {
				each++
			}
		}
		all += each
		if metric(t, c, "rate(received)").Changes[0].Verdict == result.ChangeBetter {
			found++
		}
	}
	if found < 180 || all < 6*180 {
		t.Errorf("the rate's found in %d of %d, all in %d of %d", found, repetitions, all, 6*repetitions)
	}
	t.Logf("the rate's found in %d of %d, all in %d of %d", found, repetitions, all, 6*repetitions)
}

// Of 1,000 comparisons without any shift at most 5 % claim one. The 95 % limits of 50 in 1,000 are 37 and 64 (binomial). Of one
// metric the test's own rate is 4.3 % (ten against ten: U of 23 or less), so that both limits hold; six metrics that don't
// depend on each other use up 5 % together as far as the steps of p-values let them, and never more.
func TestWithoutAShiftFewClaimOne(t *testing.T) {
	received, err := assert.ParseFigure("rate(received)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		o           Options
		least, most int
	}{
		{"one metric", Options{Metrics: []*assert.Figure{received}}, 37, 64},
		{"six metrics", Options{}, 37, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			claimed := 0
			for range 1000 {
				if claims(compared(t, c.o, noisy("base", 10, 1, random), noisy("candidate", 10, 1, random))) {
					claimed++
				}
			}
			if claimed < c.least || claimed > c.most {
				t.Errorf("%d of 1,000 claim a change, want %d to %d", claimed, c.least, c.most)
			}
			t.Logf("%d of 1,000 claim a change", claimed)
		})
	}
}

func TestThreeAgainstThreeFindNothing(t *testing.T) {
	c := compared(t, Options{Metrics: []*assert.Figure{figure(t, "rate(received)")}}, rates("base", 1, 2, 3), rates("candidate", 100, 200, 300))
	r := c.Repeats[0]
	// 2 of C(6,3) = 20; 4 against 4 have 2 of 70, which is below 5 %.
	if !near(r.LeastP, 0.1, 1e-12) || r.Needed != 4 || c.Metrics[0].Changes[0].Verdict != result.ChangeNoise {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"3 runs against 3", "0.1", "no change, however large, can be significant at 5 %", "it takes 4 runs each"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is not in %q", want, r.Text)
		}
	}
	// Over six metrics 5 against 5 just do: 2 of 252, times 6, is 0.0476.
	random := rand.New(rand.NewPCG(5, 6))
	c = compared(t, Options{}, noisy("base", 5, 1, random), noisy("candidate", 5, 3, random))
	if r := c.Repeats[0]; !near(r.LeastAdjusted, 12.0/252, 1e-12) || r.Needed != 5 {
		t.Errorf("%+v", r)
	}
	for _, m := range c.Metrics {
		if x := m.Changes[0]; x.Verdict == result.ChangeNoise || !near(x.Adjusted, 12.0/252, 1e-12) && *x.Adjusted > 0.05 {
			t.Errorf("%s: %+v", m.Name, x)
		}
	}
}

// What is told to be found four times in five is found about so often.
func TestDetectableIsFoundFourTimesInFive(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	o := Options{Metrics: []*assert.Figure{figure(t, "rate(received)")}}
	shift := 1 + detectable(0.02, 10, 10, 1)
	found := 0
	for range 400 {
		if claims(compared(t, o, noisy("base", 10, 1, random), noisy("candidate", 10, shift, random))) {
			found++
		}
	}
	if found < 290 || found > 350 { // 320 expected; a standard deviation is 8, and the formula is one for normal values
		t.Errorf("a change of %v is found in %d of 400", shift-1, found)
	}
}
