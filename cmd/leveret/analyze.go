package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"leveret/analyze"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
	"leveret/reports/chart"
)

func analyzeCommand() command {
	return command{name: "analyze", arguments: "CAPTURE... [options]", summary: "rates, exact percentiles and the verdict of a capture",
		run: runAnalyze, help: analyzeHelp}
}

func analyzeHelp(w io.Writer) {
	set, _ := options.NewAnalyze()
	commandHelp(w, analyzeCommand(), `
Reads one run's capture, or several captures of one run (producers and consumers recorded apart),
and says what it holds: verdict and findings, counts, rates, exact percentiles.`, `
  leveret analyze captures/run1
  leveret analyze captures/run1 --format json
  leveret analyze captures/run1 -o report.html
  leveret analyze captures/run1 --format markdown
  leveret analyze captures/run1 --charts charts --chart-format svg
  leveret analyze captures/run1 --charts figures --chart rates --chart-format pdf --chart-style print --chart-size 3.3x2.4
  leveret analyze captures/producers captures/consumers
  leveret analyze captures/run1 --warmup 10 --percentiles 50,99.9,99.999
  leveret analyze captures/run1 --assert 'lost == 0' --assert 'p99(delivery.service) < 20ms'

Rates are over the window: from the start barrier to the stop of publishing, or what --warmup,
--from and --to leave of it. N events between two recorded ends are N in that time. Where the
record does not tell the ends, the window goes from the first event to the last, and N events
then span N-1 gaps: such a rate is high by one part in N-1, and the report says so.`, set)
}

func runAnalyze(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewAnalyze()
	dirs, err := capturesOf(set, args)
	if err != nil {
		return 0, err
	}
	o.Report.SettleFormat(set.Changed("format"))
	if err := errors.Join(o.Report.Check(), readable(&o.Report, s), checkCharts(&o.Report.ChartOptions)); err != nil {
		return 0, mistake(set, "%w", err)
	}
	if len(dirs) == 1 && suite.IsSuite(dirs[0]) {
		return analyzeSuite(ctx, dirs[0], o, s)
	}
	code, err := analyzeAndReport(ctx, dirs, analyze.Options{MemoryBytes: o.Memory, Tmp: o.Tmp}, &o.Report, o.Quiet, s, nil)
	return exitCodeOf(ctx.Err() != nil, code), err
}

// analyzeAndReport reads captures, writes the report to stdout and the charts where asked, and judges the exit code. first,
// unless it is nil, gets the result before it is reported; nil where there is none.
func analyzeAndReport(ctx context.Context, dirs []string, limits analyze.Options, o *options.Report, quiet bool, s streams, first func(*result.Result)) (int, error) {
	bar := panel.NewBar(s.err, quiet, "analyzing")
	limits.IntervalNS, limits.Progress, limits.By = int64(o.Interval), bar.Show, append(slices.Clone(o.By), chart.Groupings(o.ChartNames)...)
	limits.FromNS, limits.ToNS = int64(o.Window.Start()), int64(o.Window.To)
	limits.Percentiles, limits.Assertions, limits.Findings = o.Percentiles, o.Asserts, o.Findings
	limits.Announce = func(text string) { fmt.Fprintln(s.err, text) }
	r, err := analyze.Run(ctx, dirs, limits)
	bar.End()
	if first != nil {
		first(r)
	}
	if ctx.Err() != nil {
		return exitInterrupted, errors.New("interrupted before the report was made; the capture is as it was")
	}
	if err != nil {
		return exitFailed, explained("analyze", dirs, err)
	}
	quoteCalibration(r)
	if err := putReport(r, o, s); err != nil {
		return exitFailed, fmt.Errorf("report: %w", err)
	}
	if o.Charts != "" {
		if err := writeCharts(r, &o.ChartOptions, s); err != nil {
			return exitFailed, err
		}
	}
	reasons := s.err
	if o.Format == "" {
		reasons = io.Discard // the short form has named them
	}
	return judge(r, o.Strict, reasons), nil
}

// judge turns the verdict into the exit code, and says on stderr why an INCONCLUSIVE run is that.
func judge(r *result.Result, strict bool, stderr io.Writer) int {
	code, warned := exitOK, false
	for _, f := range r.Findings {
		if r.Verdict == result.Inconclusive && f.Severity == result.SeverityInconclusive {
			fmt.Fprintf(stderr, "INCONCLUSIVE: %s\n", f.Text)
		}
		warned = warned || f.Severity == result.SeverityWarning
	}
	switch {
	case r.Verdict == result.Fail, strict && (r.Verdict != result.Pass || warned):
		code = exitVerdict
	}
	return code
}
