package chart

import (
	"cmp"
	"math"
	"slices"

	"leveret/analyze/result"
)

func hasBrokerSide(r *result.Result) bool { return r.BrokerSide != nil }

// queueStyles are those of single queues, beside the virtual host's.
var queueStyles = []Style{
	{Color: bluishGreen, Dash: "dot", Width: 1.4}, {Color: vermillion, Dash: "dashdot", Width: 1.4},
	{Color: reddishPurple, Dash: "dash", Width: 1.4}, {Color: skyBlue, Dash: "dot", Width: 1.8},
}

// brokerDepthSpec shows how many messages the broker says were in the virtual host's queues, and in the fullest ones of the run.
func brokerDepthSpec(r *result.Result) Spec {
	s := Spec{Title: "Messages in the queues, as the broker tells", Marks: marks(r)}
	t := newTimeline(r)
	var lines []line
	if b := r.BrokerSide; b != nil {
		t.include(b.Total.Samples)
		depth := func(name string, style Style, q *result.BrokerQueue, of func(*result.BrokerQueueSample) *int64) {
			l := line{name: name, style: style, denseFrom: denseLatency}
			for i := range q.Samples {
				if i > 0 && b.IntervalNS > 0 && q.Samples[i].AtNS-q.Samples[i-1].AtNS > longLook*b.IntervalNS {
					l.points = append(l.points, Point{X: t.at(q.Samples[i].AtNS), Y: math.NaN()})
				}
				if at := t.at(q.Samples[i].AtNS); at >= 0 && at <= t.end {
					l.points = append(l.points, Point{X: at, Y: orNaN(of(&q.Samples[i]))})
				}
			}
			lines = append(lines, l)
		}
		ready := func(s *result.BrokerQueueSample) *int64 { return s.Ready }
		depth("ready", Style{Color: blue, Width: 2.4}, &b.Total, ready)
		depth("unacked", Style{Color: orange, Dash: "dash", Width: 1.8}, &b.Total, func(s *result.BrokerQueueSample) *int64 { return s.Unacked })
		for i, q := range fullest(b.Queues) {
			depth("ready in "+q.Name, queueStyles[i], &q, ready)
		}
	}
	if !s.drawOverTime(r, t, lines, oneScale("messages")) {
		s.NoData = noBrokerSide(r)
		return s
	}
	s.Caption = caption(r, "of the whole virtual host, by its management API, whose figures are seconds old")
	return s
}

// longLook is how many intervals between two looks are a gap: in them the broker did not answer.
const longLook = 3

// fullest are the queues of several that held most, none of one alone: the virtual host shows it.
func fullest(queues []result.BrokerQueue) []result.BrokerQueue {
	if len(queues) < 2 {
		return nil
	}
	held := slices.DeleteFunc(slices.Clone(queues), func(q result.BrokerQueue) bool { return q.MaxReady == nil || *q.MaxReady <= 0 })
	slices.SortStableFunc(held, func(a, b result.BrokerQueue) int { return cmp.Compare(*b.MaxReady, *a.MaxReady) })
	return held[:min(len(held), len(queueStyles))]
}

// brokerRatesSpec shows the broker's rates over the client's.
func brokerRatesSpec(r *result.Result) Spec {
	s := Spec{Title: "Message rates of the broker, and of the client", Marks: marks(r)}
	t := newTimeline(r)
	var lines []line
	if b := r.BrokerSide; b != nil && !r.SeveralRuns() {
		t.include(b.Total.Samples)
		for _, l := range []struct {
			name  string
			style Style
			count func(*result.Interval) int64
		}{{"client: sent", Style{Color: grey, Width: 4}, func(in *result.Interval) int64 { return in.Sent }},
			{"client: received", Style{Color: grey, Dash: "dot", Width: 2.4}, func(in *result.Interval) int64 { return in.Received }}} {
			points := t.steps(r, func(in *result.Interval) float64 {
				if isShort(r, in) {
					return math.NaN()
				}
				return perSecond(l.count(in), in)
			})
			lines = append(lines, line{name: l.name, style: l.style, points: points, plain: true, denseFrom: denseRates})
		}
		for _, l := range []struct {
			name  string
			style Style
			of    func(*result.BrokerQueueSample) *float64
		}{{"published", Style{Color: blue, Width: 2.4}, func(s *result.BrokerQueueSample) *float64 { return s.Published }},
			{"confirmed", Style{Color: orange, Dash: "dash", Width: 1.9}, func(s *result.BrokerQueueSample) *float64 { return s.Confirmed }},
			{"delivered", Style{Color: bluishGreen, Dash: "dot", Width: 1.6}, func(s *result.BrokerQueueSample) *float64 { return s.Delivered }}} {
			lines = append(lines, line{name: l.name, style: l.style, points: t.betweenLooks(&b.Total, l.of), plain: true, denseFrom: denseRates})
		}
	}
	if !s.drawOverTime(r, t, lines, rateScale) {
		s.NoData = noBrokerSide(r)
		return s
	}
	s.Caption = caption(r, "of the whole virtual host, by its management API: each step is the mean of the 5 seconds before it ends, or since the last look, at figures that are seconds old")
	return s
}

// betweenLooks makes the corners of a line that is level from one look to the next.
func (t timeline) betweenLooks(q *result.BrokerQueue, of func(*result.BrokerQueueSample) *float64) []Point {
	var points []Point
	for i := 1; i < len(q.Samples); i++ {
		v, from, to := math.NaN(), t.at(q.Samples[i-1].AtNS), t.at(q.Samples[i].AtNS)
		if rate := q.MeanRate(i, of); rate != nil {
			v = *rate
		}
		if to > 0 && from <= to && to <= t.end {
			points = append(points, Point{X: math.Max(from, 0), Y: v}, Point{X: to, Y: v})
		}
	}
	return points
}

// include makes the axis long enough for the last look, which is after the run, but not for one that is far away.
func (t *timeline) include(samples []result.BrokerQueueSample) {
	if n := len(samples); n > 0 {
		if at := t.at(samples[n-1].AtNS); at > t.end && at < 2*t.end {
			t.end = at
		}
	}
}

func orNaN(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

func noBrokerSide(r *result.Result) string {
	switch {
	case r.BrokerSide == nil:
		return "the broker's management API was not asked (--management-uri)"
	case r.SeveralRuns():
		return "the captures are not of one run"
	}
	return "the broker's management API gave no figures"
}
