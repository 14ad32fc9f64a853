package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// churnSample is 99 connections made of 100, in two intervals of a second; all its latencies are 2 ms, at most 7 ms.
func churnSample() *result.Result {
	i64 := func(v int64) *int64 { return &v }
	f64 := func(v float64) *float64 { return &v }
	d := func(n int64) *result.Distribution {
		return &result.Distribution{Count: n, MinNS: i64(1e6), MaxNS: i64(7e6), MeanNS: f64(2e6), StdDevNS: f64(1e5),
			P50NS: i64(2e6), P75NS: i64(2e6), P95NS: i64(2e6), P99NS: i64(3e6), P999NS: i64(7e6), P9999NS: i64(7e6)}
	}
	r := &result.Result{SchemaVersion: 1, Verdict: result.Fail, Complete: true, StopReason: "time limit reached", IntervalNS: 1e9, Broker: result.Broker{Product: "RabbitMQ", Version: "3.10.8"},
		Findings: []result.Finding{{Code: "churn_failed", Severity: result.SeverityFail, Count: 1, Text: "connections: 1 of 100 operations could not be made"}},
		Window:   result.Window{EndNS: 2e9, Text: "start barrier to the end of new operations"}}
	c := result.Churn{Capture: "c", What: "connection", Description: "connections, 50 a second due, undone at once, at most 100 in work", OpenLoop: true, TargetPerS: f64(50),
		Made: 99, Failed: 1, Undone: 99, Left: i64(0), CleanedUp: i64(0), MostAlive: i64(3), EndNS: 2e9, MadePerS: f64(49.5), UndonePerS: f64(49.5),
		Make: result.Latency{Response: d(99), Service: d(99)}, Undo: result.Latency{Service: d(99)},
		Steps: []result.ChurnStep{{Step: "tcp connect", Done: 100, Service: d(100)}, {Step: "amqp handshake", Done: 99, Failed: 1, Service: d(99)},
			{Step: "connection.close", Undoes: true, Done: 99, Service: d(99)}},
		Failures: []result.ChurnFailure{{Step: "amqp handshake", Outcome: "refused", Code: 530, Text: "NOT_ALLOWED - node connection limit", Count: 1}},
	}
	for i := range int64(2) {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: i * 1e9, EndNS: (i + 1) * 1e9, Phase: "run"})
		c.Intervals = append(c.Intervals, result.ChurnInterval{StartNS: i * 1e9, EndNS: (i + 1) * 1e9, Phase: "run", Due: 50, Made: 50 - i, Failed: i, Undone: 50 - i, Latency: d(50)})
	}
	r.Churn = []result.Churn{c}
	return r
}

// Operations alone: what was done, each step and when, the failures; nothing of messages that there were none of.
func TestChurnText(t *testing.T) {
	text := textOf(t, churnSample(), TextOptions{})
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"FAIL", "Connection churn", "operations connections, 50 a second due", "made 99, 1 failed; 99 undone, 0 failed; at most 3 there at the same time; 0 left at the broker",
		"rates 49.50 made and 49.50 undone per second, 50.00 due, over 2.000 s, start barrier to the end of new operations",
		"made, response 99 1 1.000 2.000 2.000 3.000 7.000 7.000", "tcp connect 100 0 1.000", "amqp handshake 99 1 1.000", "connection.close 99 0",
		"1 amqp handshake refused: NOT_ALLOWED - node connection limit (530)", "1.0 2.0 50.00 49.00 49.00 1 0 2.000 3.000 7.000",
		"Above 99 %: 0 of 99 to make, 0 of 99 to undo; above 99.9 %",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, not := range []string{"Counts (messages)", "producers", "Latency\n", "limited by"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in\n%s", not, text)
		}
	}
}

// Of a part of the run the counts of what failed are not.
func TestChurnOfAPart(t *testing.T) {
	const remark = "Count and latency are of the window, failed is of the whole run."
	r := churnSample()
	if text := textOf(t, r, TextOptions{}); strings.Contains(text, remark) {
		t.Error(text)
	}
	r.Window.Part = &result.Part{FromNS: 1e9, ToNS: 2e9, RunNS: 2e9}
	if text := textOf(t, r, TextOptions{}); !strings.Contains(text, remark) {
		t.Error(text)
	}
}

// Where rows are missing, an interval without any is unknown, and no zeros stand there.
func TestChurnWhoseRowsAreMissing(t *testing.T) {
	r := churnSample()
	c := &r.Churn[0]
	c.RowsMissing = true
	c.Intervals[1] = result.ChurnInterval{StartNS: 1e9, EndNS: 2e9, Phase: "run"}
	flat := strings.Join(strings.Fields(textOf(t, r, TextOptions{})), " ")
	for _, want := range []string{"rows of operations are missing in the record", "1.0 2.0 - - - - - - - - -: nothing in what can be read of the record, from which rows are missing"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, flat)
		}
	}
	if strings.Contains(flat, "nothing was due") {
		t.Error(flat)
	}
}

// Intervals beside those in which operations were offered are left out where nothing happened in them, and so are those that would
// begin and end at the same printed time; what could not be made and what could not be undone stand apart.
func TestChurnIntervalsThatTellNothing(t *testing.T) {
	r := churnSample()
	r.Window.EndNS, r.Config.Producers = 5e9, 1
	c := &r.Churn[0]
	c.EndNS = 2_010_000_000
	c.Intervals[1].Failed, c.Intervals[1].UndoFailed = 3, 2
	c.Intervals = append(c.Intervals, result.ChurnInterval{StartNS: 2e9, EndNS: 3e9, Phase: "run"}, result.ChurnInterval{StartNS: 3e9, EndNS: 4e9, Phase: "run", Undone: 5},
		result.ChurnInterval{StartNS: 4e9, EndNS: 4_010_000_000, Phase: "drain", Undone: 1})
	for range 2 {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: r.Intervals[len(r.Intervals)-1].EndNS, EndNS: r.Intervals[len(r.Intervals)-1].EndNS + 1e9, Phase: "run"})
	}
	flat := strings.Join(strings.Fields(textOf(t, r, TextOptions{})), " ")
	for want, is := range map[string]bool{"1.0 2.0 50.00 49.00 49.00 1 2 ": true, " 3.0 4.0 0 0 5.000 0 0 - - -": true, " 2.0 3.0 0 0 0 ": false, " 4.0 4.0 ": false} {
		if strings.Contains(flat, want) != is {
			t.Errorf("%q: %v, want %v in\n%s", want, !is, is, textOf(t, r, TextOptions{}))
		}
	}
}

// Beside a run of messages both are told, in every form.
func TestChurnBesideMessagesInEveryForm(t *testing.T) {
	r := failingSample()
	r.Churn = churnSample().Churn
	for _, f := range forms {
		text := f.of(t, r)
		if f.name != "csv" && (!strings.Contains(text, "Connection churn") || !strings.Contains(text, "5,895")) {
			t.Errorf("%s: without the operations, or without the messages", f.name)
		}
		if f.name == "csv" && !strings.Contains(text, "churn,1,made_ops_per_s,49.5\n") {
			t.Error("csv: no rate of operations")
		}
	}
	for _, f := range forms[1:3] { // of operations alone the head says what they were
		if text := f.of(t, churnSample()); strings.Contains(text, "0 producers") || !strings.Contains(text, "50 a second due") {
			t.Errorf("%s: its head", f.name)
		}
	}
	var b bytes.Buffer
	if err := JSON(&b, churnSample()); err != nil {
		t.Fatal(err)
	}
	var back result.Result
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Churn) != 1 || back.Churn[0].Steps[1].Failed != 1 || *back.Churn[0].Make.Response.P99NS != 3e6 {
		t.Errorf("%v %+v", err, back.Churn)
	}
}
