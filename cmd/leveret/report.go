package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"leveret/analyze"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/reports"
	"leveret/reports/chart"
)

// readable refuses to pour a page of markup over a terminal.
func readable(o *options.Report, s streams) error {
	if o.Format == "html" && o.Output == "" && panel.OnTerminal(s.out) {
		return errors.New("--format=html: is not for a terminal; give --output FILE, or redirect")
	}
	return nil
}

// putReport writes the report where it was asked for: to standard output, or into a file that comes to its name when it is complete.
func putReport(r *result.Result, o *options.Report, s streams) error {
	if o.Format == "" { // PerfTest's standard output is its own
		return writeShort(s.err, r)
	}
	err := storeDocument(o.Output, s, func(w io.Writer) error { return writeReport(w, r, o) })
	if err == nil && o.Output != "" {
		fmt.Fprintf(s.err, "verdict %s, report %s\n", r.Verdict, o.Output)
	}
	return err
}

// putDocument is storeDocument, and names the file.
func putDocument(path string, s streams, write func(io.Writer) error) error {
	err := storeDocument(path, s, write)
	if err == nil && path != "" {
		fmt.Fprintln(s.err, "report", path)
	}
	return err
}

// storeDocument writes to standard output, or replaces the file as a whole.
func storeDocument(path string, s streams, write func(io.Writer) error) error {
	if path == "" {
		return write(s.out)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := replaceFile(path, b.Bytes()); err != nil {
		return fmt.Errorf("--output=%s: %w", path, fileProblem(path, err))
	}
	return nil
}

// fileProblem says what is wrong with a file that was to be written and what to do, without the name that it has meanwhile.
func fileProblem(path string, err error) error {
	why := err
	var one *fs.PathError
	var two *os.LinkError
	if errors.As(err, &one) {
		why = one.Err
	} else if errors.As(err, &two) {
		why = two.Err
	}
	dir := filepath.Dir(path)
	switch {
	case errors.Is(why, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: make it, or give another path", dir)
	case errors.Is(why, fs.ErrPermission):
		return fmt.Errorf("%w to write into the directory %s: give another path", why, dir)
	}
	return why
}

// replaceFile gives the path to a file that is complete; nobody ever reads half of it.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// writeReport writes one form of the report. Only the text on a terminal has its width and colours.
func writeReport(w io.Writer, r *result.Result, o *options.Report) error {
	document := reports.DocumentOptions{Messages: messagesShown(o.Findings)}
	switch o.Format {
	case "json":
		return reports.JSON(w, r)
	case "csv":
		return reports.CSV(w, r)
	case "markdown":
		return reports.Markdown(w, r, document)
	case "latex":
		return reports.LaTeX(w, r, document)
	case "html":
		charts, err := pageCharts(chart.Specs(r, chart.Options{Names: o.ChartNames}))
		if err != nil {
			return err
		}
		document.Charts, document.DarkColors = charts, darkColors()
		return reports.HTML(w, r, document)
	}
	return reports.Text(w, r, reports.TextOptions{
		Width: panel.Width(w), ASCII: !panel.SpeaksUTF8(), Color: panel.Colored(w, o.NoColor), Messages: document.Messages,
	})
}

// messagesShown is how many messages of a finding the report names: all where another number than usual was asked for.
func messagesShown(findings int) int {
	if findings == analyze.DefaultFindings {
		return 0
	}
	return findings
}
