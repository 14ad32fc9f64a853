package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// parameter is something that runs can differ in by a number.
type parameter struct {
	name string // for the axis
	of   func(*result.Result) float64
}

// parameters, those that people sweep first.
var parameters = []parameter{
	{"confirm window (messages)", func(r *result.Result) float64 { return float64(r.Config.Confirm) }},
	{"message size (bytes)", sizeOf},
	{"offered rate (messages per second)", func(r *result.Result) float64 {
		if r.Config.RateTotal == nil {
			return 0
		}
		return *r.Config.RateTotal
	}},
	{"producers", func(r *result.Result) float64 { return float64(r.Config.Producers) }},
	{"consumers", func(r *result.Result) float64 { return float64(r.Config.Consumers) }},
	{"queues", func(r *result.Result) float64 { return float64(r.Config.Queues) }},
	{"connections", func(r *result.Result) float64 { return float64(r.Config.Connections) }},
	{"prefetch (messages)", func(r *result.Result) float64 { return float64(r.Config.Prefetch) }},
	{"transaction (messages)", func(r *result.Result) float64 { return float64(r.Config.PublishTxSize) }},
}

// sizeOf is the one size of all bodies, 0 where there are several.
func sizeOf(r *result.Result) float64 {
	if len(r.Config.SizesBytes) != 1 {
		return 0
	}
	return float64(r.Config.SizesBytes[0])
}

// traits are what runs can differ in besides.
var traits = []func(*result.Result) string{
	func(r *result.Result) string { return r.Broker.Describe() },
	func(r *result.Result) string { return strings.Join(r.Config.QueueTypes, ", ") },
	func(r *result.Result) string { return r.Config.DescribeDurability() },
	func(r *result.Result) string { return "acks " + r.Config.AckMode },
}

// sweep is a parameter and the groups by what else they differ in, each in the order of the parameter.
type sweep struct {
	parameter
	names  []string
	series [][]*group
}

// findSweep chooses, of the parameters that the groups differ in, the one with the most values; of several with as many the first.
func findSweep(groups []group) (sweep, bool) {
	best, most := -1, 1
	for i, p := range parameters {
		if n := len(valuesOf(groups, p)); n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return sweep{}, false
	}
	s := sweep{parameter: parameters[best]}
	telling := differences(groups, best)
	for i := range groups {
		name := textOf(telling, groups[i].runs[0])
		k := slices.Index(s.names, name)
		if k < 0 {
			k = len(s.names)
			s.names, s.series = append(s.names, name), append(s.series, nil)
		}
		s.series[k] = append(s.series[k], &groups[i])
	}
	for _, of := range s.series {
		slices.SortStableFunc(of, func(a, b *group) int { return cmp.Compare(s.of(a.runs[0]), s.of(b.runs[0])) })
	}
	return s, true
}

// valuesOf a parameter among the groups; none where the runs of one differ in it, or it is no number.
func valuesOf(groups []group, p parameter) (values []float64) {
	for _, g := range groups {
		v := p.of(g.runs[0])
		if !finite(v) || slices.ContainsFunc(g.runs, func(r *result.Result) bool { return p.of(r) != v }) {
			return nil
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// differences are what the groups differ in besides, as texts of a run: parameters and traits that tell groups apart which neither the
// swept parameter nor those before tell apart. What follows from them is none of its own.
func differences(groups []group, swept int) (telling []func(*result.Result) string) {
	candidates := make([]func(*result.Result) string, 0, len(parameters)+len(traits))
	for i, p := range parameters {
		if i == swept {
			continue
		}
		name, unit, _ := strings.Cut(p.name, " (")
		candidates = append(candidates, func(r *result.Result) string {
			if unit == "bytes)" {
				return significant(p.of(r)) + " bytes"
			}
			return name + " " + significant(p.of(r))
		})
	}
	for _, text := range append(traits[:len(traits):len(traits)], candidates...) {
		seen := map[string]string{}
		for _, g := range groups {
			r := g.runs[0]
			key := strconv.FormatFloat(parameters[swept].of(r), 'g', -1, 64) + "\n" + textOf(telling, r)
			other, ok := seen[key]
			if seen[key] = text(r); ok && other != text(r) {
				telling = append(telling, text)
				break
			}
		}
	}
	return telling
}

func textOf(telling []func(*result.Result) string, r *result.Result) string {
	var parts []string
	for _, text := range telling {
		parts = append(parts, text(r))
	}
	return strings.Join(parts, ", ")
}

// sweepSpec shows throughput against the parameter that the runs differ in: sent, confirmed and received where that is all they
// differ in, else the rate received (or confirmed, or sent) of each of what else there is.
func sweepSpec(groups []group) Spec {
	s := Spec{Title: "Throughput", Marks: runMarks(groups)}
	s.X, s.Y = valueAxis("parameter", 0, 1), valueAxis("messages per second", 0, 1)
	w, ok := findSweep(groups)
	if !ok {
		s.NoData = "the runs differ in no parameter that is a number"
		return s
	}
	layers, label := w.layers()
	if len(layers) == 0 {
		s.NoData = "no run has a rate"
		return s
	}
	name, _, _ := strings.Cut(w.name, " (")
	s.Title = "Throughput against " + name
	lo, hi, top := math.Inf(1), math.Inf(-1), 0.0
	for _, d := range layers {
		for _, p := range d.Dots {
			lo, hi, top = math.Min(lo, p.X), math.Max(hi, p.X), math.Max(top, among{p.Y, p.Low, p.High}.highest())
		}
	}
	if lo > 0 && hi/lo > 20 {
		s.X = logAxis(w.name, lo, hi)
	} else {
		s.X = valueAxis(w.name, math.Min(0, lo), hi)
	}
	unit := rateScale(top)
	s.Y = valueAxis(label+unit.name, 0, math.Max(top/unit.per, leastTop))
	for _, d := range layers {
		for i, p := range d.Dots {
			a := among{p.Y, p.Low, p.High}.divided(unit.per)
			d.Dots[i].Y, d.Dots[i].Low, d.Dots[i].High = a.middle, a.low, a.high
		}
		s.Dots = append(s.Dots, d)
	}
	s.Table = sweepTable(groups, w)
	notes := []string{repeatsNote(groups, "mark")}
	if len(w.series) > mostLines {
		notes = append(notes, "the first "+result.Group(mostLines)+" of "+result.Group(int64(len(w.series)))+" lines")
	}
	s.Caption = runCaption(groups, notes...)
	return s
}

// layers are the rates as dots, in messages per second, and what to name before the unit.
func (w *sweep) layers() (layers []Dots, label string) {
	add := func(name string, x *runRate, groups []*group) {
		style := lineStyles(len(layers))
		if len(w.series) == 1 { // where a run keeps pace they lie on each other
			style = x.style
		}
		d := Dots{Name: name, Style: style, Joined: true, Shape: []string{"circle", "square", "diamond", "cross"}[len(layers)%4]}
		for _, g := range groups {
			if a, ok := g.of(x.figure); ok {
				d.Dots = append(d.Dots, Dot{X: w.of(g.runs[0]), Y: a.middle, Low: a.low, High: a.high})
			}
		}
		if len(d.Dots) > 0 {
			layers = append(layers, d)
		}
	}
	if len(w.series) == 1 {
		for i := range runRates {
			add(runRates[i].name, &runRates[i], w.series[0])
		}
		return layers, ""
	}
	for i := len(runRates) - 1; i >= 0; i-- { // received, else what comes nearest
		x := &runRates[i]
		for k := range w.series[:min(len(w.series), mostLines)] {
			name := w.names[k]
			if name == "" {
				name = w.series[k][0].label
			}
			add(name, x, w.series[k])
		}
		if len(layers) > 0 {
			return layers, x.name + ", "
		}
	}
	return nil, ""
}

func sweepTable(groups []group, w sweep) *Table {
	t := &Table{Columns: []string{"label", "run", columnName(w.name)}}
	for _, x := range runRates {
		t.Columns = append(t.Columns, x.name+"_msgs_per_s")
	}
	t.Rows = eachRun(groups, func(r *result.Result) []string {
		cells := []string{strconv.FormatFloat(w.of(r), 'f', -1, 64)}
		for i := range runRates {
			v, ok := runRates[i].figure(r)
			if cells = append(cells, ""); ok {
				cells[len(cells)-1] = number(v)
			}
		}
		return cells
	})
	return t
}
