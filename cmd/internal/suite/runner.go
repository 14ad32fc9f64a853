package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leveret/analyze/result"
)

// Runner runs the rows of a suite, and keeps the record of it.
type Runner struct {
	Dir    string
	Suite  *Suite
	Record *Record
	Rows   []*Row
	// Program is the command line that runs leveret: the program, and what stands before the command.
	Program []string
	// Environ is the environment of a run against a target. It may hold secrets; nothing of it is recorded or shown.
	Environ func(target string) []string
	// Look says that something of what a run needs is there already, and somebody's. Nothing is made.
	Look func(ctx context.Context, target string, s *Setup) error
	// Prepare makes what a run needs. On an error nothing of it is there, unless it is an ErrLeft.
	Prepare func(ctx context.Context, target string, s *Setup) error
	// Remove removes what a run needed, and what it has left behind itself; what is not there is no error.
	Remove func(target string, s *Setup) error
	// Judge says why a row can't be run against the broker of its target; "" where it can.
	Judge func(row *Row) string
	// Progress is told how it goes.
	Progress Progress

	pausing bool   // a run was before
	left    []*Run // what they needed could not be removed yet; the next one tries again
	tally   tally
}

// ErrLeft is among the errors of Prepare: some of what it had made is still there.
var ErrLeft = errors.New("what was made could not be removed again")

// Progress shows how a suite goes.
type Progress interface {
	// Line is said once; Status replaces what was said as a status before, and is "" where there is nothing to say.
	Line(text string)
	Status(text string)
}

// What a run may take beyond the time that it is to publish: connecting, draining, analysis; and what one may take that nothing
// limits. grace is what a run that was told to stop may take for its drain and its record.
const (
	overtime  = 15 * time.Minute
	unlimited = 6 * time.Hour
	grace     = 2 * time.Minute
)

// Run runs what was not run yet. It returns ctx's error where it was interrupted: then Run goes on with the record later. An error
// is of the suite's own files; what goes wrong with a run stands in the record.
func (r *Runner) Run(ctx context.Context) error {
	r.Record.Attach(r.Rows)
	for _, run := range r.Record.Runs {
		if run.SetUp && run.row != nil && r.Record.Brokers[run.Target].Down == "" {
			r.left = append(r.left, run) // by a process that was interrupted, or killed
		}
	}
	for _, run := range r.Record.Runs {
		if run.Probe != nil || run.Fraction > 0 {
			continue // its search comes to it
		}
		if err := r.one(ctx, run); err != nil {
			return err
		}
	}
	for _, row := range r.Rows {
		if row.Table.adaptive() {
			if err := r.adapt(ctx, row); err != nil {
				return err
			}
		}
	}
	r.tidy("") // what is still there stands in the record
	return r.Record.Save(r.Dir)
}

// one runs a run that was not run yet. What can't be run is recorded with the next one that is: a suite goes on to the same end without
// it, and a record of thousands of runs is not written thousands of times.
func (r *Runner) one(ctx context.Context, run *Run) error {
	if run.State == Done || run.row == nil {
		return nil
	}
	if why := r.Judge(run.row); why != "" {
		run.State, run.Reason = LeftOut, why
		r.Progress.Line(r.tally.line(r, run) + "left out: " + why)
		return nil
	}
	if b := r.Record.Brokers[run.Target]; b.Down != "" {
		run.State, run.Reason = Failed, b.Down
		r.Progress.Line(r.tally.line(r, run) + "failed: " + b.Down)
		return nil
	}
	if err := r.pause(ctx); err != nil {
		return err
	}
	if err := r.clear(run); err != nil {
		return err
	}
	began := time.Now().UTC().Truncate(time.Millisecond)
	run.State, run.Reason, run.ExitCode, run.Began, run.Ended = Running, "", nil, &began, nil
	if err := r.Record.Save(r.Dir); err != nil {
		return err
	}
	r.Progress.Line(r.tally.line(r, run) + "begins")
	show := r.tally.watch(r, run)
	err := r.process(ctx, run)
	show()
	ended := time.Now().UTC().Truncate(time.Millisecond)
	run.Ended = &ended
	switch {
	case ctx.Err() != nil && run.State != Done:
		run.State, run.Began, run.Ended, run.ExitCode = Planned, nil, nil, nil
	case err != nil:
		run.State, run.Reason = Failed, oneLine(err.Error())
		r.Progress.Line("  failed: " + run.Reason)
	default:
		r.tally.took(run)
		r.Progress.Line("  " + r.summary(run))
	}
	return errors.Join(r.Record.Save(r.Dir), ctx.Err())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// pause waits between two runs.
func (r *Runner) pause(ctx context.Context) error {
	if r.pausing && r.Suite.Pause > 0 {
		r.Progress.Status("pause")
		select {
		case <-time.After(r.Suite.Pause):
		case <-ctx.Done():
		}
		r.Progress.Status("")
	}
	r.pausing = true
	return ctx.Err()
}

// clear moves away what an interrupted run has left, so that its capture stays and the run has a place.
func (r *Runner) clear(run *Run) error {
	for _, dir := range run.Captures(r.Dir) {
		if _, err := os.Lstat(dir); err != nil {
			continue
		}
		if err := os.Rename(dir, asideOf(dir)); err != nil {
			return err
		}
	}
	return errors.Join(removed(resultPath(r.Dir, run)), removed(r.logPath(run)))
}

// asideOf is a name for a capture that is set aside, which none that was set aside before has.
func asideOf(dir string) string {
	aside := dir + ".interrupted"
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); err != nil {
			return aside
		}
		aside = fmt.Sprintf("%s.interrupted-%d", dir, n)
	}
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (r *Runner) logPath(run *Run) string { return filepath.Join(r.Dir, run.ID+".log") }

// process sets up, runs the parts of a run, removes what was set up, and keeps the results. The run is Done where they are whole.
func (r *Runner) process(ctx context.Context, run *Run) (err error) {
	log, err := os.Create(r.logPath(run))
	if err != nil {
		return err
	}
	defer log.Close()
	if err := r.tidy(run.Target); err != nil {
		return fmt.Errorf("what an earlier run needed can't be removed: %w", err)
	}
	if !run.row.Setup.Empty() {
		if err := r.setUp(ctx, run); err != nil {
			return err
		}
		defer r.cleanUp(run)
	}
	var results []*result.Result
	limit := unlimited
	if run.Expected > 0 {
		limit = time.Duration(run.Expected*float64(time.Second)) + overtime
	}
	for _, p := range run.Parts {
		args := append([]string{"run"}, p.Args...)
		args = append(args, "--id="+p.Capture, "--capture="+filepath.Join(r.Dir, p.Capture), "--format=json", "--until-eof")
		if len(run.Parts) == 1 {
			args = append(args, asserts(run.Asserts)...)
		}
		x, err := r.child(ctx, run, args, log, limit)
		if err != nil {
			return err
		}
		results = append(results, x)
	}
	if len(run.Parts) > 1 {
		args := append([]string{"analyze", "--quiet", "--format=json"}, run.Captures(r.Dir)...)
		x, err := r.child(ctx, run, append(args, asserts(run.Asserts)...), log, overtime)
		if err != nil {
			return err
		}
		results = append([]*result.Result{x}, results...)
	}
	text, err := json.Marshal(results)
	if err != nil {
		return err
	}
	if err := replace(resultPath(r.Dir, run), text); err != nil {
		return err
	}
	run.State = Done
	return nil
}

// setUp makes what a run needs. That it is there is recorded before it is made, so that a suite that was killed knows its own when it
// goes on; and after it was looked for, so that it never takes somebody else's for that.
func (r *Runner) setUp(ctx context.Context, run *Run) error {
	r.Progress.Status("set-up of " + run.Title)
	if err := r.Look(ctx, run.Target, &run.row.Setup); err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	run.SetUp = true
	if err := r.Record.Save(r.Dir); err != nil {
		return err
	}
	if err := r.Prepare(ctx, run.Target, &run.row.Setup); err != nil {
		if run.SetUp = errors.Is(err, ErrLeft); run.SetUp {
			r.left = append(r.left, run)
		}
		return fmt.Errorf("set-up: %w", err)
	}
	return nil
}

// cleanUp removes what a run needed, however it went. Where it did not end as it should, the broker may still come to declarations that
// its connections had sent: it is removed once more later, by this process or when the suite goes on.
func (r *Runner) cleanUp(run *Run) {
	r.Progress.Status("removal of what " + run.Title + " needed")
	if err := r.Remove(run.Target, &run.row.Setup); err != nil {
		r.Progress.Line("  what was set up could not be removed yet: " + oneLine(err.Error()))
		r.left = append(r.left, run)
		return
	}
	if run.SetUp = run.State != Done; run.SetUp {
		r.left = append(r.left, run)
	}
}

// tidy removes what earlier runs against the target ("": any) could not remove: it would be in the way.
func (r *Runner) tidy(target string) (err error) {
	still := r.left[:0]
	for _, run := range r.left {
		if target != "" && run.Target != target {
			still = append(still, run)
			continue
		}
		if removal := r.Remove(run.Target, &run.row.Setup); removal != nil {
			err = errors.Join(err, removal)
			still = append(still, run)
			continue
		}
		run.SetUp = false
	}
	r.left = still
	return err
}

func asserts(all []string) (args []string) {
	for _, a := range all {
		args = append(args, "--assert="+a)
	}
	return args
}

// child runs one process of leveret and reads the result that it prints. A verdict of FAIL is a result; what ended otherwise is an
// error.
func (r *Runner) child(ctx context.Context, run *Run, args []string, log *os.File, limit time.Duration) (*result.Result, error) {
	fmt.Fprintf(log, "leveret %s\n", strings.Join(args, " "))
	c := child{args: append(append([]string{}, r.Program...), args...), env: r.Environ(run.Target), log: log, limit: limit, grace: grace}
	out, code, last, err := c.run(ctx)
	run.ExitCode = &code
	x := &result.Result{}
	switch unread := json.Unmarshal(out, x); {
	case ctx.Err() != nil && code != 0 && code != exitVerdict:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case code != 0 && code != exitVerdict && unread == nil && ended(x) != "":
		return nil, fmt.Errorf("%s (exit code %d)", ended(x), code)
	case code != 0 && code != exitVerdict:
		return nil, fmt.Errorf("%s (exit code %d)", last, code)
	case unread != nil:
		return nil, fmt.Errorf("its result can't be read: %w", unread)
	}
	return x, nil
}

// ended says why a run that was recorded did not end as it should; "" where its result does not tell.
func ended(r *result.Result) string {
	for _, f := range r.Findings {
		if (f.Severity == result.SeverityFail || f.Severity == result.SeverityInconclusive) && f.Code != "nothing_to_judge" {
			return f.Text
		}
	}
	return ""
}

// exitVerdict is the exit code of a run whose verdict is FAIL.
const exitVerdict = 3
