package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/perflines"
	"leveret/cmd/internal/prometheus"
	"leveret/loadcore"
)

// outputs are what a run is looked at by while it goes on, besides the panel: PerfTest's lines and CSV file, and the
// endpoint for Prometheus. The record needs none of them.
type outputs struct {
	lines   *perflines.Lines     // nil: none
	metrics *prometheus.Endpoint // nil: none
	printed *printed             // standard output, where it is PerfTest's; else nil
	panel   bool                 // the panel, or lines of progress, on standard error
}

// openOutputs opens what the options ask for, before anything is connected: a file or a port that cannot be had ends the
// run before it begins.
func (r *recording) openOutputs() error {
	o, to := r.options, r.streams
	switch {
	case o.Quiet:
		to.out = io.Discard
	case !r.perfTest && r.given("metrics-format"): // PerfTest's lines in place of our own
		to.out = r.err
	case !r.perfTest:
		r.outputs.panel, to.out = true, io.Discard
	}
	var err error
	if r.perfTest || to.out != io.Discard || o.OutputFile != "" {
		if r.outputs.lines, err = perflines.New(o, to.out, to.err, !panel.SpeaksUTF8()); err != nil {
			return err
		}
	}
	if !o.Prometheus.On {
		return nil
	}
	if r.outputs.metrics, err = prometheus.Listen(metricsOptions(o, r.values, r.given)); err != nil {
		return err
	}
	fmt.Fprintln(r.err, "metrics at", r.outputs.metrics.URL())
	return nil
}

func metricsOptions(o *options.Run, values map[string]string, given func(string) bool) prometheus.Options {
	p := prometheus.Options{
		Port: o.Prometheus.Port, Path: o.Prometheus.Endpoint, Prefix: o.Prometheus.Prefix, Tags: o.Prometheus.Tags,
		ID: o.ID, Interval: o.Interval,
	}
	for _, g := range o.Prometheus.Exposed {
		p.Exposed = append(p.Exposed, prometheus.Gauge(g))
	}
	if o.Prometheus.CommandLine {
		p.CommandLine = commandLabel(values, given)
	}
	return p
}

// commandLabel is the command line as a label: the options that were given, without what says where the broker is and who
// logs in, and without those of the metrics. Secrets were removed from the values before.
func commandLabel(values map[string]string, given func(string) bool) string {
	var words []string
	for name, value := range values {
		hidden := slices.ContainsFunc([]string{"uri", "oauth2-", "metrics-", "exposed-metrics"}, func(p string) bool { return strings.HasPrefix(name, p) })
		if given(name) && !hidden {
			words = append(words, "--"+name+" "+value)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// watch shows how the run goes until stop is called, and gives the recorder to run with: one that what passes can be seen
// through, unless nobody wants to look.
func (r *recording) watch(writer *capture.Writer, peer manifest.Broker) (recorder loadcore.Recorder, stop func(*manifest.Outcome)) {
	recorder = writer
	if v := r.options.Verbose; v != "" {
		recorder = perflines.NewVerbose(r.plan, recorder, v == options.VerboseFull, r.options.UseMillis, r.verboseTo())
	}
	out := &r.outputs
	if !out.panel && out.lines == nil && out.metrics == nil {
		return recorder, func(*manifest.Outcome) {}
	}
	live := loadcore.NewLive(r.plan, recorder)
	stopPanel := func(*manifest.Outcome) {}
	if out.panel {
		stopPanel = r.showPanel(live, writer, peer)
	}
	if out.metrics != nil {
		out.metrics.Watch(r.plan, live)
	}
	if out.lines != nil {
		out.lines.Announce()
		out.lines.Start(r.plan, live)
	}
	return live, func(outcome *manifest.Outcome) {
		stopPanel(outcome)
		if out.lines != nil {
			out.lines.Stop(outcome)
		}
	}
}

// verboseTo is where the lines of events go: where the other lines of the command go.
func (r *recording) verboseTo() io.Writer {
	if r.perfTest {
		return r.out
	}
	return r.err
}

func (r *recording) showPanel(live *loadcore.Live, writer *capture.Writer, peer manifest.Broker) (stop func(*manifest.Outcome)) {
	title := fmt.Sprintf("%s  %s %s at %s", r.options.ID, peer.Product, peer.Version, peer.URI)
	if peer.Embedded {
		title = r.options.ID + "  embedded broker: measures leveret, not RabbitMQ"
	}
	return panel.Show(panel.Run{
		Plan: r.plan, Title: title, Interval: r.options.Interval, Live: live.Interval, Recorder: writer.State,
		LinesOnly: r.options.Verbose != "",
	}, r.err, r.options.Report.NoColor)
}

// summarize prints the last lines; r is nil where the run was not analyzed.
func (out *outputs) summarize(outcome *manifest.Outcome, r *result.Result) {
	if out.lines != nil {
		out.lines.Summary(outcome, r)
	}
}

// close ends what openOutputs began, and tells what could not be written.
func (out *outputs) close() error {
	if out.metrics != nil {
		out.metrics.Close()
	}
	if out.lines != nil {
		return errors.Join(out.lines.Close(), out.printed.err())
	}
	return out.printed.err()
}
