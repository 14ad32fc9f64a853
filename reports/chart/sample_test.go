package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"leveret/analyze/result"
)

// sampleNames are the simulated runs whose JSON reports are kept beside the tests of package reports.
var sampleNames = []string{"stall", "closed", "consumers", "tiny", "failing", "overload"}

func loadSample(t testing.TB, name string) *result.Result {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r result.Result
	if err := json.Unmarshal(doc, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func ptr[T any](v T) *T { return &v }

// start of the made-up runs: 2026-07-30 11:00:00 UTC.
const start = int64(1785409200e9)

// latencyRun is a run of 1 s intervals whose response latencies of confirms are all of one value each, in ns; a negative
// value stands for an interval without messages.
func latencyRun(values ...int64) *result.Result {
	r := &result.Result{Verdict: result.Pass, Complete: true, IntervalNS: 1e9}
	r.Config = result.Config{StartedNS: start, Producers: 1, Confirm: 1, OpenLoop: true}
	whole := &result.Distribution{Count: int64(len(values))}
	r.Latency.Confirm.Response = whole
	for i, v := range values {
		in := result.Interval{StartNS: start + int64(i)*1e9, EndNS: start + int64(i+1)*1e9, Sent: 1, Phase: "run"}
		if v >= 0 {
			in.Latency.Confirm.Response = &result.Distribution{Count: 1, P50NS: &v, P95NS: &v, P99NS: &v, MaxNS: &v}
		}
		r.Intervals = append(r.Intervals, in)
	}
	return r
}

// series by its name.
func series(t testing.TB, s *Spec, name string) *Series {
	t.Helper()
	for i := range s.Series {
		if s.Series[i].Name == name {
			return &s.Series[i]
		}
	}
	t.Fatalf("%s: no series %q", s.Name, name)
	return nil
}
