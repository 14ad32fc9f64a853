package reports

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// comparisonSample has every kind of row: better, worse, noise, from zero, unknown. Its figures are made up.
func comparisonSample() *result.Comparison {
	run := func(id string) result.ComparedRun {
		return result.ComparedRun{ID: id, Captures: []string{"captures/" + id}, Verdict: result.Pass, Complete: true, Broker: "RabbitMQ 3.10.8", StartedNS: start, LimitedBy: result.LimitWindow}
	}
	value := func(runs ...float64) result.ComparedValue {
		v := result.ComparedValue{Centre: ptr(runs[0]), Mean: ptr(runs[0])}
		for i := range runs {
			v.Runs = append(v.Runs, &runs[i])
		}
		return v
	}
	change := func(difference, delta, p float64, verdict result.ChangeVerdict) result.ComparedChange {
		return result.ComparedChange{Difference: &difference, DifferenceLow: ptr(difference * 0.9), DifferenceHigh: ptr(difference * 1.1),
			Delta: &delta, DeltaLow: ptr(delta * 0.9), DeltaHigh: ptr(delta * 1.1), Level: 0.95, PValue: &p, Adjusted: &p, Verdict: verdict}
	}
	return &result.Comparison{
		SchemaVersion: result.ComparisonSchemaVersion, Method: result.ByRanks, ErrorRate: 0.05, Level: 0.95,
		Groups: []result.ComparedGroup{
			{Label: "window <10>", Runs: []result.ComparedRun{run("a1"), run("a2")}},
			{Label: "window|1000", Runs: []result.ComparedRun{run("b1"), run("b2")}, Marks: []string{"FAIL: 1 of 2 runs"}},
		},
		Differences: []result.ConfigDifference{{What: "confirm window", Values: []string{"10", "1,000"}}},
		Metrics: []result.ComparedMetric{
			{Name: "rate(received)", Unit: result.UnitRate, Better: "higher", Values: []result.ComparedValue{value(10_000, 10_100), value(25_000, 25_100)}, Changes: []result.ComparedChange{change(15_000, 1.5, 0.004, result.ChangeBetter)}},
			{Name: "rate(sent)", Unit: result.UnitRate, Better: "higher", Values: []result.ComparedValue{value(10_000, 10_100), value(10_010, 10_100)}, Changes: []result.ComparedChange{change(10, 0.001, 0.9, result.ChangeNoise)}},
			{Name: "p99(confirm.service)", Unit: result.UnitTime, Better: "lower", Values: []result.ComparedValue{value(2e6, 2.1e6), value(40e6, 41e6)}, Changes: []result.ComparedChange{change(38e6, 19, 0.004, result.ChangeWorse)}},
			{Name: "lost", Unit: result.UnitMessages, Better: "lower", Values: []result.ComparedValue{value(0, 0), value(3, 3)},
				Changes: []result.ComparedChange{{Difference: ptr(3.0), DifferenceLow: ptr(1.0), DifferenceHigh: ptr(5.0), Zero: result.FromZero, Level: 0.95, PValue: ptr(0.004), Adjusted: ptr(0.004), Verdict: result.ChangeWorse}}},
		},
		Repeats: []result.Repeats{{Candidate: "window|1000", Base: 2, Runs: 2, Tests: 4, Needed: 6, Text: "2 runs against 2 cannot find anything"}},
		FailIf:  []result.FailCondition{{Text: "p99(confirm.service) > +10%", Candidate: "window|1000", Fails: true, Why: "it rose by 1,900 %"}},
		Remarks: []string{"The run is the unit of sampling."},
	}
}

func TestComparisonGolden(t *testing.T) {
	c := comparisonSample()
	for name, write := range map[string]func(io.Writer) error{
		"comparison.txt":  func(w io.Writer) error { return ComparisonText(w, c, TextOptions{}) },
		"comparison.json": func(w io.Writer) error { return ComparisonJSON(w, c) },
		"comparison.md":   func(w io.Writer) error { return ComparisonMarkdown(w, c) },
		"comparison.tex":  func(w io.Writer) error { return ComparisonLaTeX(w, c) },
		"comparison.csv":  func(w io.Writer) error { return ComparisonCSV(w, c) },
		"comparison.html": func(w io.Writer) error { return ComparisonHTML(w, c, DocumentOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, []byte(svgElements.ReplaceAllString(b.String(), "")))
	}
}

// Conditions and differences stand before any figure, and what is better or worse is told by words, not by colours alone.
func TestComparisonPage(t *testing.T) {
	var b bytes.Buffer
	if err := ComparisonHTML(&b, comparisonSample(), DocumentOptions{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	last := -1
	for _, want := range []string{"FAIL: 1 of 2 runs", "it rose by 1,900 %", "confirm window", "window|1000 against window &lt;10&gt;</h2>", `<td class="left judged pass">better</td>`, `<td class="left judged fail">worse</td>`, "cannot find anything"} {
		at := strings.Index(text[last+1:], want)
		if at < 0 {
			t.Fatalf("no %q after what stands before it", want)
		}
		last += 1 + at
	}
	if strings.Contains(text, "window <10>") {
		t.Error("a label is not escaped")
	}
	for l := range strings.Lines(text) {
		if regexp.MustCompile(`<th scope="col"[^>]*></th>`).MatchString(l) {
			t.Errorf("a column without a name: %s", l)
		}
	}
}

func TestComparisonErrors(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *result.Comparison) error{
		"html": func(w io.Writer, c *result.Comparison) error { return ComparisonHTML(w, c, DocumentOptions{}) }, "markdown": ComparisonMarkdown, "latex": ComparisonLaTeX, "csv": ComparisonCSV,
	} {
		if write(io.Discard, nil) == nil || write(failingWriter{}, comparisonSample()) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
