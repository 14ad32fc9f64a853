package broker

import (
	"sync/atomic"

	"leveret/loadcore/wire"
)

// channel is one AMQP channel. Everything but the two counters is guarded by the connection's lock.
type channel struct {
	conn *conn
	id   uint16

	opened  bool
	closing bool // channel.close sent, everything but its answer is ignored

	lastQueue string // most recently declared: what an empty queue name stands for
	prefetch  int    // of consumers to come
	consumers map[string]*consumer

	nextTag uint64 // of the next delivery
	unacked unackedList

	confirm   bool
	published uint64   // messages since confirm.select
	confirmed uint64   // of these, how many have been answered
	nacked    []uint64 // to be answered with basic.nack, rising
	touched   bool     // is in conn.unconfirmed

	content content
	tx      *transaction // nil: not transactional

	limit    atomic.Int32 // basic.qos with global: unacked deliveries of the channel at a time; 0: no limit
	inFlight atomic.Int32 // deliveries in inboxes or unacked, without basic.get
}

func newChannel(c *conn, id uint16) *channel {
	return &channel{conn: c, id: id, nextTag: 1, consumers: map[string]*consumer{}}
}

// reserve counts up to n deliveries in flight and returns how many the channel's limit allows. Queues call it.
func (ch *channel) reserve(n int) int {
	limit := ch.limit.Load()
	count := ch.inFlight.Add(int32(n))
	if limit == 0 || count <= limit {
		return n
	}
	back := min(count-limit, int32(n))
	ch.inFlight.Add(-back)
	return n - int(back)
}

// kick lets all queues of the channel's consumers look again whether they can deliver: needed when the channel's own
// limit, which they share, has got room. The order is a different one each time, as it happens, so none is always last.
// Called under the connection's lock, without any queue's.
func (ch *channel) kick() {
	for _, c := range ch.consumers {
		c.queue.wakeUp()
	}
}

// queueName resolves an empty name to the queue declared last on this channel.
func (ch *channel) queueName(name string) (string, *amqpError) {
	if name != "" {
		return name, nil
	}
	if ch.lastQueue == "" {
		return "", soft(wire.ReplyNotFound, "no previously declared queue")
	}
	return ch.lastQueue, nil
}

// lookup finds a queue that this connection may use.
func (ch *channel) lookup(name string) (*queue, *amqpError) {
	name, err := ch.queueName(name)
	if err != nil {
		return nil, err
	}
	q := ch.conn.vhost.queue(name)
	if q == nil {
		return nil, soft(wire.ReplyNotFound, "no %s", queueText(name, ch.conn.vhost.name))
	}
	return q, q.access(ch.conn)
}

// settleAll takes deliveries off the channel's list: the one with the tag, or all up to it, and hands each to take.
// An unknown tag is an error, after RabbitMQ's rule that with multiple, too, the tag itself must be outstanding.
func (ch *channel) settleAll(s wire.Settle, take func(d delivery)) *amqpError {
	switch {
	case !s.Multiple:
		d, ok := ch.unacked.take(s.DeliveryTag)
		if !ok {
			return unknownTag(s.DeliveryTag)
		}
		take(d)
		return nil
	case s.DeliveryTag == 0:
		for ch.unacked.n > 0 {
			take(ch.unacked.popFront())
		}
		return nil
	case !ch.unacked.has(s.DeliveryTag):
		return unknownTag(s.DeliveryTag)
	}
	for d := ch.unacked.front(); d != nil && d.tag <= s.DeliveryTag; d = ch.unacked.front() {
		take(ch.unacked.popFront())
	}
	return nil
}

func unknownTag(tag uint64) *amqpError {
	return soft(wire.ReplyPreconditionFailed, "unknown delivery tag %d", tag)
}

// requeueAll puts everything back that the channel was given and has not settled: deliveries marked as redelivered.
func (ch *channel) requeueAll() {
	var batch []entry
	var last delivery
	for ch.unacked.n > 0 {
		d := ch.unacked.popFront()
		if len(batch) > 0 && (d.queue != last.queue || d.consumer != last.consumer) {
			last.queue.requeue(last.consumer, batch, false, true)
			batch = batch[:0]
		}
		batch, last = append(batch, d.entry), d
	}
	if len(batch) > 0 {
		last.queue.requeue(last.consumer, batch, false, true)
	}
	ch.unacked.free()
}

// end takes the channel out of service: consumers cancelled, messages back in their queues.
func (ch *channel) end() {
	var unused []*queue
	for _, c := range ch.consumers {
		c.gone = true
		inbox, last := c.queue.unsubscribe(c)
		c.queue.requeue(c, inbox, true, !c.noAck)
		if last {
			unused = append(unused, c.queue)
		}
	}
	clear(ch.consumers)
	ch.undoSettlements()
	ch.requeueAll()
	for _, q := range unused {
		ch.conn.deleteUnused(q)
	}
	ch.conn.abandon(ch)
}
