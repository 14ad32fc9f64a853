package loadcore

import (
	"math"
	"sync/atomic"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// producer is one publishing channel: data plane. Its goroutine runs publish; what the reader owns is in confirm.go.
type producer struct {
	eng   *engine
	index uint16
	spec  *manifest.Producer
	ch    *channel // for who drives the producer, and for who reads; for others: current

	enc     *encoder
	win     *window      // nil without confirms
	tx      *transaction // nil without transactions
	timed   bool         // a rate is set
	start   int64        // in closed loop: when sending begins; 0: at once, or it has
	sched   schedule
	taken   schedule // sched before the batch that is being sent
	overdue schedule // ahead of sched where slots are late; see passOverLate
	seq     uint64   // next message
	limit   uint64   // messages in all
	due     []int64
	sends   event.Sends

	current atomicChannel
	sleeper
	sharing
	begun  atomic.Uint64 // messages that a write call was begun for, as numbers go: what the broker can know of
	parked atomic.Bool   // waits for the window, or for channel.flow
	halted atomic.Bool   // its channel or connection is gone, or it is told to stop at once
	recoverable
	paused    atomic.Bool // by channel.flow
	exhausted bool        // it has ended, and there is no further sequence

	confirms confirms
	count    producerCount
	seen     producerSelf
}

// producerCount is read by others while the run goes on. sent, notSent and republished belong to the producer, the others to the
// reader. sent counts messages; those that were sent again are in republished each time, and once in sent.
type producerCount struct {
	sent, notSent, republished  atomic.Int64
	_                           [40]byte
	confirmed, nacked, returned atomic.Int64
	committed, inDoubt          atomic.Int64
	_                           [24]byte
}

// How long after the end of publishing a late producer may still send what was due before the end, so that a run of T
// seconds at N messages a second sends T*N though the system has kept us waiting. With a full window it is the broker that
// is late, and waiting longer would only lengthen the run. What is later than that is recorded as not sent.
const (
	lastCall           = time.Second
	lastCallWindowFull = 50 * time.Millisecond
)

// publish sends until the limit, the end of publishing, or the end of the channel.
func (p *producer) publish() {
	for {
		n := p.take()
		if n == 0 {
			break
		}
		if !p.reserve(n) {
			break
		}
		p.stamp(n)
		if !p.send(n) && !p.cut.Load() {
			break
		}
	}
	p.own.Lock()
	defer p.own.Unlock()
	p.commitTail()
	if p.timed && !p.ended.Load() {
		p.recordNotSent()
	}
	p.exhausted = p.seq > event.MaxSequence
}

// take decides how many messages go out now, waiting as long as there are none; 0 ends the producer. For a timed producer
// their due times are then in sends.Due.
func (p *producer) take() int {
	for {
		n, w, more := p.next()
		if n > 0 || !more {
			return n
		}
		p.sleep(w)
	}
}

// pause is what a producer that has nothing to send now waits for: a time, and a call of awake.
type pause struct {
	until   int64 // math.MaxInt64: only for the call
	forRoom bool  // the window is full, or channel.flow holds the producer back
}

// next decides how many messages go out now, as take does, but does not wait: with none and more, w is to be waited for.
func (p *producer) next() (n int, w pause, more bool) {
	switch {
	case p.halted.Load():
		return p.standAside()
	case p.seq >= p.limit:
		return 0, w, false
	}
	p.resize()
	switch {
	case p.timed:
		return p.nextDue(p.room())
	case p.eng.stopped.Load():
		return 0, w, false
	case p.start > 0:
		if p.eng.clock.Now() < p.start {
			return 0, pause{until: p.start}, true
		}
		p.start = 0
	}
	return p.room(), pause{math.MaxInt64, true}, true
}

// room is how many messages the batch, the limit, and the window or the transaction allow.
func (p *producer) room() int {
	if p.paused.Load() {
		return 0
	}
	n := p.enc.fit(p.seq, int(min(math.MaxInt32, p.limit-p.seq)))
	switch {
	case p.win != nil:
		n = min(n, p.win.free())
	case p.tx != nil:
		n = min(n, p.tx.room())
	}
	return n
}

// nextDue takes what is due, at most room.
func (p *producer) nextDue(room int) (n int, w pause, more bool) {
	end := p.eng.end.Load()
	now := p.eng.clock.Now()
	last := addClock(end, uint64(lastCall))
	if room == 0 {
		last = addClock(end, uint64(lastCallWindowFull))
	}
	if now >= last || p.sched.due >= end && now >= end {
		return 0, w, false
	}
	if room == 0 {
		return 0, pause{last, true}, true
	}
	if p.spec.CatchUp != nil {
		if !p.passOverLate(now, end) {
			return 0, pause{until: now + roomAgain}, true
		}
		if room = int(min(uint64(room), p.limit-p.seq)); room == 0 {
			return 0, w, false
		}
	}
	p.taken, p.due = p.sched, p.due[:0]
	for len(p.due) < room && p.sched.due <= now && p.sched.due < end {
		p.due = append(p.due, p.sched.due)
		p.sched.next()
	}
	p.sends.Due = p.due
	return len(p.due), pause{until: min(p.sched.due, end)}, true
}

// sleep waits for w. What is wanted is looked at once more after parked is set, and the reader looks at parked after it has
// made room: so no wake-up is lost.
func (p *producer) sleep(w pause) {
	p.parked.Store(w.forRoom)
	if !w.forRoom || p.room() == 0 && !p.halted.Load() {
		p.seen.begin(p.waitsFor(w), p.eng.clock.Now())
		if w.until == math.MaxInt64 || p.eng.pacer.waitFor(&p.sleeper, w.until) {
			<-p.wake
		}
		p.seen.end(p.eng.clock.Now())
	}
	p.parked.Store(false)
}

// awake has the producer look again.
func (p *producer) awake() {
	if p.shared != nil {
		p.shared.ready(p)
		return
	}
	wakeUp(p.wake)
}

// tryReserve reports whether there is room in the record for a batch of n messages now, and takes it: first what was reserved
// for messages that were put back.
func (p *producer) tryReserve(n int) bool {
	used := min(n, p.credit)
	if used < n && !p.eng.rec.TryReserve(n-used) {
		return false
	}
	p.credit -= used
	return true
}

// reserve waits for room in the record; false if there is none to be had.
func (p *producer) reserve(n int) bool {
	if p.tryReserve(n) {
		return true
	}
	n = p.spend(n)
	p.seen.begin(waitRecorder, p.eng.clock.Now())
	err := p.eng.rec.Reserve(p.eng.publishing, n)
	p.seen.end(p.eng.clock.Now())
	if err != nil {
		p.eng.recorderRefused()
		if p.timed { // these slots stay unsent
			p.sched = p.taken
		}
	}
	return err == nil
}

// spend is for how many of n messages room has to be reserved, beside what was reserved for those that were put back.
func (p *producer) spend(n int) int {
	used := min(n, p.credit)
	p.credit -= used
	return n - used
}

// send writes a batch of n messages and records it; false if the channel or the connection has failed. The window knows of
// the batch before the write call begins.
func (p *producer) send(n int) bool {
	out := p.ch.conn.out
	p.lock(out)
	if !p.begin(n) {
		return false
	}
	bytes, err := p.write(out, n)
	return p.written(n, bytes, err)
}

// begin begins the write call of a batch of n messages; false if the channel is gone. The outbox is locked, and unlocked then.
func (p *producer) begin(n int) bool {
	out := p.ch.conn.out
	if p.halted.Load() { // nothing may follow the close-ok of a channel, see channel.shut
		out.unlock()
		p.unsent(0, n)
		return false
	}
	if p.win != nil {
		p.register(n)
	}
	p.begun.Store(p.seq + uint64(n))
	p.sends.Sent = p.eng.clock.Now()
	out.begin(p.sends.Sent)
	return true
}

// written ends the write call of a batch of n messages, and records it. The outbox is unlocked.
func (p *producer) written(n, bytes int, err error) bool {
	out := p.ch.conn.out
	out.end()
	p.sends.Written = p.eng.clock.Now()
	p.seen.end(p.sends.Written)
	out.unlock()
	if err != nil {
		// What the socket has not even begun to take was not sent.
		begun := p.enc.begun(bytes)
		if p.win != nil {
			p.win.withdraw(n - begun)
		}
		p.recordBegun(begun, n, bytes)
		p.ch.conn.awaitLastWords()
		p.ch.conn.fail(err)
		<-p.ch.gone // it is known what becomes of the producer
		p.unsent(begun, n-begun)
		return false
	}
	p.record(n, 0, bytes)
	if p.tx != nil && (p.tx.room() == 0 || p.seq >= p.limit) {
		p.commit()
	}
	return true
}

// recordBegun records the first messages of a batch whose write call has failed, and leaves the columns of the others.
func (p *producer) recordBegun(begun, n, bytes int) {
	rest := p.sends
	p.record(begun, 0, bytes)
	p.sends.Due, p.sends.Sizes, p.sends.Routes = from(rest.Due, begun), from(rest.Sizes, begun), from(rest.Routes, begun)
}

// unsent says what becomes of the last n messages of a batch that could not be sent, after begun that could: where the producer
// goes on later they are sent then, else they are recorded as not sent.
func (p *producer) unsent(begun, n int) {
	if p.cut.Load() {
		p.putBack(begun, n)
	} else {
		p.record(0, n, 0)
	}
}

// record records the messages of a batch: those that were sent, and then those that could not be.
func (p *producer) record(sent, unsent, bytes int) {
	s := &p.sends
	due, sizes, routes := s.Due, s.Sizes, s.Routes
	if sent > 0 {
		s.Due, s.Sizes, s.Routes = upTo(due, sent), upTo(sizes, sent), upTo(routes, sent)
		s.First, s.N, s.Bytes = p.seq, sent, bytes
		p.eng.rec.Sends(s)
		if p.tx != nil {
			p.tx.sent(p.seq, sent)
			if p.eng.plan.Republish {
				p.tx.dues = append(p.tx.dues, s.Due...)
			}
		}
		p.seq += uint64(sent)
		if p.resends {
			p.count.republished.Store(p.count.republished.Load() + int64(sent))
		} else {
			p.count.sent.Store(p.count.sent.Load() + int64(sent))
		}
		p.seen.wrote(s, p.resends)
	}
	if unsent > 0 {
		s.Due, s.Sizes, s.Routes = from(due, sent), from(sizes, sent), from(routes, sent)
		s.First, s.N, s.Bytes, s.Sent, s.Written = p.seq, unsent, 0, event.None, event.None
		p.eng.rec.Sends(s)
		p.seq += uint64(unsent)
		if p.win != nil {
			p.win.jump(p.seq) // a number without a tag
		}
		p.count.notSent.Store(p.count.notSent.Load() + int64(unsent))
	}
}

// upTo and from are the parts of a column of the record; nil stays nil.
func upTo[T any](column []T, n int) []T {
	if column == nil {
		return nil
	}
	return column[:n]
}

func from[T any](column []T, n int) []T {
	if column == nil {
		return nil
	}
	return column[n:]
}

// halt stops the producer as soon as the write call that may be under way returns.
func (p *producer) halt() {
	p.ended.Store(true)
	p.cut.Store(false)
	p.halted.Store(true)
	p.awake()
}

// pause is channel.flow from the broker.
func (p *producer) pause(on bool) {
	p.paused.Store(on)
	if !on {
		p.awake()
	}
}
