package chart

import (
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Copies of messages, and those that were refused, have lines of their own where there are any: sent stays what the schedule asked for.
func TestRatesOfCopies(t *testing.T) {
	r := latencyRun(1, 1, 1)
	if s := ratesSpec(r); len(s.Series) == 0 || strings.Contains(strings.Join(s.Caption, "\n"), "republished") {
		t.Errorf("%+v", s)
	}
	r.Counts = result.Counts{Sent: 3}
	r.Intervals[1].Republished, r.Intervals[2].Republished = 4, 2
	r.Intervals[0].Nacked = 3
	s := ratesSpec(r)
	for name, want := range map[string][]float64{"sent": {1, 1, 1, 1, 1, 1}, "republished": {4, 4, 2, 2}, "nacked": {3, 3}} {
		points := series(t, &s, name).Segments[0]
		if len(points) != len(want) {
			t.Fatalf("%s: %v", name, points)
		}
		for i, p := range points {
			if p.Y != want[i] {
				t.Errorf("%s: %v, want %v", name, points, want)
				break
			}
		}
	}
	if !strings.Contains(strings.Join(s.Caption, "\n"), "3 sent, 6 republished") {
		t.Error(s.Caption)
	}
}

// Where the broker did not answer for more than three intervals its depths have a gap.
func TestDepthsWithoutAnAnswer(t *testing.T) {
	r := latencyRun(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r.BrokerSide = &result.BrokerSide{IntervalNS: 1e9}
	for _, at := range []int64{1, 2, 5, 9, 10} {
		r.BrokerSide.Total.Samples = append(r.BrokerSide.Total.Samples, result.BrokerQueueSample{AtNS: start + at*1e9, Ready: ptr(at)})
	}
	s := brokerDepthSpec(r)
	segments := series(t, &s, "ready").Segments
	if len(segments) != 2 || len(segments[0]) != 3 || len(segments[1]) != 2 {
		t.Errorf("%v", segments)
	}
}
