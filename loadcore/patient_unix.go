//go:build unix

package loadcore

import (
	"syscall"

	"leveret/capture/event"
)

// patientWriter writes to a socket until all is written, as net.Conn does, and tells how long the socket took nothing. Its
// user holds the outbox.
type patientWriter struct {
	clock  *event.Clock
	conn   syscall.RawConn
	call   func(fd uintptr) bool // once, so that a write allocates nothing
	p      []byte
	n      int
	err    error
	waits  *waits
	waited bool
}

// newPatientWriter is nil without a tryWriter.
func newPatientWriter(clock *event.Clock, try *tryWriter) *patientWriter {
	if try == nil {
		return nil
	}
	w := &patientWriter{clock: clock, conn: try.conn}
	w.call = w.attempt
	return w
}

// write returns how much was written; less than all only with an error. What it waits is on the account of the given waits.
func (w *patientWriter) write(p []byte, on *waits) (int, error) {
	w.p, w.n, w.err, w.waits, w.waited = p, 0, nil, on, false
	err := w.conn.Write(w.call)
	w.p, w.waits = nil, nil
	if w.waited {
		on.end(w.clock.Now())
	}
	if err == nil {
		err = w.err
	}
	return w.n, err
}

// attempt is called when the socket may take something, and again when it does after it has returned false.
func (w *patientWriter) attempt(fd uintptr) bool {
	if w.waited {
		w.waited = false
		w.waits.end(w.clock.Now())
	}
	for w.n < len(w.p) {
		n, err := writeNow(int(fd), w.p[w.n:])
		if n > 0 {
			w.n += n
		}
		switch err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			w.waited = true
			w.waits.begin(waitSocket, w.clock.Now())
			return false
		default:
			w.err = err
			return true
		}
	}
	return true
}
