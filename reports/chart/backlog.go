package chart

import (
	"math"
	"strconv"

	"leveret/analyze/result"
)

// backlogSpec shows the messages that were sent and not yet received, once for each queue that they should reach.
func backlogSpec(r *result.Result) Spec {
	s := Spec{Title: "Backlog over time", Marks: marks(r)}
	lines := []line{{name: "sent, not yet received", style: Style{Color: blue, Width: 2.2}}}
	s.levels(r, lines, []func(*result.Interval) *int64{backlogEnd}, "each message counts once for each queue that it should reach")
	if s.NoData != "" {
		s.NoData = whyNoBacklog(r)
	}
	return s
}

func backlogEnd(in *result.Interval) *int64  { return in.BacklogEnd }
func inFlightEnd(in *result.Interval) *int64 { return in.InFlightEnd }

func whyNoBacklog(r *result.Result) string {
	switch {
	case r.Config.Producers == 0:
		return "no producers in this run"
	case r.Config.Consumers == 0:
		return "no consumers in this run"
	case len(r.Intervals) == 0:
		return "the result has no intervals"
	}
	return "the queues that the messages should reach are unknown"
}

// hasBacklog: at the end of some interval more than a fiftieth of a second's messages, at the fastest, had not been received.
func hasBacklog(r *result.Result) bool {
	fastest := 0.0
	for i := range r.Intervals {
		if v := perSecond(r.Intervals[i].Sent, &r.Intervals[i]); v > fastest {
			fastest = v
		}
	}
	most := mostOf(r, backlogEnd)
	return most > 0 && float64(most) >= fastest/50
}

func hasInFlight(r *result.Result) bool { return mostOf(r, inFlightEnd) > 0 }

// inFlightSpec shows the messages that the broker had not confirmed (or committed) yet, and how many it might have had.
func inFlightSpec(r *result.Result) Spec {
	s := Spec{Title: "Confirms in flight over time", Marks: marks(r)}
	name, note, fixed := "sent, not yet confirmed", "", false
	if r.Config.PublishTxSize > 0 {
		s.Title, name = "Messages in open transactions over time", "sent, not yet committed"
	}
	var lines []line
	var values []func(*result.Interval) *int64
	if window := int64(r.Config.Confirm) * int64(r.Config.Producers); window > 0 && r.Config.PublishTxSize == 0 {
		note = "all confirm windows together hold " + result.Plural(window, "message")
		if most := mostOf(r, inFlightEnd); most*logFrom > window && most <= window {
			lines = append(lines, line{name: "confirm windows", style: Style{Color: grey, Width: 4}, plain: true})
			values = append(values, func(in *result.Interval) *int64 {
				if in.Phase == drain {
					return nil
				}
				return &window
			})
			fixed = true
		}
	}
	lines = append(lines, line{name: name, style: Style{Color: vermillion, Width: 2}})
	values = append(values, inFlightEnd)
	s.levels(r, lines, values, note)
	if fixed && len(s.Series) > 1 { // it does not grow from 0
		first := s.Series[0].Segments[0]
		first[0].Y = first[len(first)-1].Y
	}
	if s.NoData != "" {
		s.NoData = r.WhyNoLatency("confirm", "service")
		if s.NoData == "" {
			s.NoData = "not all producers await confirms"
		}
	}
	return s
}

func mostOf(r *result.Result, value func(*result.Interval) *int64) (most int64) {
	for i := range r.Intervals {
		if v := value(&r.Intervals[i]); v != nil {
			most = max(most, *v)
		}
	}
	return most
}

// levels draws counts of messages as they stood at the end of each interval.
func (s *Spec) levels(r *result.Result, lines []line, values []func(*result.Interval) *int64, note string) {
	t := newTimeline(r)
	var columns []column
	for i, value := range values {
		lines[i].denseFrom = denseLatency
		lines[i].points = t.atEnds(r, value)
		columns = append(columns, column{columnName(lines[i].name) + "_messages", func(in *result.Interval) string {
			if v := value(in); v != nil {
				return strconv.FormatInt(*v, 10)
			}
			return ""
		}})
	}
	if spreadOf(lines[len(lines)-1:]).points == 0 { // the others are there for that one
		lines = nil
	}
	if !s.drawOverTime(r, t, lines, countScale) {
		s.NoData = "nothing of the kind was counted"
		return
	}
	s.Table = t.tableOverTime(r, columns)
	s.Caption = caption(r, each(r, "as it stood at the end of each"), note, "most: "+result.Plural(mostOf(r, values[len(values)-1]), "message"))
}

// atEnds makes the points of a line: one at the end of each interval, and one at 0 where the run began.
func (t timeline) atEnds(r *result.Result, value func(*result.Interval) *int64) []Point {
	points := make([]Point, 0, len(r.Intervals)+1)
	for i := range r.Intervals {
		in := &r.Intervals[i]
		v := value(in)
		if i == 0 && v != nil && in.StartNS == r.Config.StartedNS && in.EndNS >= in.StartNS {
			points = append(points, Point{X: t.at(in.StartNS)})
		}
		points = t.appendHole(points, r, i)
		y := orGap(in, func(*result.Interval) float64 {
			if v == nil {
				return math.NaN()
			}
			return float64(*v)
		})
		points = append(points, Point{X: t.at(in.EndNS), Y: y})
	}
	return points
}

// countScale chooses the unit for numbers of messages.
func countScale(hi float64) scale {
	if hi >= 1e6 {
		return scale{"million messages", 1e6, ""}
	}
	return scale{"messages", 1, ""}
}
