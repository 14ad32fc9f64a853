package loadcore

import (
	"sync/atomic"

	"leveret/capture/event"
)

// waitFor is what a producer can wait for.
type waitFor int32

const (
	waitNothing waitFor = iota
	waitWindow
	waitSocket
	waitRecorder
	waitSchedule
	waitNoMore // it has ended
	waitKinds
)

// waits is the account of what one producer has waited for. Whoever drives the producer writes it, the sampler reads it at
// any time, in the middle of a wait too.
type waits struct {
	what  atomic.Int32 // waitFor of the wait under way
	since atomic.Int64 // when that began
	total [waitKinds]atomic.Int64
}

// begin starts a wait; one under way goes on as the new one.
func (w *waits) begin(what waitFor, now int64) {
	w.end(now)
	w.since.Store(now)
	w.what.Store(int32(what))
}

// end ends the wait that is under way, if there is one.
func (w *waits) end(now int64) {
	if what := w.what.Load(); what != int32(waitNothing) {
		w.total[what].Store(w.total[what].Load() + now - w.since.Load())
		w.what.Store(int32(waitNothing))
	}
}

// read gives what was waited for up to now, in ns by kind. A wait that ends meanwhile may be missing: it is there the next
// time. So a figure can be less than the one before, and then nothing was added.
func (w *waits) read(now int64) (ns [waitKinds]int64) {
	for k := range ns {
		ns[k] = w.total[k].Load()
	}
	if what := w.what.Load(); what != int32(waitNothing) {
		since := w.since.Load()
		if w.what.Load() == what {
			ns[what] += max(now-since, 0)
		}
	}
	return ns
}

// producerSelf is what the sampler reads of a producer; all of it is written by who drives the producer.
type producerSelf struct {
	_ [64]byte // on cache lines of its own
	waits
	writes       atomic.Int64
	largest      atomic.Int64 // messages in the largest write since the sampler looked
	lateMessages atomic.Int64
	lateSum      atomic.Int64
	lateMax      atomic.Int64 // since the sampler looked; lateNone: nothing late
	_            [64]byte
}

// lateNone in lateMax: no message with a due time.
const lateNone = event.None

// wrote counts one batch that was written; again: of messages that were sent before, and were late or not then.
func (s *producerSelf) wrote(b *event.Sends, again bool) {
	s.writes.Store(s.writes.Load() + 1)
	if n := int64(b.N); n > s.largest.Load() {
		s.largest.Store(n)
	}
	if b.Due == nil || again {
		return
	}
	sum := int64(0)
	for _, due := range b.Due {
		sum += b.Sent - due
	}
	s.lateMessages.Store(s.lateMessages.Load() + int64(b.N))
	s.lateSum.Store(s.lateSum.Load() + sum)
	if late := b.Sent - b.Due[0]; late > s.lateMax.Load() { // the first one is due first
		s.lateMax.Store(late)
	}
}

// waitsFor tells what a pause is.
func (p *producer) waitsFor(w pause) waitFor {
	switch {
	case p.cut.Load() || w.forRoom && p.paused.Load():
		return waitSocket
	case !w.forRoom:
		return waitSchedule
	}
	return waitWindow
}

// lock is the outbox's lock for a producer. Others that hold it, and frames that were posted before, keep the producer
// from the socket.
func (p *producer) lock(out *outbox) {
	if out.mu.TryLock() {
		if out.size.Load() == 0 {
			return
		}
		out.mu.Unlock()
	}
	p.seen.begin(waitSocket, p.eng.clock.Now())
	out.lock()
	p.seen.end(p.eng.clock.Now())
}

// write is the write call of a batch; written ends the wait that it may have been. Where the socket lets us try, only the
// time is a wait in which it took nothing, else the whole call.
func (p *producer) write(out *outbox, n int) (int, error) {
	if frames := p.enc.frames(n); frames != nil && out.patient != nil {
		return out.patient.write(frames, &p.seen.waits)
	}
	p.seen.begin(waitSocket, p.sends.Sent)
	return p.enc.write(out.sock, n)
}
