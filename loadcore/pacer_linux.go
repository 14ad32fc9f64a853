package loadcore

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// alarm is a timerfd: the runtime's poller waits for it as for a socket, and the kernel's high resolution timer ends the wait.
type alarm struct {
	fd   int
	file *os.File
	buf  []byte
}

func newAlarm() (alarm, error) {
	fd, err := newTimerFD()
	if err != nil {
		return alarm{}, err
	}
	return alarm{fd: fd, file: os.NewFile(uintptr(fd), "timerfd"), buf: make([]byte, 8)}, nil
}

// set lets wait return in ns nanoseconds (at least 1), and forgets what was set before.
func (a *alarm) set(ns int64) { setTimerFD(a.fd, ns) }

// wait returns when the alarm goes off; false once it is closed.
func (a *alarm) wait() bool {
	_, err := a.file.Read(a.buf)
	return err == nil
}

func (a *alarm) close() { a.file.Close() }

func newTimerFD() (int, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("timer for due times: timerfd_create: %w", err)
	}
	return fd, nil
}

// setTimerFD has the timer go off once in ns nanoseconds; 0: not at all.
func setTimerFD(fd int, ns int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}
	// It fails only for a bad descriptor or time, neither of which can be.
	_ = unix.TimerfdSettime(fd, 0, &spec, nil)
}
