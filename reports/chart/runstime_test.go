package chart

import (
	"strings"
	"testing"

	"leveret/analyze/result"
)

// timed is a run that received so many messages in each second, from that start on.
func timed(start int64, received ...int64) *result.Result {
	r := &result.Result{ID: "r", Complete: true, Verdict: result.Pass, IntervalNS: 1e9, Config: result.Config{StartedNS: start, Consumers: 1}}
	sum := 0.0
	for i, n := range received {
		at := start + int64(i)*1e9
		r.Intervals = append(r.Intervals, result.Interval{StartNS: at, EndNS: at + 1e9, Received: n, Phase: "run"})
		sum += float64(n)
	}
	sum /= float64(len(received))
	r.Rates.Received = &sum
	return r
}

// Each run begins at 0, whenever it was, and of repeats the median one is drawn.
func TestRunsOverTime(t *testing.T) {
	runs := []Labelled{
		{"base", timed(5e9, 100, 100, 100)}, {"base", timed(90e9, 300, 200, 400)}, {"base", timed(50e9, 900, 900, 900)},
		{"faster", timed(700e9, 1000, 2000)}, {"empty", &result.Result{}},
	}
	s := runSpec(t, runs, "runs-over-time")
	if s.NoData != "" || len(s.Series) != 2 || s.Series[0].Name != "base" || s.Series[1].Name != "faster" {
		t.Fatalf("%q %+v", s.NoData, s.Series)
	}
	for i, want := range [][]Point{{{0, 300}, {1, 300}, {1, 200}, {2, 200}, {2, 400}, {3, 400}}, {{0, 1000}, {1, 1000}, {1, 2000}, {2, 2000}}} {
		got := s.Series[i].Segments
		if len(got) != 1 || len(got[0]) != len(want) {
			t.Errorf("%s: %v, want %v", s.Series[i].Name, got, want)
			continue
		}
		for k, p := range want {
			if got[0][k] != p {
				t.Errorf("%s: %v, want %v", s.Series[i].Name, got[0], want)
				break
			}
		}
	}
	if s.X.Max < 3 || !strings.Contains(strings.Join(s.Caption, " "), "the run whose rate is the median one") {
		t.Errorf("%+v %q", s.X, s.Caption)
	}
	rows := 0
	for row := range s.Table.Rows {
		rows++
		if len(row) != len(s.Table.Columns) {
			t.Errorf("%q", row)
		}
	}
	if rows != 5 {
		t.Errorf("%d rows", rows)
	}
	for _, s := range SpecsOfRuns([]Labelled{{"x", &result.Result{}}}, Options{Names: []string{"runs-over-time"}}) {
		if s.NoData == "" {
			t.Errorf("drawn of nothing: %+v", s)
		}
	}
}
