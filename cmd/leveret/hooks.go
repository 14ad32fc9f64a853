package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
)

// hooks runs the commands of --hook while a run goes on. When each begins and ends, and its exit code, are marks in the capture.
// When the run is over, those that still run are ended, and those whose time has not come are left out and named.
type hooks struct {
	r        *recording
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	mu       sync.Mutex // guards the following
	problems []string
	outputs  []*hookOutput

	saying sync.Mutex // one line at a time goes to standard error
}

// hookGrace is how long a command that is ended may hold its output open.
const hookGrace = 2 * time.Second

// startHooks has the hooks begin with the load; end ends them, and returns what the report has to say of them.
func (r *recording) startHooks() (end func() []string) {
	if len(r.options.Hooks) == 0 {
		return func() []string { return nil }
	}
	h := &hooks{r: r}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	before := r.plan.Started
	r.plan.Started = func() {
		if before != nil {
			before()
		}
		begun := time.Now()
		for _, hook := range r.options.Hooks {
			h.running.Go(func() { h.run(hook, begun) })
		}
	}
	return func() []string {
		h.cancel()
		h.running.Wait()
		for _, o := range h.outputs {
			o.close()
		}
		return h.problems
	}
}

func (h *hooks) run(hook options.Hook, begun time.Time) {
	command := withoutPasswords(hook.Command)
	timer := time.NewTimer(time.Until(begun.Add(hook.At)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.ctx.Done():
		h.problem(fmt.Sprintf("--hook at %v was not run: the run was over before: %s", hook.At, command))
		return
	}
	h.mark(h.r.plan.Clock.Now(), "began: "+command)
	start := time.Now()
	output, err := h.execute(hook.Command)
	ended, lasted, how := h.r.plan.Clock.Now(), time.Since(start), "exit code 0"
	var exit *exec.ExitError
	switch {
	case h.ctx.Err() != nil:
		how = "ended, as the run was over"
		h.problem(fmt.Sprintf("--hook at %v was ended: the run was over before it: %s", hook.At, command))
	case errors.As(err, &exit):
		if how = exit.Error(); exit.Exited() { // else "signal: killed"
			how = fmt.Sprintf("exit code %d", exit.ExitCode())
		}
		h.problem(fmt.Sprintf("--hook at %v failed, %s: %s", hook.At, how, command))
	case err != nil:
		how = "could not be run: " + err.Error()
		h.problem(fmt.Sprintf("--hook at %v %s: %s", hook.At, how, command))
	}
	text := fmt.Sprintf("ended after %.3f s, %s: %s", lasted.Seconds(), how, command)
	if err != nil && output != nil {
		text = withComplaint(text, output)
	}
	h.mark(ended, text)
}

// execute runs a command to its end; output may be nil where it could not be run.
func (h *hooks) execute(command string) (output *hookOutput, err error) {
	cmd := shell(h.ctx, command)
	if output, err = h.attach(cmd); err != nil {
		return nil, err
	}
	err = cmd.Start()
	output.begun()
	if err == nil {
		err = cmd.Wait()
	}
	return output, err
}

// shell is a command for the system's shell. With ctx it ends, and with it what it has started.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shellName, shellFlag, command)
	endWhole(cmd)
	cmd.WaitDelay = hookGrace
	return cmd
}

func (h *hooks) mark(at int64, text string) {
	text = strings.ToValidUTF8(text, "?")
	m := &manifest.Mark{AtNS: at, Clock: manifest.ClockMonotonic, From: manifest.MarkFromHook, Text: text}
	if err := manifest.AddMark(h.r.dir, m); err != nil {
		h.problem(err.Error())
	}
}

func (h *hooks) say(text string) {
	h.saying.Lock()
	defer h.saying.Unlock()
	fmt.Fprintln(h.r.err, text)
}

func (h *hooks) problem(text string) {
	h.say(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, text)
}
