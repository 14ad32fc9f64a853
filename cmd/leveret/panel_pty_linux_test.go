package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal is a terminal of which the test is the screen and the keyboard.
type pseudoTerminal struct {
	*os.File          // the test's end
	slave    *os.File // the program's
	gone     chan struct{}

	mu     sync.Mutex // guards the following
	output bytes.Buffer
}

func openTerminal(t *testing.T, columns, rows uint16) *pseudoTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	raw.Control(func(fd uintptr) { // Fd would make the file a blocking one, which could not be closed while it is read
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudoTerminal{File: master, slave: slave, gone: make(chan struct{})}
	p.resize(t, columns, rows)
	t.Cleanup(func() { slave.Close(); master.Close(); <-p.gone })
	go func() {
		defer close(p.gone)
		b := make([]byte, 64<<10)
		for {
			n, err := master.Read(b)
			p.mu.Lock()
			p.output.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *pseudoTerminal) resize(t *testing.T, columns, rows uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(p.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
}

func (p *pseudoTerminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// await waits until the program has written something.
func (p *pseudoTerminal) await(t *testing.T, what string) {
	t.Helper()
	for range 3000 {
		if strings.Contains(p.text(), what) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q never came:\n%q", what, p.text())
}

func (p *pseudoTerminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// start runs leveret on the terminal; its stdout is not there. The shell's words, if there are any, come before it.
func (p *pseudoTerminal) start(t *testing.T, environment []string, shell string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", shell + ` exec "$0" "$@"`, os.Args[0]}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") || strings.HasPrefix(v, "LC_") }),
		asMain+"=1", "TERM=xterm", "LANG=C.UTF-8")
	cmd.Env = append(cmd.Env, environment...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.slave, &stdout, p.slave
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
	p := openTerminal(t, 80, 24)
	before := p.modes(t)
	cmd, _ := p.start(t, nil, "", append(shortRun, "--capture", filepath.Join(t.TempDir(), "c"))...)
	cmd.Wait()
	p.await(t, "makes the report")
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Fatalf("exit %d\n%s", code, p.text())
	}
	if p.modes(t) != before {
		t.Error("the terminal's modes were changed")
	}
	if strings.Contains(p.text(), "\x1b[?") {
		t.Errorf("a mode was set by an escape sequence:\n%q", p.text())
	}
	screen := newScreen(80, 24)
	screen.write(p.text())
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
	if !colors.MatchString(p.text()) {
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
			p := openTerminal(t, 80, 24)
			cmd, _ := p.start(t, c.environment, "", slices.Concat(shortRun, c.args, []string{"--capture", filepath.Join(t.TempDir(), "c")})...)
			cmd.Wait()
			p.await(t, "makes the report")
			if text := p.text(); colors.MatchString(text) || !strings.Contains(text, "\x1b[J") {
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
			p := openTerminal(t, 80, 24)
			cmd, _ := p.start(t, []string{environment}, "", slices.Concat(shortRun, []string{"--time", "3", "--capture", filepath.Join(t.TempDir(), "c")})...)
			cmd.Wait()
			p.await(t, "makes the report")
			text := p.text()
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
	p := openTerminal(t, 80, 24)
	before := p.modes(t)
	cmd, _ := p.start(t, nil, "", "run", "--queue", "q", "--rate", "1000", "--confirm", "10", "--faults", "stall@1:30s", "--no-analyze",
		"--capture", filepath.Join(t.TempDir(), "c"))
	p.await(t, "running")
	p.Write([]byte{3})
	p.await(t, "once more to exit at once")
	p.await(t, "waiting for confirms")
	p.Write([]byte{3})
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	if p.modes(t) != before || strings.Contains(p.text(), "\x1b[?") {
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
		p := openTerminal(t, 80, 24)
		cmd, _ := p.start(t, nil, shell, "run", "--queue", "q", "--rate", "1000", "--confirm", "100", "--time", "3", "--no-analyze", "--capture", dir)
		p.await(t, "running")
		p.slave.Close()
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
	p := openTerminal(t, 80, 40)
	cmd, _ := p.start(t, nil, "", "run", "--queue", "q", "--rate", "100", "--confirm", "10", "--time", "4", "--no-analyze", "--capture", filepath.Join(t.TempDir(), "c"))
	p.await(t, "running")
	cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	p.slave.WriteString("[1]+ Stopped\r\n$ fg\r\n")
	cmd.Process.Signal(syscall.SIGCONT)
	cmd.Wait()
	p.await(t, "makes the report")
	screen := newScreen(80, 60)
	screen.write(p.text())
	got := screen.String()
	shell := strings.Index(got, "[1]+ Stopped\n$ fg\n")
	if shell < 0 || !strings.Contains(got[:shell], "running") || strings.Count(got[shell:], "ended") != 1 || strings.Contains(got[shell:], "running") {
		t.Errorf("the screen is\n%s", got)
	}
}

// In the background the terminal is the shell's: nothing is written over.
func TestNoPanelFromTheBackground(t *testing.T) {
	p := openTerminal(t, 80, 24)
	cmd, _ := p.start(t, nil, `set -m; "$0" "$@" & wait $!; exit $?;`, slices.Concat(shortRun, []string{"--capture", filepath.Join(t.TempDir(), "c")})...)
	cmd.Wait()
	p.await(t, "makes the report")
	if code := cmd.ProcessState.ExitCode(); code != exitOK || strings.Contains(p.text(), "\x1b") {
		t.Errorf("exit %d\n%q", code, p.text())
	}
}
