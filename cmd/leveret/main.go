// Command leveret is a flight recorder for RabbitMQ load tests: it offers load to a broker, records what happened to
// every message, and answers questions about it later. Each command has its own file here; this one only dispatches.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
)

// version can be set by the build (-ldflags "-X main.version=1.2.3").
var version string

// Exit codes of all commands (README.md lists them).
const (
	exitOK          = 0
	exitFailed      = 1 // could not run, or did not finish
	exitUsage       = 2
	exitVerdict     = 3 // FAIL, or with --strict anything but a clean PASS
	exitInterrupted = 130
)

// streams are where a command reads and writes: results to out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, args []string, s streams) (int, error)
	help                     func(w io.Writer)
}

func commands() []command {
	return []command{runCommand(), perfTestCommand(), analyzeCommand(), compareCommand(), suiteCommand(), exportCommand(), markCommand(), churnCommand(), brokerCommand(), calibrateCommand(), planCommand()}
}

func main() {
	stderr := panel.NewConsole(os.Stderr)
	os.Exit(run(interruptible(stderr), commandLine(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, stderr))
}

// echo is how long after the first signal another one is the same: timeout(1) sends each to the process and then to its whole group.
const echo = 50 * time.Millisecond

// interruptible returns a context that the first SIGINT or SIGTERM ends; the second one exits at once, whatever hangs.
func interruptible(stderr io.Writer) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	// A terminal that goes away is an interrupt too: the record has to be closed. Nobody reading what is printed is none:
	// writing to a closed pipe fails then, and the run goes on.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup: the run is to outlive the terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		<-signals
		first := time.Now()
		cancel()
		// A terminal that takes nothing must not keep the second one from being heard.
		go fmt.Fprintln(stderr, "\nleveret: stopping; once more to exit at once")
		for {
			if <-signals; time.Since(first) >= echo {
				break
			}
		}
		suite.KillAll() // what runs for us must not outlive us
		os.Exit(exitInterrupted)
	}()
	return ctx
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{in: stdin, out: stdout, err: stderr}
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "--help", "-h":
		return help(rest, s)
	case "version", "--version":
		if len(rest) > 0 {
			fmt.Fprintf(stderr, "leveret version: unexpected argument %q\n", withoutPasswords(rest[0]))
			return exitUsage
		}
		fmt.Fprintf(stdout, "leveret %s\n", toolVersion())
		return exitOK
	case "runjava":
		var err error
		if rest, err = runjava(rest); err != nil {
			fmt.Fprintln(stderr, withoutPasswords(err.Error()))
			return exitUsage
		}
		name = "perf-test"
	}
	c, ok := find(name)
	if !ok {
		fmt.Fprintf(stderr, "leveret: unknown command %q; leveret help lists the commands\n", withoutPasswords(name))
		return exitUsage
	}
	return report(c, s, func() (int, error) { return c.run(ctx, rest, s) })
}

// report turns a command's error into one line and an exit code.
func report(c command, s streams, f func() (int, error)) int {
	code, err := f()
	var mistake *options.UsageError
	switch {
	case err == nil:
		return code
	case errors.Is(err, options.ErrHelp):
		c.help(s.out)
		return exitOK
	case errors.As(err, &mistake):
		fmt.Fprintln(s.err, withoutPasswords(err.Error()))
		return exitUsage
	}
	fmt.Fprintf(s.err, "leveret %s: %s\n", c.name, withoutPasswords(oneLine(err.Error())))
	if code == exitOK {
		code = exitFailed
	}
	return code
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func help(args []string, s streams) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "version" {
		usage(s.out)
		return exitOK
	}
	c, ok := find(args[0])
	if !ok {
		fmt.Fprintf(s.err, "leveret: unknown command %q; leveret help lists the commands\n", withoutPasswords(args[0]))
		return exitUsage
	}
	c.help(s.out)
	return exitOK
}

func usage(w io.Writer) {
	fmt.Fprint(w, `leveret records RabbitMQ load tests, every message of them, and answers questions about them later.

Usage: leveret COMMAND [options]

`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `  help       shows this, or the help of a command: leveret help run
  version    shows the version

Exit codes: 0 finished, verdict PASS or INCONCLUSIVE; 1 could not run or did not finish; 2 usage;
3 verdict FAIL, an assertion or condition (with --strict also INCONCLUSIVE or a warning);
130 interrupted.
`)
}

// commandHelp writes the help of one command.
func commandHelp(w io.Writer, c command, about, examples string, set *options.Set) {
	fmt.Fprintf(w, "Usage: leveret %s %s\n\n%s\n", c.name, c.arguments, strings.TrimSpace(about))
	if examples != "" {
		fmt.Fprintf(w, "\nExamples\n%s\n", strings.TrimRight(examples, "\n"))
	}
	set.Help(w)
}
