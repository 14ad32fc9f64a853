package chart

import (
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// rateLine is one of the lines of the chart of rates.
type rateLine struct {
	name  string
	style Style
	count func(*result.Interval) int64
	// wanted even where every count is zero: the run was meant to have such messages.
	wanted bool
	total  int64
	rare   bool // drawn only where there are some
}

// ratesSpec shows due, sent, confirmed and received messages per second. Where the run kept pace the four lie on each
// other, so each is narrower than the one below it, and has dashes through which that one is seen.
func ratesSpec(r *result.Result) Spec {
	s := Spec{Name: "rates", Title: "Message rates over time", Marks: marks(r)}
	t := newTimeline(r)
	if r.SeveralRuns() {
		s.NoData = "the captures are not of one run"
		s.X, s.Y = t.axis(), valueAxis("messages per second", 0, 1)
		return s
	}
	var lines []line
	var behind []string
	var columns []column
	for _, l := range rateLines(r) {
		points := t.steps(r, func(in *result.Interval) float64 {
			if isShort(r, in) {
				return math.NaN()
			}
			if v := l.rate(r, in); v != 0 || !l.rare {
				return v
			}
			return math.NaN() // no line along the axis
		})
		if _, hi := extent(points, func(p Point) float64 { return p.Y }); !l.wanted && !(hi > 0) {
			continue
		}
		lines = append(lines, line{name: l.name, style: l.style, points: points, plain: true, denseFrom: denseRates})
		columns = append(columns, column{l.name + "_messages", func(in *result.Interval) string { return strconv.FormatInt(l.count(in), 10) }},
			column{l.name + "_msgs_per_s", func(in *result.Interval) string { return number(l.rate(r, in)) }})
		if l.name != "due" {
			behind = append(behind, result.Group(l.total)+" "+l.name)
		}
	}
	if !s.drawOverTime(r, t, lines, rateScale) {
		s.NoData = "the result has no intervals with a rate"
		return s
	}
	s.Table = t.tableOverTime(r, columns)
	s.Caption = caption(r, "messages: "+strings.Join(behind, ", "), shortNote(r), each(r, "each step is the mean rate over"))
	return s
}

// rate of an interval, NaN where it has no length. A schedule may end within an interval.
func (l *rateLine) rate(r *result.Result, in *result.Interval) float64 {
	if l.name == "due" {
		return perSecond(in.Due, &result.Interval{StartNS: in.StartNS, EndNS: r.DueUntil(in)})
	}
	return perSecond(l.count(in), in)
}

// shortest is the share of the usual interval below which an interval's rate is not drawn: a few messages in the last
// milliseconds before publishing stops, or of a short drain, would make a spike that dwarfs the run.
const shortest = 0.1

func isShort(r *result.Result, in *result.Interval) bool {
	return len(r.Intervals) > 2 && float64(in.EndNS)-float64(in.StartNS) < shortest*float64(r.IntervalNS)
}

func shortNote(r *result.Result) string {
	n := int64(0)
	for i := range r.Intervals {
		if isShort(r, &r.Intervals[i]) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return result.Plural(n, "much shorter interval") + " left out"
}

// leastTop keeps an axis of nothing but zeros from having no height.
const leastTop = 1e-9

func rateLines(r *result.Result) []rateLine {
	c := &r.Config
	return []rateLine{
		{"due", Style{Color: grey, Width: 5}, func(in *result.Interval) int64 { return in.Due }, c.OpenLoop, 0, false},
		{"sent", Style{Color: blue, Width: 2.8}, func(in *result.Interval) int64 { return in.Sent }, c.Producers > 0, r.Counts.Sent, false},
		{"republished", Style{Color: reddishPurple, Width: 1.6}, republished, false, republishedIn(r), true},
		{"confirmed", Style{Color: orange, Dash: "dash", Width: 1.9}, func(in *result.Interval) int64 { return in.Confirmed }, c.Producers > 0 && c.Confirm > 0, r.Counts.Confirmed, false},
		{"nacked", Style{Color: vermillion, Dash: "dashdot", Width: 1.9}, func(in *result.Interval) int64 { return in.Nacked }, false, r.Counts.Nacked, true},
		{"committed", Style{Color: orange, Dash: "dash", Width: 1.9}, func(in *result.Interval) int64 { return in.Committed }, c.Producers > 0 && c.PublishTxSize > 0, r.Counts.Committed, false},
		{"received", Style{Color: bluishGreen, Dash: "dot", Width: 1.4}, func(in *result.Interval) int64 { return in.Received }, c.Consumers > 0, r.Counts.Received, false},
	}
}

func republished(in *result.Interval) int64 { return in.Republished }

func republishedIn(r *result.Result) (n int64) {
	for i := range r.Intervals {
		n += r.Intervals[i].Republished
	}
	return n
}

// perSecond is NaN for an interval without a length.
func perSecond(n int64, in *result.Interval) float64 {
	length := float64(in.EndNS) - float64(in.StartNS)
	if in.EndNS-in.StartNS > 0 {
		length = float64(in.EndNS - in.StartNS)
	}
	if length <= 0 {
		return math.NaN()
	}
	return float64(n) / (length / 1e9)
}
