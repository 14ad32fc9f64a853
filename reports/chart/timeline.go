package chart

import (
	"math"

	"leveret/analyze/result"
)

// timeline is the x axis that the charts over time share: ns since the start of the run, as float64 (exact enough: 2^53
// ns are a hundred days).
type timeline struct {
	origin int64
	end    float64
	unit   scale
}

func newTimeline(r *result.Result) timeline {
	t := timeline{origin: r.Config.StartedNS}
	for i := range r.Intervals {
		if first := i == 0 && t.origin == 0; first || r.Intervals[i].StartNS < t.origin {
			t.origin = r.Intervals[i].StartNS
		}
	}
	for i := range r.Intervals {
		t.end = max(t.end, t.at(r.Intervals[i].EndNS))
	}
	t.unit = timeScale(t.end)
	return t
}

// at is a time of the record in ns since the start.
func (t timeline) at(ns int64) float64 {
	d := ns - t.origin
	if (ns >= t.origin) != (d >= 0) { // the difference overflows
		return float64(ns) - float64(t.origin)
	}
	return float64(d)
}

// middle is where the point of an interval stands.
func (t timeline) middle(in *result.Interval) float64 { return (t.at(in.StartNS) + t.at(in.EndNS)) / 2 }

func (t timeline) axis() Axis {
	return spanAxis("time since start ("+t.unit.word+")", t.end/t.unit.per, t.unit)
}

// overTime makes the points of a line: one an interval, in its middle, and a gap where there is a hole between two of
// them. value gives NaN where the interval has none.
func (t timeline) overTime(r *result.Result, value func(*result.Interval) float64) []Point {
	points := make([]Point, 0, len(r.Intervals))
	for i := range r.Intervals {
		in := &r.Intervals[i]
		points = t.appendHole(points, r, i)
		points = append(points, Point{X: t.middle(in), Y: orGap(in, value)})
	}
	return points
}

// steps makes the corners of a line that is level within each interval, as the rates are that are counted over it.
func (t timeline) steps(r *result.Result, value func(*result.Interval) float64) []Point {
	points := make([]Point, 0, 2*len(r.Intervals))
	for i := range r.Intervals {
		in := &r.Intervals[i]
		points = t.appendHole(points, r, i)
		v := orGap(in, value)
		points = append(points, Point{X: t.at(in.StartNS), Y: v}, Point{X: t.at(in.EndNS), Y: v})
	}
	return points
}

// orGap keeps an interval that ends before it begins out of the drawing.
func orGap(in *result.Interval, value func(*result.Interval) float64) float64 {
	if in.EndNS < in.StartNS {
		return math.NaN()
	}
	return value(in)
}

func (t timeline) appendHole(points []Point, r *result.Result, i int) []Point {
	if i > 0 && r.Intervals[i].StartNS > r.Intervals[i-1].EndNS {
		return append(points, Point{X: t.at(r.Intervals[i-1].EndNS), Y: math.NaN()})
	}
	return points
}

// drawOverTime draws lines over time, y in the unit for the highest value, with what happened meanwhile. It reports whether a line has a point.
func (s *Spec) drawOverTime(r *result.Result, t timeline, lines []line, unitFor func(hi float64) scale) bool {
	spread := spreadOf(lines)
	s.X = t.axis()
	if spread.points == 0 {
		s.Y = valueAxis(unitFor(0).name, 0, 1)
		return false
	}
	unit := unitFor(spread.hi)
	s.Y = valueAxis(unit.name, math.Min(0, spread.lo/unit.per), math.Max(spread.hi/unit.per, leastTop))
	s.Series = toSeries(lines, t.unit.per, unit.per, false)
	s.Spans, s.Events = spans(r, t), events(r, t)
	return true
}

// oneScale is a unit whatever the values are.
func oneScale(name string) func(hi float64) scale {
	return func(float64) scale { return scale{name, 1, ""} }
}
