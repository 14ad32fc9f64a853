package compare

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// Directions.
const (
	higher = "higher"
	lower  = "lower"
)

// wrongs are the counts of what can go wrong; each is compared by itself where any run has it.
var wrongs = []string{
	"lost", "missing", "duplicates", "corrupt", "out_of_order", "returned", "nacked", "unconfirmed", "uncommitted", "not_sent",
	"redelivered", "foreign",
}

// figures are those that are compared: the ones asked for, else a choice; then those of conditions.
func figures(groups []Group, o *Options) []*assert.Figure {
	all := slices.Clone(o.Metrics)
	if len(all) == 0 {
		all = choose(groups)
	}
	for _, c := range o.FailIf {
		all = append(all, &c.Figure)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f *assert.Figure) bool {
		twice := seen[f.String()]
		seen[f.String()] = true
		return twice
	})
}

// choose keeps the family small: each further metric makes a change of all others harder to prove. The rates of confirms and of
// commits are nearly the one of sending, and where a rate was set service latency is the smaller part of response latency.
func choose(groups []Group) (all []*assert.Figure) {
	add := func(text string) {
		f, err := assert.ParseFigure(text)
		if err != nil {
			panic("compare: " + text + ": " + err.Error()) // a name of this file
		}
		if slices.ContainsFunc(groups, func(g Group) bool {
			return slices.ContainsFunc(g.Runs, func(r *result.Result) bool {
				v := f.Of(r)
				return v.AtLeast != nil || v.Is != nil && (*v.Is != 0 || f.Unit() != result.UnitMessages)
			})
		}) {
			all = append(all, f)
		}
	}
	add("rate(sent)")
	add("rate(received)")
	from := "response"
	for _, g := range groups {
		for _, r := range g.Runs {
			if r.Config.Producers > 0 && !r.Config.OpenLoop {
				from = "service"
			}
		}
	}
	for _, what := range []string{"confirm", "commit", "delivery"} {
		for _, percentile := range []string{"p50", "p99"} {
			add(percentile + "(" + what + "." + from + ")")
		}
	}
	for _, name := range wrongs {
		add(name)
	}
	return all
}

// better says which way of a figure is the good one, "" for neither.
func better(f *assert.Figure) string {
	switch name, perSecond := f.Counted(); {
	case perSecond:
		return higher
	case name == "":
		return lower
	case slices.Contains(wrongs, name) && name != "redelivered" && name != "foreign",
		slices.Contains([]string{"missing_unconfirmed", "unroutable", "corrupt_unattributed"}, name):
		return lower
	}
	return ""
}

// valuesOf are what one group has of a figure.
func valuesOf(f *assert.Figure, runs []*result.Result) result.ComparedValue {
	var v result.ComparedValue
	whole := true
	for _, r := range runs {
		of := f.Of(r)
		value, why := of.Is, of.Why
		if value != nil && (math.IsNaN(*value) || math.IsInf(*value, 0)) {
			value, why = nil, "it is no number"
		}
		v.Runs = append(v.Runs, value)
		if value == nil {
			whole = false
			if v.Why == "" {
				v.Why = why
			}
		}
		if least := of.AtLeast; least != nil && (v.AtLeast == nil || *least < *v.AtLeast) {
			v.AtLeast = least
		}
	}
	if whole {
		v.Why = ""
		summarize(&v)
	}
	return v
}

// summarize takes median and mean of runs that all have a value.
func summarize(v *result.ComparedValue) {
	values := known(v.Runs)
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), level)
	centre, mean := s.Center, 0.0
	for _, x := range values {
		mean += x / float64(len(values))
	}
	v.Centre, v.Mean = &centre, &mean
	if slices.Min(values) == slices.Max(values) {
		v.Mean = &centre // no rounding where there is nothing to round
	}
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) && len(values) > 1 {
		low, high := s.Lo, s.Hi
		v.Low, v.High = &low, &high
	}
}
