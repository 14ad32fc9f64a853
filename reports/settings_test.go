package reports

import (
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// flat is a report's text with all white space made single blanks.
func flat(t *testing.T, r *result.Result) string {
	t.Helper()
	return strings.Join(strings.Fields(textOf(t, r, TextOptions{})), " ")
}

// A run with transactions has commits where others have confirms.
func TestTransactions(t *testing.T) {
	r := baseResult()
	r.Config.Producers, r.Config.Confirm, r.Config.PublishTxSize = 1, 0, 10
	r.Counts = result.Counts{Sent: 25, Committed: 20, Uncommitted: 5}
	r.Rates.Sent, r.Rates.Committed = ptr(25.0), ptr(20.0)
	r.Latency.Commit.Service = &result.Distribution{Count: 20, Censored: 5, MinNS: ptr(int64(4e6)), P50NS: ptr(int64(8e6)), MaxNS: ptr(int64(8e6)), AtLeastNS: ptr(int64(9e6))}
	r.IntervalNS = second
	r.Intervals = []result.Interval{{StartNS: start, EndNS: start + second, Sent: 25, Committed: 20, Phase: "run",
		Latency: result.Latencies{Commit: result.Latency{Service: &result.Distribution{Count: 20, P50NS: ptr(int64(8e6)), P99NS: ptr(int64(8e6)), MaxNS: ptr(int64(8e6))}}}}}
	text := flat(t, r)
	for _, want := range []string{"published in transactions of 10 messages", "committed 20 ", "uncommitted 5 ", "committed 20.00 messages per second", "commit (ms)", "50 % 8.000"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, textOf(t, r, TextOptions{}))
		}
	}
	for _, not := range []string{"confirm:", "confirm (", "confirms were off"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, textOf(t, r, TextOptions{}))
		}
	}
	if text := flat(t, tinySample()); strings.Contains(text, "commit") {
		t.Error("commits are spoken of without transactions")
	}
}

// What special options a run had, and what of the latency they make, is said; of a plain run nothing of the kind.
func TestSpecialSettings(t *testing.T) {
	r := baseResult()
	c := &r.Config
	c.Producers, c.Consumers, c.AckMode, c.Polling, c.PollIntervalNS = 1, 1, "nack, single, requeue", true, 100e6
	c.Publishing, c.Consuming = "properties priority 5", "at most 10 msg/s each"
	c.Endpoints, c.Allocation, c.Environment = []string{"amqp://a", "amqp://b"}, "random", []string{"RATE", "SIZE"}
	c.EndpointConnections = []int{3, 1}
	c.Predeclared = "strict"
	r.LatencyRemarks = []string{"Consumers poll."}
	r.Latency.Delivery.Service = &result.Distribution{Count: 1, P50NS: ptr(int64(1))}
	text := flat(t, r)
	for _, want := range []string{
		"properties priority 5; acks nack, single, requeue; prefetch 200; polling with basic.get every 100ms; at most 10 msg/s each",
		"one of 2 endpoints (amqp://a with 3 connections, amqp://b with 1 connection), random", "environment options set by variables: RATE, SIZE",
		"nothing declared and nothing bound", "Consumers poll.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text := flat(t, tinySample()); strings.Contains(text, "endpoint") || strings.Contains(text, "environment") || strings.Contains(text, "polling") {
		t.Error(text)
	}
}

// Captures of several runs have no rates, and the reason stands in their place.
func TestNoRatesOfSeveralRuns(t *testing.T) {
	r := baseResult()
	r.Config.Producers = 2
	r.Findings = []result.Finding{{Code: "not_one_run", Severity: result.SeverityInconclusive, Count: 1, Text: "x"}}
	r.IntervalNS = second
	r.Intervals = []result.Interval{{StartNS: start, EndNS: start + second, Sent: 25, Phase: "run"}}
	if text := flat(t, r); !strings.Contains(text, "sent n/a (the captures are not of one run)") || strings.Contains(text, "messages per second") {
		t.Error(text)
	}
}

// Who had stopped before the run did is said beside the reason.
func TestEndsBesideTheReason(t *testing.T) {
	r := baseResult()
	r.StopReason = "time limit reached"
	r.Ends = map[string]int{"producer limit": 1200, "consumer idle": 2}
	if text := flat(t, r); !strings.Contains(text, "Stopped: time limit reached (by then had stopped: 2 by consumer idle, 1,200 by producer limit)") {
		t.Error(text)
	}
	r.StopReason = "all messages sent"
	if text := flat(t, r); !strings.Contains(text, "Stopped: all messages sent (by then had stopped: 2 by consumer idle)") {
		t.Error(text)
	}
}

// Ack latency is a column of its own, and confirms are counted by frame.
func TestAcksAndFrames(t *testing.T) {
	r := baseResult()
	r.AckLatency = &result.Distribution{Count: 8, Censored: 2, MinNS: ptr(int64(1e6)), P50NS: ptr(int64(1e6)), MaxNS: ptr(int64(4e6)), AtLeastNS: ptr(int64(1098e6))}
	r.ConfirmFrames = &result.FrameSizes{Frames: 8000, Mean: 12.5, P50: 8, P99: 100, Max: 200}
	text := flat(t, r)
	for _, want := range []string{"ack (ms) received min 1.000 50 % 1.000", "confirms 8,000 frames of 12.5 messages on average; 50 % 8, 99 % 100, max 200", "Ack latency from received to the consumer's ack."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, textOf(t, r, TextOptions{}))
		}
	}
}

// A grouping is a table of its first members, and a line about all of them.
func TestGroupings(t *testing.T) {
	r := baseResult()
	g := result.Grouping{By: "consumer", Total: 30, LeastMessages: 6, MedianMessages: 7, MostMessages: 14000}
	for i := range 30 {
		m := result.Member{Name: "consumer " + strings.Repeat("x", i), Messages: int64(i)}
		if i > 0 {
			m.Latency.Delivery.Service = &result.Distribution{Count: 3, Censored: 1, P50NS: ptr(int64(i) * 1e6), MaxNS: ptr(int64(i) * 2e6), AtLeastNS: ptr(int64(90e6))}
		}
		g.Members = append(g.Members, m)
	}
	r.Groupings = []result.Grouping{g}
	text := flat(t, r)
	for _, want := range []string{
		"By consumer (messages received by it, service latency)", "delivery (ms) consumer messages 50 % 99 % max consumer 0 - - - consumer x 1 1.000 >=90.00 >=90.00",
		"Of 30 consumers the least has 6, the median 7, the most 14,000 messages. The first 20 are shown.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, textOf(t, r, TextOptions{}))
		}
	}
	if strings.Contains(text, strings.Repeat("x", 20)+" ") {
		t.Error("more than the first are shown")
	}
	var got result.Result
	if err := json.Unmarshal(jsonOf(t, r), &got); err != nil || len(got.Groupings) != 1 || len(got.Groupings[0].Members) != 30 {
		t.Errorf("%v %+v", err, got.Groupings)
	}
}
