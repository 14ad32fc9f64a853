package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"leveret/analyze"
	"leveret/analyze/compare"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
	"leveret/reports"
	"leveret/reports/chart"
)

func compareCommand() command {
	return command{name: "compare", arguments: "BASE CANDIDATE... [options]", summary: "differences between runs, or groups of repeated runs, and which of them are noise",
		run: runCompare, help: compareHelp}
}

func compareHelp(w io.Writer) {
	set, _ := options.NewCompare()
	commandHelp(w, compareCommand(), `
Compares each CANDIDATE with BASE. Each is [LABEL=]CAPTURE[,CAPTURE...]: a run, or repeats of one
run. A directory that leveret run --repeat made stands for its runs; if it holds several variants,
it is base and candidates by itself. Captures of one run that were recorded apart are joined by +.

With repeats the run is the unit of sampling, however many messages it had: rank test, interval of
Hodges and Lehmann, correction of Holm for the number of metrics. With one run each the intervals
tell only what each run knows of itself, and nothing of how runs differ.`, `
  leveret compare captures/before captures/after
  leveret compare base=captures/a1,captures/a2 candidate=captures/b1,captures/b2
  leveret run --time 10 --repeat 6 --capture captures/windows --variant 'w10: --confirm 10' --variant 'w1000: --confirm 1000'
  leveret compare captures/windows
  leveret compare captures/windows/w10 captures/windows/w1000 --fail-if 'p99(confirm.service) > +10%'

Conditions: FIGURE > +AMOUNT (it rose by more) or FIGURE < -AMOUNT (it fell by more), the amount in
%, in the unit of a latency, or in messages. Figures are those of leveret analyze --assert. A
condition is fulfilled (exit code 3) where the estimate of the change is beyond the bound and the
change is told from noise: its adjusted p-value is at most 0.05. With --fail-by estimate noise is
not looked at. A figure that cannot be compared fulfils every condition; one that so few runs could
never fulfil is refused.`, set)
}

func runCompare(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewCompare()
	words, err := set.Parse(args)
	if err != nil {
		return 0, err
	}
	if len(words) == 0 {
		return 0, mistake(set, "which runs? leveret compare BASE CANDIDATE..., captures or lists of captures")
	}
	o.Report.SettleFormat(set.Changed("format"))
	if err := errors.Join(o.Report.Check(), checkRunCharts(&o.Report.ChartOptions), readable(&o.Report, s)); err != nil {
		return 0, mistake(set, "%w", err)
	}
	if l := newLoader(o, s); len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return !suite.IsSuite(w) }) {
		return compareSuites(ctx, words, l, o, s)
	}
	sources, err := groupsOf(words)
	if err != nil {
		return 0, mistake(set, "%w", err)
	}
	if len(sources) < 2 {
		return 0, mistake(set, "%s is a single group of %s: give one to compare it with", sources[0].label, result.Plural(int64(len(sources[0].runs)), "run"))
	}
	l := newLoader(o, s)
	groups, err := l.load(ctx, sources)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted, errors.New("interrupted before the comparison was made; the captures are as they were")
	case err != nil:
		return exitFailed, err
	}
	c, err := compare.Run(groups, l.compare)
	if errors.Is(err, compare.ErrTooFew) {
		return 0, mistake(set, "--fail-if: %w; --fail-by estimate looks at the estimate alone", err)
	}
	if err != nil {
		return exitFailed, err
	}
	if err := putDocument(o.Report.Output, s, func(w io.Writer) error { return writeComparison(w, c, groups, &o.Report) }); err != nil {
		return exitFailed, fmt.Errorf("report: %w", err)
	}
	if o.Report.Charts != "" {
		if err := writeRunCharts(labelled(groups), &o.Report.ChartOptions, s); err != nil {
			return exitFailed, err
		}
	}
	return judgeComparison(c, o.Report.Strict, s.err), nil
}

func newLoader(o *options.Compare, s streams) *loader {
	return &loader{options: o, compare: compare.Options{Metrics: o.Metrics, FailIf: o.FailIf, ByEstimate: o.FailBy == options.FailByEstimate}, streams: s}
}

// labelled are the runs of all groups, for charts.
func labelled(groups []compare.Group) (runs []chart.Labelled) {
	for _, g := range groups {
		for _, r := range g.Runs {
			runs = append(runs, chart.Labelled{Label: g.Label, Result: r})
		}
	}
	return runs
}

// loader analyzes the captures, each run once.
type loader struct {
	streams
	options *options.Compare
	compare compare.Options
}

func (l *loader) load(ctx context.Context, sources []source) ([]compare.Group, error) {
	if err := checkApart(sources); err != nil {
		return nil, err
	}
	for _, s := range sources {
		if s.note != "" {
			fmt.Fprintln(l.err, s.note)
		}
	}
	total, done := 0, 0
	single := true
	for _, s := range sources {
		total, single = total+len(s.runs), single && len(s.runs) == 1
	}
	known := map[string]*result.Result{}
	var groups []compare.Group
	for _, s := range sources {
		g := compare.Group{Label: s.label}
		for _, captures := range s.runs {
			done++
			key := fmt.Sprintf("%q", captures)
			if known[key] == nil {
				r, err := l.analyze(ctx, captures, fmt.Sprintf("analyzing run %d of %d", done, total), single)
				if err != nil {
					return nil, err
				}
				known[key] = r
			}
			g.Runs = append(g.Runs, known[key])
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// analyze makes the result of one run; finer where it is to be resampled.
func (l *loader) analyze(ctx context.Context, captures []string, what string, finer bool) (*result.Result, error) {
	o := l.options
	bar := panel.NewBar(l.err, o.Quiet, what)
	defer bar.End()
	r, err := analyze.Run(ctx, captures, analyze.Options{
		Finer: finer, MemoryBytes: o.Memory, Tmp: o.Tmp, FromNS: int64(o.Report.Window.Start()), ToNS: int64(o.Report.Window.To),
		Percentiles: l.compare.Percents(), Progress: bar.Show, Announce: func(text string) { fmt.Fprintln(l.err, text) },
	})
	if err != nil {
		return nil, explained("compare", captures, err)
	}
	if r.OnlyChurn() { // the figures of a comparison are those of messages
		return nil, &options.UsageError{Command: "compare", Err: fmt.Errorf("%s holds churn and no messages: churn captures cannot be compared; leveret analyze %s reports one", captures[0], captures[0])}
	}
	return r, nil
}

func writeComparison(w io.Writer, c *result.Comparison, groups []compare.Group, o *options.Report) error {
	switch o.Format {
	case "json":
		return reports.ComparisonJSON(w, c)
	case "csv":
		return reports.ComparisonCSV(w, c)
	case "markdown":
		return reports.ComparisonMarkdown(w, c)
	case "latex":
		return reports.ComparisonLaTeX(w, c)
	case "html":
		charts, err := pageCharts(chart.SpecsOfRuns(labelled(groups), chart.Options{Names: o.ChartNames}))
		if err != nil {
			return err
		}
		return reports.ComparisonHTML(w, c, reports.DocumentOptions{Charts: charts, DarkColors: darkColors()})
	}
	return reports.ComparisonText(w, c, reports.TextOptions{Width: panel.Width(w), ASCII: !panel.SpeaksUTF8(), Color: panel.Colored(w, o.NoColor)})
}

// judgeComparison is 3 where a condition is fulfilled or a candidate FAILs, and says why on stderr. Strictly, an INCONCLUSIVE or
// incomplete run is enough.
func judgeComparison(c *result.Comparison, strict bool, stderr io.Writer) int {
	code := exitOK
	for _, f := range c.FailIf {
		if f.Fails {
			fmt.Fprintf(stderr, "FAIL: %s: %s: %s\n", f.Candidate, f.Text, f.Why)
			code = exitVerdict
		}
	}
	for i, g := range c.Groups {
		has := func(is func(result.ComparedRun) bool) bool { return slices.ContainsFunc(g.Runs, is) }
		if i > 0 && has(func(r result.ComparedRun) bool { return r.Verdict == result.Fail }) {
			fmt.Fprintf(stderr, "FAIL: %s has runs that failed; leveret analyze says why\n", g.Label)
			code = exitVerdict
		}
		if strict && has(func(r result.ComparedRun) bool { return r.Verdict != result.Pass || !r.Complete }) {
			code = exitVerdict
		}
	}
	return code
}
