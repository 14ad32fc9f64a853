package chart

import (
	"slices"
	"testing"

	"leveret/analyze/result"
)

// Looks half a second before a run of 3 s, at 2 and at 4 s: 100 and then 50 messages a second, 7 and then 3 ready. As the broker brings its
// counters up to date every 5 s, the second rate is the mean since the first look: 100 x 2.5 s and 50 x 2 s in 4.5 s. Six seconds later
// the last look, 20 a second, stands for itself.
func TestBrokerSideCharts(t *testing.T) {
	i64 := func(v int64) *int64 { return &v }
	f64 := func(v float64) *float64 { return &v }
	r := &result.Result{IntervalNS: 1e9, Complete: true, BrokerSide: &result.BrokerSide{
		Total: result.BrokerQueue{Samples: []result.BrokerQueueSample{
			{AtNS: -5e8, Ready: i64(9)}, {AtNS: 2e9, Ready: i64(7), Published: f64(100)}, {AtNS: 4e9, Ready: i64(3), Published: f64(50)}}},
		Queues: []result.BrokerQueue{{Name: "empty", MaxReady: i64(0)}, {Name: "full", MaxReady: i64(5), Samples: []result.BrokerQueueSample{{AtNS: 2e9, Ready: i64(5)}}}},
	}}
	for i := range int64(3) {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: i * 1e9, EndNS: (i + 1) * 1e9, Sent: 80, Phase: "run"})
	}
	names := func(s Spec) (all []string) {
		for _, x := range s.Series {
			all = append(all, x.Name)
		}
		return all
	}
	rates, depth := brokerRatesSpec(r), brokerDepthSpec(r)
	if got := names(rates); !slices.Equal(got, []string{"client: sent", "client: received", "published"}) {
		t.Errorf("%q", got)
	}
	if got := rates.Series[2].Segments; len(got) != 1 || !slices.Equal(got[0], []Point{{0, 100}, {2, 100}, {2, 350 / 4.5}, {4, 350 / 4.5}}) {
		t.Errorf("published %v", got)
	}
	if last := (&result.BrokerQueue{Samples: append(slices.Clone(r.BrokerSide.Total.Samples), result.BrokerQueueSample{AtNS: 10e9, Published: f64(20)})}).MeanRate(3,
		func(s *result.BrokerQueueSample) *float64 { return s.Published }); last == nil || *last != 20 {
		t.Errorf("the last look has %v", last)
	}
	if got := names(depth); !slices.Equal(got, []string{"ready", "ready in full"}) || depth.X.Max != 4 {
		t.Errorf("%q to %v", got, depth.X.Max)
	}
	if got := depth.Series[0].Segments; len(got) != 1 || !slices.Equal(got[0], []Point{{2, 7}, {4, 3}}) {
		t.Errorf("ready %v", got)
	}
	if specs := Specs(&result.Result{}, Options{Names: []string{"broker-depth", "broker-rates"}}); specs[0].NoData == "" || specs[1].NoData == "" {
		t.Error("drawn without an answer of the broker")
	}
}
