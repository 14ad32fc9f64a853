package reports

import (
	"bytes"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func text(t *testing.T, r *result.Result, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func at[T any](v T) *T { return &v }

// Percentiles that were asked for stand in the table in their order, with the messages above each and their intervals or the
// reasons why there is none; assertions stand behind the findings.
func TestWhatWasAskedFor(t *testing.T) {
	d := &result.Distribution{Count: 100_000, MinNS: at(int64(1e6)), MeanNS: at(2e6), StdDevNS: at(1e5), P50NS: at(int64(2e6)), P75NS: at(int64(3e6)), P95NS: at(int64(4e6)),
		P99NS: at(int64(5e6)), P999NS: at(int64(6e6)), P9999NS: at(int64(7e6)), MaxNS: at(int64(9e6)),
		Asked: []result.AskedPercentile{
			{Percent: 12.5, ValueNS: at(int64(1.5e6)), Above: 87_500, Interval: &result.Confidence{Level: 0.95, LowNS: at(1.4e6), HighNS: at(1.6e6), EffectiveSamples: 1234.5, Batches: 15, BatchNS: 2e9}},
			{Percent: 99.999, ValueNS: at(int64(8e6)), Above: 1, Interval: &result.Confidence{Level: 0.95, LowNS: at(7e6), EffectiveSamples: 90, Batches: 30, BatchNS: 1e9, Note: "no upper end: too few messages above"}},
		},
		MeanInterval: &result.Confidence{Level: 0.95, Note: "too few intervals"}}
	r := &result.Result{Verdict: result.Fail, Config: result.Config{Producers: 1, Consumers: 1}, Latency: result.Latencies{Delivery: result.Latency{Service: d}},
		Assertions: []result.Assertion{
			{Text: "lost == 0", Met: true, Value: at(0.0), Unit: "messages"},
			{Text: "p99(ack) < 1ms", Unit: "ns", Why: "there is no such latency: no ack was recorded"},
			{Text: "max(delivery.service) < 1ms", Value: at(9e6), Unit: "ns"},
		},
		Steadiness: &result.Steadiness{Rate: &result.Settling{Of: "received", Settled: true, FromStart: true, AfterNS: at(int64(0))}, Latency: &result.Settling{Of: "delivery.service", Settled: true, AfterNS: at(int64(3e9))}},
		Fairness:   []result.Fairness{{By: "consumer", Members: 2, MostMessages: 8, Variation: 1, Jain: 0.5}},
		Waiting:    &result.Waiting{MeanBacklog: 5000, MsgsPerS: 5000, WaitNS: 1e9, MeanLatencyNS: 1e9},
	}
	flat := strings.Join(strings.Fields(text(t, r, TextOptions{})), " ")
	for _, want := range []string{
		"Assertions: met lost == 0: it is 0 messages not met p99(ack) < 1ms: there is no such latency: no ack was recorded not met max(delivery.service) < 1ms: it is 9 ms",
		"min 1.000 12.5 % 1.500 50 % 2.000", "99.99 % 7.000 99.999 % 8.000 max 9.000", "above 12.5 % 87,500 above 99.999 % 1",
		"delivery service 12.5 % 1.400 to 1.600 ms (1,234 effective, 15 batches of 2.000 s)",
		"delivery service 99.999 % from 7.000 ms up (90 effective, 30 batches of 1.000 s); no upper end: too few messages above",
		"delivery service mean too few intervals",
		"steady rate from the window's start on; latency from 3.000 s after the start on (--warmup 3",
		"fairness 2 consumers: 0 to 8 messages, median 0; coefficient of variation 1.000, Jain's index 0.500",
		"wait mean backlog of 5,000 messages / 5,000 received per second = 1.000 s in the queue",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is missing in\n%s", want, text(t, r, TextOptions{}))
		}
	}
	if strings.Contains(flat, "above 99 %") {
		t.Error("the usual percentiles have their messages above, too")
	}
}

// A part of the run: what it holds, that verdict and counts are not of it, and lines before and behind it of their own.
func TestPartOfARun(t *testing.T) {
	r := &result.Result{Verdict: result.Pass, Config: result.Config{Producers: 1, Consumers: 1, StartedNS: 1}, IntervalNS: 1e9,
		Window: result.Window{StartNS: 1 + 1e9, EndNS: 1 + 2e9, Text: "1 to 2 s of a run of 3 s", Part: &result.Part{FromNS: 1e9, ToNS: 2e9, RunNS: 3e9, Sent: 10, Received: 7, Cohort: 11}},
		Intervals: []result.Interval{
			{StartNS: 1, EndNS: 1 + 1e9, Phase: "before", Sent: 5}, {StartNS: 1 + 1e9, EndNS: 1 + 2e9, Phase: "run", Sent: 10, Received: 7},
			{StartNS: 1 + 2e9, EndNS: 1 + 3e9, Phase: "after", Sent: 6}, {StartNS: 1 + 3e9, EndNS: 1 + 4e9, Phase: "drain", Received: 14},
		}}
	for _, limit := range []int{1, 4, -1} {
		flat := strings.Join(strings.Fields(text(t, r, TextOptions{Intervals: limit})), " ")
		for _, want := range []string{"Rates over 1.000 s, 1 to 2 s of a run of 3 s", "window 10 sent, 7 received in it; latencies are of the 11 messages", "counts are of the whole run",
			"0.0 1.0 5 0", "1.0 2.0 10 7", "2.0 3.0 6 0", "drain: 3.0 4.0 0 14", "Lines outside of the window have no latency."} {
			if !strings.Contains(flat, want) {
				t.Errorf("%d lines: %q is missing in\n%s", limit, want, text(t, r, TextOptions{Intervals: limit}))
			}
		}
	}
}
