package broker

import (
	"sync"
	"time"

	"leveret/loadcore/wire"
)

// queue is a classic queue in memory. Messages that are ready wait in it in the order of their seq; as soon as a consumer
// has room they move to that consumer's inbox, turn by turn, from where the consumer's own connection writes them out.
//
// Locks: a connection's lock comes before a vhost's, a vhost's before a queue's. Whoever holds a queue's lock may wake
// connections, but takes no other lock than conn.events.
type queue struct {
	name      string
	id        uint64 // in order of declaration
	vhost     *vhost
	mem       *memory
	clock     clock
	durable   bool
	exclusive bool
	owner     *conn // exclusive: the declaring connection
	autoDel   bool
	args      wire.Table // as declared

	maxLength     int // ready messages; -1: no bound
	rejectPublish bool

	bound map[bindingRef]struct{} // guarded by vhost.mu

	mu           sync.Mutex // guards the following
	deleted      bool
	ready        entries
	lastSeq      uint64
	unacked      int // with consumers that acknowledge, and after basic.get
	consumers    []*consumer
	turn         int // index of the consumer whose turn it is
	hadConsumers bool
	exclusiveTo  *consumer
	held         []*heldEntry // fault reorder
	timer        *time.Timer  // fault delay: when the first message is due
}

// consumer is one basic.consume.
type consumer struct {
	tag       string
	ch        *channel
	queue     *queue
	noAck     bool
	exclusive bool
	prefetch  int // messages unacked at a time; 0: no limit

	gone    bool    // cancelled, guarded by the connection's lock
	scratch []entry // inbox being written, guarded by the connection's lock

	// Guarded by queue.mu.
	unacked    int // in the inbox or delivered, and not settled; stays 0 with automatic acks
	inbox      []entry
	inboxBytes int
	slack      slack
	flagged    bool // the connection knows that the inbox is not empty
}

// The bounds of an inbox: enough for the connection to have its next write ready, little enough that messages are counted
// as ready and can go to another consumer while this one's connection does not keep up.
const (
	inboxMessages = 4096
	inboxBytes    = 256 << 10
	keepInbox     = 256 // messages that an inbox keeps room for when there is little to do
)

// enqueue adds messages at the end, in order, and hands out what it can. The references of entries that no longer find
// a place are given back.
func (q *queue) enqueue(batch []entry) {
	q.mu.Lock()
	if q.deleted {
		q.mu.Unlock()
		releaseAll(q.mem, batch)
		return
	}
	if q.maxLength >= 0 {
		for i := range batch {
			q.push(batch[i])
			q.dispatch()
			q.dropHead()
		}
	} else {
		for i := range batch {
			q.push(batch[i])
		}
		q.dispatch()
	}
	q.mu.Unlock()
}

// enqueueFrom adds one message of the given channel. It reports whether the queue took it; if not, it is over its length
// bound and overflows by reject-publish. A deleted queue takes and forgets.
func (q *queue) enqueueFrom(ch *channel, e entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.deleted:
		e.slab.release(q.mem, 1)
		return true
	case q.rejectPublish && q.maxLength >= 0 && q.ready.n >= q.maxLength:
		e.slab.release(q.mem, 1)
		return false
	}
	q.push(e)
	if len(q.held) > 0 {
		q.releaseHeld(ch)
	}
	q.dispatch()
	q.dropHead()
	return true
}

func (q *queue) push(e entry) {
	q.lastSeq++
	e.seq = q.lastSeq
	q.ready.pushBack(e)
}

// dropHead keeps the length bound.
func (q *queue) dropHead() {
	if q.maxLength < 0 || q.rejectPublish {
		return
	}
	for q.ready.n > q.maxLength {
		e := q.ready.popFront()
		e.slab.release(q.mem, 1)
	}
}

// dispatch moves ready messages to the inboxes of consumers that have room, turn by turn.
func (q *queue) dispatch() {
	for q.ready.n > 0 {
		c, room := q.nextConsumer()
		if c == nil {
			return
		}
		given := q.give(c, min(room, q.ready.n))
		if !c.noAck {
			// nextConsumer has reserved room in the channel's count already.
			c.ch.inFlight.Add(int32(given - room))
			c.unacked += given
			q.unacked += given
		}
		if given == 0 {
			return // the first message is not due yet
		}
		if !c.flagged {
			c.flagged = true
			c.ch.conn.deliverable(c)
		}
	}
}

// nextConsumer returns the next one in turn that has room, and how many messages it can take at once: where there is
// only one consumer, as many as fit, else one. For consumers that acknowledge, so many are reserved in the channel's count.
func (q *queue) nextConsumer() (*consumer, int) {
	n := len(q.consumers)
	for i := range n {
		at := q.turn + i
		if at >= n {
			at -= n
		}
		c := q.consumers[at]
		room := c.room()
		if room <= 0 {
			continue
		}
		if n > 1 {
			room = 1
		}
		if !c.noAck {
			if room = c.ch.reserve(room); room == 0 {
				continue
			}
		}
		if q.turn = at + 1; q.turn >= n {
			q.turn = 0
		}
		return c, room
	}
	return nil, 0
}

func (c *consumer) room() int {
	if c.inboxBytes >= inboxBytes {
		return 0
	}
	room := inboxMessages - len(c.inbox)
	if !c.noAck && c.prefetch > 0 {
		room = min(room, c.prefetch-c.unacked)
	}
	return room
}

// give moves up to n ready messages to the inbox and returns how many: it stops at one that is not due yet, and when
// the inbox holds enough bytes.
func (q *queue) give(c *consumer, n int) int {
	for i := range n {
		e := q.ready.front()
		if e.flags&flagDelayed != 0 && !q.isDue(e) {
			return i
		}
		c.inboxBytes += e.slab.size(e.idx)
		c.inbox = append(c.inbox, q.ready.popFront())
		if c.inboxBytes >= inboxBytes {
			return i + 1
		}
	}
	return n
}

// slack counts in a row the uses of a buffer that needed little of it. One small batch between large ones is no reason to
// give the room up and grow it anew.
type slack uint8

const slackMost = 16

// tooLarge tells, at each use, whether a buffer is of a busier time: so many uses needed less than an eighth of it.
func (s *slack) tooLarge(used, capacity, keep int) bool {
	if capacity <= keep || used >= capacity/8 {
		*s = 0
		return false
	}
	*s++
	return *s >= slackMost
}

// take empties a consumer's inbox for its connection, which writes it out, and lets the queue fill it again. The result
// is the consumer's until its next call. Called under the connection's lock.
func (q *queue) take(c *consumer) []entry {
	q.mu.Lock()
	if c.slack.tooLarge(len(c.inbox), cap(c.scratch), keepInbox) {
		c.scratch = nil // of a busier time
	}
	c.inbox, c.scratch = c.scratch[:0], c.inbox
	c.inboxBytes = 0
	c.flagged = false
	q.dispatch()
	q.mu.Unlock()
	return c.scratch
}

// settled tells the queue that n messages of a consumer (nil: of basic.get) are acknowledged. Where the channel has a limit
// the caller has to kick the channel, so that the queue does not take all the room that others wait for.
func (q *queue) settled(c *consumer, n int) {
	q.mu.Lock()
	q.unacked -= n
	if c != nil {
		c.unacked -= n
		c.ch.inFlight.Add(int32(-n))
		if c.ch.limit.Load() == 0 {
			q.dispatch()
		}
	}
	q.mu.Unlock()
}

// get removes the first ready message for basic.get; ok is false if there is none. left is how many stay.
func (q *queue) get(noAck bool) (e entry, left int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	front := q.ready.front()
	if front == nil || (front.flags&flagDelayed != 0 && !q.isDue(front)) {
		return e, 0, false
	}
	if !noAck {
		q.unacked++
	}
	e = q.ready.popFront()
	return e, q.ready.n + len(q.held), true
}

// counts are what queue.declare-ok tells: ready messages and consumers.
func (q *queue) counts() (ready, consumers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.n + len(q.held), len(q.consumers)
}

func releaseAll(mem *memory, batch []entry) {
	r := releaser{mem: mem}
	for i := range batch {
		r.release(batch[i].slab)
	}
	r.flush()
}
