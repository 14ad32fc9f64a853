package chart

import (
	"cmp"
	"math"
	"slices"

	"leveret/analyze/result"
)

// runTimesSpec lays the rates of the groups over time over each other: of each the run whose rate is the median one, every run
// from its own start.
func runTimesSpec(groups []group) Spec {
	s := Spec{Title: "Received messages over time", Marks: runMarks(groups)}
	count := func(in *result.Interval) int64 { return in.Received }
	figure := func(r *result.Result) *float64 { return r.Rates.Received }
	if !slices.ContainsFunc(all(groups), func(r *result.Result) bool { return figure(r) != nil }) {
		s.Title = "Sent messages over time"
		count = func(in *result.Interval) int64 { return in.Sent }
		figure = func(r *result.Result) *float64 { return r.Rates.Sent }
	}
	var lines []line
	var shown []Labelled
	longest := timeline{unit: timeScale(0)}
	for _, g := range groups {
		r := medianRun(&g, figure)
		if r == nil || len(lines) == mostLines {
			continue
		}
		t := newTimeline(r)
		if t.end > longest.end {
			longest = t
		}
		points := t.steps(r, func(in *result.Interval) float64 {
			if isShort(r, in) {
				return math.NaN()
			}
			return perSecond(count(in), in)
		})
		lines = append(lines, line{name: g.label, style: lineStyles(len(lines)), points: points, plain: true, denseFrom: denseRates})
		shown = append(shown, Labelled{g.label, r})
	}
	spread := spreadOf(lines)
	s.X = longest.axis()
	if spread.points == 0 {
		s.Y, s.NoData = valueAxis("messages per second", 0, 1), "no run has intervals with a rate"
		return s
	}
	unit := rateScale(spread.hi)
	s.Y = valueAxis(unit.name, math.Min(0, spread.lo/unit.per), math.Max(spread.hi/unit.per, leastTop))
	s.Series = toSeries(lines, longest.unit.per, unit.per, false)
	s.Table = runTimesTable(shown, count)
	notes := []string{""}
	if slices.ContainsFunc(groups, func(g group) bool { return len(g.runs) > 1 }) {
		notes[0] = "of repeats, the run whose rate is the median one"
	}
	if len(lines) == mostLines && len(groups) > mostLines {
		notes = append(notes, "the first "+result.Group(mostLines)+" configurations")
	}
	s.Caption = runCaption(groups, notes...)
	return s
}

// medianRun of a group, the lower one of two; nil where no run has the figure and intervals.
func medianRun(g *group, figure func(*result.Result) *float64) *result.Result {
	runs := slices.DeleteFunc(slices.Clone(g.runs), func(r *result.Result) bool { return figure(r) == nil || len(r.Intervals) == 0 })
	if len(runs) == 0 {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b *result.Result) int { return cmp.Compare(*figure(a), *figure(b)) })
	return runs[(len(runs)-1)/2]
}

func runTimesTable(shown []Labelled, count func(*result.Interval) int64) *Table {
	return &Table{Columns: []string{"label", "run", "start_s", "end_s", "messages", "msgs_per_s"}, Rows: func(yield func([]string) bool) {
		for _, x := range shown {
			t := newTimeline(x.Result)
			for i := range x.Result.Intervals {
				in := &x.Result.Intervals[i]
				n := count(in)
				if !yield([]string{x.Label, x.Result.ID, number(t.at(in.StartNS) / 1e9), number(t.at(in.EndNS) / 1e9), number(float64(n)), number(perSecond(n, in))}) {
					return
				}
			}
		}
	}}
}
