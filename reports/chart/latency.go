package chart

import (
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// quantile is one line of a chart of latency over time.
type quantile struct {
	name  string
	style Style
	of    int // among result.Distribution.Percentiles; maximum is behind them
}

const maximum = 6

// The lowest is the broadest and comes first, so that where some lie on each other all of them show.
var quantiles = []quantile{
	{"median", Style{Color: blue, Width: 2.2}, 0},
	{"95 %", Style{Color: bluishGreen, Dash: "dash", Width: 1.8}, 2},
	{"99 %", Style{Color: orange, Dash: "dashdot", Width: 1.6}, 3},
	{"maximum", Style{Color: vermillion, Dash: "dot", Width: 1.3}, maximum},
}

// latencySpec shows percentiles of confirm or delivery latency over the time at which messages were due (else sent):
// response latency where the run has it, else service latency.
func latencySpec(r *result.Result, what string) Spec {
	from := origin(r, what)
	s := Spec{Name: "latency-" + what, Title: title(what) + " latency over time", Marks: marks(r)}
	t := newTimeline(r)
	var lines []line
	for _, q := range quantiles {
		l := line{name: q.name, style: q.style, denseFrom: denseLatency}
		l.points = t.overTime(r, func(in *result.Interval) float64 {
			d := in.Latency.Pick(what, from)
			v, atLeast := q.value(d)
			if atLeast {
				l.bounds = append(l.bounds, Point{X: t.middle(in), Y: v})
				return math.NaN()
			}
			return v
		})
		lines = append(lines, l)
	}
	spread := spreadOf(lines)
	s.X = t.axis()
	if spread.points == 0 {
		s.NoData = why(r, what, from)
		s.Y = valueAxis(from+" latency (milliseconds)", 0, 1)
		return s
	}
	unit := s.setLatencyAxis(spread, from+" latency")
	s.Bands = percentileBands(r, t, what, from, unit.per, s.Y.Log)
	s.Series = toSeries(lines, t.unit.per, unit.per, s.Y.Log)
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = latencyTable(r, t, what, from)
	behind := result.Plural(r.Latency.Pick(what, from).Messages(), "message")
	if text := r.Latency.Pick(what, from).DescribeCensored(); text != "" {
		behind += " (" + text + ")"
	}
	notes := append([]string{behind}, s.notes(spread)...) // what is left out comes before what a small page may cut
	s.Caption = caption(r, append(notes, each(r, "each point is of the messages "+verb(from)+" within"), meaning(from))...)
	return s
}

// latencyTable has all percentiles of the intervals. Those that are known from below only are empty, and their bounds stand in
// columns of their own.
func latencyTable(r *result.Result, t timeline, what, from string) *Table {
	columns := []column{{"messages", func(in *result.Interval) string { return strconv.FormatInt(in.Latency.Pick(what, from).Messages(), 10) }}}
	for _, atLeast := range []bool{false, true} {
		for i, name := range []string{"p50", "p75", "p95", "p99", "p99_9", "p99_99", "max"} {
			if atLeast {
				name += "_at_least"
			}
			columns = append(columns, column{name + "_ms", func(in *result.Interval) string {
				v, bound := quantile{of: i}.value(in.Latency.Pick(what, from))
				if bound != atLeast {
					return ""
				}
				return milliseconds(v)
			}})
		}
	}
	return t.tableOverTime(r, columns)
}

// value of one quantile in one interval, and whether it is only a bound from below. NaN where nothing is known.
func (q quantile) value(d *result.Distribution) (v float64, atLeast bool) {
	if d.Messages() <= 0 {
		return math.NaN(), false
	}
	p := result.Percentile{ValueNS: d.MaxNS}
	switch {
	case q.of < maximum:
		p = d.Percentiles()[q.of]
	case d.Censored > 0 && d.AtLeastNS != nil: // the measured ones are not all
		return float64(d.MaxBound()), true
	}
	if p.ValueNS == nil {
		return math.NaN(), false
	}
	return float64(*p.ValueNS), p.AtLeast
}

func (s *Spec) setLatencyAxis(v spread, label string) (unit scale) {
	s.Y, unit = latencyAxis(v, label)
	return unit
}

// latencyAxis chooses a logarithmic axis where the values spread too far for a linear one, which starts at 0.
func latencyAxis(v spread, label string) (a Axis, unit scale) {
	log := v.wantsLog()
	unit = latencyScale(math.Max(v.positiveLo, leastTop), math.Max(math.Abs(v.lo), math.Abs(v.hi)), log)
	label += " (" + unit.word + ")"
	if log {
		hi := math.Max(v.hi, 1.4*v.highestBound) // room for the triangle above its value
		a = logAxis(label, v.positiveLo/unit.per, hi/unit.per)
	} else {
		hi := math.Max(v.hi, 1.05*v.highestBound)
		a = valueAxis(label, math.Min(0, v.lo/unit.per), math.Max(hi/unit.per, leastTop))
	}
	return a, unit
}

// notes says what the drawing leaves out or draws in an unusual way.
func (s *Spec) notes(v spread) []string {
	var notes []string
	if s.Y.Log && v.notPositive > 0 {
		notes = append(notes, strings.Join(v.notPositiveIn, ", ")+": "+result.Plural(int64(v.notPositive), "value")+" at or below 0 not shown on the logarithmic axis")
	}
	for _, series := range s.Series {
		if len(series.Bounds) > 0 {
			notes = append(notes, "triangles: at least so much, as some messages have no answer")
			break
		}
	}
	return notes
}

// origin is where latency counts from in the charts over time.
func origin(r *result.Result, what string) string {
	if r.Latency.Pick(what, "response") != nil {
		return "response"
	}
	for i := range r.Intervals {
		if r.Intervals[i].Latency.Pick(what, "response") != nil {
			return "response"
		}
	}
	return "service"
}

// verb is the event that a latency counts from.
func verb(from string) string {
	if from == "response" {
		return "due"
	}
	return "sent"
}

func meaning(from string) string {
	if from == "response" {
		return "response latency: from when a message was due"
	}
	return "service latency: from when a message was sent"
}

// why says why there is no latency to draw. Where the run as a whole has some, it is the intervals that have none.
func why(r *result.Result, what, from string) string {
	if reason := r.WhyNoLatency(what, from); reason != "" {
		return reason
	}
	return "the result has no intervals with latency"
}

func title(what string) string {
	switch what {
	case "confirm":
		return "Confirm"
	case "commit":
		return "Commit"
	}
	return "Delivery"
}
