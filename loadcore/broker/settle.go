package broker

import "leveret/loadcore/wire"

// settler is a connection's settling side: acknowledged deliveries are taken off the channel's list at once, their memory
// and their queue's room are given back when the turn ends, in one go a consumer. Used under the connection's lock.
type settler struct {
	free    releaser
	settled []settlement
	acked   uint64 // in this turn, not yet in the server's count
}

// settlement is a number of deliveries of one consumer (nil: of basic.get).
type settlement struct {
	queue    *queue
	consumer *consumer
	n        int
}

func (s *settler) init(mem *memory) { s.free.mem = mem }

// discard is for an acknowledged delivery, and a rejected one that is not to be requeued.
func (s *settler) discard(d delivery) {
	s.acked++
	s.free.release(d.entry.slab)
	if n := len(s.settled); n > 0 && s.settled[n-1].consumer == d.consumer && s.settled[n-1].queue == d.queue {
		s.settled[n-1].n++
		return
	}
	s.settled = append(s.settled, settlement{d.queue, d.consumer, 1})
}

// settleFrame processes basic.ack, basic.nack and basic.reject.
func (c *conn) settleFrame(ch *channel, id wire.MethodID, f wire.Frame, args []byte) *amqpError {
	var s wire.Settle
	var err error
	switch id {
	case wire.BasicAckID:
		s, err = wire.ParseAck(args)
	case wire.BasicNackID:
		s, err = wire.ParseNack(args)
	default:
		s, err = wire.ParseReject(args)
	}
	if err != nil {
		return methodError(f.Payload, err)
	}
	if ch.tx != nil {
		return ch.holdSettlement(s).by(id)
	}
	if s.Requeue {
		return c.requeue(ch, s).by(id)
	}
	if !s.Multiple {
		d, ok := ch.unacked.take(s.DeliveryTag)
		if !ok {
			return unknownTag(s.DeliveryTag).by(id)
		}
		c.discard(d)
		return nil
	}
	return ch.settleAll(s, c.discard).by(id)
}

// requeue returns rejected deliveries to their queues.
func (c *conn) requeue(ch *channel, s wire.Settle) *amqpError {
	c.flush()
	var back []delivery
	if err := ch.settleAll(s, func(d delivery) { back = append(back, d) }); err != nil {
		return err
	}
	requeueDeliveries(back)
	if ch.limit.Load() > 0 {
		ch.kick()
	}
	return nil
}

// requeueDeliveries puts deliveries of one channel back, those of one queue and consumer together.
func requeueDeliveries(back []delivery) {
	type group struct {
		queue    *queue
		consumer *consumer
		entries  []entry
	}
	var groups []group
next:
	for _, d := range back {
		for i := range groups {
			if g := &groups[i]; g.queue == d.queue && g.consumer == d.consumer {
				g.entries = append(g.entries, d.entry)
				continue next
			}
		}
		groups = append(groups, group{d.queue, d.consumer, []entry{d.entry}})
	}
	for _, g := range groups {
		g.queue.requeue(g.consumer, g.entries, false, true)
	}
}

// flushSettlements gives back what acknowledged deliveries held.
func (c *conn) flushSettlements() {
	if len(c.settled) == 0 {
		return
	}
	c.srv.stats.acknowledged.Add(c.acked)
	c.acked = 0
	c.free.flush()
	for _, s := range c.settled {
		s.queue.settled(s.consumer, s.n)
	}
	for _, s := range c.settled {
		// Others that share the channel's limit may have waited for this.
		if s.consumer != nil && s.consumer.ch.limit.Load() > 0 {
			s.consumer.ch.kick()
		}
	}
	clear(c.settled)
	c.settled = c.settled[:0]
}
