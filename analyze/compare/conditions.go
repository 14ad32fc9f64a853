package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// conditions judges those of o, for each candidate.
func (c *comparison) conditions(o *Options) error {
	for _, condition := range o.FailIf {
		i := slices.IndexFunc(c.Metrics, func(m result.ComparedMetric) bool { return m.Name == condition.Figure.String() })
		for k := range c.groups[1:] {
			f := c.condition(condition, &c.Metrics[i], k, o.ByEstimate)
			if repeats := &c.Repeats[k]; !f.Fails && !o.ByEstimate && c.Method == result.ByRanks && *repeats.LeastAdjusted > errorRate && !startsAtZero(&c.Metrics[i]) {
				return fmt.Errorf("%q could not fail, whatever changed: %s: %w", condition.Text, repeats.Text, ErrTooFew)
			}
			c.FailIf = append(c.FailIf, f)
		}
	}
	return nil
}

// startsAtZero: what appears in such a figure is told without a test.
func startsAtZero(m *result.ComparedMetric) bool {
	centre := m.Values[0].Centre
	return centre != nil && *centre == 0
}

// condition judges one. By default the estimate of the change has to be beyond the bound, and the change must not be what noise
// alone may look like. A figure that cannot be compared fails: nobody would notice a condition that stopped to look at anything.
func (c *comparison) condition(condition *assert.Change, m *result.ComparedMetric, k int, byEstimate bool) result.FailCondition {
	x, base, candidate := &m.Changes[k], &m.Values[0], &m.Values[k+1]
	f := result.FailCondition{Text: condition.Text, Candidate: c.groups[k+1].Label}
	estimate := x.Difference
	if condition.Relative {
		estimate = x.Delta
	}
	switch {
	case base.Centre == nil || candidate.Centre == nil:
		f.Fails, f.Why = true, "cannot be compared: "+x.Note
		if bound := knownBeyond(condition, base, candidate); bound != "" {
			f.Why = bound
		}
		return f
	case x.Zero == result.FromZero && condition.Relative:
		f.Fails, f.Why = condition.Bound > 0, "from zero: more than any share of it"
		return f
	case x.Zero == result.ToZero && condition.Relative:
		least := -1.0
		estimate = &least
	case estimate == nil && *base.Centre == *candidate.Centre:
		nothing := 0.0
		estimate = &nothing
	case estimate == nil && x.DeltaOfMeans != nil: // some runs have zero
		estimate = x.DeltaOfMeans
	case estimate == nil:
		f.Fails, f.Why = true, "the base is zero in some runs: write the change in "+words(m.Unit)+", without %"
		return f
	}
	f.Why = "it changed by " + amount(condition, *estimate)
	switch beyond := beyond(condition, *estimate); {
	case !beyond:
	case byEstimate:
		f.Fails = true
	case x.Verdict == result.ChangeNoise:
		f.Why += ", which may be noise (adjusted p " + digits(value(x.Adjusted)) + ")"
	case x.Verdict == result.ChangeUnknown:
		f.Fails = true
		f.Why += "; whether that is noise cannot be said: " + x.Note
	default:
		f.Fails = true
		if x.Adjusted != nil {
			f.Why += " (adjusted p " + digits(*x.Adjusted) + ")"
		}
	}
	return f
}

func value(p *float64) float64 {
	if p == nil {
		return 1
	}
	return *p
}

func beyond(c *assert.Change, estimate float64) bool {
	if estimate == c.Bound {
		return c.Reached
	}
	return (estimate > c.Bound) != c.Falls
}

// knownBeyond: the candidate is known from below only, and that is beyond the bound already.
func knownBeyond(condition *assert.Change, base, candidate *result.ComparedValue) string {
	if base.Centre == nil || candidate.AtLeast == nil || condition.Falls {
		return ""
	}
	least := *candidate.AtLeast
	for _, v := range candidate.Runs {
		if v != nil {
			least = min(least, *v)
		}
	}
	grown := least - *base.Centre
	if condition.Relative {
		grown /= *base.Centre
	}
	if math.IsNaN(grown) || math.IsInf(grown, 0) || !beyond(condition, grown) {
		return ""
	}
	return "it changed by " + amount(condition, grown) + " at least: it falls among messages without an answer"
}

// amount writes a change as the condition speaks of it.
func amount(c *assert.Change, v float64) string {
	if c.Relative {
		return fmt.Sprintf("%+.2f %%", 100*v)
	}
	if c.Figure.Unit() == result.UnitTime {
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + " ms"
	}
	return strconv.FormatFloat(v, 'g', 6, 64) + " " + words(c.Figure.Unit())
}

func words(u result.Unit) string {
	switch u {
	case result.UnitRate:
		return "messages per second"
	case result.UnitTime:
		return "time"
	}
	return "messages"
}
