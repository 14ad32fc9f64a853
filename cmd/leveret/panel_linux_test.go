package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"leveret/cmd/internal/panel/terminaltest"
)

// startOn runs leveret on the terminal; its stdout is not there. The shell's words, if there are any, come before it.
func startOn(t *testing.T, p *terminaltest.Terminal, environment []string, shell string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", shell + ` exec "$0" "$@"`, os.Args[0]}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") || strings.HasPrefix(v, "LC_") }),
		asMain+"=1", "TERM=xterm", "LANG=C.UTF-8")
	cmd.Env = append(cmd.Env, environment...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Slave, &stdout, p.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, &stdout
}

var (
	shortRun = []string{"run", "--queue", "q", "--rate", "1000", "--confirm", "100", "--time", "1.5", "--no-analyze"}
	colors   = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

func TestPanelOnATerminal(t *testing.T) {
	p := terminaltest.Open(t, 80, 24)
	before := p.Modes(t)
	cmd, _ := startOn(t, p, nil, "", append(shortRun, "--capture", filepath.Join(t.TempDir(), "c"))...)
	cmd.Wait()
	p.Await(t, "makes the report")
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Fatalf("exit %d\n%s", code, p.Text())
	}
	if p.Modes(t) != before {
		t.Error("the terminal's modes were changed")
	}
	if strings.Contains(p.Text(), "\x1b[?") {
		t.Errorf("a mode was set by an escape sequence:\n%q", p.Text())
	}
	screen := terminaltest.NewScreen(80, 24)
	screen.Write(p.Text())
	got := screen.String()
	for _, want := range []string{
		"embedded broker: measures leveret, not RabbitMQ", "ended  time limit reached, after 1.5 s\n", "sent ", "1,500 ", "limit reached", "backlog     0 messages; 0 of 100 confirms awaited\n",
		"recorder    ", "errors      none\nrecorded into ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing on the screen:\n%s", want, got)
		}
	}
	if strings.Count(got, "messages ") != 2 || strings.Contains(got, "running") { // the heads of two tables
		t.Errorf("the panel stands there more than once:\n%s", got)
	}
	if !colors.MatchString(p.Text()) {
		t.Error("no colors")
	}
}

func TestPanelWithoutColors(t *testing.T) {
	for what, c := range map[string]struct{ environment, args []string }{
		"option":   {nil, []string{"--no-color"}},
		"variable": {[]string{"NO_COLOR=1"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := terminaltest.Open(t, 80, 24)
			cmd, _ := startOn(t, p, c.environment, "", slices.Concat(shortRun, c.args, []string{"--capture", filepath.Join(t.TempDir(), "c")})...)
			cmd.Wait()
			p.Await(t, "makes the report")
			if text := p.Text(); colors.MatchString(text) || !strings.Contains(text, "\x1b[J") {
				t.Errorf("want a panel without colors:\n%q", text)
			}
		})
	}
}

// lineOfLoad is a line of progress with rates and latencies.
var lineOfLoad = regexp.MustCompile(`[123] s of 3 s  sent [0-9,]+/s  confirmed [0-9,]+/s  received [0-9,]+/s  confirm p50 \S+ \ws p99 \S+ \ws max \S+ \ws  delivery p50`)

// C088: a terminal that can do nothing gets lines, one that is not UTF-8 gets ASCII.
func TestC088PoorTerminals(t *testing.T) {
	for environment, panel := range map[string]bool{"TERM=dumb": false, "TERM=": false, "LC_ALL=C": true} {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			p := terminaltest.Open(t, 80, 24)
			cmd, _ := startOn(t, p, []string{environment}, "", slices.Concat(shortRun, []string{"--time", "3", "--capture", filepath.Join(t.TempDir(), "c")})...)
			cmd.Wait()
			p.Await(t, "makes the report")
			text := p.Text()
			if strings.Contains(text, "\x1b") != panel || !panel && !strings.Contains(text, "ended: time limit reached, after 3 s") {
				t.Errorf("a panel: want %v:\n%q", panel, text)
			}
			if !panel && !lineOfLoad.MatchString(text) {
				t.Errorf("no line with rates and latencies:\n%s", text)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) {
				t.Errorf("not ASCII:\n%q", text)
			}
		})
	}
}

// Ctrl-C is the terminal's: once it ends the load, twice the program. The broker here reads nothing for half a minute after
// the first message, so that the first one cannot have ended it.
func TestPanelLeavesCtrlCToTheTerminal(t *testing.T) {
	p := terminaltest.Open(t, 80, 24)
	before := p.Modes(t)
	cmd, _ := startOn(t, p, nil, "", "run", "--queue", "q", "--rate", "1000", "--confirm", "10", "--faults", "stall@1:30s", "--no-analyze",
		"--capture", filepath.Join(t.TempDir(), "c"))
	p.Await(t, "running")
	p.Write([]byte{3})
	p.Await(t, "once more to exit at once")
	p.Await(t, "waiting for confirms")
	p.Write([]byte{3})
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	if p.Modes(t) != before || strings.Contains(p.Text(), "\x1b[?") {
		t.Error("the terminal was left otherwise than it was")
	}
}

// A terminal that disappears interrupts a run, and one that ignores that goes on to its end; either way the capture is whole.
func TestPanelWhoseTerminalDisappears(t *testing.T) {
	for shell, c := range map[string]struct {
		code   int
		reason string
	}{
		"":              {exitInterrupted, "interrupted"},
		`trap "" HUP; `: {exitOK, "time limit reached"},
	} {
		dir := filepath.Join(t.TempDir(), "c")
		p := terminaltest.Open(t, 80, 24)
		cmd, _ := startOn(t, p, nil, shell, "run", "--queue", "q", "--rate", "1000", "--confirm", "100", "--time", "3", "--no-analyze", "--capture", dir)
		p.Await(t, "running")
		p.Slave.Close()
		p.File.Close()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%q: exit %d", shell, code)
		}
		code, out, _ := invoke(t, "analyze", dir)
		if code != exitOK || !strings.Contains(out, "PASS") || !strings.Contains(out, c.reason) {
			t.Errorf("%q: exit %d\n%s", shell, code, out)
		}
	}
}

// Stopped and continued, the panel begins anew below what the shell has written meanwhile.
func TestPanelAfterBeingStopped(t *testing.T) {
	t.Parallel()
	p := terminaltest.Open(t, 80, 40)
	cmd, _ := startOn(t, p, nil, "", "run", "--queue", "q", "--rate", "100", "--confirm", "10", "--time", "4", "--no-analyze", "--capture", filepath.Join(t.TempDir(), "c"))
	p.Await(t, "running")
	cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	p.Slave.WriteString("[1]+ Stopped\r\n$ fg\r\n")
	cmd.Process.Signal(syscall.SIGCONT)
	cmd.Wait()
	p.Await(t, "makes the report")
	screen := terminaltest.NewScreen(80, 60)
	screen.Write(p.Text())
	got := screen.String()
	shell := strings.Index(got, "[1]+ Stopped\n$ fg\n")
	if shell < 0 || !strings.Contains(got[:shell], "running") || strings.Count(got[shell:], "ended") != 1 || strings.Contains(got[shell:], "running") {
		t.Errorf("the screen is\n%s", got)
	}
}

// In the background the terminal is the shell's: nothing is written over.
func TestNoPanelFromTheBackground(t *testing.T) {
	p := terminaltest.Open(t, 80, 24)
	cmd, _ := startOn(t, p, nil, `set -m; "$0" "$@" & wait $!; exit $?;`, slices.Concat(shortRun, []string{"--capture", filepath.Join(t.TempDir(), "c")})...)
	cmd.Wait()
	p.Await(t, "makes the report")
	if code := cmd.ProcessState.ExitCode(); code != exitOK || strings.Contains(p.Text(), "\x1b") {
		t.Errorf("exit %d\n%q", code, p.Text())
	}
}
