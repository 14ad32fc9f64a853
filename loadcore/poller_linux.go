package loadcore

import (
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// poller waits for the sockets of one scheduler, for a time and for a call, all of them in one epoll set. The set itself is a
// file that the runtime's poller waits for, so that a scheduler that waits takes no thread.
type poller struct {
	epoll, timer, event int
	file                *os.File // of epoll; closing it wakes nobody: wake first
	raw                 syscall.RawConn
	look                func(fd uintptr) bool // once, so that waiting allocates nothing
	events              [256]unix.EpollEvent
	n                   int
	err                 error
	armed               int64 // what timer is set to; math.MaxInt64: nothing
}

// What the set knows timer and event by; a socket is known by the number of its connection.
const notSocket = -1

func newPoller() (*poller, error) {
	p := &poller{epoll: -1, timer: -1, event: -1, armed: math.MaxInt64}
	if err := p.open(); err != nil {
		p.closeFiles()
		return nil, fmt.Errorf("shared drive: %w", err)
	}
	p.look = p.attempt
	return p, nil
}

func (p *poller) open() (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if p.timer, err = newTimerFD(); err != nil {
		return err
	}
	if p.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	// Edge-triggered: neither of the two has to be read to be quiet again.
	for _, fd := range []int{p.timer, p.event} {
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: notSocket}
		if err = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return os.NewSyscallError("epoll_ctl", err)
		}
	}
	if err = unix.SetNonblock(p.epoll, true); err != nil { // what os.NewFile takes as a file to be polled
		return os.NewSyscallError("fcntl", err)
	}
	p.file = os.NewFile(uintptr(p.epoll), "epoll")
	p.raw, err = p.file.SyscallConn()
	return err
}

// suits reports whether add can be called for the connection.
func (p *poller) suits(c *conn) bool { return c.canWait() }

// add has wait report the connection when there is something to read, until its socket is closed.
func (p *poller) add(c *conn) error {
	return p.control(c, unix.EPOLL_CTL_ADD, unix.EPOLLIN)
}

// hold has wait leave the connection out, or report it again.
func (p *poller) hold(c *conn, on bool) {
	events := uint32(unix.EPOLLIN)
	if on {
		events = 0
	}
	// It fails for a closed socket, which has left the set by itself.
	_ = p.control(c, unix.EPOLL_CTL_MOD, events)
}

func (p *poller) control(c *conn, op int, events uint32) error {
	var failed error
	err := c.raw.Control(func(fd uintptr) {
		ev := unix.EpollEvent{Events: events, Fd: int32(c.number)}
		failed = os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, op, int(fd), &ev))
	})
	if err == nil {
		err = failed
	}
	return err
}

// wait returns when there is something to read (n connections, see ready), when until has come, or after wake. now is the
// time on the clock that until is on.
func (p *poller) wait(now, until int64) (n int, err error) {
	if until <= now {
		p.attempt(uintptr(p.epoll))
		return p.n, p.err
	}
	if until != p.armed {
		p.armed = until
		ns := int64(0) // disarms
		if until != math.MaxInt64 {
			ns = until - now
		}
		setTimerFD(p.timer, ns)
	}
	if err := p.raw.Read(p.look); err != nil {
		return 0, err
	}
	return p.n, p.err
}

// ready is the i-th of what wait has found: a connection's number, or notSocket.
func (p *poller) ready(i int) int { return int(p.events[i].Fd) }

func (p *poller) attempt(uintptr) bool {
	p.n, p.err = 0, nil
	for {
		n, err := unix.EpollWait(p.epoll, p.events[:], 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			p.err = os.NewSyscallError("epoll_wait", err)
		default:
			p.n = n
		}
		break
	}
	for i := range p.n {
		if p.events[i].Fd == notSocket {
			p.armed = math.MaxInt64 - 1 // whichever it was: the timer is set anew
		}
	}
	return p.n > 0 || p.err != nil
}

// wake ends the wait that is under way, or the next one.
func (p *poller) wake() {
	one := [8]byte{1}
	// It fails only where the counter is full, and then the wait ends anyway.
	_, _ = unix.Write(p.event, one[:])
}

func (p *poller) close() { p.closeFiles() }

func (p *poller) closeFiles() {
	if p.file != nil {
		p.file.Close()
	} else if p.epoll >= 0 {
		unix.Close(p.epoll)
	}
	for _, fd := range []int{p.timer, p.event} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
