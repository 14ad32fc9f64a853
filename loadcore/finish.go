package loadcore

import (
	"math"
	"time"
)

// What is done once per read call, and without one: data plane.

// finishRead does what is done once per read call: rows to the recorder, room in the windows, acks, answers.
func (c *conn) finishRead() error {
	for _, p := range c.producersRead {
		p.finishRead(c.at)
	}
	c.producersRead = c.producersRead[:0]
	if len(c.consumersRead) > 0 && c.finishConsumers() {
		c.withheld.Store(true)
	}
	if len(c.answers) > 0 {
		return c.handOver()
	}
	return nil
}

// finishConsumers reports whether one of the consumers owes acks afterwards.
func (c *conn) finishConsumers() (owing bool) {
	congested := c.eng.rec.Congested()
	hold := congested || c.out.congested()
	acks, automatic, deliveries := c.acks[:0], false, int64(0)
	next := int64(math.MaxInt64)
	for _, s := range c.consumersRead {
		deliveries += int64(s.tag) - s.count.received.Load()
		acks = s.finishRead(acks, c.at, hold)
		owing = owing || s.owes()
		automatic = automatic || s.spec.AutoAck
		if c.timed {
			next = min(next, s.nextLook(c.at))
		}
	}
	c.consumersRead = c.consumersRead[:0]
	c.seen.delivered(deliveries)
	if len(acks) > 0 {
		c.out.send(acks)
	}
	c.acks = acks
	c.arm(next)
	if owing && !hold { // there were more than fit at once
		c.poke()
	}
	if congested && automatic {
		c.pauseReading()
	}
	return owing
}

// pauseReading waits until the recorder has caught up: with automatic acks only the socket's buffer can hold the broker
// back. The run's own bounds end it as well.
func (c *conn) pauseReading() {
	if c.polled {
		c.shared.holdBack(c)
		return
	}
	for since := c.at; c.eng.rec.Congested() && c.eng.rec.Err() == nil && c.usable(); {
		time.Sleep(time.Millisecond)
		now := c.eng.clock.Now()
		c.seen.paused.add(now - since)
		since = now
	}
}

// chore has all consumers of the connection do what is due: send the acks that they owe, ask for the next message.
func (c *conn) chore() {
	c.at = c.eng.clock.Now()
	c.armed = math.MaxInt64
	c.orders.carryOut()
	for i := range c.lanes {
		if ch := c.lanes[i].Load(); ch != nil && ch.consumer != nil {
			ch.consumer.attend()
		}
	}
	c.withheld.Store(len(c.consumersRead) > 0 && c.finishConsumers())
}
