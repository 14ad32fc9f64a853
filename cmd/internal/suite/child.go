package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is one process of leveret. It ends when its standard input does, as at Ctrl-C: also when this process dies, however
// it does.
type child struct {
	args []string // the program first
	env  []string
	log  io.Writer // its standard error
	// limit is how long it may take; then it is told to stop, and after grace killed.
	limit, grace time.Duration
}

// mostOutput bounds the result that a child prints.
const mostOutput = 256 << 20

// errTooLong says that a process was stopped as it did not end by itself.
var errTooLong = errors.New("it did not end in time, and was stopped")

// run starts the process and waits for its end. When ctx ends, the process is told to stop. It returns what the process printed, its
// exit code (-1 where a signal killed it), and the last lines that it wrote to standard error.
func (c *child) run(ctx context.Context) (out []byte, code int, last string, err error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	apart(cmd)
	cmd.Env = c.env
	stdout, tail := &bounded{most: mostOutput}, &tailWriter{to: c.log}
	cmd.Stdout, cmd.Stderr = stdout, tail
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, -1, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, -1, "", err
	}
	started.add(cmd.Process)
	defer started.remove(cmd.Process)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tooLong := time.NewTimer(c.limit)
	defer tooLong.Stop()
	late := false
	var kill <-chan time.Time
	for stop := ctx.Done(); ; {
		select {
		case err := <-ended:
			return stdout.b.Bytes(), cmd.ProcessState.ExitCode(), tail.said(), errors.Join(c.failure(err, late && ctx.Err() == nil), stdout.err())
		case <-stop:
		case <-tooLong.C:
			late = true
		case <-kill:
			cmd.Process.Kill()
			kill = nil
			continue
		}
		stop = nil
		alive.Close()
		kill = time.After(c.grace)
	}
}

// RunChild runs leveret with these arguments, the program first and --until-eof among them, in a process of its own for as long as
// it takes, and tells it to stop when ctx ends. It gives the exit code and the last line on standard error.
func RunChild(ctx context.Context, args []string) (code int, last string, err error) {
	const ever = math.MaxInt64 // whoever waits can end it: KillAll
	c := child{args: args, env: os.Environ(), limit: ever, grace: ever}
	_, code, last, err = c.run(ctx)
	return code, last, err
}

// failure is what is wrong with how a process ended; an exit code is none, the caller judges it.
func (c *child) failure(err error, late bool) error {
	var exit *exec.ExitError
	switch {
	case late:
		return fmt.Errorf("%w (after %v)", errTooLong, c.limit.Round(time.Second))
	case errors.As(err, &exit):
		return nil
	}
	return err
}

// bounded takes bytes up to a bound.
type bounded struct {
	b    bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.b.Len()+len(p) > b.most {
		b.over = true
		return len(p), nil
	}
	return b.b.Write(p)
}

func (b *bounded) err() error {
	if b.over {
		return fmt.Errorf("it printed more than %d bytes", b.most)
	}
	return nil
}

// tailWriter keeps the last bytes that went through it.
type tailWriter struct {
	to   io.Writer
	last []byte
}

const tailBytes = 4096

func (t *tailWriter) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if extra := len(t.last) - tailBytes; extra > 0 {
		t.last = append([]byte(nil), t.last[extra:]...)
	}
	if t.to != nil {
		return t.to.Write(p)
	}
	return len(p), nil
}

// said is the last line that says what went wrong: one that the command itself begins, else the last one.
func (t *tailWriter) said() string {
	lines := strings.Split(strings.TrimSpace(string(t.last)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if name, what, ok := strings.Cut(lines[i], ": "); ok && (name == "leveret run" || name == "leveret analyze") {
			return what
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// processes are those that run now.
type processes struct {
	mu  sync.Mutex
	all map[*os.Process]bool
}

var started = processes{all: map[*os.Process]bool{}}

func (p *processes) add(x *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[x] = true
}

func (p *processes) remove(x *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, x)
}

// KillAll ends at once whatever runs of suites are at work: for a program that is about to exit at once itself.
func KillAll() {
	started.mu.Lock()
	defer started.mu.Unlock()
	for x := range started.all {
		x.Kill()
	}
}
