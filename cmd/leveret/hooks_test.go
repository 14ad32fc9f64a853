//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mustEnd waits for the end of the process whose id is in a file; what was killed may be there for a moment.
func mustEnd(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d goes on", pid)
		}
	}
}

// Commands run at their times of the run; when they began and ended and their exit codes are marks; what fails, and what the run did not
// wait for, is said.
func TestHooks(t *testing.T) {
	child := filepath.Join(t.TempDir(), "pid") // of what a hook has started
	r, code, dir := record(t, "--queue", "q", "--rate", "200", "--time", "1", "--hook", "0.2: test -d / && echo seen; echo amqp://u:$((70+7))pw@h is gone >&2; exit 7", "--hook", "300ms: true", "--hook", "60: true",
		"--hook", "0.4: sleep 100 & echo $! > "+child+"; wait")
	if code != exitOK {
		t.Fatalf("exit %d", code)
	}
	var got []string
	for _, m := range r.Marks {
		if m.From != "hook" || m.AtNS < r.Config.StartedNS {
			t.Errorf("%+v", m)
		}
		got = append(got, m.Text)
	}
	marks := strings.Join(got, "\n")
	for _, want := range []string{"began: test -d / && echo seen", "exit code 7: test -d", "; it says: amqp://u@h is gone", "began: true", "exit code 0: true", "began: sleep 100", "ended, as the run was over: sleep 100 &"} {
		if !strings.Contains(marks, want) {
			t.Errorf("%q is not among the marks:\n%s", want, marks)
		}
	}
	mustEnd(t, child)
	if len(got) != 6 {
		t.Errorf("%d marks:\n%s", len(got), marks)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"--hook at 200ms failed, exit code 7", "--hook at 1m0s was not run", "--hook at 400ms was ended"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not among the notes:\n%s", want, notes)
		}
	}
	if m, err := readManifest(dir); err != nil || strings.Contains(m.Options["hook"], "exit 7") {
		t.Errorf("%v %v", err, m.Options["hook"])
	}
	if code, _, stderr := invoke(t, "run", "--hook", "soon: true"); code != exitUsage || !strings.Contains(stderr, "must begin with a time") {
		t.Errorf("%d %s", code, stderr)
	}
}
