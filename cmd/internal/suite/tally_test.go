package suite

import (
	"testing"
	"time"
)

// Two rows of 60 s, by hand: 2000 connections, and 50,000 queues that are made and removed, are 102,000 things of 3 ms (306 s), then
// 110,000 (330 s); each run has 3 s beside.
func TestEstimateOfManyQueuesAndConnections(t *testing.T) {
	s, rows := planned(t, `
tables:
  - options: {consumers: 0, time: 60}
    setup: {queues: [{pattern: q%d, from: 1, to: 50000}]}
    axes: [{name: Publishers, option: producers, values: [2000, 10000]}]
    columns: [{figure: rate(sent)}]
`, Changes{})
	record := s.NewRecord(rows, Changes{}, nil, "")
	if got, want := s.Estimate(record, rows), (60+306+3+60+330+3)*time.Second; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A run that is not to end by time says only how long it has gone on.
func TestSince(t *testing.T) {
	for _, c := range []struct {
		expected float64
		want     string
	}{{0, "1 min 5 s"}, {30, "1 min 5 s, publishes for 30 s"}} {
		if got := (&Run{Expected: c.expected}).since(65 * time.Second); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
