package loadcore

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// alarm is a timerfd: the runtime's poller waits for it as for a socket, and the kernel's high resolution timer ends the wait.
// Its calls don't wait themselves and are kept from the scheduler, for the reason that readNow gives.
type alarm struct {
	fd   int
	file *os.File
	raw  syscall.RawConn
	call func(fd uintptr) bool // once, so that a wait allocates nothing
}

func newAlarm() (alarm, error) {
	fd, err := newTimerFD()
	if err != nil {
		return alarm{}, err
	}
	a := alarm{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	if a.raw, err = a.file.SyscallConn(); err != nil {
		a.file.Close()
		return alarm{}, fmt.Errorf("timer for due times: %w", err)
	}
	buf := make([]byte, 8)
	a.call = func(fd uintptr) bool {
		_, err := readNow(int(fd), buf)
		return err != syscall.EAGAIN
	}
	return a, nil
}

// set lets wait return in ns nanoseconds (at least 1), and forgets what was set before.
func (a *alarm) set(ns int64) { setTimerFD(a.fd, ns) }

// wait returns when the alarm goes off; false once it is closed.
func (a *alarm) wait() bool { return a.raw.Read(a.call) == nil }

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
	syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}
