package terminaltest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is one of which the test is the screen and the keyboard.
type Terminal struct {
	*os.File          // the test's end
	Slave    *os.File // the program's
	gone     chan struct{}

	mu     sync.Mutex // guards the following
	output bytes.Buffer
}

// Open makes a terminal of so many columns and rows, which is closed with the test.
func Open(t *testing.T, columns, rows uint16) *Terminal {
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
	p := &Terminal{File: master, Slave: slave, gone: make(chan struct{})}
	p.Resize(t, columns, rows)
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

// Resize changes its size, as a window does.
func (p *Terminal) Resize(t *testing.T, columns, rows uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(p.Slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
}

// Text is everything that was written to it so far.
func (p *Terminal) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Await waits until the program has written something, half a minute at most.
func (p *Terminal) Await(t *testing.T, what string) {
	t.Helper()
	for range 3000 {
		if strings.Contains(p.Text(), what) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q never came:\n%q", what, p.Text())
}

// Modes are how it treats what goes through it.
func (p *Terminal) Modes(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.Slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}
