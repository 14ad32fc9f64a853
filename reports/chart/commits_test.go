package chart

import (
	"testing"

	"leveret/analyze/result"
)

// A run with transactions has charts of its commits where others have charts of confirms.
func TestCommits(t *testing.T) {
	value := func(v int64) *int64 { return &v }
	d := &result.Distribution{Count: 20, P50NS: value(8e6), P75NS: value(8e6), P95NS: value(9e6), P99NS: value(9e6), MaxNS: value(9e6), MinNS: value(4e6)}
	r := &result.Result{
		Config:     result.Config{Producers: 1, PublishTxSize: 10},
		Latency:    result.Latencies{Commit: result.Latency{Service: d}},
		Curves:     []result.Curve{{What: "commit", From: "service", Count: 20, Points: []result.CurvePoint{{Percent: 50, ValueNS: 8e6, Above: 10}, {Percent: 100, ValueNS: 9e6}}}},
		IntervalNS: 1e9, Window: result.Window{EndNS: 1e9},
		Intervals: []result.Interval{{EndNS: 1e9, Sent: 20, Committed: 20, Phase: "run", Latency: result.Latencies{Commit: result.Latency{Service: d}}}},
	}
	specs := Specs(r, Options{})
	names := map[string]*Spec{}
	for _, s := range specs {
		names[s.Name] = s
	}
	if _, ok := names["latency-confirm"]; ok || len(specs) != 4 {
		t.Errorf("%d charts, one of them of confirms: %v", len(specs), ok)
	}
	if s := names["latency-commit"]; s.NoData != "" || s.Title != "Commit latency over time" {
		t.Errorf("%+v", s)
	}
	if s := names["percentiles"]; len(s.Series) != 1 || s.Series[0].Name != "commit service" || s.Series[0].Style.Color == "" {
		t.Errorf("%+v", s.Series)
	}
	found := false
	for _, l := range names["rates"].Series {
		found = found || l.Name == "committed"
		if l.Name == "confirmed" {
			t.Error("a line of confirms")
		}
	}
	if !found {
		t.Error("no line of commits")
	}
	r.Findings = []result.Finding{{Code: "not_one_run"}}
	if s := ratesSpec(r); s.NoData == "" || len(s.Series) > 0 {
		t.Error("rates of several runs are drawn")
	}
}
