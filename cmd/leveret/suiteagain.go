package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"leveret/analyze"
	"leveret/analyze/assert"
	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
)

// analyzeSuite makes the tables of a suite's directory again, from its captures.
func analyzeSuite(ctx context.Context, dir string, o *options.Analyze, s streams) (int, error) {
	c := &suiteRun{streams: s, options: &options.Suite{Format: o.Report.Format, ChartFormat: o.Report.ChartFormat}, dir: dir}
	var err error
	if c.record, c.suite, err = suite.Load(dir); err != nil {
		return exitFailed, err
	}
	if c.rows, err = c.suite.Plan(c.record.Changes); err != nil {
		return exitFailed, err
	}
	c.record.Attach(c.rows)
	again := &suiteAgain{options: o, dir: dir, streams: s, made: map[*suite.Run][]*result.Result{}}
	for i, run := range c.record.Runs {
		if run.State != suite.Done {
			continue
		}
		if !o.Quiet {
			fmt.Fprintf(s.err, "%d of %d  %s\n", i+1, len(c.record.Runs), run.ID)
		}
		if err := again.analyze(ctx, run); err != nil {
			return exitCodeOf(ctx.Err() != nil, exitFailed), fmt.Errorf("%s: %w", run.ID, err)
		}
	}
	from := func(run *suite.Run) ([]*result.Result, error) { return again.made[run], nil }
	if o.Report.Format == "json" {
		return again.code(), putDocument(o.Report.Output, s, func(w io.Writer) error { return writeSuiteJSON(c.record, from, w) })
	}
	tables, err := c.record.Tables(c.rows, from)
	if err != nil {
		return exitFailed, err
	}
	charts, err := c.charts(tables, from)
	if err == nil && o.Report.Charts != "" {
		err = c.drawCharts(charts, o.Report.Charts)
	}
	if err != nil {
		return exitFailed, err
	}
	return again.code(), putDocument(o.Report.Output, s, func(w io.Writer) error {
		return c.print(w, o.Report.Format, tables, charts)
	})
}

// suiteAgain analyzes the runs of a suite once more.
type suiteAgain struct {
	streams
	options *options.Analyze
	dir     string
	made    map[*suite.Run][]*result.Result
}

// analyze reads a run's captures: all together, and, where there are several, each by itself.
func (a *suiteAgain) analyze(ctx context.Context, run *suite.Run) (err error) {
	o := &a.options.Report
	captures := run.Captures(a.dir)
	sets := [][]string{captures}
	if len(captures) > 1 {
		for _, dir := range captures {
			sets = append(sets, []string{dir})
		}
	}
	for i, dirs := range sets {
		bar := panel.NewBar(a.err, a.options.Quiet, "analyzing")
		limits := analyze.Options{
			MemoryBytes: a.options.Memory, Tmp: a.options.Tmp, IntervalNS: int64(o.Interval), Progress: bar.Show, By: o.By,
			FromNS: int64(o.Window.Start()), ToNS: int64(o.Window.To), Percentiles: o.Percentiles, Findings: o.Findings,
		}
		if i == 0 {
			if limits.Assertions, err = a.asserted(run); err != nil {
				return err
			}
		}
		if o.Window == (options.ReportWindow{}) {
			limits.FromNS, limits.Percentiles = a.asItWas(run, i, limits.Percentiles)
		}
		r, err := analyze.Run(ctx, dirs, limits)
		bar.End()
		if err != nil {
			return err
		}
		quoteCalibration(r)
		a.made[run] = append(a.made[run], r)
	}
	return nil
}

// asserted are the assertions asked for, else those of the run itself.
func (a *suiteAgain) asserted(run *suite.Run) ([]*assert.Assertion, error) {
	if len(a.options.Report.Asserts) > 0 {
		return a.options.Report.Asserts, nil
	}
	var all []*assert.Assertion
	for _, text := range run.Asserts {
		x, err := assert.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: assertion %q: %w", suite.RecordName, text, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// asItWas is where the run's own window began, and the percentiles that it was asked for: the options of its command line.
func (a *suiteAgain) asItWas(run *suite.Run, part int, asked []quantile.Percent) (fromNS int64, percentiles []quantile.Percent) {
	set, o := options.NewRun(redactURI)
	p := run.Parts[max(part-1, 0)]
	if _, err := set.Parse(p.Args); err != nil {
		return 0, asked // recorded by another version
	}
	if len(run.Parts) == 1 || part > 0 {
		fromNS = int64(o.Report.Window.Start())
	}
	if len(asked) == 0 {
		asked = o.Report.Percentiles
	}
	return fromNS, asked
}

// code is that of a report: 3 where a verdict is FAIL, with --strict where it is not PASS.
func (a *suiteAgain) code() int {
	for _, results := range a.made {
		if v := results[0].Verdict; v == result.Fail || a.options.Report.Strict && v != result.Pass {
			return exitVerdict
		}
	}
	return exitOK
}

// writeSuiteJSON writes the results of all runs, with what they were.
func writeSuiteJSON(r *suite.Record, from suite.Source, w io.Writer) error {
	type entry struct {
		*suite.Run
		Results []*result.Result `json:"results"`
	}
	all := struct {
		Suite string  `json:"suite"`
		Runs  []entry `json:"runs"`
	}{Suite: r.Name}
	for _, run := range r.Runs {
		results, err := from(run)
		if err != nil {
			return err
		}
		all.Runs = append(all.Runs, entry{run, results})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}
