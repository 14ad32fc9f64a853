package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func near(a *float64, want, within float64) bool {
	return a != nil && math.Abs(*a-want) <= within
}

// Repeated values must neither break the test nor hide a change of a third, and a run is like itself.
func TestC060IdenticalValues(t *testing.T) {
	c := compared(t, Options{}, rates("base", 115, 114, 115, 115, 115), rates("candidate", 78.8, 78.8, 78.8, 78.8, 78.8))
	x := metric(t, c, "rate(received)").Changes[0]
	// Means 114.8 and 78.8, medians 115 and 78.8; the smallest p of 5 against 5 is 2 of C(10,5) = 252.
	if !near(x.DeltaOfMeans, 78.8/114.8-1, 1e-12) || !near(x.Delta, 78.8/115-1, 1e-12) || !near(x.PValue, 2.0/252, 1e-12) || x.Verdict != result.ChangeWorse {
		t.Errorf("%+v", x)
	}
	if got := math.Round(1000**x.DeltaOfMeans) / 10; got != -31.4 {
		t.Errorf("%v %% of the means", got)
	}
	itself := rates("base", 115)
	for _, c := range []*result.Comparison{
		compared(t, Options{}, itself, Group{"again", itself.Runs}),
		compared(t, Options{}, rates("base", 115, 115, 115), rates("again", 115, 115, 115)),
	} {
		x := metric(t, c, "rate(received)").Changes[0]
		if x.Delta == nil || *x.Delta != 0 || x.Difference == nil || *x.Difference != 0 || x.Verdict != result.ChangeNoise {
			t.Errorf("%+v", x)
		}
		b, err := json.Marshal(c)
		if err != nil || strings.Contains(string(b), "NaN") || strings.Contains(string(b), "Inf") {
			t.Errorf("%v: %s", err, b)
		}
	}
}

// The critical values of U at 5 %, two-sided, stand in every table of it: 0 for 4 against 4, 2, 5, 8, 13, and 23 for 10.
func TestIntervalsEndWhereTheTestDoes(t *testing.T) {
	for n, want := range map[int]int{4: 0, 5: 2, 6: 5, 7: 8, 8: 13, 10: 23} {
		if e := ends(n, n); e.drop != want || e.level < level || e.level > 1 {
			t.Errorf("%d against %d: %+v, want %d", n, n, e, want)
		}
	}
	// Of 3 against 3 the extremes alone have 2 of C(6,3) = 20 orders.
	if e := ends(3, 3); e.drop != 0 || math.Abs(e.level-0.9) > 1e-12 {
		t.Errorf("3 against 3: %+v", e)
	}
	// Beyond the exact limit: 60*60/2 - 1.95996*sqrt(60*60*121/12) = 1426.57, and the 1426th from either end is the end.
	if e := ends(60, 60); e.drop != 1425 {
		t.Errorf("60 against 60: %+v", e)
	}
}

// By hand: of {10, 20, 40} against {30, 50} the differences are 20, 40, 10, 30, -10, 10, sorted -10, 10, 10, 20, 30, 40.
func TestMedianOfAllPairs(t *testing.T) {
	c := compared(t, Options{}, rates("base", 10, 20, 40), rates("candidate", 30, 50))
	x := metric(t, c, "rate(received)").Changes[0]
	if !near(x.Difference, 15, 0) || !near(x.DifferenceLow, -10, 0) || !near(x.DifferenceHigh, 40, 0) {
		t.Errorf("%v from %v to %v", *x.Difference, *x.DifferenceLow, *x.DifferenceHigh)
	}
	// Ratios 3, 5, 1.5, 2.5, 0.75, 1.25: the median is 2.
	if !near(x.Delta, 1, 1e-12) || !near(x.DeltaLow, -0.25, 1e-12) || !near(x.DeltaHigh, 4, 1e-12) {
		t.Errorf("%v from %v to %v", *x.Delta, *x.DeltaLow, *x.DeltaHigh)
	}
	// Pairs in which the candidate is lower: one of six. U = 1 has 2 of C(5,2) = 10 orders at or below: p = 0.4.
	if !near(x.PValue, 0.4, 1e-12) || x.Verdict != result.ChangeNoise {
		t.Errorf("p %v, %s", *x.PValue, x.Verdict)
	}
}

// Holm's own steps: 0.005 times 4, 0.01 times 3, 0.03 times 2, and 0.04 once, but not below the one before.
func TestHolm(t *testing.T) {
	var p []*float64
	for _, x := range []float64{0.01, 0.04, 0.03, 0.005} {
		p = append(p, &x)
	}
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if got := holm(p); math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", *p[i], got[i], want)
		}
	}
}

func TestFromZeroAndToZeroAreChanges(t *testing.T) {
	lost := func(label string, n ...int64) Group {
		g := Group{Label: label}
		for _, x := range n {
			g.Runs = append(g.Runs, figuresOf{sent: 1, received: 1, counts: result.Counts{Lost: x}}.run())
		}
		return g
	}
	for _, c := range []struct {
		base, candidate Group
		zero            string
		verdict         result.ChangeVerdict
		delta           *float64
	}{
		{lost("b", 0, 0, 0), lost("c", 5, 0, 7), result.FromZero, result.ChangeWorse, nil},
		{lost("b", 0), lost("c", 5), result.FromZero, result.ChangeWorse, nil},
		{lost("b", 4, 4, 4), lost("c", 0, 0, 0), result.ToZero, result.ChangeBetter, nil},
		{lost("b", 4), lost("c", 0), result.ToZero, result.ChangeBetter, nil},
	} {
		x := metric(t, compared(t, Options{}, c.base, c.candidate), "lost").Changes[0]
		if x.Zero != c.zero || x.Verdict != c.verdict || x.Delta != nil {
			t.Errorf("%+v", x)
		}
	}
	// Nothing anywhere is no metric.
	for _, m := range compared(t, Options{}, lost("b", 0), lost("c", 0)).Metrics {
		if m.Name == "lost" {
			t.Errorf("%+v", m)
		}
	}
}
