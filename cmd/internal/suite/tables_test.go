package suite

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/assert"
	"leveret/analyze/result"
	"leveret/reports/table"
)

const tabled = `
repeat: 3
tables:
  - name: a
    title: Windows
    axes:
      - {name: Window, option: confirm, values: [{is: -1, label: none}, 10, 100]}
    published:
      - {where: {Window: 10}, figures: {rate: 50}}
    columns:
      - {head: Rate, figure: rate(received), published: rate, ratio: true}
      - {head: Cost, figure: rate(received), change: true}
      - {group: Confirm, head: p99, figure: p99(confirm.service), unit: ms}
      - {head: Verdict, figure: verdict}
`

// received makes a result with a rate, and a confirm p99 in nanoseconds where there is one.
func received(rate float64, p99 int64) *result.Result {
	r := &result.Result{Verdict: result.Pass, Complete: true}
	r.Rates.Received = &rate
	if p99 > 0 {
		r.Latency.Confirm.Service = &result.Distribution{Count: 100, P99NS: &p99}
	}
	return r
}

// Of three runs the median stands in the table, with the least and the greatest: 100 of 90, 100, 130; then 80 of 70, 80, 90, 20 % less.
// 80 measured by 50 published is 1.6. The row that failed says so, with its reason below.
func TestTable(t *testing.T) {
	s, rows := planned(t, tabled, Changes{})
	r := s.NewRecord(rows, Changes{}, map[string]Broker{"main": {Describe: "RabbitMQ 3.10.8"}}, "")
	r.Attach(rows)
	results := map[string]*result.Result{
		"a-01-none": received(90, 0), "a-01-none.2": received(130, 0), "a-01-none.3": received(100, 0),
		"a-02-10": received(70, 2e6), "a-02-10.2": received(80, 4e6), "a-02-10.3": received(90, 3e6),
	}
	for _, run := range r.Runs {
		if run.State = Done; results[run.ID] == nil {
			run.State, run.Reason = Failed, "connection refused"
		}
	}
	tables, err := r.Tables(rows, func(run *Run) ([]*result.Result, error) { return []*result.Result{results[run.ID]}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table.Text(&b, tables[0]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"none            100.0 (90.0 to 130.0)          -      -           -                      -  PASS\n",
		"10               80.0 (70.0 to 90.0)          50.0   1.60       -20.0  3.00 (2.00 to 4.00)  PASS\n",
		"100                             failed          -      -           -                      -  failed\n",
		"Window 100; Window 100, run 2; Window 100, run 3: failed: connection refused\n", "measured: RabbitMQ 3.10.8\n", "each row: median of 3 runs",
	} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// A probe is a line of its own, by rising value; what was found, and why the others are beyond it, is said.
func TestSearchTable(t *testing.T) {
	s, rows := planned(t, "tables: [{name: s, search: {from: 100, bound: ['lost == 0']}, columns: [{figure: rate(received)}, {head: Kept, figure: kept}]}]", Changes{})
	r := s.NewRecord(rows, Changes{}, nil, "")
	for i, probe := range []struct {
		rate   float64
		reason string
	}{{100, ""}, {200, "lost == 0: it is 3 messages"}, {150, ""}} {
		run := newProbe(rows[0], "rate", probe.rate, i+1)
		run.State, run.Reason = Done, probe.reason
		r.Runs = append(r.Runs, run)
	}
	r.Attach(rows)
	tables, err := r.Tables(rows, func(run *Run) ([]*result.Result, error) { return []*result.Result{received(*run.Probe, 0)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range tables[0].Rows {
		lines = append(lines, row[len(row)-1].Text)
	}
	if got := strings.Join(lines, "; "); got != "yes; yes; no: lost == 0: it is 3 messages" {
		t.Error(got)
	}
	if got := strings.Join(tables[0].Notes, "\n"); !strings.HasSuffix(got, "highest rate that kept the bounds: 150 so far, the search is not finished") {
		t.Error(got)
	}
}

// What a search has found is said when it is at its end: 100 is not kept, nor 50 and so on down to 1; 100 is, and 104 is not, with 5 % of 100 as
// the span that may be left. Of none at all nothing is known.
func TestWhatASearchHasFound(t *testing.T) {
	s, rows := planned(t, "tables: [{name: s, search: {from: 100}, columns: [{figure: sent}]}]", Changes{})
	for _, c := range []struct {
		tried []float64 // below 0: not kept
		want  string
	}{
		{[]float64{100, -104}, "table s: highest rate that kept the bounds: 100"},
		{[]float64{-100, -50, -25, -12, -6, -3, -1}, "table s: highest rate that kept the bounds: none kept the bounds"},
		{[]float64{-100, -50}, "table s: highest rate that kept the bounds: none kept the bounds so far, the search is not finished"},
		{nil, "table s: highest rate that kept the bounds: not known, nothing was tried"},
	} {
		r := s.NewRecord(rows, Changes{}, nil, "")
		for i, rate := range c.tried {
			run := newProbe(rows[0], "rate", max(rate, -rate), i+1)
			if run.State = Done; rate < 0 {
				run.Reason = "too slow"
			}
			r.Runs = append(r.Runs, run)
		}
		r.Attach(rows)
		tables, err := r.Tables(rows, func(*Run) ([]*result.Result, error) { return []*result.Result{received(1, 0)}, nil })
		if err != nil || tables[0].Notes[len(tables[0].Notes)-1] != c.want {
			t.Errorf("%v, %q, want %q", err, tables[0].Notes, c.want)
		}
	}
}

// Labels of charts say what rows differ in; where the names of the axes have no room, the values alone, and a note has the names.
func TestLabels(t *testing.T) {
	const text = "tables: [{name: a, axes: [{name: Kind, option: size, values: [12]}, {name: Producers, option: producers, values: [1, 3]}, %s], columns: [{figure: sent}]}]"
	for _, c := range []struct{ axis, first, note string }{
		{"{name: QoS, option: qos, values: [10, 20]}", "Producers 1, QoS 10", ""},
		{"{name: Prefetched messages, option: qos, values: [10, 20]}", "1 / 10", "each run is named by Producers / Prefetched messages"},
	} {
		s, rows := planned(t, strings.Replace(text, "%s", c.axis, 1), Changes{})
		labels, note := labelsOf(s.Tables[0], rows)
		if labels[rows[0]] != c.first || note != c.note {
			t.Errorf("%q, %q, want %q, %q", labels[rows[0]], note, c.first, c.note)
		}
	}
}

// A table with a verdict has passed only where each of its rows was run and has passed.
func TestTableVerdict(t *testing.T) {
	s, rows := planned(t, "tables: [{name: h, title: Health, verdict: it is well, rows: [{name: a}, {name: b, options: {size: 99}}], columns: [{figure: sent}]}]", Changes{})
	for _, c := range []struct {
		states [2]State
		second result.Verdict
		want   string
	}{
		{[2]State{Done, Done}, result.Pass, ""},
		{[2]State{Done, Done}, result.Inconclusive, "Health: INCONCLUSIVE: it is not shown that it is well: 1 of 2 rows have passed, 1 left out or not proved"},
		{[2]State{Done, Done}, result.Fail, "Health: FAIL: it is not shown that it is well: 1 of 2 rows have passed, 1 failed"},
		{[2]State{Done, LeftOut}, "", "Health: INCONCLUSIVE: it is not shown that it is well: 1 of 2 rows have passed, 1 left out or not proved"},
		{[2]State{Done, Planned}, "", "Health: INCONCLUSIVE: not finished: it is not shown that it is well: 1 of 2 rows have passed, 1 not run"},
		{[2]State{Failed, Planned}, "", "Health: FAIL: not finished: it is not shown that it is well: 0 of 2 rows have passed, 1 failed, 1 not run"},
	} {
		r := s.NewRecord(rows, Changes{}, nil, "")
		r.Attach(rows)
		verdict := map[*Run]result.Verdict{r.Runs[0]: result.Pass, r.Runs[1]: c.second}
		r.Runs[0].State, r.Runs[1].State = c.states[0], c.states[1]
		got, err := r.Unproved(rows, func(run *Run) ([]*result.Result, error) { return []*result.Result{{Verdict: verdict[run]}}, nil })
		if err != nil || strings.Join(got, "\n") != c.want {
			t.Errorf("%v: %q, %v, want %q", c.states, got, err, c.want)
		}
	}
}

// Of rows that were chosen no claim is made about what takes all of them, in any form.
func TestVerdictOfChosenRows(t *testing.T) {
	const text = "tables: [{name: h, title: Health, verdict: it is well, rows: [{name: a}, {name: b, options: {size: 99}}, {name: c, options: {size: 98}}], columns: [{figure: sent}]}]"
	for _, c := range []struct {
		only   string
		second State
		want   string
	}{
		{"[ab]", Done, "PASS: 2 of 3 rows, chosen with --only, have passed; only all 3 could show that it is well"},
		{"[ab]", Planned, "INCONCLUSIVE: not finished: it is not shown that it is well: 1 of 2 rows have passed, 1 not run (2 of 3 rows, chosen with --only)"},
		{"?", Done, "PASS: it is well: 3 of 3 rows have passed"},
	} {
		changes := Changes{Only: []string{c.only}}
		s, rows := planned(t, text, changes)
		r := s.NewRecord(rows, changes, nil, "")
		for i, run := range r.Runs {
			if run.State = Done; i == 1 {
				run.State = c.second
			}
		}
		tables, err := r.Tables(rows, func(*Run) ([]*result.Result, error) { return []*result.Result{{Verdict: result.Pass}}, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range []func(io.Writer, *table.Table) error{table.Text, table.Markdown, table.LaTeX} {
			var b strings.Builder
			err := write(&b, tables[0])
			if got := strings.ReplaceAll(b.String(), "-{}-", "--"); err != nil || !strings.Contains(got, c.want) { // LaTeX keeps the hyphens of an option apart
				t.Errorf("%v, no %q in\n%s", err, c.want, &b)
			}
		}
		if word, _, _ := strings.Cut(c.want, ":"); string(tables[0].Verdict) != word {
			t.Errorf("the table's verdict is %s, want %s", tables[0].Verdict, word)
		}
	}
}

// What was due and was not sent, or sent and not received in time, is not kept; nor a bound that is not met.
func TestKeeps(t *testing.T) {
	s := &Search{Keep: 99, Bound: []string{"p99(delivery.response) < 50ms"}, Backlog: 1000}
	of := func(sent, received, offered float64, p99, waiting int64) *result.Result {
		r := &result.Result{Config: result.Config{RateTotal: &offered, Consumers: 1, Producers: 1, FanOut: 1}, Complete: true}
		r.Rates.Sent, r.Rates.Received = &sent, &received
		r.Latency.Delivery.Response = &result.Distribution{Count: 100, P99NS: &p99}
		r.Intervals = []result.Interval{{Phase: "run", BacklogEnd: &waiting}}
		return r
	}
	for _, c := range []struct {
		r   *result.Result
		why string
	}{
		{of(995, 991, 1000, 49e6, 1000), ""},
		{of(989, 989, 1000, 49e6, 0), "98.9 % of what should have been was sent"},
		{of(1000, 900, 1000, 49e6, 0), "90.0 % of what should have been was received"},
		{of(1000, 1000, 1000, 50e6, 0), "p99(delivery.response) < 50ms: it is 50 ms"},
		{of(1000, 1000, 1000, 1e6, 1001), "the backlog was larger than 1000"},
	} {
		if kept, why := s.keeps(c.r); kept != (c.why == "") || why != c.why {
			t.Errorf("%v, %q, want %q", kept, why, c.why)
		}
	}
}

// The median of repeated runs is known where the runs that told a bound only are above it whatever they were; else it is one itself.
func TestMedianWithBounds(t *testing.T) {
	for _, c := range []struct {
		values, bounds []float64
		median         float64
		atLeast        bool
	}{
		{[]float64{10, 11}, []float64{5000}, 11, false},
		{[]float64{10, 11}, []float64{11}, 11, false},
		{[]float64{10}, []float64{5000, 6000}, 5000, true},
		{[]float64{10}, []float64{20}, 15, true},
		{[]float64{10, 20}, []float64{5}, 10, true}, // it may have been 15, and then 15 were in the middle
		{nil, []float64{7}, 7, true},
	} {
		got := middle(c.values, c.bounds)
		if got.Value == nil || *got.Value != c.median || got.AtLeast != c.atLeast || got.Low != nil || got.High != nil {
			t.Errorf("%v and at least %v: %+v", c.values, c.bounds, got)
		}
	}
	if got := middle([]float64{30, 10, 20}, nil); *got.Value != 20 || *got.Low != 10 || *got.High != 30 || got.AtLeast {
		t.Errorf("%+v", got)
	}
}

// Two parts and their joint result; a run of one part has no second one, and its joint figure is not shown for it.
func TestFiguresOfPhases(t *testing.T) {
	joint, first, second := received(30, 0), received(10, 0), received(20, 0)
	for _, c := range []struct {
		results []*result.Result
		phase   int
		want    *result.Result
	}{
		{[]*result.Result{joint, first, second}, 0, joint}, {[]*result.Result{joint, first, second}, 2, second}, {[]*result.Result{joint, first, second}, 3, nil},
		{[]*result.Result{first}, 1, first}, {[]*result.Result{first}, 2, nil},
	} {
		if got := (&Column{Phase: c.phase}).of(c.results); got != c.want {
			t.Errorf("phase %d of %d results: %+v", c.phase, len(c.results), got)
		}
	}
}

// Of three runs of a row, one lost messages, one was well, and one could not run: the cell says so, the worst first.
func TestVerdictsOfRepeats(t *testing.T) {
	s, rows := planned(t, "repeat: 3\ntables: [{rows: [{name: a}], columns: [{figure: verdict}, {figure: sent}]}]", Changes{})
	r := s.NewRecord(rows, Changes{}, nil, "")
	r.Attach(rows)
	results := map[*Run]*result.Result{
		r.Runs[0]: {Verdict: result.Pass},
		r.Runs[1]: {Verdict: result.Fail, Findings: []result.Finding{{Code: "lost", Severity: result.SeverityFail}}},
	}
	r.Runs[0].State, r.Runs[1].State, r.Runs[2].State = Done, Done, Failed
	tables, err := r.Tables(rows, func(run *Run) ([]*result.Result, error) { return []*result.Result{results[run]}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := tables[0].Rows[0][1].Text; got != "failed (1 of 3 runs), FAIL (lost), PASS" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(tables[0].Notes, "\n"); !strings.Contains(got, "each row: median of 3 runs, of as many as have a result, with the least and the greatest") {
		t.Error(got)
	}
}

// The same reason is told once, for the first three that have it; another one by itself.
func TestReasonsAreToldOnce(t *testing.T) {
	s, rows := planned(t, "tables: [{axes: [{name: Size, option: size, values: [12, 13, 14, 15, 16, 17]}], columns: [{figure: sent}]}]", Changes{})
	r := s.NewRecord(rows, Changes{}, nil, "")
	r.Attach(rows)
	for i, run := range r.Runs {
		run.State, run.Reason = LeftOut, "too new"
		if i == 1 {
			run.State, run.Reason = Failed, "down"
		}
	}
	tables, err := r.Tables(rows, r.Kept(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Size 12; Size 14; Size 15; and 2 more: left out: too new", "Size 13: failed: down"}
	if got := tables[0].Notes; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Which assertion was not met stands below the table, that of several rows once; and all of a run on the line about it.
func TestAssertionsThatAreNotMet(t *testing.T) {
	s, rows := planned(t, "tables: [{axes: [{name: Size, option: size, values: [12, 13]}], columns: [{figure: verdict}]}]", Changes{})
	r := s.NewRecord(rows, Changes{}, nil, "")
	r.Attach(rows)
	slow := result.Finding{Code: assert.Code, Severity: result.SeverityFail, Text: "p99(confirm.service) < 1ms: it is 2 ms"}
	lost := result.Finding{Code: assert.Code, Severity: result.SeverityFail, Text: "lost == 0: it is 3"}
	results := map[*Run]*result.Result{
		r.Runs[0]: {Verdict: result.Fail, Findings: []result.Finding{{Code: "lost", Severity: result.SeverityFail, Text: "3 messages"}, lost, slow}},
		r.Runs[1]: {Verdict: result.Fail, Findings: []result.Finding{slow, {Code: "backlog", Severity: result.SeverityWarning}}},
	}
	dir := t.TempDir()
	for run, x := range results {
		text, err := json.Marshal([]*result.Result{x})
		if err := errors.Join(err, os.WriteFile(resultPath(dir, run), text, 0o644)); err != nil {
			t.Fatal(err)
		}
		run.State = Done
	}
	tables, err := r.Tables(rows, r.Kept(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Size 12: not met: lost == 0: it is 3", "Size 12; Size 13: not met: p99(confirm.service) < 1ms: it is 2 ms"}
	if got := tables[0].Notes; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	want = []string{
		"FAIL: Size 12 [1-01-12]: lost: 3 messages; assertion_not_met: lost == 0: it is 3; assertion_not_met: p99(confirm.service) < 1ms: it is 2 ms",
		"FAIL: Size 13 [1-02-13]: assertion_not_met: p99(confirm.service) < 1ms: it is 2 ms",
	}
	if got := r.Verdicts(dir, result.Fail); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// From when latencies count stands below the table: its heads are the file's, and need not tell.
func TestLatenciesSayFromWhen(t *testing.T) {
	x := &Table{Columns: []Column{
		{Head: "Sent", Figure: "rate(sent)"}, {Group: "Confirm", Head: "p50", Figure: "p50(confirm.service)"}, {Group: "Confirm", Head: "p99", Figure: "p99(confirm.service)"},
		{Head: "late", Figure: "p99(delivery.response)"}, {Head: "max", Figure: "max(delivery.service)"}, {Head: "ack", Figure: "p99(ack)"},
	}}
	want := []string{"Confirm, max: service latency, from when a message was sent", "late: response latency, from when a message was due"}
	if got := x.latencyNotes(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
