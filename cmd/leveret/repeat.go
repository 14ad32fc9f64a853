package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
)

// repetition is leveret run --repeat. Each run is a process of its own: what one run leaves behind (heap, layout of memory, open
// connections) would make all runs of a process alike, and the run would be no unit of sampling.
type repetition struct {
	*recording
	args  []string // common to all runs
	dir   string
	index repeats
}

// repeated tells whether several runs were asked for.
func repeated(o *options.Run) bool { return o.Repeat > 0 || len(o.Variants) > 0 }

func (r *recording) repeat(ctx context.Context, args []string) (int, error) {
	p := &repetition{recording: r, args: without(unended(nil, args), "repeat", "variant", "capture", "id", "format")}
	if err := p.plan(); err != nil {
		return 0, &options.UsageError{Command: "run", Err: err}
	}
	if err := p.begin(); err != nil {
		return exitFailed, err
	}
	p.announce()
	code, err := p.runAll(ctx)
	if code == exitInterrupted || err != nil {
		return code, err
	}
	switch {
	case len(p.index.Variants) < 2:
		fmt.Fprintf(p.err, "recorded into %s; leveret compare base=DIR candidate=%s compares them with others\n", p.dir, p.dir)
		return code, nil
	case r.options.NoAnalyze:
		fmt.Fprintf(p.err, "recorded into %s; leveret compare %s makes the comparison\n", p.dir, p.dir)
		return code, nil
	}
	compared, err := runCompare(ctx, []string{p.dir, "--format", r.options.Report.Format}, p.streams)
	fmt.Fprintf(p.err, "recorded into %s; leveret compare %s makes this comparison again\n", p.dir, p.dir)
	return max(code, compared), err
}

// unended leaves a -- out that ends the options: others are put behind. One that is the value of the option before it stays. Options that
// stand before args are given for what they mean together.
func unended(before, args []string) []string {
	last := len(args) - 1
	if last < 0 || args[last] != "--" {
		return args
	}
	set, _ := options.NewRun(redactURI)
	if _, err := set.Parse(slices.Concat(before, args[:last])); err != nil {
		return args // its value is missing, or something else is wrong, which is said of the whole
	}
	return args[:last]
}

// argsOf are the options of one variant's runs.
func (p *repetition) argsOf(v *options.Variant) []string {
	return slices.Concat(p.args, unended(p.args, v.Args))
}

// without leaves options out, with their values.
func without(args []string, names ...string) (rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if strings.HasPrefix(args[i], "--") && slices.Contains(names, name) {
			if !attached {
				i++
			}
			continue
		}
		rest = append(rest, args[i])
	}
	return rest
}

// plan checks every configuration, and puts the runs in their order: in each round every variant runs once, so that what drifts
// on the machine meets all of them alike, in an order of its own.
func (p *repetition) plan() error {
	o := p.options
	if o.ID == "" {
		o.ID = "run-" + time.Now().Format("20060102-150405.000")
	}
	if p.dir = o.Capture; p.dir == "" {
		p.dir = filepath.Join(manifest.DefaultsRoot, o.ID)
	}
	count := max(1, o.Repeat)
	p.index = repeats{FormatVersion: 1, ID: o.ID, Command: p.command, Repeat: count, Seed: o.Seed}
	all := o.Variants
	if len(all) == 0 {
		all = []options.Variant{{}}
	}
	for _, v := range all {
		shown, err := p.checkVariant(v)
		if err != nil {
			return err
		}
		p.index.Variants = append(p.index.Variants, repeatVariant{Label: p.labelOf(v), Options: shown})
	}
	random := rand.New(rand.NewPCG(o.Seed, 0x72657065617400))
	width := max(2, len(fmt.Sprint(count)))
	for round := 1; round <= count; round++ {
		for _, i := range random.Perm(len(all)) {
			p.index.Runs = append(p.index.Runs, repeatedRun{
				Variant: p.labelOf(all[i]), Number: round, Directory: filepath.ToSlash(filepath.Join(all[i].Label, fmt.Sprintf("%0*d", width, round))), State: runPlanned,
			})
		}
	}
	return nil
}

// labelOf is the variant's, or, where there is none, the run's name.
func (p *repetition) labelOf(v options.Variant) string {
	if v.Label == "" {
		return filepath.Base(filepath.Clean(p.dir))
	}
	return v.Label
}

// checkVariant finds out before the first run what the command line of a variant would make it fail by, and gives its options
// without secrets.
func (p *repetition) checkVariant(v options.Variant) (shown []string, err error) {
	name := ""
	if v.Label != "" {
		name = "--variant " + v.Label + ": "
	}
	for _, own := range []string{"repeat", "variant", "capture", "id"} {
		if len(without(v.Args, own)) != len(v.Args) {
			return nil, fmt.Errorf("%s--%s is of all runs together: give it outside", name, own)
		}
	}
	quiet := p.streams
	quiet.err, quiet.out = io.Discard, io.Discard
	r, set, err := parseRun(p.argsOf(&v), quiet)
	if err != nil {
		var mistake *options.UsageError
		if errors.As(err, &mistake) {
			err = mistake.Err
		}
		return nil, fmt.Errorf("%s%w", name, err)
	}
	for _, given := range set.ReportsGiven() {
		if !slices.Contains([]string{"format", "no-analyze", "no-color"}, given) {
			return nil, fmt.Errorf("%s--%s is of one run's report: leave it out, and give it to leveret analyze or leveret compare", name, given)
		}
	}
	for _, one := range []string{"output-file", "expected-instances"} {
		if set.Changed(one) {
			return nil, fmt.Errorf("%s--%s is of a single run: leave --repeat and --variant out", name, one)
		}
	}
	r.options.Capture = filepath.Join(p.dir, "1")
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	return set.Redacted(v.Args), nil
}

// begin makes the directory.
func (p *repetition) begin() error {
	if entries, err := os.ReadDir(p.dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("--capture=%s: holds something already; give a directory that is new or empty", p.dir)
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	return p.index.write(p.dir)
}

func (p *repetition) announce() {
	if p.options.Quiet {
		return
	}
	total := result.Plural(int64(len(p.index.Runs)), "run")
	if len(p.index.Variants) > 1 {
		total += fmt.Sprintf(", %d each of %d variants, shuffled within each round (--seed %d)", p.index.Repeat, len(p.index.Variants), p.index.Seed)
	}
	fmt.Fprintf(p.err, "%s into %s\n", total, p.dir)
}

// runAll makes the runs until they are over, the user interrupts, or one cannot even begin.
func (p *repetition) runAll(ctx context.Context) (code int, err error) {
	for i := range p.index.Runs {
		x := &p.index.Runs[i]
		if !p.options.Quiet {
			fmt.Fprintf(p.err, "run %d of %d: %s %d of %d\n", i+1, len(p.index.Runs), x.Variant, x.Number, p.index.Repeat)
		}
		ended, said, err := p.runOne(ctx, x)
		if err != nil {
			return exitFailed, err
		}
		recorded := isCapture(filepath.Join(p.dir, x.Directory))
		switch {
		case ctx.Err() != nil:
			return exitInterrupted, p.setAside(x, recorded)
		case !recorded:
			return max(ended, exitFailed), fmt.Errorf("%s did not begin, and those after it are left out: %s", p.place(i), said)
		case ended != exitOK:
			x.State, code = runFailed, exitFailed
			fmt.Fprintf(p.err, "%s failed: %s\n", p.place(i), said)
		default:
			x.State = runRecorded
		}
		if err := p.index.write(p.dir); err != nil {
			return exitFailed, err
		}
	}
	return code, nil
}

// place names a run among all: "run 3 of 12, of variant w10,".
func (p *repetition) place(i int) string {
	text := fmt.Sprintf("run %d of %d", i+1, len(p.index.Runs))
	if len(p.options.Variants) > 0 {
		text += ", of variant " + p.index.Runs[i].Variant + ","
	}
	return text
}

// runOne makes one run in a process of its own, and gives its exit code and what it said last on stderr.
func (p *repetition) runOne(ctx context.Context, x *repeatedRun) (code int, said string, err error) {
	if ctx.Err() != nil {
		return exitInterrupted, "", nil
	}
	args := p.args
	for i := range p.options.Variants {
		if v := &p.options.Variants[i]; v.Label == x.Variant {
			args = p.argsOf(v)
		}
	}
	id := fmt.Sprintf("%s-%s-%d", p.index.ID, x.Variant, x.Number)
	own := []string{"--no-analyze", "--quiet", "--until-eof", "--capture", filepath.Join(p.dir, filepath.FromSlash(x.Directory)), "--id", id}
	program, err := os.Executable()
	if err != nil {
		return exitFailed, "", err
	}
	code, said, err = suite.RunChild(ctx, slices.Concat([]string{program, "run"}, args, own))
	return code, said, err
}

// setAside keeps a run that was cut short, but not among the repeats.
func (p *repetition) setAside(x *repeatedRun, recorded bool) error {
	if recorded {
		aside := "interrupted-" + strings.ReplaceAll(x.Directory, "/", "-")
		if err := os.Rename(filepath.Join(p.dir, filepath.FromSlash(x.Directory)), filepath.Join(p.dir, aside)); err != nil {
			return err
		}
		x.Directory, x.State = aside, runInterrupted
	}
	done := 0
	for _, x := range p.index.Runs {
		if x.State == runRecorded || x.State == runFailed {
			done++
		}
	}
	fmt.Fprintf(p.err, "interrupted: %d of %d runs are recorded in %s\n", done, len(p.index.Runs), p.dir)
	return p.index.write(p.dir)
}
