package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
)

// Labelled is one of several runs. Runs of one label are repeats of one configuration.
type Labelled struct {
	Label  string
	Result *result.Result
}

// group of repeats.
type group struct {
	label string
	runs  []*result.Result
	apart bool // its dots are not joined with others
}

// Bounds of what a chart of several runs shows: groups beside each other, and lines over each other.
const (
	mostGroups = 24
	mostLines  = 8
)

// runKinds are the charts of several runs, in the order in which they are drawn.
var runKinds = []struct {
	name  string
	build func([]group) Spec
}{
	{"runs-rates", runRatesSpec},
	{"runs-over-time", runTimesSpec},
	{"runs-latency", runLatencySpec},
	{"runs-percentiles-confirm", func(g []group) Spec { return runCurvesSpec(g, "confirm") }},
	{"runs-percentiles-delivery", func(g []group) Spec { return runCurvesSpec(g, "delivery") }},
	{"rate-latency", rateLatencySpec},
	{"throughput", sweepSpec},
}

// RunNames are the names of all charts of several runs, in the order in which they are drawn.
func RunNames() []string {
	var names []string
	for _, k := range runKinds {
		names = append(names, k.name)
	}
	return names
}

// FullRunName is the name of a chart of several runs that may have been given without "runs-" before it; what names no such chart
// comes back as it is.
func FullRunName(name string) string {
	if full := "runs-" + name; slices.Contains(RunNames(), full) {
		return full
	}
	return name
}

// SpecsOfRuns builds the charts that set runs beside each other: rates and latencies as grouped bars and dots, with the interval from
// the lowest to the highest of the repeats, percentile curves over each other, latency against rate, and throughput against the
// parameter that the runs differ in. They are those that o names, else all; those that have nothing to show say why in NoData.
// Labels stand in the order in which they come first; nil results are left out.
func SpecsOfRuns(runs []Labelled, o Options) []*Spec {
	groups := groupsOf(runs)
	var specs []*Spec
	for _, k := range runKinds {
		if len(o.Names) > 0 && !slices.Contains(o.Names, k.name) {
			continue
		}
		s := k.build(groups[:min(len(groups), mostGroups)])
		s.Name = k.name
		if len(groups) > mostGroups && s.NoData == "" {
			s.Caption = append(s.Caption, "The first "+result.Group(mostGroups)+" of "+result.Group(int64(len(groups)))+" configurations are shown.")
		}
		specs = append(specs, &s)
	}
	return specs
}

func groupsOf(runs []Labelled) (groups []group) {
	for _, run := range runs {
		if run.Result == nil {
			continue
		}
		label := strings.TrimSpace(run.Label)
		if label == "" {
			label = "no name"
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.label == label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{label: label})
		}
		groups[i].runs = append(groups[i].runs, run.Result)
	}
	return groups
}

func all(groups []group) (runs []*result.Result) {
	for _, g := range groups {
		runs = append(runs, g.runs...)
	}
	return runs
}

// runMarks are those of any run, with how many of several have them.
func runMarks(groups []group) (found []string) {
	runs := all(groups)
	counts := map[string]int64{}
	for _, r := range runs {
		for _, m := range marks(r) {
			if counts[m]++; counts[m] == 1 {
				found = append(found, m)
			}
		}
	}
	for i, m := range found {
		if n := counts[m]; n < int64(len(runs)) {
			found[i] = m + " (" + result.Group(n) + " of " + result.Plural(int64(len(runs)), "run") + ")"
		}
	}
	return found
}

// runCaption says what all runs have in common, when they were, and how many there are; then the notes.
func runCaption(groups []group, notes ...string) []string {
	runs := all(groups)
	if len(runs) == 0 {
		return nil
	}
	common := strings.Split(caption(runs[0])[0], separator)
	first, last := int64(math.MaxInt64), int64(0)
	for _, r := range runs {
		parts := strings.Split(caption(r)[0], separator)
		common = slices.DeleteFunc(common, func(p string) bool { return !slices.Contains(parts, p) })
		if at := r.Config.StartedNS; at > 0 {
			first, last = min(first, at), max(last, at)
		}
	}
	if first < last {
		common = append(common, "started "+day(first)+" to "+day(last)+" UTC")
	}
	fewest, most := len(groups[0].runs), 0
	for _, g := range groups {
		fewest, most = min(fewest, len(g.runs)), max(most, len(g.runs))
	}
	count := result.Plural(int64(len(groups)), "configuration")
	switch {
	case most == 1:
		count += ", one run each"
	case fewest == most:
		count += ", " + result.Plural(int64(most), "run") + " each"
	default:
		count += ", " + result.Group(int64(fewest)) + " to " + result.Plural(int64(most), "run") + " each"
	}
	return []string{joinNotEmpty(common...), joinNotEmpty(append([]string{count}, notes...)...)}
}

func day(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05") }

// among are the values of the repeats: the median, and, of several, the lowest and the highest.
type among struct {
	middle    float64
	low, high *float64
}

// of puts a figure of the repeats together; ok is false where none has it.
func (g *group) of(figure func(*result.Result) (float64, bool)) (a among, ok bool) {
	var values []float64
	for _, r := range g.runs {
		if v, ok := figure(r); ok && finite(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return a, false
	}
	slices.Sort(values)
	n := len(values)
	a.middle = values[(n-1)/2]/2 + values[n/2]/2
	if n > 1 {
		a.low, a.high = &values[0], &values[n-1]
	}
	return a, true
}

func (a among) divided(per float64) among {
	a.middle /= per
	for _, p := range []**float64{&a.low, &a.high} {
		if *p != nil {
			v := **p / per
			*p = &v
		}
	}
	return a
}

func (a among) highest() float64 {
	if a.high != nil {
		return *a.high
	}
	return a.middle
}

// repeatsNote explains bars or dots and their intervals.
func repeatsNote(groups []group, what string) string {
	if slices.ContainsFunc(groups, func(g group) bool { return len(g.runs) > 1 }) {
		return what + ": the median of the repeats; interval: from the lowest to the highest of them"
	}
	return ""
}

// categories are an upright axis of the groups' labels, the first at the top.
func categories(groups []group) Axis {
	a := Axis{Category: true, Max: math.Max(1, float64(len(groups)))}
	for i := len(groups) - 1; i >= 0; i-- {
		a.Ticks = append(a.Ticks, Tick{At: float64(len(groups)-i) - 0.5, Label: groups[i].label})
	}
	return a
}

// latencyOfRuns is the latency that all runs have: of deliveries before that of confirms, response before service. Where no latency
// is in all of them, it is one that some have.
func latencyOfRuns(groups []group) (what, from string) {
	most := 0
	for _, w := range []string{"delivery", "confirm", "commit"} {
		for _, f := range []string{"response", "service"} {
			n := 0
			for _, r := range all(groups) {
				if d := r.Latency.Pick(w, f); d != nil && d.Count > 0 {
					n++
				}
			}
			if n > most {
				what, from, most = w, f, n
			}
		}
	}
	return what, from
}

// figureOf one quantile of a latency; ok only where it was measured.
func (q quantile) figure(what, from string) func(*result.Result) (float64, bool) {
	return func(r *result.Result) (float64, bool) {
		v, atLeast := q.value(r.Latency.Pick(what, from))
		return v, !atLeast && finite(v)
	}
}

// bound is the highest bound from below in the repeats; ok is false where none has one.
func (q quantile) bound(g *group, what, from string) (v float64, ok bool) {
	for _, r := range g.runs {
		if b, atLeast := q.value(r.Latency.Pick(what, from)); atLeast {
			v, ok = math.Max(v, b), true
		}
	}
	return v, ok
}

func sortedBy(groups []group, key func(*group) float64) []*group {
	var order []*group
	for i := range groups {
		if finite(key(&groups[i])) {
			order = append(order, &groups[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(key(a), key(b)) })
	return order
}
