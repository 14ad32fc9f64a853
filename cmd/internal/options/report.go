package options

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leveret/analyze/assert"
	"leveret/analyze/quantile"
)

// Report holds the options that say how results are shown; run and analyze share them.
type Report struct {
	ChartOptions
	Format      string
	Output      string        // file; "": standard output
	Interval    time.Duration // 0: chosen by the length of the run
	By          []string      // queue, producer, consumer, size, priority
	Window      ReportWindow
	Asserts     []*assert.Assertion
	Percentiles []quantile.Percent
	Findings    int // messages that each finding names
	Strict      bool
	NoColor     bool
}

// ReportWindow is the part of the run that rates and latencies are of, in seconds after the barrier; the zero value is all of it.
type ReportWindow struct {
	Warmup   time.Duration // the same as From
	From, To time.Duration // To 0: until publishing stopped
}

// Start is where the window begins.
func (w *ReportWindow) Start() time.Duration { return max(w.Warmup, w.From) }

// Check refuses a window that no run has. length is how long the run is to last; 0 if unknown.
func (w *ReportWindow) Check(length time.Duration) error {
	switch start := w.Start(); {
	case w.Warmup > 0 && w.From > 0:
		return fmt.Errorf("--warmup=%v and --from=%v say the same, where the window begins: give one of them", w.Warmup.Seconds(), w.From.Seconds())
	case w.To > 0 && w.To <= start:
		return fmt.Errorf("--to=%v: the window would end before it begins, at %v s after the barrier: give a later end", w.To.Seconds(), start.Seconds())
	case length > 0 && start >= length:
		return fmt.Errorf("the window begins %v s after the barrier, and the run lasts %v s (--time): give a longer one, or an earlier beginning", start.Seconds(), length.Seconds())
	case length > 0 && w.To > length:
		return fmt.Errorf("--to=%v: the run lasts %v s (--time): give a longer one, or an earlier end", w.To.Seconds(), length.Seconds())
	}
	return nil
}

// Check finds out before a long run or analysis what would make its report fail.
func (r *Report) Check() error {
	if info, err := os.Stat(r.Output); r.Output != "" && err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--output=%s: is no file; without the option the report goes to standard output", r.Output)
	}
	return errors.Join(r.ChartOptions.Check(r.Format, "html"), r.Window.Check(0))
}

// ReportFormats are the forms of a report.
var ReportFormats = []string{"text", "json", "markdown", "csv", "html", "latex"}

// endings of file names tell the form of a report, where no form was asked for.
var endings = map[string]string{".txt": "text", ".json": "json", ".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".html": "html", ".htm": "html", ".tex": "latex"}

// SettleFormat takes the format from the name of the output file, unless one was given.
func (r *Report) SettleFormat(given bool) {
	if f, ok := endings[strings.ToLower(filepath.Ext(r.Output))]; ok && !given {
		r.Format = f
	}
}

func (r *Report) options() []*Option {
	return append(append([]*Option{
		{Name: "format", Arg: "FORMAT", Group: groupReport, value: choice(&r.Format, "text", ReportFormats...), Help: "form of the report: text, json, markdown, csv, html (one page with charts) or latex (tables); without it by the ending of --output, else text"},
		{Name: "output", Arg: "FILE", Group: groupReport, value: text(&r.Output, ""), Help: "write the report into this file, whole or not at all; one that is there is replaced; without it standard output"},
	}, r.ChartOptions.options()...), []*Option{
		{Name: "interval", PerfTest: []string{"i"}, Arg: "SECONDS", Group: groupReport, value: seconds(&r.Interval, 0, 0), Help: "length of the intervals in report and charts; 0: chosen by the length of the run"},
		{Name: "by", Arg: "WHAT,...", Group: groupReport, value: choices(&r.By, "", "queue", "producer", "consumer", "size", "priority"), Help: "also messages and latencies by queue, producer, consumer, body size or priority, of the first 64 of each"},
		{Name: "warmup", Arg: "SECONDS", Group: groupReport, value: ifGiven(seconds(&r.Window.Warmup, 0, 0)), Help: "leave so much of the run's beginning out of rates and latencies; counts and verdict are always of the whole run"},
		{Name: "from", Arg: "SECONDS", Group: groupReport, value: ifGiven(seconds(&r.Window.From, 0, 0)), Help: "rates of the events, latencies of the messages due (else sent) from so long after the start barrier on"},
		{Name: "to", Arg: "SECONDS", Group: groupReport, value: ifGiven(seconds(&r.Window.To, 0, time.Millisecond)), Help: "and only until so long after it"},
		{Name: "percentiles", Arg: "PERCENT,...", Group: groupReport, value: percents(&r.Percentiles), Help: "further percentiles, such as 50,99.9,99.999: exact, with the messages above each and how far it is known"},
		{Name: "assert", Arg: "EXPR", Group: groupReport, value: assertions(&r.Asserts), Help: "fail unless this holds, such as 'p99(delivery.response) < 20ms', 'lost == 0' or 'rate(received) >= 50000'; may be repeated"},
		{Name: "findings", Arg: "N", Group: groupReport, value: integer(&r.Findings, 5, 1, 100_000), Help: "most messages that each finding names"},
		{Name: "no-color", Group: groupReport, value: toggle(&r.NoColor, false), Help: "no colors on a terminal; likewise where the variable NO_COLOR is set"},
		{Name: "strict", Group: groupReport, value: toggle(&r.Strict, false), Help: "exit with 3 also when the verdict is INCONCLUSIVE or there is a warning"},
	}...)
}

// mostPercents can be asked for.
const mostPercents = 20

// percents is a list of percentiles.
func percents(p *[]quantile.Percent) value {
	return value{func() string {
		var items []string
		for _, x := range *p {
			items = append(items, x.String())
		}
		return strings.Join(items, ",")
	}, func(s string) error {
		*p = nil
		for item := range strings.SplitSeq(s, ",") {
			x, err := quantile.ParsePercent(strings.TrimSpace(item))
			if err != nil {
				return fmt.Errorf("%q %w", item, err)
			}
			*p = append(*p, x)
		}
		if len(*p) > mostPercents {
			return fmt.Errorf("%d percentiles, at most %d can be asked for", len(*p), mostPercents)
		}
		return nil
	}, "percents"}
}

// mostAssertions can be made about a run.
const mostAssertions = 50

// assertions appends one assertion.
func assertions(p *[]*assert.Assertion) value {
	return value{func() string {
		var texts []string
		for _, a := range *p {
			texts = append(texts, a.Text)
		}
		return strings.Join(texts, "; ")
	}, func(s string) error {
		a, err := assert.Parse(s)
		if err != nil {
			return err
		}
		if *p = append(*p, a); len(*p) > mostAssertions {
			return fmt.Errorf("at most %d assertions can be made", mostAssertions)
		}
		return nil
	}, "assertion"}
}
