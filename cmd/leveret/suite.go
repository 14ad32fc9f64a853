package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
	"leveret/loadcore"
	"leveret/reports/chart"
)

func suiteCommand() command {
	return command{name: "suite", arguments: "NAME|FILE [options]", summary: "a matrix of runs from one file, with its tables and charts",
		run: runSuite, help: suiteHelp}
}

func suiteHelp(w io.Writer) {
	set, _ := options.NewSuite(redactURI)
	commandHelp(w, suiteCommand(), `
Runs the rows of a suite, one inside the program (--list) or one from a YAML file, each in a process
of its own with a capture of its own, and makes the tables and charts of them. What published
figures the suite has stand beside the measured ones. A row that fails is shown as failed, with the
reason, and the others go on. Ctrl-C ends the row that runs; --resume goes on later. The directory
can be analyzed again at any time: leveret analyze DIR, leveret compare DIR DIR.
`+suiteExample, `
  leveret suite --list
  leveret suite danubedata --dry-run
  leveret suite danubedata --uri amqp://user:pass@host/vhost --time 5
  leveret suite huawei-dms --uri amqp://user:pass@host --uri ssl=amqps://user:pass@host?cacertfile=ca.pem --only 5
  leveret suite --resume captures/danubedata-20260730-110000
  leveret suite my.yaml --repeat 3
  leveret suite sweep --print`, set)
}

// suiteExample is a whole suite in a few lines.
const suiteExample = `
A file of your own, whole: two sizes, each run twice; options are those of leveret run.

  title: Two sizes
  repeat: 2
  options: {rate: 500, confirm: 10, time: 5}
  tables:
    - name: sizes
      title: Rate and latency by message size
      axes:
        - {name: Size, option: size, values: [100, 1000]}
      columns:
        - {head: Verdict, figure: verdict}
        - {head: Received (msg/s), figure: rate(received)}
        - {group: Delivery, head: p99, figure: p99(delivery.service), unit: ms}
      charts: [runs-rates]
`

func runSuite(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewSuite(redactURI)
	rest, err := set.Parse(args)
	if err != nil {
		return 0, err
	}
	usage := func(err error) (int, error) { return 0, &options.UsageError{Command: "suite", Err: err} }
	switch {
	case len(rest) > 1:
		return usage(fmt.Errorf("unexpected argument %q: one suite at a time", rest[1]))
	case o.Resume != "" && len(rest) > 0:
		return usage(fmt.Errorf("unexpected argument %q: --resume goes on with the suite that is in the directory", rest[0]))
	case o.Keys:
		_, err := io.WriteString(s.out, suite.Keys)
		return exitOK, err
	case o.Resume == "" && len(rest) == 0 && o.List:
		return exitOK, listSuites(s.out)
	case o.Resume == "" && len(rest) == 0:
		return usage(errors.New("which suite? leveret suite NAME|FILE; leveret suite --list names those inside the program"))
	}
	c := &suiteRun{streams: s, options: o}
	if err := c.read(rest, set.Changed); err != nil {
		return usage(err)
	}
	if o.Print {
		_, err := s.out.Write(c.suite.Text)
		return exitOK, err
	}
	if err := c.check(); err != nil {
		return usage(err)
	}
	switch {
	case o.List:
		return exitOK, c.listRows()
	case o.DryRun:
		return exitOK, c.dryRun()
	}
	return c.run(ctx)
}

// suiteRun is one suite on its way from its file to its tables.
type suiteRun struct {
	streams
	options *options.Suite
	suite   *suite.Suite
	record  *suite.Record // nil until it begins, unless it goes on
	rows    []*suite.Row
	changes suite.Changes
	aims    aims
	dir     string
	// progress shows how it goes; nil before the first run.
	progress suite.Progress
	unlock   func() // of the directory; nil: it is not locked
}

// read finds the suite: inside the program, in a file, or in the directory that is to go on.
func (c *suiteRun) read(args []string, given func(string) bool) error {
	o := c.options
	limit, _ := loadcore.DescriptorLimit()
	c.changes = suite.Changes{Time: o.Time, Scale: o.Scale, Repeat: o.Repeat, Only: o.Only, Descriptors: limit}
	var err error
	if o.Resume != "" {
		for _, name := range []string{"time", "scale", "repeat", "only", "capture"} {
			if given(name) {
				return fmt.Errorf("--%s: a suite goes on as it began: leave it out beside --resume", name)
			}
		}
		if c.record, c.suite, err = suite.Load(o.Resume); err != nil {
			return fmt.Errorf("--resume=%s: %w", o.Resume, err)
		}
		c.dir, c.changes = o.Resume, c.record.Changes
	} else if c.suite, err = openSuite(args[0]); err != nil {
		return err
	}
	if c.rows, err = c.suite.Plan(c.changes); err != nil {
		return err
	}
	c.aims, err = newAims(c.suite, o, os.LookupEnv)
	return err
}

// openSuite reads a suite inside the program, or a file: what has a separator or an ending, or is there.
func openSuite(name string) (*suite.Suite, error) {
	if s, err := suite.Scenario(name); s != nil || err != nil {
		return s, err
	}
	text, err := readStart(name, suite.MostBytes+1) // of one that is longer the reader says so
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file, and no suite inside the program is called so; there are %s", name, strings.Join(suite.Scenarios(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return suite.Read(name, text)
}

// readStart reads the first n bytes of a file.
func readStart(name string, n int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// check reads the command line of every run as leveret run would, so that nothing is found out in the middle of the night.
func (c *suiteRun) check() error {
	for _, t := range c.suite.Tables {
		for _, name := range t.Charts {
			if !slices.Contains(chart.RunNames(), name) {
				return &suite.Error{File: c.suite.File, Line: t.Line, What: fmt.Sprintf("table %s: charts: %q is none of %s", t.Name, name, strings.Join(chart.RunNames(), ", "))}
			}
		}
	}
	for _, row := range c.rows {
		for _, p := range row.Commands() {
			args := append([]string{"--uri=amqp://localhost"}, p.Options.Args()...)
			for _, a := range row.Asserts {
				args = append(args, "--assert="+a)
			}
			if _, err := newRun(args, streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}); err != nil {
				var mistake *options.UsageError
				if errors.As(err, &mistake) {
					err = mistake.Err
				}
				return row.Mistake(c.suite, p.Options, err)
			}
		}
	}
	return nil
}

// run runs the suite, and makes its tables of whatever was run.
func (c *suiteRun) run(ctx context.Context) (int, error) {
	if c.record != nil && c.record.Finished(c.rows) { // only its tables are made again
		return c.finish(ctx)
	}
	if err := c.aimedAgain(); err != nil {
		return 0, &options.UsageError{Command: "suite", Err: err}
	}
	defer func() {
		if c.unlock != nil {
			c.unlock()
		}
	}()
	if c.record != nil {
		if err := c.lock(); err != nil {
			return exitFailed, err
		}
	}
	brokers, err := c.meet(ctx)
	if err != nil {
		return exitCodeOf(ctx.Err() != nil, exitFailed), err
	}
	if err := c.fit(brokers); err != nil {
		return exitFailed, err
	}
	if err := c.begin(brokers); err != nil {
		return exitFailed, err
	}
	self, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	c.progress = newSuiteProgress(c.streams, c.options.Quiet)
	r := &suite.Runner{
		Dir: c.dir, Suite: c.suite, Record: c.record, Rows: c.rows, Program: []string{self},
		Environ: c.aims.environ, Look: c.look, Prepare: c.prepare, Remove: c.remove, Judge: c.judge, Progress: c.progress,
	}
	if err = r.Run(ctx); err != nil && ctx.Err() == nil {
		return exitFailed, err
	}
	return c.finish(ctx)
}

// fit plans the rows again where they fit themselves to what the brokers take. A suite that goes on stays as it began.
func (c *suiteRun) fit(brokers map[string]suite.Broker) (err error) {
	if c.record != nil {
		return nil
	}
	c.changes.Accepts = map[string]int{}
	for name, b := range brokers {
		if b.Accepts != nil {
			c.changes.Accepts[name] = *b.Accepts
		}
	}
	c.rows, err = c.suite.Plan(c.changes)
	return err
}

// aimedAgain holds the addresses of a suite that goes on against those that it began with, which were kept without passwords.
func (c *suiteRun) aimedAgain() error {
	if c.record == nil {
		return nil
	}
	for _, t := range c.suite.Targets {
		name := t.Name
		was, met := c.record.Brokers[name]
		if !met {
			continue
		}
		uri := c.aims.of(c.aims.uris, name)
		if was.URI != "" && uri == "" {
			option, variable := c.aims.naming(name)
			return fmt.Errorf("--resume=%s: target %s was %s: give its address again, as %s or in %s", c.dir, name, was.URI, option, variable)
		}
		if is := redactURI(uri); is != was.URI {
			fmt.Fprintf(c.err, "note: target %s was %s, and is %s now\n", name, cmp.Or(was.URI, "the embedded broker"), is)
		}
	}
	return nil
}

// finish makes the tables of what was run, and judges it.
func (c *suiteRun) finish(ctx context.Context) (int, error) {
	c.record.Attach(c.rows)
	tables, err := c.record.Tables(c.rows, c.record.Kept(c.dir))
	if err != nil {
		return exitFailed, err
	}
	if err := c.output(tables); err != nil {
		return exitFailed, err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(c.err, "interrupted; leveret suite --resume %s goes on\n", c.dir)
		return exitInterrupted, nil
	}
	fmt.Fprintf(c.err, "recorded into %s\n", c.dir)
	return c.code()
}

// begin makes the directory and the record, or goes on with those that are there.
func (c *suiteRun) begin(brokers map[string]suite.Broker) error {
	if c.record != nil {
		c.record.Brokers = brokers
		c.record.Attach(c.rows)
		return c.record.Save(c.dir)
	}
	c.dir = c.options.Capture
	if c.dir == "" {
		c.dir = filepath.Join(manifest.DefaultsRoot, c.suite.Name+"-"+time.Now().Format("20060102-150405"))
	}
	if entries, err := os.ReadDir(c.dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("--capture=%s: holds something already: give another directory, or --resume", c.dir)
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	c.record = c.suite.NewRecord(c.rows, c.changes, brokers, "leveret "+toolVersion())
	c.record.Attach(c.rows)
	fmt.Fprintf(c.err, "recording into %s\n", c.dir)
	return c.record.Save(c.dir)
}

// code is 3 where a verdict is FAIL, that of a row or of a table, 1 where a row could not be run, or none was.
func (c *suiteRun) code() (int, error) {
	failed, wrong := c.record.Failures(), c.record.Verdicts(c.dir, result.Fail)
	unproved, err := c.record.Unproved(c.rows, c.record.Kept(c.dir))
	if err != nil {
		return exitFailed, err
	}
	for _, text := range slices.Concat(failed, wrong, unproved) {
		fmt.Fprintln(c.err, text)
	}
	switch {
	case len(wrong) > 0:
		return exitVerdict, nil
	case len(failed) > 0:
		return exitFailed, nil
	case len(unproved) > 0:
		return exitVerdict, nil
	case !slices.ContainsFunc(c.record.Runs, func(r *suite.Run) bool { return r.State == suite.Done }):
		return exitFailed, errors.New("nothing was run: every row was left out, for the reasons below its table")
	}
	return exitOK, nil
}

// suiteProgress shows how a suite goes: lines, and on a terminal a line that changes. Elsewhere what that would show is said where a minute
// has passed without a word.
type suiteProgress struct {
	to     io.Writer
	status *panel.Status
	quiet  time.Duration // after which it is said

	mu   sync.Mutex // guards said
	said time.Time
}

func newSuiteProgress(s streams, quiet bool) *suiteProgress {
	p := &suiteProgress{to: s.err, status: panel.NewStatus(s.err, quiet), quiet: time.Minute, said: time.Now()}
	if quiet {
		p.to = io.Discard
	}
	return p
}

func (p *suiteProgress) Line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = time.Now()
	fmt.Fprintln(p.to, withoutPasswords(printable(text)))
}

func (p *suiteProgress) Status(text string) {
	if p.status.Shows() {
		p.status.Show(withoutPasswords(printable(text)))
		return
	}
	p.mu.Lock()
	silent := text != "" && time.Since(p.said) >= p.quiet
	p.mu.Unlock()
	if silent {
		p.Line("  " + text)
	}
}

// printable is a text of a suite's file without what would move a terminal's cursor, or set its title.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' {
			return ' '
		}
		return c
	}, text)
}
