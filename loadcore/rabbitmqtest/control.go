package rabbitmqtest

import (
	"context"
	"testing"
	"time"
)

// Kill ends the node at once, as a power failure would. Restart starts it again.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	n.mustBePrivate(t, "Kill")
	if err := n.kill(); err != nil {
		t.Fatal(err)
	}
}

// PID is the id of the node's process, which leads a process group of its own: for what ends or stops it from outside.
func (n *Node) PID(t testing.TB) int {
	t.Helper()
	n.mustBePrivate(t, "PID")
	return n.process.cmd.Process.Pid
}

// Stop ends the node regularly. Restart starts it again.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	n.mustBePrivate(t, "Stop")
	if err := n.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Restart stops the node regularly if it runs, starts it and waits until it is ready. Ports and data stay.
func (n *Node) Restart(t testing.TB) {
	t.Helper()
	n.Stop(t)
	if err := n.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pauseTimeout bounds how long the threads of a node may take to stand still; on an idle machine it is a moment.
const pauseTimeout = 30 * time.Second

// Pause stops the node's process from running: its sockets stay open and are silent. When it returns, every thread stands still:
// the signal reaches one of them, and on a busy machine the others work on until that one has run. A node that is still
// paused when the test ends is ended all the same.
func (n *Node) Pause(t testing.TB) {
	t.Helper()
	n.mustBePrivate(t, "Pause")
	p := n.process.cmd.Process
	if err := pause(p); err != nil {
		t.Fatal("pausing RabbitMQ:", err)
	}
	for deadline := time.Now().Add(pauseTimeout); !standsStill(p.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("pausing RabbitMQ: not every thread stands still within %v", pauseTimeout)
		}
	}
}

// Resume lets a paused node run again.
func (n *Node) Resume(t testing.TB) {
	t.Helper()
	n.mustBePrivate(t, "Resume")
	if err := resume(n.process.cmd.Process); err != nil {
		t.Fatal("resuming RabbitMQ:", err)
	}
}

// Ctl runs rabbitmqctl against the node and returns what it prints. It takes about a second.
func (n *Node) Ctl(t testing.TB, args ...string) string {
	t.Helper()
	return n.Tool(t, "rabbitmqctl", args...)
}

// Tool runs another of RabbitMQ's commands, as in "rabbitmq-diagnostics", "check_running".
func (n *Node) Tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	n.mustBeOurs(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	output, err := n.tool(ctx, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// mustBeOurs fails the test on an existing broker.
func (n *Node) mustBeOurs(t testing.TB, what string) {
	t.Helper()
	if n.existing != nil {
		t.Fatalf("%s works on a node on this machine only, and %s leads to an existing broker: use rabbitmqtest.Start",
			what, URIVariable)
	}
}

// mustBePrivate fails the test on a node that others use.
func (n *Node) mustBePrivate(t testing.TB, what string) {
	t.Helper()
	if n.shared {
		t.Fatalf("%s of the shared node would disturb other tests: use rabbitmqtest.Start", what)
	}
}
