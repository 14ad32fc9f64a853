package chart

import (
	"math"

	"leveret/analyze/result"
)

// runRate is one of the rates of a run.
type runRate struct {
	name  string
	style Style
	of    func(*result.Result) *float64
}

// Each is narrower than the one before, over which it is drawn.
var runRates = []runRate{
	{"sent", Style{Color: blue, Width: 2.8}, func(r *result.Result) *float64 { return r.Rates.Sent }},
	{"arrived", Style{Color: skyBlue, Dash: "dashdot", Width: 2.2}, arrivedRate},
	{"confirmed", Style{Color: orange, Dash: "dash", Width: 1.9}, func(r *result.Result) *float64 { return r.Rates.Confirmed }},
	{"committed", Style{Color: reddishPurple, Dash: "dash", Width: 1.7}, func(r *result.Result) *float64 { return r.Rates.Committed }},
	{"received", Style{Color: bluishGreen, Dash: "dot", Width: 1.2}, func(r *result.Result) *float64 { return r.Rates.Received }},
}

// arrivedRate is shown where nothing else tells how fast the broker took what was sent: without confirms and consumers.
func arrivedRate(r *result.Result) *float64 {
	if r.Config.Consumers > 0 {
		return nil
	}
	return r.Rates.Arrived
}

// figure is not below 0, whatever a result says.
func (x *runRate) figure(r *result.Result) (float64, bool) {
	if v := x.of(r); v != nil {
		return math.Max(*v, 0), true
	}
	return 0, false
}

// runRatesSpec sets the rates of the groups beside each other.
func runRatesSpec(groups []group) Spec {
	s := Spec{Title: "Message rates by run", Marks: runMarks(groups), Y: categories(groups)}
	var shown []runRate
	hi := 0.0
	for _, x := range runRates {
		seen := false
		for i := range groups {
			if a, ok := groups[i].of(x.figure); ok {
				hi, seen = math.Max(hi, a.highest()), true
			}
		}
		if seen {
			shown = append(shown, x)
		}
	}
	unit := rateScale(hi)
	s.X = valueAxis(unit.name, 0, math.Max(hi/unit.per, leastTop))
	for k, x := range shown {
		b := Bars{Name: x.name, Fill: Fill{Ink: x.style.Color}, Sideways: true}
		for i := range groups {
			if a, ok := groups[i].of(x.figure); ok {
				a = a.divided(unit.per)
				from, to := slot(len(groups), i, k, len(shown))
				b.Bars = append(b.Bars, Bar{From: from, To: to, Value: a.middle, Low: a.low, High: a.high})
			}
		}
		s.Bars = append(s.Bars, b)
	}
	if len(s.Bars) == 0 {
		s.NoData = "no run has a rate"
		return s
	}
	s.Table = ratesTable(groups, shown)
	s.Caption = runCaption(groups, repeatsNote(groups, "bar"))
	return s
}

// slot is where the k-th of n neighbours stands in the i-th of some groups: from the top down.
func slot(groups, i, k, n int) (from, to float64) {
	const width = 0.8
	each := width / float64(n)
	to = float64(groups-i) - (1-width)/2 - float64(k)*each
	return to - each, to
}

func ratesTable(groups []group, shown []runRate) *Table {
	t := &Table{Columns: []string{"label", "run"}}
	for _, x := range shown {
		t.Columns = append(t.Columns, x.name+"_msgs_per_s")
	}
	t.Rows = eachRun(groups, func(r *result.Result) (cells []string) {
		for _, x := range shown {
			v, ok := x.figure(r)
			if cells = append(cells, ""); ok {
				cells[len(cells)-1] = number(v)
			}
		}
		return cells
	})
	return t
}

// eachRun makes a row of each run: label, identity, cells.
func eachRun(groups []group, cells func(*result.Result) []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for _, g := range groups {
			for _, r := range g.runs {
				if !yield(append([]string{g.label, r.ID}, cells(r)...)) {
					return
				}
			}
		}
	}
}
