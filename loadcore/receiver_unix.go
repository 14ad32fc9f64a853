//go:build unix

package loadcore

import (
	"io"
	"syscall"
)

// receiver reads from sockets for one reader of the shared drive. wait tells whether it waits until something comes; the
// buffer is asked for when a read is attempted, so that nobody waits with a buffer in hand.
type receiver struct {
	wait   bool
	borrow func() []byte // where to read to
	giveUp func()        // the buffer is not needed after all

	n    int
	err  error
	call func(fd uintptr) bool // once, so that a read allocates nothing
}

// receive reads what is there; 0 and no error: nothing is.
func (r *receiver) receive(c *conn) (int, error) {
	if r.call == nil {
		r.call = r.attempt
	}
	r.n, r.err = 0, nil
	if err := c.raw.Read(r.call); err != nil {
		return 0, err
	}
	return r.n, r.err
}

func (r *receiver) attempt(fd uintptr) bool {
	p := r.borrow()
	for {
		n, err := readNow(int(fd), p)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			r.giveUp()
			return !r.wait
		case err != nil:
			r.err = err
		case n == 0:
			r.err = io.EOF
		default:
			r.n = n
			return true
		}
		r.giveUp()
		return true
	}
}

// canWait reports whether the connection can be waited for without a buffer. TLS keeps to itself what it has read.
func (c *conn) canWait() bool {
	sc, ok := c.link.tcp.(syscall.Conn)
	if !ok || c.link.sock != c.link.tcp {
		return false
	}
	raw, err := sc.SyscallConn()
	c.raw = raw
	return err == nil
}
