//go:build unix

package loadcore

import (
	"net"
	"syscall"
)

// tryWriter writes to a socket without ever waiting for it, which net.Conn cannot.
type tryWriter struct {
	conn syscall.RawConn
	call func(fd uintptr) bool // once, so that a write allocates nothing
	p    []byte
	n    int
	err  error
}

// newTryWriter returns nil if the connection has no descriptor to offer.
func newTryWriter(c net.Conn) *tryWriter {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	w := &tryWriter{conn: raw}
	w.call = w.attempt
	return w
}

// write returns how much the socket took, which may be nothing; that is no error.
func (w *tryWriter) write(p []byte) (int, error) {
	w.p, w.n, w.err = p, 0, nil
	err := w.conn.Write(w.call)
	w.p = nil
	if err == nil {
		err = w.err
	}
	return w.n, err
}

func (w *tryWriter) attempt(fd uintptr) bool {
	for w.n < len(w.p) {
		n, err := writeNow(int(fd), w.p[w.n:])
		if n > 0 {
			w.n += n
		}
		switch err {
		case nil:
		case syscall.EINTR:
		case syscall.EAGAIN:
			return true
		default:
			w.err = err
			return true
		}
	}
	return true
}
