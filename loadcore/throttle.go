package loadcore

import (
	"math"
)

// Reading in step with the work: data plane. With automatic acks nothing but the socket holds the broker back from a consumer
// that works slowly. So a connection that has such consumers reads in small steps, the next one when the work on what has
// come is nearly done:
//
//	read  |m1..m9|                |m10..m18|               |m19..
//	work   |--m1--|--m2-- ... --m9--|--m10-- ...             |
//
// It never leaves the socket unread for longer than readAtLeast: brokers give up on a peer that takes nothing for half a
// minute or so. What then comes early is counted as received, and waits; it takes no memory. Our own heartbeats go out from
// elsewhere (monitor.go), and a broker that we do not listen to is not taken for silent.
const (
	readAhead   = 10_000_000    // ns of work that may be left when reading goes on, so that the consumer does not run dry
	readAtLeast = 5_000_000_000 // ns
	// pileMost is how many messages one consumer may have in front of it while another one on the connection runs dry. It is
	// what PerfTest's client lets pile up.
	pileMost = 1000

	readStepMin = 512 // bytes of one read; it grows while reads are filled and the work on them does not last
	readStepMax = 64 << 10
	// stepWork (ns) is how long the work on one step may last at most before steps get smaller.
	stepWork = 20_000_000
)

// throttle is the reading of a connection in step with the work of its consumers. It belongs to the connection's reader.
type throttle struct {
	consumers []*consumer // those that work with automatic acks
	step      int
	last      int64         // the last read
	held      bool          // not read now (polled connections)
	nudge     chan struct{} // for a reader that waits in a goroutine of its own
}

// newThrottle is nil where nothing is to be throttled. Who polls asks when it is ready.
func (c *conn) newThrottle() *throttle {
	t := &throttle{step: readStepMin, nudge: make(chan struct{}, 1)}
	for _, l := range c.lanePlan {
		if s := l.consumer; s != nil && s.spec.AutoAck && s.work != nil && s.polls == nil && !s.spec.Polling {
			t.consumers = append(t.consumers, s)
		}
	}
	if len(t.consumers) == 0 {
		return nil
	}
	return t
}

// resume is when the next read is due, math.MinInt64 for at once.
func (t *throttle) resume() int64 {
	dry, piled, working := int64(math.MaxInt64), int64(math.MinInt64), false
	for _, s := range t.consumers {
		if !s.live() || s.lifted.Load() {
			continue
		}
		working = true
		dry = min(dry, s.work.idle(s.tag)-readAhead)
		if left := s.tag - s.work.done; left >= pileMost {
			piled = max(piled, s.work.idle(s.tag-pileMost+1))
		}
	}
	if !working {
		return math.MinInt64
	}
	return min(max(dry, piled), addClock(t.last, readAtLeast))
}

// took adapts the step to a read of n bytes.
func (t *throttle) took(n int, now int64) {
	t.last = now
	switch until := t.resume(); {
	case until > addClock(now, stepWork):
		t.step = max(t.step/2, readStepMin)
	case until <= now && n >= t.step:
		t.step = min(2*t.step, readStepMax)
	}
}

// limit is the part of p that one read may fill.
func (t *throttle) limit(p []byte) []byte {
	if t != nil && len(p) > t.step {
		return p[:t.step]
	}
	return p
}

// awaitWork waits, after a read of n bytes, until the next one is due. Chores are done meanwhile.
func (c *conn) awaitWork(n int) {
	t := c.throttle
	t.took(n, c.at)
	for c.usable() {
		until := t.resume()
		if until <= c.eng.clock.Now() {
			return
		}
		c.arm(until)
		<-t.nudge
		if c.chores.Swap(false) {
			c.chore()
		}
	}
}

// throttle is awaitWork for a connection that the scheduler reads.
func (s *scheduler) throttle(c *conn) {
	t := c.throttle
	if until := t.resume(); until > c.at {
		if !t.held {
			t.held = true
			c.reading.Store(false)
			s.poll.hold(c, true)
		}
		c.arm(until)
	} else if t.held {
		t.held = false
		if !c.held {
			c.reading.Store(true)
			s.poll.hold(c, false)
		}
	}
}

// arm has the reader look after its lanes at a time, if nothing wakes it before. It belongs to the reader.
func (c *conn) arm(at int64) {
	if at >= c.armed {
		return
	}
	c.armed = at
	if c.polled {
		c.shared.wakeAt(&c.sleeper, at)
	} else {
		c.eng.pacer.wakeAt(&c.sleeper, at)
	}
}
