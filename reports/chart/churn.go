package chart

import (
	"math"
	"slices"
	"strconv"

	"leveret/analyze/result"
)

func hasChurn(r *result.Result) bool { return len(r.Churn) > 0 }

// hasMessages: where operations are all the load, charts of messages would be empty.
func hasMessages(r *result.Result) bool { return !r.OnlyChurn() }

// churnStyles are those of the operations of one capture and the next: made, undone.
var churnStyles = [][2]Style{
	{{Color: blue, Width: 2.8}, {Color: orange, Dash: "dash", Width: 1.6}},
	{{Color: bluishGreen, Dash: "dashdot", Width: 2.2}, {Color: reddishPurple, Dash: "dot", Width: 1.4}},
}

// churnShown are the captures that have a place in a chart.
func churnShown(r *result.Result) []result.Churn {
	return r.Churn[:min(len(r.Churn), len(churnStyles))]
}

// churnRatesSpec shows operations due, made, undone and failed per second, over time.
func churnRatesSpec(r *result.Result) Spec {
	s := Spec{Title: "Operations over time", Marks: marks(r)}
	t := churnTimeline(r)
	var lines []line
	var notes []string
	for i := range churnShown(r) {
		c := &r.Churn[i]
		add := func(name string, style Style, count func(*result.ChurnInterval) int64) {
			l := line{name: c.What + "s " + name, style: style, plain: true, denseFrom: denseRates}
			for k := range c.Intervals {
				in := &result.Interval{StartNS: c.Intervals[k].StartNS, EndNS: c.Intervals[k].EndNS}
				v := math.NaN()
				if !isShort(r, in) && !c.Unknown(&c.Intervals[k]) && c.Tells(&c.Intervals[k]) {
					v = orGap(in, func(in *result.Interval) float64 { return perSecond(count(&c.Intervals[k]), in) })
				}
				l.points = append(l.points, Point{X: t.at(in.StartNS), Y: v}, Point{X: t.at(in.EndNS), Y: v})
			}
			lines = append(lines, l)
		}
		if c.OpenLoop && i == 0 {
			add("due", Style{Color: grey, Width: 5}, func(in *result.ChurnInterval) int64 { return in.Due })
		}
		add("made", churnStyles[i][0], func(in *result.ChurnInterval) int64 { return in.Made })
		add("undone", churnStyles[i][1], func(in *result.ChurnInterval) int64 { return in.Undone })
		if c.Failed+c.UndoFailed > 0 && i == 0 {
			add("failed", Style{Color: vermillion, Dash: "dot", Width: 2}, func(in *result.ChurnInterval) int64 { return in.Failed })
		}
		note := result.Group(c.Made) + " made, " + result.Group(c.Failed+c.UndoFailed) + " failed"
		if c.RowsMissing {
			note += " in what can be read: rows are missing"
		}
		if len(r.Churn) > 1 || !r.OnlyChurn() { // else the caption begins with it
			note = c.Description + ": " + note
		}
		notes = append(notes, note)
	}
	if !s.drawOverTime(r, t, lines, oneScale("operations per second")) {
		s.NoData = noChurn(r)
		return s
	}
	s.Table = churnTable(r, t)
	s.Caption = churnCaption(r, append(notes, each(r, "each step is the mean rate over"))...)
	return s
}

// churnLatencySpec shows the latency of operations over the time at which they were due, in closed loop began.
func churnLatencySpec(r *result.Result) Spec {
	s := Spec{Title: "Latency of operations over time", Marks: marks(r)}
	t := churnTimeline(r)
	var lines []line
	from := ""
	for i := range churnShown(r) {
		c := &r.Churn[i]
		if _, own := c.Latency(); from == "" || from == own {
			from = own
		} else {
			from = "response or service"
		}
		for _, q := range quantiles {
			if len(r.Churn) > 1 && q.of != 3 {
				continue // of several the 99 % each
			}
			l := line{name: q.name, style: q.style, denseFrom: denseLatency}
			if len(r.Churn) > 1 {
				l.name, l.style = c.What+"s, "+q.name, churnStyles[i][0]
			}
			for k := range c.Intervals {
				in := &result.Interval{StartNS: c.Intervals[k].StartNS, EndNS: c.Intervals[k].EndNS}
				l.points = append(l.points, Point{X: t.middle(in), Y: orGap(in, func(*result.Interval) float64 {
					v, atLeast := q.value(c.Intervals[k].Latency)
					if atLeast {
						l.bounds = append(l.bounds, Point{X: t.middle(in), Y: v})
						return math.NaN()
					}
					return v
				})})
			}
			lines = append(lines, l)
		}
	}
	spread := spreadOf(lines)
	s.X = t.axis()
	if spread.points == 0 {
		s.NoData = noChurn(r)
		s.Y = valueAxis("latency (milliseconds)", 0, 1)
		return s
	}
	unit := s.setLatencyAxis(spread, from+" latency")
	s.Series = toSeries(lines, t.unit.per, unit.per, s.Y.Log)
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = churnTable(r, t)
	verb := map[string]string{"response": "was due", "service": "began"}[from]
	if verb == "" {
		verb = "was due, of a closed loop began,"
	}
	s.Caption = churnCaption(r, append(s.notes(spread), from+" latency: from when an operation "+verb+" to when all of it was made")...)
	return s
}

// churnTimeline has room for the intervals of operations. Those that the analysis makes are the result's own, but a result may come from
// elsewhere.
func churnTimeline(r *result.Result) timeline {
	x := *r
	x.Intervals = slices.Clone(r.Intervals)
	for i := range churnShown(r) {
		for _, in := range r.Churn[i].Intervals {
			x.Intervals = append(x.Intervals, result.Interval{StartNS: in.StartNS, EndNS: in.EndNS})
		}
	}
	return newTimeline(&x)
}

func noChurn(r *result.Result) string {
	if len(r.Churn) == 0 {
		return "the run has no operations (leveret churn)"
	}
	return "the result has no intervals with operations"
}

// churnCaption is of operations where these are all the load.
func churnCaption(r *result.Result, notes ...string) []string {
	if !r.OnlyChurn() {
		return caption(r, notes...)
	}
	hosts := ""
	if r.Broker.SameHost != nil {
		hosts = r.Broker.DescribeHosts()
	}
	if r.Verdict == result.Inconclusive {
		notes = append(notes, "verdict INCONCLUSIVE")
	}
	return []string{joinNotEmpty(r.Broker.Describe(), r.Config.DescribeStart(), r.Churn[0].Description, hosts), joinNotEmpty(notes...)}
}

// churnTable has counts and percentiles of each interval and capture.
func churnTable(r *result.Result, t timeline) *Table {
	table := &Table{Columns: []string{"capture", "what", "from_s", "to_s", "phase", "due", "made", "failed", "undone", "undo_failed", "p50_ms", "p95_ms", "p99_ms", "max_ms"}}
	table.Rows = func(yield func([]string) bool) {
		for i := range r.Churn {
			c := &r.Churn[i]
			for k := range c.Intervals {
				in := &c.Intervals[k]
				row := []string{c.Capture, c.What, number(t.at(in.StartNS) / 1e9), number(t.at(in.EndNS) / 1e9), in.Phase}
				for _, n := range []int64{in.Due, in.Made, in.Failed, in.Undone, in.UndoFailed} {
					text := ""
					if !c.Unknown(in) {
						text = strconv.FormatInt(n, 10)
					}
					row = append(row, text)
				}
				for _, q := range quantiles {
					text := ""
					if v, atLeast := q.value(in.Latency); !atLeast {
						text = milliseconds(v)
					}
					row = append(row, text)
				}
				if !yield(row) {
					return
				}
			}
		}
	}
	return table
}
