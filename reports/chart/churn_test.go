package chart

import (
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// churnResult is two seconds of connections: 50 and 40 made of 50 due, one failed, with latencies of 2 and 4 ms.
func churnResult() *result.Result {
	i64 := func(v int64) *int64 { return &v }
	r := &result.Result{IntervalNS: 1e9, Complete: true, Verdict: result.Pass}
	c := result.Churn{What: "connection", Description: "connections, 50 a second due", OpenLoop: true, Made: 90, Failed: 1}
	for i := range int64(2) {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: i * 1e9, EndNS: (i + 1) * 1e9, Phase: "run"})
		v := i64((i + 1) * 2e6)
		c.Intervals = append(c.Intervals, result.ChurnInterval{StartNS: i * 1e9, EndNS: (i + 1) * 1e9, Phase: "run", Due: 50, Made: 50 - 10*i, Failed: i, Undone: 50,
			Latency: &result.Distribution{Count: 50, MaxNS: v, P50NS: v, P75NS: v, P95NS: v, P99NS: v, P999NS: v, P9999NS: v}})
	}
	r.Churn = []result.Churn{c}
	return r
}

func TestChurnCharts(t *testing.T) {
	r := churnResult()
	var names []string
	for _, s := range Specs(r, Options{}) {
		names = append(names, s.Name)
		if svg := string(encode(t, s, "svg", Options{})); strings.Contains(svg, "NaN") || !strings.Contains(svg, "connections, 50 a second due") {
			t.Errorf("%s", s.Name)
		}
	}
	if !slices.Equal(names, []string{"churn-rates", "churn-latency"}) { // nothing of messages that there were none of
		t.Errorf("%q", names)
	}
	rates, latency := churnRatesSpec(r), churnLatencySpec(r)
	if got := rates.Series[1].Segments; rates.Series[1].Name != "connections made" || len(got) != 1 || !slices.Equal(got[0], []Point{{0, 50}, {1, 50}, {1, 40}, {2, 40}}) {
		t.Errorf("%s %v", rates.Series[1].Name, got)
	}
	if got := latency.Series[0].Segments; latency.Series[0].Name != "median" || len(got) != 1 || !slices.Equal(got[0], []Point{{0.5, 2}, {1.5, 4}}) {
		t.Errorf("%s %v", latency.Series[0].Name, got)
	}
	var rows []string
	for row := range rates.Table.Rows {
		rows = append(rows, strings.Join(row, " "))
	}
	if want := []string{" connection 0 1 run 50 50 0 50 0 2 2 2 2", " connection 1 2 run 50 40 1 50 0 4 4 4 4"}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
	r.Churn = append(r.Churn, r.Churn[0], r.Churn[0])
	r.Churn[1].What = "queue"
	several := churnLatencySpec(r)
	if got := several.Series; len(got) != 2 || got[1].Name != "queues, 99 %" || !strings.HasPrefix(several.Y.Label, "response latency") {
		t.Errorf("of several: %+v, %s", got, several.Y.Label)
	}
	r.Churn[1].OpenLoop = false // which has no response latency
	if several = churnLatencySpec(r); !strings.HasPrefix(several.Y.Label, "response or service latency") || !strings.Contains(strings.Join(several.Caption, " "), "was due, of a closed loop began, to when") {
		t.Errorf("%s: %q", several.Y.Label, several.Caption)
	}
}
