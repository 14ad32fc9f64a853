package loadcore

import (
	"container/heap"
	"errors"
	"os"
	"sync"
	"time"

	"leveret/capture/event"
)

// The reading end of a connection of the shared drive: data plane. It waits without a buffer and borrows one when something
// has come; what is cut off at the end of a read is kept in a buffer of its own size. There are two ways to wait: the
// scheduler does, for all its connections at once (poller), or a small goroutine, where the system has no such thing.

// sharedReadBuffer is how much one read of the shared drive takes, in bytes. What is cut off of a read before goes in front.
const sharedReadBuffer = 64 << 10

// sharedOwnBuffer is the read buffer of a connection that has one of its own with the shared drive, too, as TLS keeps to
// itself whether there is something to read. It grows where the connection turns out to be busy.
const sharedOwnBuffer = 4 << 10

// keepLimit is the largest buffer that a connection keeps for the next time that something is cut off.
const keepLimit = 512

// sharedBuffers are the buffers of the small goroutines.
var sharedBuffers = sync.Pool{New: func() any { return new([sharedReadBuffer]byte) }}

// beginShared starts reading a connection of the shared drive.
func (c *conn) beginShared() {
	c.in.buf, c.in.end = c.link.ahead, len(c.link.ahead)
	c.link.ahead = nil
	c.reading.Store(true)
	c.polled = !c.eng.plan.noPolling && c.shared.poll.suits(c)
	c.opened.Store(true)
	switch {
	case c.polled:
		c.shared.poke(c) // what touches the connection from here on is the scheduler's
	case c.canWait():
		go c.readWaiting()
	default:
		c.in.buf = append(make([]byte, 0, sharedOwnBuffer), c.in.buf...)[:sharedOwnBuffer]
		go c.readLoop()
	}
}

// watch has the poller wait for the connection, and handles what came behind the handshake.
func (s *scheduler) watch(c *conn) {
	c.watched = true
	err := s.poll.add(c)
	if err == nil && c.in.end > 0 {
		ahead := c.in.buf
		c.in.end = 0
		err = c.took(ahead, len(ahead))
	}
	if err != nil {
		c.readEnded(err)
		s.retire(c)
	}
}

// readable reads once and handles what has come. Of the scheduler that owns the connection.
func (s *scheduler) readable(c *conn) {
	if c.retired {
		return
	}
	s.reading = c
	n, err := s.receiver.receive(c)
	if n > 0 {
		err = c.took(s.buf, n)
	}
	if err != nil {
		c.readEnded(err)
		s.retire(c)
	} else if c.throttle != nil && n > 0 {
		c.throttle.took(n, c.at)
		s.throttle(c)
	}
}

// room is where the scheduler reads to: behind what the connection has kept.
func (s *scheduler) room() []byte {
	in := &s.reading.in
	kept := in.end - in.start
	if want := max(in.need, kept+sharedReadBuffer); len(s.buf) < want {
		s.buf = make([]byte, want)
	}
	return s.reading.throttle.limit(s.buf[copy(s.buf, in.buf[in.start:in.end]):])
}

// took handles what one read call has put into buf: n bytes, behind those that the connection has kept.
func (c *conn) took(buf []byte, n int) error {
	in := &c.in
	in.start, in.end, in.buf = 0, in.end-in.start+n, buf
	c.reads.Add(1)
	c.seen.bytes.add(int64(n))
	c.at = c.eng.clock.Now()
	err := c.take()
	if unasked := c.finishRead(); err == nil {
		err = unasked
	}
	in.keep()
	return err
}

// keep moves what is not taken yet out of the borrowed buffer.
func (in *inbound) keep() {
	rest := in.buf[in.start:in.end]
	if len(rest) == 0 && cap(in.kept) > keepLimit {
		in.kept = nil
	}
	in.kept = append(in.kept[:0], rest...)
	in.buf, in.start, in.end = in.kept, 0, len(rest)
}

// attend does what the connection was poked for. Of the scheduler that owns it.
func (s *scheduler) attend(c *conn) {
	if c.retired {
		return
	}
	select {
	case <-c.dead:
		s.retire(c)
		return
	default:
	}
	if !c.watched {
		s.watch(c)
	}
	if c.chores.Swap(false) {
		c.chore()
		if c.throttle != nil {
			s.throttle(c)
		}
	}
}

// retire ends the reading of a connection. What the socket still had to say is not wanted.
func (s *scheduler) retire(c *conn) {
	if !c.retired {
		c.retired = true
		if c.sleeper.index >= 0 {
			heap.Remove(&s.sleeping, c.sleeper.index)
		}
		c.in = inbound{}
		c.readers.Done()
	}
}

// holdBack stops reading connections whose consumers ack automatically while deliveries outrun the disk: then only the
// socket's buffer can hold the broker back.
func (s *scheduler) holdBack(c *conn) {
	if !c.held {
		c.held, c.heldSince = true, c.at
		c.reading.Store(false)
		s.held = append(s.held, c)
		s.poll.hold(c, true)
	}
}

// letGo reads them again once the recorder has caught up, or has failed.
func (s *scheduler) letGo() {
	if rec := s.eng.rec; rec.Congested() && rec.Err() == nil {
		return
	}
	now := s.eng.clock.Now()
	for _, c := range s.held {
		c.held = false
		c.seen.paused.add(now - c.heldSince)
		if c.throttle == nil || !c.throttle.held {
			c.reading.Store(true)
			s.poll.hold(c, false)
		}
	}
	clear(s.held)
	s.held = s.held[:0]
}

// readWaiting is the small goroutine of a connection that the scheduler cannot wait for.
func (c *conn) readWaiting() {
	defer c.readers.Done()
	var buf *[sharedReadBuffer]byte
	var whole []byte // buf, or another where a frame is longer
	r := receiver{wait: true}
	r.borrow = func() []byte {
		c.reading.Store(false)
		buf = sharedBuffers.Get().(*[sharedReadBuffer]byte)
		whole = buf[:]
		if want := max(c.in.need, c.in.end-c.in.start+1); want > len(whole) {
			whole = make([]byte, want)
		}
		return c.throttle.limit(whole[copy(whole, c.in.buf[c.in.start:c.in.end]):])
	}
	r.giveUp = func() {
		sharedBuffers.Put(buf)
		buf, whole = nil, nil
		c.reading.Store(true)
	}
	for {
		n, err := r.receive(c)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // poked, see readLoop
			c.link.sock.SetReadDeadline(time.Time{})
			if c.chores.Swap(false) {
				c.chore()
			}
			continue
		case n > 0:
			err = c.took(whole, n)
			r.giveUp()
			if c.throttle != nil && err == nil {
				c.reading.Store(false)
				c.awaitWork(n)
				c.reading.Store(true)
			}
		}
		if err != nil {
			c.readEnded(err)
			return
		}
	}
}

// borrowRows gives a consumer of a connection that the scheduler reads room for the rows of one read call.
func (s *scheduler) borrowRows() []event.Delivery {
	if n := len(s.rows); n > 0 {
		rows := s.rows[n-1]
		s.rows = s.rows[:n-1]
		return rows
	}
	return make([]event.Delivery, 0, 64)
}

func (s *scheduler) returnRows(rows []event.Delivery) { s.rows = append(s.rows, rows[:0]) }
