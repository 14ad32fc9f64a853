package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
)

// perfTestClass is what runjava, PerfTest's launcher, is given as its first word.
const perfTestClass = "com.rabbitmq.perf.PerfTest"

func perfTestCommand() command {
	return command{name: "perf-test", arguments: "[options]", summary: "the same behind PerfTest's options, output lines and CSV",
		run: perfTestLoad, help: perfTestHelp}
}

// commandLine gives the arguments the name of the command in front that the binary was called by: perf-test, or runjava.
func commandLine(called string, args []string) []string {
	name := strings.TrimSuffix(filepath.Base(called), ".exe")
	if name == "perf-test" || name == "runjava" {
		return append([]string{name}, args...)
	}
	return args
}

// runjava is PerfTest's launcher, which leveret can be called in the place of.
func runjava(args []string) ([]string, error) {
	switch {
	case len(args) > 0 && args[0] == perfTestClass:
		return args[1:], nil
	case len(args) > 0:
		return nil, fmt.Errorf("leveret runjava %s: only %s is offered", args[0], perfTestClass)
	}
	return nil, fmt.Errorf("leveret runjava: which class? %s is the one that is offered", perfTestClass)
}

func perfTestHelp(w io.Writer) {
	set, _ := options.NewPerfTest(nil)
	commandHelp(w, perfTestCommand(), perfTestAbout, `
  leveret perf-test -h amqp://user:pass@host -x 1 -y 2 -u q1 -a -z 30
  leveret perf-test -x 3 -r 2000 -c 100 -qp 'q-%d' -qpf 1 -qpt 10 -f persistent
  leveret runjava com.rabbitmq.perf.PerfTest -x 1 -y 1 -C 1000`, set.Set)
}

const perfTestAbout = `
Takes the command lines of RabbitMQ PerfTest as they are, prints what it would
print, and records every message into a capture directory besides, which
leveret analyze reads. Also the binary called under the name perf-test does so.

Short spellings have one dash, long names one or two, and may be cut short
where one name remains: -x 1, -x1, -x=1, --producers 1, -producers=1, --prod....
Rates, windows and numbers of messages are per producer channel (--rate,
--confirm, --pmessages) or per consumer channel (--consumer-rate, --cmessages).

What differs: the command line wins over environment variables, and a variable
that an option came from is named; leftover words and unknown options end it
with exit code 2; a FAIL of the verdict with 3; what is still queued after
publishing is received, within --shutdown-timeout; max and percentiles are of
all messages, exact in the summary, to 0.1 % in the lines; a latency that is
not known is n/a, not 0; an interval without messages has a line of zeros.
Messages are due when the rate says so, and late ones are sent behind one
another: see response latency in the report. Averages of the summary count
from when the last producer has begun, those of the report from the start.
The verdict is on standard error: without a rate or confirms the queue often
holds more than --shutdown-timeout leaves time for, and it is INCONCLUSIVE.`

// perfTestLoad is the whole way of a PerfTest command line.
func perfTestLoad(ctx context.Context, args []string, s streams) (int, error) {
	r, err := newPerfTest(args, s)
	if err != nil || r == nil {
		return exitOK, err
	}
	return r.recordAndReport(ctx)
}

// newPerfTest is a run of PerfTest's dialect that is ready to connect; nil where something else was asked for, which has been
// answered.
func newPerfTest(args []string, s streams) (*recording, error) {
	set, o := options.NewPerfTest(redactURI)
	in, err := set.Parse(args, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	if len(in.Asked) > 0 {
		answer(set, in.Asked, s)
		return nil, nil
	}
	sayVariables(s.err, in.Environment)
	for _, note := range in.Notes {
		fmt.Fprintln(s.err, "note:", note)
	}
	namePerfTest(o, time.Now())
	lines := &printed{to: s.out}
	s.out = lines
	r := &recording{options: o, streams: s, values: set.Values(), given: set.Changed, command: in.Shown,
		variables: in.Environment, notes: in.Notes, trusting: in.Trusting, perfTest: true,
		outputs: outputs{printed: lines}}
	if err := r.prepare(); err != nil {
		return nil, &options.UsageError{Command: "perf-test", Err: err}
	}
	return r, nil
}

// namePerfTest names the run as PerfTest does. The same command line is given again and again there, so that the capture is
// named after the time, too.
func namePerfTest(o *options.Run, now time.Time) {
	if o.ID == "" {
		o.ID = "test-" + strings.Replace(now.Format("150405.000"), ".", "-", 1)
	}
	if o.Capture == "" {
		safe := strings.Map(func(r rune) rune {
			if strings.ContainsRune(`/\:*?"<>|`, r) {
				return '-'
			}
			return r
		}, o.ID)
		o.Capture = filepath.Join(manifest.DefaultsRoot, strings.TrimLeft(safe, ".")+now.Format("-20060102-150405.000"))
	}
}

// answer shows what was asked for instead of a run.
func answer(set *options.PerfTest, asked []string, s streams) {
	environment := slices.Contains(asked, options.AskEnvironment)
	switch {
	case asked[0] == options.AskMetrics && !environment:
		fmt.Fprintln(s.out, "Options of metrics")
		set.MetricsHelp(s.out)
	case environment:
		fmt.Fprintln(s.out, "Environment variables; the command line wins over them")
		set.EnvironmentHelp(s.out, asked[0] == options.AskMetrics, os.LookupEnv)
	case asked[0] == options.AskHelp:
		perfTestHelp(s.out)
	default:
		fmt.Fprintf(s.out, "leveret %s, in place of RabbitMQ PerfTest\n%s, %s/%s\n", toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
}

// writeShort is the verdict with its findings. PerfTest's own output has stdout to itself.
func writeShort(w io.Writer, r *result.Result) error {
	c := r.Counts
	answered := "" // where nothing was to be answered, a 0 would look like a fault
	switch {
	case r.Rates.Confirmed != nil:
		answered = result.Group(c.Confirmed) + " confirmed, "
	case r.Rates.Committed != nil:
		answered = result.Group(c.Committed) + " committed, "
	}
	_, err := fmt.Fprintf(w, "verdict %s: %s sent, %s%s received, %s lost, %s missing, %s duplicates, %s corrupt, %s out of order\n",
		r.Verdict, result.Group(c.Sent), answered, result.Group(c.Received), result.Group(c.Lost), result.Group(c.Missing),
		result.Group(c.Duplicates), result.Group(c.Corrupt), result.Group(c.OutOfOrder))
	for _, f := range r.Findings {
		_, more := fmt.Fprintf(w, "  %s: %s\n", f.Severity, f.Text)
		err = errors.Join(err, more)
	}
	return err
}
