package broker

import (
	"cmp"
	"slices"
	"time"
)

// subscribe adds a consumer. It fails if the queue is in exclusive use, or used at all when the consumer asks for
// exclusive use; gone is true if the queue was deleted meanwhile.
func (q *queue) subscribe(c *consumer) (ok, gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.deleted:
		return false, true
	case q.exclusiveTo != nil, c.exclusive && len(q.consumers) > 0:
		return false, false
	}
	if c.exclusive {
		q.exclusiveTo = c
	}
	q.hadConsumers = true
	q.consumers = append(q.consumers, c)
	q.dispatch()
	return true, false
}

// unsubscribe removes a consumer and returns its inbox. unused says that an auto-delete queue has lost its last
// consumer, so that the caller has to delete it.
func (q *queue) unsubscribe(c *consumer) (inbox []entry, unused bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.consumers, c); i >= 0 {
		q.consumers = slices.Delete(q.consumers, i, i+1)
		q.turn = 0
	}
	if q.exclusiveTo == c {
		q.exclusiveTo = nil
	}
	inbox = c.inbox
	c.inbox, c.inboxBytes = nil, 0
	return inbox, q.autoDel && !q.deleted && q.hadConsumers && len(q.consumers) == 0
}

// requeue puts messages back to their places; undelivered says that they were never written to a connection, else they
// are marked as redelivered. c is whose they were, nil after basic.get; counted says that they count as unacked.
// It reorders batch and keeps nothing of it.
func (q *queue) requeue(c *consumer, batch []entry, undelivered, counted bool) {
	if len(batch) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if counted {
		q.unacked -= len(batch)
		if c != nil {
			c.unacked -= len(batch)
			c.ch.inFlight.Add(int32(-len(batch)))
		}
	}
	if q.deleted {
		releaseAll(q.mem, batch)
		return
	}
	// The newest first: so each one finds its place at the very front.
	slices.SortFunc(batch, func(a, b entry) int { return cmp.Compare(b.seq, a.seq) })
	for i := range batch {
		if !undelivered {
			batch[i].flags |= flagRedelivered
		}
		q.ready.insert(batch[i])
	}
	q.dropHead()
	q.dispatch()
}

// purge drops the ready messages and returns how many.
func (q *queue) purge() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.clearReady()
}

func (q *queue) clearReady() int {
	n := q.ready.clear(q.mem) + len(q.held)
	for _, h := range q.held {
		h.timer.Stop()
		h.entry.slab.release(q.mem, 1)
	}
	q.held = nil
	return n
}

// remove marks the queue as deleted, drops what is ready and returns how many that were and whom to tell. Messages that
// are with consumers stay with them.
func (q *queue) remove() (messages int, consumers []*consumer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deleted = true
	messages = q.clearReady()
	consumers, q.consumers = q.consumers, nil
	if q.timer != nil {
		q.timer.Stop()
	}
	return messages, consumers
}

// isDue reports whether a delayed message may leave; if not, the queue looks again when it may.
func (q *queue) isDue(e *entry) bool {
	wait := e.slab.msgs[e.idx].due - q.clock.now()
	if wait <= 0 {
		return true
	}
	if q.timer == nil {
		q.timer = time.AfterFunc(time.Duration(wait), q.wakeUp)
	} else {
		q.timer.Reset(time.Duration(wait))
	}
	return false
}

func (q *queue) wakeUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.deleted {
		q.dispatch()
	}
}

// heldEntry is a message that waits for a successor of its own channel to overtake it (fault reorder).
type heldEntry struct {
	entry entry
	from  *channel
	timer *time.Timer
}

// hold keeps a message back until the channel's next message has come to this queue, or for the given time.
func (q *queue) hold(ch *channel, e entry, atMost time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleted {
		e.slab.release(q.mem, 1)
		return
	}
	h := &heldEntry{entry: e, from: ch}
	h.timer = time.AfterFunc(atMost, func() { q.giveUp(h) })
	q.held = append(q.held, h)
}

// releaseHeld appends what was held back for a successor of this channel, the latest first: of two in a row, the second
// comes behind the successor, and the first behind the second. Called under the lock.
func (q *queue) releaseHeld(ch *channel) {
	for i := len(q.held) - 1; i >= 0; i-- {
		if h := q.held[i]; h.from == ch {
			h.timer.Stop()
			q.held = slices.Delete(q.held, i, i+1)
			q.push(h.entry)
		}
	}
}

// giveUp lets a held message go although no successor has come.
func (q *queue) giveUp(h *heldEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.held, h)
	if i < 0 || q.deleted {
		return
	}
	q.held = slices.Delete(q.held, i, i+1)
	q.push(h.entry)
	q.dispatch()
	q.dropHead()
}
