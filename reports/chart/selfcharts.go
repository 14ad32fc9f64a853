package chart

import (
	"math"

	"leveret/analyze/result"
)

// The charts of the tool's own figures show whether it was what was measured.

// latenessSpec shows how late messages were sent: sent less due.
func latenessSpec(r *result.Result) Spec {
	s := Spec{Title: "Lateness of sending over time", Marks: marks(r)}
	t := newTimeline(r)
	mean := func(in *result.Interval) float64 {
		if v := ofSelf(in, func(x *result.Self) *float64 { return x.LateMeanNS }); math.Abs(v) <= math.MaxInt64 { // else no time
			return math.Round(v)
		}
		return math.NaN()
	}
	most := func(in *result.Interval) float64 {
		return ofSelf(in, func(x *result.Self) *float64 { return asFloat(x.LateMaxNS) })
	}
	lines := []line{
		{name: "mean", style: Style{Color: blue, Width: 2.2}, denseFrom: denseLatency, points: t.overTime(r, mean)},
		{name: "maximum", style: Style{Color: vermillion, Dash: "dot", Width: 1.3}, denseFrom: denseLatency, points: t.overTime(r, most)},
	}
	spread := spreadOf(lines)
	s.X = t.axis()
	if spread.points == 0 {
		s.Y = valueAxis("lateness (milliseconds)", 0, 1)
		if s.NoData = whyNoSelf(r); s.NoData == "" && !r.Config.OpenLoop {
			s.NoData = "closed loop, so no message has a due time"
		} else if s.NoData == "" {
			s.NoData = "no message had a due time"
		}
		return s
	}
	unit := s.setLatencyAxis(spread, "sent later than due")
	s.Series = toSeries(lines, t.unit.per, unit.per, s.Y.Log)
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = t.tableOverTime(r, []column{
		{"late_mean_ms", func(in *result.Interval) string { return milliseconds(mean(in)) }},
		{"late_max_ms", func(in *result.Interval) string { return milliseconds(most(in)) }},
	})
	notes := []string{each(r, "each point is of the messages sent within")}
	if g := r.Generator; g != nil && g.Lateness != nil {
		notes = append(notes, result.Plural(g.Lateness.Messages(), "message"))
		if text := g.Lateness.DescribeCensored(); text != "" {
			notes = append(notes, text)
		}
	}
	s.Caption = caption(r, append(notes, s.notes(spread)...)...)
	return s
}

// ofSelf is one figure of an interval, NaN where it is not known.
func ofSelf(in *result.Interval, figure func(*result.Self) *float64) float64 {
	if in.Self == nil {
		return math.NaN()
	}
	if v := figure(in.Self); v != nil {
		return *v
	}
	return math.NaN()
}

func asFloat(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// whyNoSelf is "" where some interval has self-observation.
func whyNoSelf(r *result.Result) string {
	for i := range r.Intervals {
		if r.Intervals[i].Self != nil {
			return ""
		}
	}
	return "the recording has no self-observation"
}

// looks are the intervals with self-observation, from when to when each stands. A recording looks at itself once a second or ten times,
// and its intervals may be shorter: then the look holds until half-way to the next. What is much shorter than the others is left out.
type look struct {
	from, to float64 // ns after the start
	in       *result.Interval
}

func looks(r *result.Result, t timeline) (all []look) {
	longest := math.Max(2.5e9, 1.5*float64(r.IntervalNS)) // between looks that follow each other
	for i := range r.Intervals {
		in := &r.Intervals[i]
		if in.Self == nil || in.EndNS <= in.StartNS || isShort(r, in) {
			continue
		}
		l := look{t.at(in.StartNS), t.at(in.EndNS), in}
		if n := len(all); n > 0 && l.from > all[n-1].to && l.to-all[n-1].from <= longest {
			middle := (all[n-1].to + l.from) / 2
			all[n-1].to, l.from = middle, middle
		}
		all = append(all, l)
	}
	return all
}

// stepsOfLooks are the corners of a line that is level while a look stands, with a gap where none does.
func stepsOfLooks(all []look, value func(*result.Interval) float64) (points []Point) {
	for i, l := range all {
		if i > 0 && l.from > all[i-1].to {
			points = append(points, Point{X: l.from, Y: math.NaN()})
		}
		points = append(points, Point{X: l.from, Y: value(l.in)}, Point{X: l.to, Y: value(l.in)})
	}
	return points
}

// waits are what producers spend their time on, from the bottom of the chart up.
var waits = []struct {
	name  string
	ink   string
	coat  string
	share func(*result.Self) *float64
}{
	{"work", vermillion, "", func(s *result.Self) *float64 { return s.WorkShare }},
	{"wait: record", black, "", func(s *result.Self) *float64 { return s.RecorderShare }},
	{"wait: socket", orange, "", func(s *result.Self) *float64 { return s.SocketShare }},
	{"wait: confirms", blue, "", func(s *result.Self) *float64 { return s.WindowShare }},
	{"wait: schedule", grey, "tint", func(s *result.Self) *float64 { return s.ScheduleShare }},
}

// waitingSpec shows what the producers worked and waited for, as shares of their time, one on the other.
func waitingSpec(r *result.Result) Spec {
	s := Spec{Title: "What producers spent their time on", Marks: marks(r)}
	t := newTimeline(r)
	s.X, s.Y = t.axis(), ticked(Axis{Label: "share of the producers' time (%)", Max: 100}, 20, 0, 5)
	var columns []column
	seen := looks(r, t)
	below := make([]float64, len(seen)) // what is stacked already
	for _, w := range waits {
		share := func(in *result.Interval) float64 { return 100 * ofSelf(in, w.share) }
		columns = append(columns, column{columnName(w.name) + "_percent", func(in *result.Interval) string { return number(share(in)) }})
		var ranges []Range
		thick := false
		for i, l := range seen {
			if i > 0 && l.from > seen[i-1].to {
				ranges = append(ranges, Range{X: l.from, Low: math.NaN()})
			}
			low, v := below[i], share(l.in)
			high := math.Min(low+math.Max(v, 0), 100) // shares of several processes are rounded
			thick = thick || high > low
			if below[i] = high; !finite(v) {
				below[i] = math.NaN()
			}
			ranges = append(ranges, Range{l.from, low, high}, Range{l.to, low, high})
		}
		if thick {
			s.Bands = append(s.Bands, Band{Name: w.name, Fill: Fill{Ink: w.ink, Coat: w.coat}, Segments: ribbons(ranges, t.unit.per, 1, false)})
		}
	}
	if len(s.Bands) == 0 {
		if s.NoData = whyNoSelf(r); s.NoData == "" {
			s.NoData = "no producers in this run"
		}
		return s
	}
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = t.tableOverTime(r, columns)
	s.Caption = caption(r, each(r, "each step is over"), "100 % is all producers all the time", "record: room in the recorder; schedule: the next message is not due yet", "work includes waiting for a processor")
	return s
}

// cpuSpec shows how many processors the client kept busy.
func cpuSpec(r *result.Result) Spec {
	s := Spec{Title: "Client CPU over time", Marks: marks(r)}
	t := newTimeline(r)
	cores := func(in *result.Interval) float64 {
		return ofSelf(in, func(x *result.Self) *float64 { return x.CPUCores })
	}
	busy := line{name: "busy", style: Style{Color: blue, Width: 2}, plain: true, denseFrom: denseRates, points: stepsOfLooks(looks(r, t), cores)}
	spread := spreadOf([]line{busy})
	s.X = t.axis()
	if spread.points == 0 {
		s.Y = valueAxis("processors", 0, 1)
		if s.NoData = whyNoSelf(r); s.NoData == "" {
			s.NoData = "the system did not tell the CPU time of the process"
		}
		return s
	}
	lines, hi := []line{busy}, spread.hi
	note := "user and system time of the recording process"
	if len(r.Captures) > 1 {
		note = "user and system time of all recording processes"
	}
	if n := r.Host.CPUs; n > 0 && float64(n) > 8*hi { // the line would press the other to the axis
		note += ", on a host with " + result.Plural(int64(n), "processor")
	} else if n > 0 {
		there := line{name: "processors of the host", style: Style{Color: grey, Width: 4}, plain: true}
		there.points = t.steps(r, func(*result.Interval) float64 { return float64(n) })
		lines, hi = []line{there, busy}, math.Max(hi, float64(n))
	}
	s.Y = valueAxis("processors", math.Min(0, spread.lo), math.Max(hi, leastTop))
	s.Series = toSeries(lines, t.unit.per, 1, false)
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = t.tableOverTime(r, []column{{"busy_processors", func(in *result.Interval) string { return number(cores(in)) }}})
	s.Caption = caption(r, each(r, "each step is the mean over"), note)
	return s
}
