package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"leveret/analyze/result"
	"leveret/cmd/internal/calibrate"
	"leveret/cmd/internal/options"
)

func calibrateCommand() command {
	return command{name: "calibrate", arguments: "[options]", summary: "what the tool itself can do on this machine, now",
		run: runCalibrate, help: calibrateHelp}
}

func calibrateHelp(w io.Writer) {
	set, _ := options.NewCalibrate()
	commandHelp(w, calibrateCommand(), `
Measures the tool on this machine: what reading the clock, encoding, checking and recording cost, the
most that it publishes and consumes through the embedded broker in a process of its own, how late it
sends at several rates, and how far a measured latency is from a known one. Takes some 20 seconds; other
work on the machine shows in the figures. Later reports of runs on this host quote the latest calibration.`, `
  leveret calibrate
  leveret calibrate --quick --format json --output calibration.json`, set)
}

func runCalibrate(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewCalibrate()
	if err := parseOnlyOptions(set, args); err != nil {
		return 0, err
	}
	program, err := os.Executable()
	if err != nil {
		return exitFailed, fmt.Errorf("where this program is: %w", err)
	}
	c, err := calibrate.Run(ctx, calibrate.Options{
		Program: program, Tool: toolFacts(), Host: hostFacts(), Quick: o.Quick, Dir: o.Tmp, Progress: calibrationProgress(o.Quiet, s.err),
	})
	if ctx.Err() != nil {
		fmt.Fprintln(s.err, "interrupted: nothing is kept of this calibration")
		return exitInterrupted, nil
	}
	if err != nil {
		return exitFailed, err
	}
	if err := writeCalibration(c, o.Format, s.out); err != nil {
		return exitFailed, fmt.Errorf("report: %w", err)
	}
	return exitOK, keepCalibration(c, o.Output, s.err)
}

// calibrationProgress says on one line, or line by line, what is being measured.
func calibrationProgress(quiet bool, w io.Writer) func(step, of int, what string) {
	if quiet {
		return nil
	}
	return func(step, of int, what string) { fmt.Fprintf(w, "%d of %d: %s\n", step, of, what) }
}

func writeCalibration(c *calibrate.Calibration, format string, w io.Writer) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(c)
	}
	return calibrate.Text(w, c)
}

// keepCalibration stores it. Where the system has no place for it, and none was named, that is said and no failure: the
// report is out.
func keepCalibration(c *calibrate.Calibration, path string, stderr io.Writer) error {
	if path == "" {
		var err error
		if path, err = calibrate.DefaultPath(); err != nil {
			fmt.Fprintf(stderr, "not kept, so that no report will quote it (%v); --output FILE keeps it\n", err)
			return nil
		}
	}
	if err := calibrate.Store(path, c); err != nil {
		return fmt.Errorf("keep the calibration: %w", err)
	}
	fmt.Fprintln(stderr, "kept in", path)
	return nil
}

// quoteCalibration adds the latest calibration to the result of a run that was recorded on the same host. One that is not
// there or can't be read is left out: a run's report does not depend on it.
func quoteCalibration(r *result.Result) {
	path, err := calibrate.DefaultPath()
	if err != nil {
		return
	}
	if c, err := calibrate.Load(path); err == nil {
		r.Calibration = c.For(r.Host)
	}
}
