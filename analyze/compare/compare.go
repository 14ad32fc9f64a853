// Package compare tells a change from noise: it compares the figures of runs, or of groups of repeated runs, with those of
// the first one, the base.
//
// In flow finished results, out flows a result.Comparison; nothing is read or written. Where every group has one run, what
// is known of their figures is resampled within each run in blocks of time (resample.go), and the comparison says that
// nothing is known of how runs differ. Otherwise the run is the unit of sampling, however many messages it had: ranks.go
// has the test and its interval, holm.go the correction for the number of metrics, repeats.go what so many runs could find.
//
// The same input gives the same output: resampling draws from a generator with a fixed seed.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"leveret/analyze/assert"
	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// Group is one run, or repeats of one run.
type Group struct {
	Label string // unique
	Runs  []*result.Result
}

// Options of a comparison. The zero value is ready.
type Options struct {
	// Metrics are the figures to compare; none: rates, medians and 99th percentiles of what was recorded, and the counts of
	// what went wrong anywhere.
	Metrics []*assert.Figure
	// FailIf are conditions about every candidate. Their figures are compared, too.
	FailIf []*assert.Change
	// ByEstimate: a condition looks at the estimate of a change alone, be it noise or not. Otherwise a change that may be noise
	// fulfils none.
	ByEstimate bool
}

const (
	// errorRate is how often a comparison without any change may claim one.
	errorRate = 0.05
	// level of the intervals.
	level = 0.95
	// MostRuns of a group, and MostGroups of a comparison: the interval takes the difference of each pair of runs.
	MostRuns   = 500
	MostGroups = 64
)

// Percents are the percentiles that the results have to have, beside those that every one has.
func (o *Options) Percents() []quantile.Percent {
	var all []quantile.Percent
	add := func(f *assert.Figure) {
		if p, ok := f.Percent(); ok && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, f := range o.Metrics {
		add(f)
	}
	for _, c := range o.FailIf {
		add(&c.Figure)
	}
	return all
}

// ErrTooFew says that a condition cannot be fulfilled, whatever changed, by so few runs.
var ErrTooFew = errors.New("too few runs")

// Run compares the groups after the first with the first. The error wraps ErrTooFew where there are conditions that so few
// runs could never fulfil.
func Run(groups []Group, o Options) (*result.Comparison, error) {
	if err := check(groups); err != nil {
		return nil, err
	}
	c := &result.Comparison{SchemaVersion: result.ComparisonSchemaVersion, Method: result.ByRanks, ErrorRate: errorRate, Level: level}
	for i := range groups {
		c.Groups = append(c.Groups, describe(&groups[i]))
	}
	c.Differences = differences(groups)
	w := &comparison{Comparison: c, groups: groups, figures: figures(groups, &o)}
	if !slices.ContainsFunc(groups, func(g Group) bool { return len(g.Runs) > 1 }) {
		c.Method = result.ByBlocks
	}
	w.measure()
	w.test()
	w.judge()
	w.countRepeats()
	if err := w.conditions(&o); err != nil {
		return nil, err
	}
	c.Remarks = w.remarks()
	return c, nil
}

func check(groups []Group) error {
	if len(groups) < 2 || len(groups) > MostGroups {
		return fmt.Errorf("compare: %d groups of runs: give a base and at least one candidate, %d groups at most", len(groups), MostGroups)
	}
	for i, g := range groups {
		if len(g.Runs) == 0 || len(g.Runs) > MostRuns {
			return fmt.Errorf("compare: group %s has %d runs: from 1 to %d can be compared", g.Label, len(g.Runs), MostRuns)
		}
		if slices.ContainsFunc(groups[:i], func(b Group) bool { return b.Label == g.Label }) {
			return fmt.Errorf("compare: two groups are called %s: give each a label of its own", g.Label)
		}
	}
	return nil
}

// comparison is one on its way.
type comparison struct {
	*result.Comparison
	groups  []Group
	figures []*assert.Figure // of Metrics, in their order
}

// measure fills in the values of all metrics.
func (c *comparison) measure() {
	for _, f := range c.figures {
		m := result.ComparedMetric{Name: f.String(), Unit: f.Unit(), Better: better(f)}
		for i := range c.groups {
			m.Values = append(m.Values, valuesOf(f, c.groups[i].Runs))
		}
		m.Changes = make([]result.ComparedChange, len(c.groups)-1)
		c.Metrics = append(c.Metrics, m)
	}
}

// test makes the p-values, and adjusts them together.
func (c *comparison) test() {
	resampled := c.resample()
	var raw []*float64
	var intervals []limits
	for _, g := range c.groups[1:] {
		intervals = append(intervals, ends(len(c.groups[0].Runs), len(g.Runs)))
	}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for k := range m.Changes {
			change, base, candidate := &m.Changes[k], &m.Values[0], &m.Values[k+1]
			if base.Centre == nil || candidate.Centre == nil {
				change.Verdict, change.Note = result.ChangeUnknown, missing(c.groups[0].Label, base, c.groups[k+1].Label, candidate)
				continue
			}
			x, y := known(base.Runs), known(candidate.Runs)
			compareMeans(change, *base.Mean, *candidate.Mean)
			if c.Method == result.ByRanks {
				byRanks(change, x, y, intervals[k])
			} else {
				byBlocks(change, x[0], y[0], resampled[0][i], resampled[k+1][i])
			}
			if change.PValue != nil {
				raw = append(raw, change.PValue)
			}
		}
	}
	adjusted := holm(raw)
	for i := range c.Metrics {
		for k := range c.Metrics[i].Changes {
			if change := &c.Metrics[i].Changes[k]; change.PValue != nil {
				p := adjusted[0]
				change.Adjusted, adjusted = &p, adjusted[1:]
			}
		}
	}
}

// judge gives each change its verdict. What was nowhere before, or is nowhere any more, is a change by itself.
func (c *comparison) judge() {
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for k := range m.Changes {
			x := &m.Changes[k]
			switch {
			case x.Verdict == result.ChangeUnknown:
			case x.Zero != "":
				x.Verdict = named(m.Better, x.DeltaSign())
				x.Note = happened(&m.Values[0], &m.Values[k+1])
			case x.Adjusted == nil && *m.Values[0].Centre == *m.Values[k+1].Centre:
				x.Verdict = result.ChangeNoise
			case x.Adjusted == nil:
				x.Verdict = result.ChangeUnknown
			case *x.Adjusted <= errorRate:
				x.Verdict = named(m.Better, x.DeltaSign())
			default:
				x.Verdict = result.ChangeNoise
			}
		}
	}
}

// named is the verdict on a change of that sign.
func named(better string, sign int) result.ChangeVerdict {
	switch {
	case better == "" || sign == 0:
		return result.ChangeChanged
	case (better == higher) == (sign > 0):
		return result.ChangeBetter
	}
	return result.ChangeWorse
}

// happened says in how many runs a figure was above zero.
func happened(base, candidate *result.ComparedValue) string {
	nonzero := func(v *result.ComparedValue) string {
		n := 0
		for _, x := range v.Runs {
			if x != nil && *x != 0 {
				n++
			}
		}
		return fmt.Sprintf("%d of %s", n, result.Plural(int64(len(v.Runs)), "run"))
	}
	return "above zero in " + nonzero(base) + " of the base and in " + nonzero(candidate) + " of the candidate"
}

// compareMeans adds what needs no test.
func compareMeans(x *result.ComparedChange, base, candidate float64) {
	if base != 0 {
		ratio := candidate/base - 1
		if !math.IsInf(ratio, 0) && !math.IsNaN(ratio) {
			x.DeltaOfMeans = &ratio
		}
	}
	switch {
	case base == 0 && candidate != 0:
		x.Zero = result.FromZero
	case base != 0 && candidate == 0:
		x.Zero = result.ToZero
	}
}

// missing says why a metric cannot be compared.
func missing(base string, b *result.ComparedValue, candidate string, c *result.ComparedValue) string {
	switch {
	case b.Why == c.Why:
		return b.Why
	case b.Centre == nil && c.Centre == nil:
		return base + ": " + b.Why + "; " + candidate + ": " + c.Why
	case b.Centre == nil:
		return base + ": " + b.Why
	}
	return candidate + ": " + c.Why
}

// known are the values of runs that all have one.
func known(values []*float64) []float64 {
	all := make([]float64, 0, len(values))
	for _, v := range values {
		all = append(all, *v)
	}
	return all
}
