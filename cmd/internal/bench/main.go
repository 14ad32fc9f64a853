// Command bench runs the module's benchmarks in rounds and prints what they come to: medians with their spread, and the
// ratio of each benchmark to its twin.
//
//	go run ./cmd/internal/bench [-count 5] [-bench regexp] [packages]
//
// Twins are sub-benchmarks whose names differ in the last part only, "leveret..." and "amqp091-go". All benchmarks run once in
// each round, so that what changes on the machine meanwhile changes both, and a ratio is taken within a round. A benchmark that
// costs much to set up does its rounds itself and has a part "round=N" in its names: it runs once, told how many by
// LEVERET_BENCH_ROUNDS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options of one call.
type options struct {
	rounds    int
	pattern   string
	benchtime string
	packages  []string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rounds, "count", 5, "rounds")
	flags.StringVar(&o.pattern, "bench", ".", "benchmarks to run, as for go test")
	flags.StringVar(&o.benchtime, "benchtime", "1s", "time of each benchmark in a round, as for go test")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.packages = flags.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	if o.rounds < 1 {
		return fmt.Errorf("-count=%d: at least 1", o.rounds)
	}
	results, err := measure(ctx, o, stderr)
	if len(results.names) > 0 { // also of rounds that were broken off
		err = errors.Join(err, results.write(stdout))
	}
	return err
}

// binary is the test program of one package.
type binary struct{ dir, file string }

// measure runs all rounds. With an error the results are those that there are. Output of the benchmarks goes to progress as it comes.
func measure(ctx context.Context, o options, progress io.Writer) (*results, error) {
	all := newResults()
	tmp, err := os.MkdirTemp("", "leveret-bench-")
	if err != nil {
		return all, err
	}
	defer os.RemoveAll(tmp)
	binaries, err := compile(ctx, o.packages, tmp)
	if err != nil {
		return all, err
	}
	for round := 0; round < o.rounds && len(binaries) > 0; round++ {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, o.rounds)
		var again []binary
		for _, b := range binaries {
			selfRounds, err := b.round(ctx, o, round, all, progress)
			if err != nil {
				return all, err
			}
			if !selfRounds {
				again = append(again, b)
			}
		}
		binaries = again
	}
	return all, nil
}

// compile builds the test programs of the packages that have benchmarks.
func compile(ctx context.Context, packages []string, dir string) ([]binary, error) {
	const format = `{{.ImportPath}}{{"\t"}}{{.Dir}}{{range .TestGoFiles}}{{"\t"}}{{.}}{{end}}{{range .XTestGoFiles}}{{"\t"}}{{.}}{{end}}`
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-f", format}, packages...)...)
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var binaries []binary
	for line := range strings.Lines(string(output)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if !hasBenchmarks(parts[1], parts[2:]) {
			continue
		}
		b := binary{dir: parts[1], file: filepath.Join(dir, strconv.Itoa(len(binaries))+".test")}
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.file, parts[0])
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w", parts[0], err)
		}
		binaries = append(binaries, b)
	}
	return binaries, nil
}

func hasBenchmarks(dir string, files []string) bool {
	for _, f := range files {
		if text, err := os.ReadFile(filepath.Join(dir, f)); err == nil && strings.Contains(string(text), "\nfunc Benchmark") {
			return true
		}
	}
	return false
}

// round runs the benchmarks of one package once. It tells whether they do their rounds themselves.
func (b binary) round(ctx context.Context, o options, round int, all *results, progress io.Writer) (selfRounds bool, err error) {
	procs := runtime.GOMAXPROCS(0)
	cmd := exec.CommandContext(ctx, b.file, "-test.run=^$", "-test.bench="+o.pattern, "-test.benchtime="+o.benchtime,
		"-test.benchmem", "-test.cpu="+strconv.Itoa(procs), "-test.timeout=60m")
	cmd.Dir, cmd.Stderr = b.dir, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // RabbitMQ nodes end with it
	cmd.Env = append(os.Environ(), "LEVERET_BENCH_ROUNDS="+strconv.Itoa(o.rounds))
	output, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	selfRounds, readErr := all.read(output, round, procs, progress)
	if err := cmd.Wait(); err != nil {
		return false, fmt.Errorf("benchmarks of %s: %w", b.dir, err)
	}
	return selfRounds, readErr
}
