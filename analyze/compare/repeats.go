package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"leveret/analyze/result"
)

const (
	// power is how often a change of the told size is found.
	power = 0.8
	// efficiency of ranks against Student's test where values are normal: 3/pi (Hodges and Lehmann, The efficiency of some
	// nonparametric competitors of the t-test, Annals of Mathematical Statistics 27, 1956, 324-335).
	efficiency = 3 / math.Pi
	// manyRuns is where the search for a number of runs ends.
	manyRuns = 200
)

// countRepeats says for each candidate what so many runs could find.
func (c *comparison) countRepeats() {
	tests := 0
	for i := range c.Metrics {
		for k := range c.Metrics[i].Changes {
			if c.Metrics[i].Changes[k].PValue != nil {
				tests++
			}
		}
	}
	for k := range c.groups[1:] {
		r := result.Repeats{Candidate: c.groups[k+1].Label, Base: len(c.groups[0].Runs), Runs: len(c.groups[k+1].Runs), Tests: tests}
		r.Needed = neededAtAll(tests)
		if c.Method == result.ByRanks {
			p := leastP(r.Base, r.Runs)
			adjusted := min(1, p*float64(max(1, tests)))
			r.LeastP, r.LeastAdjusted = &p, &adjusted
			c.detect(k, &r)
		}
		r.Text = c.describeRepeats(k, &r)
		c.Repeats = append(c.Repeats, r)
	}
}

// neededAtAll is how many runs each it takes for the smallest p-value, times the number of tests, to be significant.
func neededAtAll(tests int) int {
	for n := 2; n < manyRuns; n++ {
		if leastP(n, n)*float64(max(1, tests)) <= errorRate {
			return n
		}
	}
	return manyRuns
}

// detect fills in the least change of each metric that so many runs would find.
func (c *comparison) detect(k int, r *result.Repeats) {
	if *r.LeastAdjusted > errorRate {
		return
	}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if s := spread(&m.Values[0], &m.Values[k+1]); s > 0 && m.Changes[k].PValue != nil {
			d := detectable(s, r.Base, r.Runs, r.Tests)
			m.Changes[k].Detectable = &d
		}
	}
}

// spread is the standard deviation of the logarithms of the values of two groups about their own means; 0 where there are too
// few runs, where they do not differ, or where some are not above zero.
func spread(base, candidate *result.ComparedValue) float64 {
	squares, freedom := 0.0, 0
	for _, v := range []*result.ComparedValue{base, candidate} {
		if v.Centre == nil {
			return 0
		}
		values := known(v.Runs)
		if slices.Min(values) <= 0 {
			return 0
		}
		mean := 0.0
		for _, x := range values {
			mean += math.Log(x) / float64(len(values))
		}
		for _, x := range values {
			squares += (math.Log(x) - mean) * (math.Log(x) - mean)
		}
		freedom += len(values) - 1
	}
	if freedom < 2 {
		return 0
	}
	return math.Sqrt(squares / float64(freedom))
}

// detectable is the least change, as a ratio less 1, that m and n runs find with the power above, at the first step of Holm's
// correction: Student's formula for two groups, with the efficiency of ranks.
func detectable(deviation float64, m, n, tests int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(m + n - 2)}
	shift := (t.Quantile(1-errorRate/2/float64(max(1, tests))) + t.Quantile(power)) * deviation * math.Sqrt((1/float64(m)+1/float64(n))/efficiency)
	return math.Expm1(shift)
}

// describeRepeats is the line that says which number of repeats could find which effect.
func (c *comparison) describeRepeats(k int, r *result.Repeats) string {
	if c.Method == result.ByBlocks {
		return fmt.Sprintf("1 run against 1: nothing can be said of how runs differ; with %s each a change can be told from the difference between runs", result.Plural(int64(r.Needed), "run"))
	}
	head := fmt.Sprintf("%s against %d: the smallest p-value that they can have is %s", result.Plural(int64(r.Runs), "run"), r.Base, digits(*r.LeastP))
	if r.Tests > 1 {
		what := "figures"
		if len(c.groups) > 2 {
			what = "figures of all candidates"
		}
		head += fmt.Sprintf(", and %s after correction for %d %s", digits(*r.LeastAdjusted), r.Tests, what)
	}
	if *r.LeastAdjusted > errorRate {
		head += fmt.Sprintf(": no change, however large, can be significant at %g %%", 100*errorRate)
		if *r.LeastP <= errorRate {
			return head + fmt.Sprintf("; it takes %d runs each, or fewer metrics (--metrics)", r.Needed)
		}
		return head + fmt.Sprintf("; it takes %d runs each, or %d for a single metric (--metrics)", r.Needed, neededAtAll(1))
	}
	return head + c.describeEffects(k, r)
}

// effects are the changes that the line speaks of.
var effects = []float64{0.02, 0.05, 0.1, 0.25, 0.5, 1}

// describeEffects names the effect that is found in the first metric and in the one whose runs differ most, and how many runs a
// smaller one takes.
func (c *comparison) describeEffects(k int, r *result.Repeats) string {
	var found []*result.ComparedMetric
	for i := range c.Metrics {
		if c.Metrics[i].Changes[k].Detectable != nil {
			found = append(found, &c.Metrics[i])
		}
	}
	if len(found) == 0 {
		return ""
	}
	widest := slices.MaxFunc(found, func(a, b *result.ComparedMetric) int {
		return cmp.Compare(*a.Changes[k].Detectable, *b.Changes[k].Detectable)
	})
	var parts []string
	for _, m := range []*result.ComparedMetric{found[0], widest} {
		d := *m.Changes[k].Detectable
		part := fmt.Sprintf("%s from +%s or -%s on", m.Name, percent(d), percent(d/(1+d)))
		if more := c.needed(k, m, r); more != "" {
			part += " (" + more + ")"
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return ". As much as runs differ here, a change is found four times in five: of " + strings.Join(parts, ", of ")
}

// needed says how many runs each a smaller effect than is found now would take.
func (c *comparison) needed(k int, m *result.ComparedMetric, r *result.Repeats) string {
	now := *m.Changes[k].Detectable
	s := spread(&m.Values[0], &m.Values[k+1])
	for i := len(effects) - 1; i >= 0; i-- {
		if effects[i] > now*0.8 { // hardly less
			continue
		}
		for n := max(2, min(r.Base, r.Runs)); n <= manyRuns; n++ {
			if leastP(n, n)*float64(max(1, r.Tests)) <= errorRate && detectable(s, n, n, r.Tests) <= effects[i] {
				return fmt.Sprintf("from +%s on with %d each", percent(effects[i]), n)
			}
		}
		return fmt.Sprintf("from +%s on with more than %d each", percent(effects[i]), manyRuns)
	}
	return ""
}

// digits writes a number with three significant digits.
func digits(p float64) string { return strconv.FormatFloat(p, 'g', 3, 64) }

// percent writes a ratio less 1 with two significant digits.
func percent(ratio float64) string {
	x := 100 * ratio
	decimals := 0
	if x > 0 && x < 10 {
		decimals = 1 - int(math.Floor(math.Log10(x)))
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', min(max(decimals, 0), 4), 64), ".0") + " %"
}
