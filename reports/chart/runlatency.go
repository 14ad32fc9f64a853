package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// runQuantiles are those that are set beside each other.
var runQuantiles = []struct {
	quantile
	shape string
}{
	{quantiles[0], "circle"}, {quantiles[1], "square"}, {quantiles[2], "diamond"}, {quantiles[3], "cross"},
}

// dotsOf one quantile at the places that where gives the groups, in ns.
func dotsOf(q quantile, groups []*group, what, from string, where func(*group) float64) (points []Dot) {
	for _, g := range groups {
		if v, ok := q.bound(g, what, from); ok {
			points = append(points, Dot{X: where(g), Y: v, Bound: true, Apart: g.apart})
		} else if a, ok := g.of(q.figure(what, from)); ok {
			points = append(points, Dot{X: where(g), Y: a.middle, Low: a.low, High: a.high, Apart: g.apart})
		}
	}
	return points
}

// setDots puts latencies on an axis that fits all of them, which it gives; values that are not above 0 are left out of a logarithmic
// one. ok is false where there are none.
func (s *Spec) setDots(layers []Dots, label string) (a Axis, ok bool) {
	l := line{}
	for _, d := range layers {
		for _, p := range d.Dots {
			for _, y := range []*float64{&p.Y, p.Low, p.High} {
				if y != nil && p.Bound {
					l.bounds = append(l.bounds, Point{Y: *y})
				} else if y != nil {
					l.points = append(l.points, Point{Y: *y})
				}
			}
		}
	}
	spread := spreadOf([]line{l})
	if spread.points == 0 {
		s.NoData = "no run has a latency"
		return valueAxis(label+" (milliseconds)", 0, 1), false
	}
	a, unit := latencyAxis(spread, label)
	for _, d := range layers {
		kept := d.Dots[:0:0]
		for _, p := range d.Dots {
			if a.Log && p.Y <= 0 {
				continue
			}
			v := among{p.Y, p.Low, p.High}.divided(unit.per)
			p.Y, p.Low, p.High = v.middle, v.low, v.high
			if a.Log && p.Low != nil && *p.Low <= 0 {
				p.Low = nil
			}
			kept = append(kept, p)
		}
		if d.Dots = kept; len(kept) > 0 {
			s.Dots = append(s.Dots, d)
		}
	}
	if len(s.Dots) == 0 {
		s.NoData = "no run has a latency above 0"
	}
	return a, len(s.Dots) > 0
}

// runLatencySpec sets percentiles of the groups beside each other.
func runLatencySpec(groups []group) Spec {
	s := Spec{Title: "Latency by run", Marks: runMarks(groups), Y: categories(groups)}
	what, from := latencyOfRuns(groups)
	if what == "" {
		s.X, s.NoData = valueAxis("latency (milliseconds)", 0, 1), "no run has a latency"
		return s
	}
	s.Title = title(what) + " latency by run"
	every := sortedBy(groups, func(*group) float64 { return 0 }) // in their order
	var layers []Dots
	for k, q := range runQuantiles {
		d := Dots{Name: q.name, Style: q.style, Shape: q.shape, Sideways: true}
		d.Dots = dotsOf(q.quantile, every, what, from, func(g *group) float64 {
			a, b := slot(len(groups), slices.Index(every, g), k, len(runQuantiles))
			return (a + b) / 2
		})
		layers = append(layers, d)
	}
	s.X, _ = s.setDots(layers, from+" latency")
	for _, d := range s.Dots {
		for i, p := range d.Dots { // on their sides
			d.Dots[i].X, d.Dots[i].Y = p.Y, p.X
		}
	}
	s.Table = runLatencyTable(groups, what, from)
	s.Caption = runCaption(groups, repeatsNote(groups, "mark"), meaning(from), latencyMessages(groups, what, from), boundsNote(layers))
	return s
}

func latencyMessages(groups []group, what, from string) string {
	least, most := int64(math.MaxInt64), int64(0)
	for _, r := range all(groups) {
		if n := r.Latency.Pick(what, from).Messages(); n > 0 {
			least, most = min(least, n), max(most, n)
		}
	}
	switch {
	case most == 0:
		return ""
	case least == most:
		return result.Plural(most, "message") + " a run"
	}
	return result.Group(least) + " to " + result.Plural(most, "message") + " a run"
}

func runLatencyTable(groups []group, what, from string) *Table {
	t := &Table{Columns: []string{"label", "run", "received_msgs_per_s", "messages"}}
	for _, n := range []string{"p50", "p95", "p99", "max"} {
		t.Columns = append(t.Columns, what+"_"+from+"_"+n+"_ms")
	}
	t.Rows = eachRun(groups, func(r *result.Result) []string {
		cells := make([]string, 2)
		if r.Rates.Received != nil {
			cells[0] = number(*r.Rates.Received)
		}
		cells[1] = number(float64(r.Latency.Pick(what, from).Messages()))
		for _, q := range quantiles {
			v, ok := q.figure(what, from)(r)
			if cells = append(cells, ""); ok {
				cells[len(cells)-1] = milliseconds(v)
			}
		}
		return cells
	})
	return t
}

// lineStyles tell lines over each other apart, with and without colours.
func lineStyles(i int) Style {
	colors := [mostLines]string{blue, vermillion, bluishGreen, orange, reddishPurple, skyBlue, black, grey}
	return Style{Color: colors[i%mostLines], Dash: []string{"", "dash", "dot", "dashdot"}[i%4], Width: []float64{2.2, 1.4}[i/4%2]}
}

// runCurvesSpec lays the percentile curves of the groups over each other; of repeats, that of the run whose 99 % is the median one.
func runCurvesSpec(groups []group, what string) Spec {
	s := Spec{Title: title(what) + " latency by percentile", Marks: runMarks(groups)}
	from := "response"
	for _, r := range all(groups) {
		if d := r.Latency.Pick(what, "service"); d.Messages() > 0 && r.Latency.Pick(what, "response").Messages() == 0 {
			from = "service" // it has no other, and only like is compared
		}
	}
	var curves []result.Curve
	var names []string
	var of []*result.Result
	for i := range groups {
		r := typicalRun(&groups[i], what, from)
		if r == nil || len(curves) == mostLines {
			continue
		}
		j := slices.IndexFunc(r.Curves, func(c result.Curve) bool { return c.What == what && c.From == from && len(c.Points) > 0 })
		curves, names, of = append(curves, r.Curves[j]), append(names, groups[i].label), append(of, r)
	}
	end, rightmost := curvesEnd(curves)
	var lines []line
	for i, c := range curves {
		l := curveLine(c, rightmost, of[i].Latency.Pick(what, from))
		l.name, l.style = names[i], lineStyles(i)
		lines = append(lines, l)
	}
	spread := spreadOf(lines)
	s.X = ninesAxis(end, rightmost, curves)
	if spread.points == 0 {
		s.Y, s.NoData = valueAxis("latency (milliseconds)", 0, 1), "no run has a percentile curve of "+what+" latency"
		return s
	}
	unit := s.setLatencyAxis(spread, from+" latency")
	s.Series = toSeries(lines, 1, unit.per, s.Y.Log)
	s.Table = runCurvesTable(names, curves)
	notes := []string{meaning(from), latencyMessages(groups, what, from)}
	if slices.ContainsFunc(groups, func(g group) bool { return len(g.runs) > 1 }) {
		notes = append(notes, "of repeats, the run whose 99 % is the median one")
	}
	if len(curves) == mostLines && len(groups) > mostLines {
		notes = append(notes, "the first "+result.Group(mostLines)+" configurations")
	}
	s.Caption = runCaption(groups, append(notes, s.notes(spread)...)...)
	return s
}

// typicalRun is the one whose 99 % (else the median) is the median, the lower one, of those that have a curve; nil for none.
func typicalRun(g *group, what, from string) *result.Result {
	var runs []*result.Result
	for _, r := range g.runs {
		if slices.ContainsFunc(r.Curves, func(c result.Curve) bool { return c.What == what && c.From == from && len(c.Points) > 0 }) {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	key := func(r *result.Result) float64 {
		for _, q := range []quantile{{of: 3}, {of: 0}} {
			if v, _ := q.value(r.Latency.Pick(what, from)); finite(v) {
				return v
			}
		}
		return 0
	}
	slices.SortStableFunc(runs, func(a, b *result.Result) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return runs[(len(runs)-1)/2]
}

func runCurvesTable(names []string, curves []result.Curve) *Table {
	return &Table{Columns: []string{"label", "latency", "from", "percentile_percent", "latency_ms", "messages_above"}, Rows: func(yield func([]string) bool) {
		for i, c := range curves {
			for row := range curveTable([]result.Curve{c}).Rows {
				if !yield(append([]string{names[i]}, row...)) {
					return
				}
			}
		}
	}}
}

// rateLatencySpec shows latency against throughput: a mark for each group, joined in the order of the parameter that they differ in,
// else of their rates. Where they differ in more than that, there is a line for each kind of them, of one percentile.
func rateLatencySpec(groups []group) Spec {
	groups, behind := setApart(groups)
	s := Spec{Title: "Latency against rate", Marks: runMarks(groups)}
	what, from := latencyOfRuns(groups)
	rate := &runRates[len(runRates)-1] // received
	if what != "delivery" {
		rate = &runRates[0]
	}
	at := func(g *group) float64 {
		if a, ok := g.of(rate.figure); ok {
			return a.middle
		}
		return math.NaN()
	}
	order := sortedBy(groups, at)
	s.X, s.Y = valueAxis("messages per second", 0, 1), valueAxis("latency (milliseconds)", 0, 1)
	switch {
	case what == "":
		s.NoData = "no run has a latency"
		return s
	case len(order) < 2 || !(at(order[0]) < at(order[len(order)-1])):
		s.NoData = "the runs do not differ in their rate"
		return s
	}
	s.Title = title(what) + " latency against rate"
	unit := rateScale(at(order[len(order)-1]))
	s.X = valueAxis(rate.name+", "+unit.name, 0, at(order[len(order)-1])/unit.per)
	layers, of := rateLatencyLayers(groups, order, what, from, func(g *group) float64 { return at(g) / unit.per })
	var ok bool
	if s.Y, ok = s.setDots(layers, from+" latency"+of); !ok {
		return s
	}
	s.Table = runLatencyTable(groups, what, from)
	joined := "joined in the order of their rates"
	if w, ok := findSweep(groups); ok {
		name, _, _ := strings.Cut(w.name, " (")
		joined = "joined in the order of the " + name
	}
	s.Caption = runCaption(groups, repeatsNote(groups, "mark"), joined, behind, meaning(from), latencyMessages(groups, what, from), boundsNote(layers))
	return s
}

// leastKept is the share of the offered rate from which on a run has kept it.
const leastKept = 0.95

// setApart sets those apart that did not keep the rate that was offered, or had none, where they differ in that: beyond what the broker takes, rates and latencies are those of
// queues that grow, in no order, and a line through them would hide the curve that leads there. The note says so, "" without any.
func setApart(groups []group) (set []group, note string) {
	set = slices.Clone(groups)
	offered := map[float64]bool{}
	for _, r := range all(groups) {
		if r.Config.RateTotal != nil {
			offered[*r.Config.RateTotal] = true
		}
	}
	for i := range set {
		if len(offered) < 2 {
			break
		}
		share, open := set[i].of(func(r *result.Result) (float64, bool) {
			offered, got := r.Config.RateTotal, r.Rates.Sent
			if offered == nil || *offered <= 0 {
				return 0, false
			}
			of := *offered
			if r.Config.Consumers > 0 && r.Config.FanOut > 0 {
				got, of = r.Rates.Received, of*float64(r.Config.FanOut)
			}
			if got == nil {
				return 0, false
			}
			return *got / of, true
		})
		if !open || share.middle < leastKept {
			set[i].apart, note = true, "runs that did not keep an offered rate within 5 %, or had none, stand apart from the line"
		}
	}
	return set, note
}

// rateLatencyLayers are the percentiles of the groups in the order given, or in that of the swept parameter; of says which percentile
// they are where there is only one.
func rateLatencyLayers(groups []group, order []*group, what, from string, at func(*group) float64) (layers []Dots, of string) {
	w, swept := findSweep(groups)
	if swept && len(w.series) > 1 {
		const p99 = 2 // of runQuantiles
		for i, members := range w.series[:min(len(w.series), mostLines)] {
			d := Dots{Name: w.names[i], Style: lineStyles(i), Joined: true, Shape: runQuantiles[i%len(runQuantiles)].shape}
			d.Dots = dotsOf(runQuantiles[p99].quantile, withRate(members, at), what, from, at)
			layers = append(layers, d)
		}
		return layers, ", " + runQuantiles[p99].name
	}
	if swept {
		order = withRate(w.series[0], at)
	}
	for _, q := range runQuantiles {
		d := Dots{Name: q.name, Style: q.style, Shape: q.shape, Joined: true}
		d.Dots = dotsOf(q.quantile, order, what, from, at)
		layers = append(layers, d)
	}
	return layers, ""
}

// withRate are the groups that have a place, in their order; those without an offered rate, which send as fast as they can, come last.
func withRate(groups []*group, at func(*group) float64) (kept []*group) {
	for _, g := range groups {
		if finite(at(g)) {
			kept = append(kept, g)
		}
	}
	slices.SortStableFunc(kept, func(a, b *group) int { return cmp.Compare(a.closedLoop(), b.closedLoop()) })
	return kept
}

// closedLoop is 1 where the runs have no offered rate, else 0.
func (g *group) closedLoop() int {
	if g.runs[0].Config.RateTotal == nil {
		return 1
	}
	return 0
}

func boundsNote(layers []Dots) string {
	for _, l := range layers {
		if slices.ContainsFunc(l.Dots, func(p Dot) bool { return p.Bound }) {
			return "triangles: at least so much, as some messages have no answer"
		}
	}
	return ""
}
