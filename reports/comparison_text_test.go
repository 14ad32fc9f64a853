package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func num(v float64) *float64 { return &v }

// compared is a figure of base and candidate, changed by so much of it.
func compared(name string, unit result.Unit, base, candidate float64, x result.ComparedChange) result.ComparedMetric {
	return result.ComparedMetric{
		Name: name, Unit: unit, Values: []result.ComparedValue{{Runs: []*float64{&base}, Centre: &base, Mean: &base}, {Runs: []*float64{&candidate}, Centre: &candidate, Mean: &candidate}},
		Changes: []result.ComparedChange{x},
	}
}

// sampleComparison has all that a comparison can have.
func sampleComparison() *result.Comparison {
	run := func(id string, embedded bool, v result.Verdict) result.ComparedRun {
		r := result.ComparedRun{ID: id, Captures: []string{"captures/" + id}, Verdict: v, Complete: true, Broker: "RabbitMQ 3.10.8", StartedNS: 1_780_000_000_000_000_000, LimitedBy: result.LimitWindow}
		if embedded {
			r.Broker, r.Embedded = "embedded broker (0.1.0)", true
		}
		return r
	}
	lost := compared("lost", result.UnitMessages, 0, 5, result.ComparedChange{Difference: num(5), DifferenceLow: num(0), DifferenceHigh: num(7), Zero: result.FromZero, Level: 0.9, PValue: num(0.2), Adjusted: num(1), Verdict: result.ChangeWorse, Note: "above zero in 0 of 3 runs of the base and in 2 of 3 runs of the candidate"})
	censored := compared("p99(delivery.service)", result.UnitTime, 4.2e6, 0, result.ComparedChange{Verdict: result.ChangeUnknown, Note: "tuned: it falls among messages without an answer (12 never answered), and is known from below only"})
	censored.Values[1] = result.ComparedValue{Runs: []*float64{nil}, AtLeast: num(31e6), Why: "it falls among messages without an answer"}
	return &result.Comparison{
		SchemaVersion: result.ComparisonSchemaVersion, Method: result.ByRanks, ErrorRate: 0.05, Level: 0.95,
		Groups: []result.ComparedGroup{
			{Label: "base", Runs: []result.ComparedRun{run("b1", false, result.Pass), run("b2", false, result.Pass), run("b3", false, result.Pass)}},
			{Label: "tuned-with-a-label-that-is-long", Runs: []result.ComparedRun{run("c1", true, result.Pass), run("c2", false, result.Fail), run("c3", false, result.Pass)}, Marks: []string{"FAIL: 1 of 3 runs", "embedded broker: 1 of 3 runs"}},
		},
		Differences: []result.ConfigDifference{
			{What: "broker", Values: []string{"RabbitMQ 3.10.8", "RabbitMQ 3.10.8 (2 runs); embedded broker (0.1.0) (1 run)"}, Within: true},
			{What: "confirms", Values: []string{"confirm window 10", "confirm window 1,000"}},
		},
		Metrics: []result.ComparedMetric{
			compared("rate(sent)", result.UnitRate, 12_345.6, 24_691.2, result.ComparedChange{Difference: num(12_345.6), Delta: num(1), DeltaLow: num(0.905), DeltaHigh: num(1.1), Level: 0.9, PValue: num(0.1), Adjusted: num(0.3), Verdict: result.ChangeNoise}),
			compared("p50(delivery.service)", result.UnitTime, 1.5e6, 1.5e6, result.ComparedChange{Difference: num(0), Delta: num(0), DeltaLow: num(-0.021), DeltaHigh: num(0.00001), Level: 0.9, PValue: num(1), Adjusted: num(1), Verdict: result.ChangeNoise}),
			censored, lost,
		},
		Repeats: []result.Repeats{{Candidate: "tuned-with-a-label-that-is-long", Base: 3, Runs: 3, Tests: 3, LeastP: num(0.1), LeastAdjusted: num(0.3), Needed: 5, Text: "3 runs against 3: the smallest p-value that they can have is 0.1: no change, however large, can be significant at 5 %"}},
		FailIf: []result.FailCondition{
			{Text: "rate(sent) < -5%", Candidate: "tuned-with-a-label-that-is-long", Why: "it changed by +100.00 %"},
			{Text: "lost > +0", Candidate: "tuned-with-a-label-that-is-long", Fails: true, Why: "it changed by 5 messages"},
		},
		Remarks: []string{"Some runs went through the embedded broker, and measure leveret, not RabbitMQ.", "~ is noise."},
	}
}

func TestComparisonGoldenFiles(t *testing.T) {
	for name, o := range map[string]TextOptions{"comparison-all.txt": {}, "comparison-ascii.txt": {ASCII: true}, "comparison-narrow.txt": {Width: 72}} {
		var b bytes.Buffer
		if err := ComparisonText(&b, sampleComparison(), o); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		for line := range strings.Lines(b.String()) {
			if n := cells(strings.TrimSuffix(line, "\n")); n > max(o.Width, 100) || o.Width > 0 && n > o.Width {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
			for _, c := range line {
				if o.ASCII && c > 0x7e {
					t.Errorf("%s: %q in %s", name, c, line)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := ComparisonJSON(&b, sampleComparison()); err != nil {
		t.Fatal(err)
	}
	var back result.Comparison
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Metrics) != 4 || *back.Metrics[0].Changes[0].Delta != 1 {
		t.Errorf("%v %+v", err, back)
	}
}

// One run each: that nothing is known of how runs differ stands above the figures, once, and none is called worse; microseconds in
// ASCII are us.
func TestComparisonOfOneRunEach(t *testing.T) {
	c := sampleComparison()
	c.Method, c.Remarks = result.ByBlocks, []string{"One run each: unknown.", "~ is noise."}
	c.Metrics = []result.ComparedMetric{compared("p50(confirm.service)", result.UnitTime, 15_280, 15_300, result.ComparedChange{Delta: num(0.0013), Verdict: result.ChangeNoise}),
		compared("p99(confirm.service)", result.UnitTime, 20_000, 40_000, result.ComparedChange{Difference: num(20_000), Delta: num(1), Verdict: result.ChangeWorse}),
		compared("rate(sent)", result.UnitRate, 1000, 500, result.ComparedChange{Difference: num(-500), Delta: num(-0.5), Verdict: result.ChangeWorse})}
	var b bytes.Buffer
	if err := ComparisonText(&b, c, TextOptions{ASCII: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "One run each") != 1 || strings.Index(text, "One run each") > strings.Index(text, "p50(") || !strings.Contains(text, " us ") || strings.Contains(text, "µ") {
		t.Errorf("%s", text)
	}
	if strings.Contains(text, "worse") || !strings.Contains(text, " higher\n") || !strings.Contains(text, " lower\n") { // nothing says that they are
		t.Errorf("%s", text)
	}
	if !strings.Contains(text, "15.28") || !strings.Contains(text, "+0.13") {
		t.Errorf("%s", text)
	}
}
