package loadcore

import (
	"container/heap"
	"math"
	"sync/atomic"

	"leveret/capture/event"
)

// What the shared drive does for a producer: data plane. A turn is what publish does in a goroutine of its own, as far as it
// goes without waiting.

// turnBatches is how many batches a producer may send in one turn.
const turnBatches = 8

// sharing is what a producer is to its scheduler. All but the first two and queued belong to the scheduler's goroutine, and to
// the goroutine that the producer is lent to for as long as it is.
type sharing struct {
	shared *scheduler  // nil: the producer has a goroutine of its own
	queued atomic.Bool // on the list of those who have called
	away   atomic.Bool // lent to a goroutine

	again     bool // on the list of those who have more to send
	refused   bool // by the recorder: it sends no more
	accounted bool // what could not be sent is recorded
	over      bool
}

// turn lets a producer send what can go out now, and notes when it is to have the next one.
func (s *scheduler) turn(p *producer) {
	if p.over || p.away.Load() || s.eng.barrier.Load() == 0 {
		return
	}
	p.seen.end(s.eng.clock.Now())
	for range turnBatches {
		if p.refused {
			s.finish(p)
			return
		}
		n, w, more := p.next()
		if n == 0 {
			if !more {
				s.finish(p)
				return
			}
			if s.lay(p, w) {
				return
			}
			continue
		}
		if !s.send(p, n) {
			return
		}
	}
	if !p.again {
		p.again = true
		s.again = append(s.again, p)
	}
}

// lay puts a producer to sleep; false if there is something to do after all. See producer.sleep.
func (s *scheduler) lay(p *producer, w pause) bool {
	p.parked.Store(w.forRoom)
	if w.forRoom && (p.room() > 0 || p.halted.Load()) {
		p.parked.Store(false)
		return false
	}
	p.seen.begin(p.waitsFor(w), s.eng.clock.Now())
	switch {
	case w.until == math.MaxInt64:
		s.forget(p)
	default:
		s.sleeping.set(&p.sleeper, w.until)
	}
	return true
}

func (s *scheduler) forget(p *producer) {
	if p.sleeper.index >= 0 {
		heap.Remove(&s.sleeping, p.sleeper.index)
	}
}

// send sends a batch of n messages; false if the producer is lent to a goroutine that waits until it has gone out.
func (s *scheduler) send(p *producer, n int) bool {
	if !p.tryReserve(n) {
		s.lend(p, func() {
			if !p.reserve(n) {
				p.refused = true
				return
			}
			p.stamp(n)
			p.send(n)
		})
		return false
	}
	p.stamp(n)
	out := p.ch.conn.out
	if p.enc.frames(n) == nil || !out.tryLock() {
		s.lend(p, func() { p.send(n) })
		return false
	}
	if !p.begin(n) {
		return true
	}
	frames := p.enc.frames(n)
	k, err := out.try.write(frames)
	if err == nil && k < len(frames) { // the socket is full: the lock stays with this batch
		p.seen.begin(waitSocket, p.sends.Sent)
		s.lend(p, func() {
			m, err := out.sock.Write(frames[k:])
			p.written(n, k+m, err)
		})
		return false
	}
	p.written(n, k, err)
	return true
}

// lend has a goroutine do what has to wait. The producer has no turn until that is done.
func (s *scheduler) lend(p *producer, do func()) {
	s.forget(p)
	p.away.Store(true)
	s.helpers.Go(func() {
		do()
		p.away.Store(false)
		s.ready(p)
	})
}

// finish ends a producer, once what it could not send is recorded.
func (s *scheduler) finish(p *producer) {
	s.forget(p)
	if !p.own.TryLock() { // its turn comes again when it is mended
		s.lend(p, func() {
			p.own.Lock()
			//lint:ignore SA2001 it only waits
			p.own.Unlock()
		})
		return
	}
	defer p.own.Unlock()
	p.commitTail()
	if p.timed && !p.ended.Load() && !p.accounted && p.sched.due < s.eng.end.Load() && p.seq < p.limit {
		p.accounted = true
		s.lend(p, func() {
			p.own.Lock()
			defer p.own.Unlock()
			p.recordNotSent()
		})
		return
	}
	p.over, p.exhausted = true, p.seq > event.MaxSequence
	s.eng.published(p)
}
