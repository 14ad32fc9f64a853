package broker

import (
	"time"

	"leveret/loadcore/wire"
)

// publishFaulty takes a message that one or more faults hit. Faults that keep it out of its queues exclude each other, in
// this order: cut, close-channel, return, nack, drop. Where a fault has nothing to work on (a nack without confirms, a
// return of what is not mandatory, a byte behind the end of the body), the message is taken as if it were not there, and
// the fault is not counted as applied.
func (c *conn) publishFaulty(ch *channel, r *route, p wire.Publish, props, body []byte, set *faultSet) *amqpError {
	if set.has(FaultCut) {
		c.applied(FaultCut)
		c.cutInFrame(ch)
		return nil
	}
	if set.has(FaultCloseChannel) {
		c.applied(FaultCloseChannel)
		f := set.closing
		return &amqpError{code: wire.ReplyCode(f.code), text: f.text, method: wire.BasicPublishID}
	}
	ch.count()
	switch {
	case set.has(FaultReturn) && p.Mandatory:
		c.applied(FaultReturn)
		c.unroutable(ch, p, props, body)
	case len(r.targets) == 0:
		c.unroutable(ch, p, props, body)
	case set.has(FaultNack) && ch.confirm:
		c.applied(FaultNack)
		ch.nack()
	case set.has(FaultDrop):
		c.applied(FaultDrop)
	default:
		c.queueFaulty(ch, r, p, props, body, set)
	}
	c.pauseFaulty(set)
	return nil
}

// queueFaulty lets a message into its queues, but not as it should be.
func (c *conn) queueFaulty(ch *channel, r *route, p wire.Publish, props, body []byte, set *faultSet) {
	e := c.fill.add(p.Exchange, p.RoutingKey, props, body)
	if f := set.corrupt; f != nil && f.byteIndex < len(body) {
		c.applied(FaultCorrupt)
		_, _, _, stored := e.slab.parts(e.idx)
		stored[f.byteIndex] ^= f.xor
	}
	if set.delay > 0 {
		c.applied(FaultDelay)
		e.slab.msgs[e.idx].due = c.srv.clock.now() + int64(set.delay)
		e.flags |= flagDelayed
	}
	copies := 1
	if set.has(FaultDuplicate) {
		c.applied(FaultDuplicate)
		copies = 2
	}
	if set.reorder == nil {
		c.publishCarefully(ch, r, e, copies)
		return
	}
	c.applied(FaultReorder)
	c.holding = true
	c.flushBatches()
	c.fill.hold(copies * len(r.targets))
	c.fill.settle()
	for _, b := range r.targets {
		for range copies {
			b.queue.hold(ch, e, set.reorder.hold)
		}
	}
}

// pauseFaulty begins a stall or an alarm after the message. What was taken before is confirmed first: the turn ends here.
func (c *conn) pauseFaulty(set *faultSet) {
	if set.stall > 0 {
		c.applied(FaultStall)
		c.srv.stalled.Store(c.srv.clock.now() + int64(set.stall))
		c.halt |= haltWait
	}
	if set.block > 0 {
		c.applied(FaultBlock)
		c.srv.raise(set.block)
		c.halt |= haltWait
	}
}

// cutInFrame makes the first half of a frame the last thing that the connection sends.
func (c *conn) cutInFrame(ch *channel) {
	c.flush()
	frame := wire.AppendAck(nil, ch.id, ch.published+1, false)
	c.out = append(c.out, frame[:len(frame)/2]...)
	c.state = stateClosed // so that the writer adds nothing
	c.halt |= haltCut
}

func (c *conn) applied(k FaultKind) { c.srv.stats.faults[k].Add(1) }

// raise holds the memory alarm up for a time (fault block).
func (s *Server) raise(d time.Duration) {
	until := s.clock.now() + int64(d)
	s.alarmUntil.Store(until)
	s.mem.set(alarmFault, true)
	time.AfterFunc(d, func() {
		if s.alarmUntil.Load() <= s.clock.now() { // else a later fault holds it up for longer
			s.mem.set(alarmFault, false)
		}
	})
}
