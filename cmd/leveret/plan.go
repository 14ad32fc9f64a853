package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"leveret/cmd/internal/options"
	"leveret/cmd/internal/plan"
)

func planCommand() command {
	return command{name: "plan", arguments: "[--format text|json] [run|perf-test] [options]",
		summary: "what a command line would open, declare, send and receive", run: planRun, help: planHelp}
}

func planHelp(w io.Writer) {
	io.WriteString(w, `Usage: leveret plan [--format text|json] [run|perf-test] [options]

Reads a command line of leveret run, or of leveret perf-test, checks it as that command does, and says
what it would open, declare, bind, send and receive, without connecting. Without run or perf-test the
options are those of leveret run.

Examples
  leveret plan --producers 1 --consumers 4 --pmessages 100
  leveret plan perf-test -x 15 -y 30 -qp 'q-%d' -qpf 1 -qpt 10 -r 100 -z 60
  leveret plan --format json run --queue q --rate 1000 --time 10
`)
}

func planRun(_ context.Context, args []string, s streams) (int, error) {
	format, args, err := planFormat(args)
	if err != nil {
		return 0, &options.UsageError{Command: "plan", Err: err}
	}
	r, err := plannedRun(args, s)
	if err != nil || r == nil {
		return exitOK, err
	}
	if format == "" {
		format = r.options.Report.Format
	}
	p := plan.Of(plan.Run{Options: r.options, Layout: r.layout, Plan: r.plan, Endpoints: r.endpoints, Notes: r.notes})
	if format == "json" {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return exitOK, encoder.Encode(p)
	}
	return exitOK, p.Write(s.out)
}

// planFormat takes the command's own option, which stands before the command line that is to be planned.
func planFormat(args []string) (format string, rest []string, err error) {
	if len(args) == 0 {
		return "", args, nil
	}
	value, joined := strings.CutPrefix(args[0], "--format=")
	switch {
	case joined:
		args = args[1:]
	case args[0] == "--format" && len(args) > 1:
		value, args = args[1], args[2:]
	case args[0] == "--format":
		return "", nil, errors.New("--format needs a value: --format text, or json")
	default:
		return "", args, nil
	}
	if value != "text" && value != "json" {
		return "", nil, fmt.Errorf("--format=%s: must be text or json", value)
	}
	return value, args, nil
}

// plannedRun is the run that a command line asks for; nil where it asked for something else. What is said on the way, as notes
// that the run would begin with, stands in the plan.
func plannedRun(args []string, s streams) (*recording, error) {
	s.err = io.Discard
	switch {
	case len(args) > 0 && args[0] == "perf-test":
		return newPerfTest(args[1:], s)
	case len(args) > 0 && args[0] == "run":
		return newRun(args[1:], s)
	case len(args) > 0 && (args[0] == "--help" || args[0] == "-h"):
		return nil, options.ErrHelp
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		return nil, &options.UsageError{Command: "plan", Err: fmt.Errorf("unexpected word %q: name run or perf-test, and then its options", args[0])}
	}
	return newRun(args, s)
}
