package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"leveret/analyze"
	"leveret/analyze/export"
	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
)

func exportCommand() command {
	return command{name: "export", arguments: "CAPTURE... [options]", summary: "rows of a capture as CSV, JSON lines or Parquet",
		run: runExport, help: exportHelp}
}

func exportHelp(w io.Writer) {
	set, _ := options.NewExport()
	commandHelp(w, exportCommand(), `
Writes the rows of one run's capture, or of several captures of one run, for other programs: one
row a message and queue with all its times and what became of it, or one row an event as it was
recorded, such as, with --rows churn, one a step of leveret churn. Times are nanoseconds since
1970, units stand in the names of the columns, and what is missing is empty or null, never 0.`, `
  leveret export captures/run1 --where lost
  leveret export captures/run1 --output messages.parquet
  leveret export captures/run1 --rows deliveries --format jsonl --from 10 --to 20
  leveret export captures/churn --rows churn -o steps.csv`, set)
	fmt.Fprintln(w, "\nWhat stands in the column integrity of messages")
	for _, m := range integrity.Meanings {
		fmt.Fprintf(w, "  %-26s  %s\n", m.Outcome, m.Text)
	}
	fmt.Fprintf(w, "\nWhat --where can ask for\n%s\n", strings.Join(wrapped(strings.Join(analyze.WhereNames(), ", "), 76), "\n"))
}

// wrapped are lines of at most so many characters, indented by two.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, "  "+line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, "  "+line)
}

func runExport(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewExport()
	dirs, err := capturesOf(set, args)
	if err != nil {
		return 0, err
	}
	chosen := selection(o)
	format := formatOf(o)
	if err := chosen.Check(); err != nil {
		return 0, mistake(set, "%w", err)
	}
	onTerminal := o.Output == "" && panel.OnTerminal(s.out)
	if onTerminal && format == "parquet" {
		return 0, mistake(set, "--format=parquet: is not for a terminal; give --output FILE, or redirect")
	}
	to, err := openOutput(o, s.out)
	if err != nil {
		return exitFailed, err
	}
	defer to.discard()
	bar := panel.NewBar(s.err, o.Quiet || onTerminal, "exporting")
	limits := analyze.Options{MemoryBytes: o.Memory, Tmp: o.Tmp, Progress: bar.Show, Announce: func(text string) { fmt.Fprintln(s.err, text) }}
	done, err := exportTo(ctx, to, format, dirs, limits, chosen)
	bar.End()
	switch {
	case to.readerGone():
		return exitOK, nil // head, or a pager that was left
	case ctx.Err() != nil && o.Output != "":
		return exitInterrupted, fmt.Errorf("interrupted: --output=%s was not written", o.Output)
	case ctx.Err() != nil:
		return exitInterrupted, errors.New("interrupted: the rows are not complete")
	case err != nil:
		return exitFailed, explained("export", dirs, err)
	}
	return tellExported(done, o, s.err), nil
}

// exportTo makes the whole table.
func exportTo(ctx context.Context, to *output, format string, dirs []string, limits analyze.Options, chosen analyze.Select) (*analyze.Exported, error) {
	w, err := export.New(format, to, analyze.Columns(chosen.Rows))
	if err != nil {
		return nil, err
	}
	done, err := analyze.Export(ctx, dirs, limits, chosen, w)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return done, to.finish()
}

// tellExported says what there is to say beside the rows, and judges the exit code.
func tellExported(done *analyze.Exported, o *options.Export, stderr io.Writer) int {
	for _, note := range done.Notes {
		fmt.Fprintln(stderr, note)
	}
	for _, missing := range done.Incomplete {
		fmt.Fprintln(stderr, "INCOMPLETE:", missing)
	}
	if len(done.Incomplete) > 0 {
		fmt.Fprintln(stderr, "rows are missing from the capture; every whole batch was exported")
	}
	if o.Output != "" && !o.Quiet {
		fmt.Fprintf(stderr, "%s in %s\n", result.Plural(done.Rows, "row"), o.Output)
	}
	if o.Strict && len(done.Incomplete) > 0 {
		return exitVerdict
	}
	return exitOK
}

func selection(o *options.Export) analyze.Select {
	chosen := analyze.All(o.Rows)
	chosen.Where, chosen.Producer = o.Where, o.Producer
	if o.Sequence.Given {
		chosen.FirstSeq, chosen.LastSeq = o.Sequence.First, o.Sequence.Last
	}
	if o.From != options.NoTime {
		chosen.FromNS = int64(o.From)
	}
	if o.To != options.NoTime {
		chosen.ToNS = int64(o.To)
	}
	return chosen
}

// formatOf is the format asked for, else the one that the name of the file tells.
func formatOf(o *options.Export) string {
	ending := strings.TrimPrefix(filepath.Ext(o.Output), ".")
	switch {
	case o.Format != "":
		return o.Format
	case slices.Contains(export.Formats, ending):
		return ending
	}
	return "csv"
}

// output is standard output, or a file that comes to its name when it is complete.
type output struct {
	*bufio.Writer
	path  string   // "": standard output
	file  *os.File // nil: standard output
	force bool
	sink  sink
}

// sink remembers what became of writing.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if err != nil {
		s.err = err
	}
	return n, err
}

func openOutput(o *options.Export, stdout io.Writer) (*output, error) {
	out := &output{path: o.Output, force: o.Force, sink: sink{to: stdout}}
	if o.Output != "" {
		if err := out.replaceable(); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(out.temporary(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, fmt.Errorf("--output=%s: %w", o.Output, fileProblem(o.Output, err))
		}
		out.file, out.sink.to = f, f
	}
	out.Writer = bufio.NewWriterSize(&out.sink, 256<<10)
	return out, nil
}

// temporary is the name of the file while it is written, beside the one that it will have.
func (o *output) temporary() string { return fmt.Sprintf("%s.%d.tmp", o.path, os.Getpid()) }

// replaceable tells why the file cannot have its name.
func (o *output) replaceable() error {
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--output=%s: %w", o.path, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("--output=%s: is no file; without the option the rows go to standard output", o.path)
	case !o.force:
		return fmt.Errorf("--output=%s: is there already; --force replaces it", o.path)
	}
	return nil
}

// finish writes what is kept, and gives the file its name.
func (o *output) finish() error {
	if err := o.Flush(); err != nil || o.file == nil {
		return err
	}
	f := o.file
	o.file = nil
	err := f.Close()
	if err == nil {
		err = o.replaceable() // somebody may have made it meanwhile
	}
	if err == nil {
		err = os.Rename(o.temporary(), o.path)
	}
	if err != nil {
		os.Remove(o.temporary())
		return fmt.Errorf("--output=%s: %w", o.path, fileProblem(o.path, err))
	}
	return nil
}

// discard removes the file that was not finished.
func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.temporary())
	}
}

// readerGone tells whether nobody reads standard output any more.
func (o *output) readerGone() bool { return o.path == "" && pipeClosed(o.sink.err) }

// pipeClosed tells whether writing failed because nobody reads any more, as behind head: no fault of anybody's.
func pipeClosed(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // of Windows
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) ||
		runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}
