package loadcore

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"leveret/capture/event"
)

// outbox is the writing end of one connection. Frames go out through it in two ways:
//
//   - a producer locks it, writes its batch itself, waiting for the socket if it must, and unlocks it: so the frames of one
//     message stay together, and only between the writes of whole batches can anything else go out;
//   - the reader, and whoever else must not wait, posts whole frames (acks, heartbeats, requests). They are written at once
//     where the socket takes them without waiting, else by the next one who unlocks, else by a goroutine of their own.
//
// So a broker that has stopped reading never stops us from reading. What is posted while the socket is full is bounded by
// the posters: acks are withheld from backlogLimit bytes on, and all else is a few frames. A broker that makes them more, as
// every channel.flow wants an answer, and takes none of it, loses the connection at postLimit.
type outbox struct {
	clock *event.Clock
	sock  net.Conn
	try   *tryWriter // nil where the socket cannot be tried without waiting (TLS)
	// patient writes batches; nil where try is.
	patient *patientWriter
	fail    func(error) // what the connection does about a failed write

	mu   sync.Mutex // held by who writes; guards rest
	rest []byte     // posted frames on their way out, from off on; goes before anything else
	off  int

	postMu sync.Mutex // guards post
	post   []byte     // posted frames that nobody has begun to write

	size     atomic.Int64  // bytes of rest and post
	writes   atomic.Uint64 // finished write calls; the monitor sees by it whether a heartbeat is due
	busy     atomic.Int64  // when the write call that is under way began; 0: none is
	flushing atomic.Bool   // a goroutine writes the rest
	flushers sync.WaitGroup
}

// backlogLimit is how many posted bytes may wait before consumers withhold their acks; postLimit is how many may wait at all.
const (
	backlogLimit = 256 << 10
	postLimit    = 2 << 20
)

var errNotTaken = errors.New("the broker takes none of the answers to what it sends, and more than 2 MiB of them wait")

func newOutbox(clock *event.Clock, l *link, fail func(error)) *outbox {
	o := &outbox{clock: clock, sock: l.sock, fail: fail}
	if l.sock == l.tcp {
		o.try = newTryWriter(l.tcp)
		o.patient = newPatientWriter(clock, o.try)
	}
	return o
}

// lock gives the caller the socket, after what was posted before. unlock has to follow.
func (o *outbox) lock() {
	o.mu.Lock()
	if o.size.Load() > 0 {
		o.flush()
	}
}

// tryLock is lock where that needs no waiting, neither for the lock nor for the socket.
func (o *outbox) tryLock() bool {
	if o.try == nil || !o.mu.TryLock() {
		return false
	}
	if o.size.Load() == 0 {
		return true
	}
	if done, err := o.tryFlush(); done && err == nil {
		return true
	}
	o.unlock()
	return false
}

func (o *outbox) unlock() {
	o.mu.Unlock()
	o.kick()
}

// begin and end frame a write call of the holder of the lock; both take the clock.
func (o *outbox) begin(now int64) { o.busy.Store(now) }

func (o *outbox) end() {
	o.busy.Store(0)
	o.writes.Add(1)
}

// send posts whole frames; it copies them and never waits for the socket.
func (o *outbox) send(frames []byte) {
	if o.size.Load() > postLimit { // these are lost with the connection
		o.fail(errNotTaken)
		return
	}
	o.postMu.Lock()
	o.post = append(o.post, frames...)
	o.size.Add(int64(len(frames)))
	o.postMu.Unlock()
	o.kick()
}

func (o *outbox) congested() bool { return o.size.Load() >= backlogLimit }

// kick sees to it that what is posted goes out. Whoever holds the lock kicks after unlocking it, so nothing is forgotten
// where the lock is taken.
func (o *outbox) kick() {
	for o.size.Load() > 0 && o.mu.TryLock() {
		done, err := o.tryFlush()
		o.mu.Unlock()
		if err != nil {
			o.fail(err)
			return
		}
		if !done {
			o.flushInBackground()
			return
		}
	}
}

func (o *outbox) flushInBackground() {
	if !o.flushing.CompareAndSwap(false, true) {
		return
	}
	o.flushers.Add(1)
	go func() {
		defer o.flushers.Done()
		o.lock()
		o.mu.Unlock()
		o.flushing.Store(false)
		o.kick()
	}()
}

// next moves posted frames to rest once that is written. Called with mu held.
func (o *outbox) next() bool {
	if o.off < len(o.rest) {
		return true
	}
	o.postMu.Lock()
	o.rest, o.post = o.post, o.rest[:0]
	o.postMu.Unlock()
	o.off = 0
	return len(o.rest) > 0
}

// tryFlush writes as much as the socket takes without waiting; done is false if something is left. Called with mu held.
func (o *outbox) tryFlush() (done bool, err error) {
	if o.try == nil {
		return false, nil
	}
	for o.next() {
		n, err := o.try.write(o.rest[o.off:])
		o.off += n
		if o.size.Add(-int64(n)); err != nil {
			o.drop()
			return true, err
		}
		if o.off < len(o.rest) {
			return false, nil
		}
		o.writes.Add(1)
	}
	return true, nil
}

// flush writes everything, waiting for the socket. Called with mu held.
func (o *outbox) flush() {
	for o.next() {
		o.begin(o.clock.Now())
		n, err := o.sock.Write(o.rest[o.off:])
		o.end()
		o.off += n
		if o.size.Add(-int64(n)); err != nil {
			o.drop()
			o.fail(err)
			return
		}
	}
}

// drop forgets everything: the connection is broken. Called with mu held.
func (o *outbox) drop() {
	o.postMu.Lock()
	o.post = o.post[:0]
	o.rest, o.off = o.rest[:0], 0
	o.size.Store(0)
	o.postMu.Unlock()
}
