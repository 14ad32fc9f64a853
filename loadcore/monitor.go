package loadcore

import (
	"fmt"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// monitorPeriod is how often the monitor looks, at all connections and producers where they are few, and in turn where they
// are many. So a timeout of the engine comes late by at most a period, by at most ten where there are many.
const (
	monitorPeriod = 100 * time.Millisecond
	monitorFew    = 1000
)

// portion is how many of n the monitor looks at in one period.
func portion(n int) int { return min(n, max(monitorFew, (n+9)/10)) }

// watch is what the monitor remembers of a connection. All times are of the record's clock.
type watch struct {
	reads       uint64
	rounds      uint64 // of the scheduler that reads it
	silentSince int64
	writes      uint64
	idleSince   int64
	// blockedSince is when the connection was first seen to be blocked; 0: it is not.
	blockedSince int64
}

// answerWatch is what the monitor remembers of a producer or a consumer: since when the broker's next answer to it stays out, and
// since when a producer is stopped by channel.flow (0: it is not).
type answerWatch struct {
	tail    uint64
	since   int64
	stopped int64
}

// monitor keeps the clocks of a run: heartbeats both ways, stuck writes, answers that do not come, withheld acks, the
// recorder's health. One goroutine for all connections; it never waits for any of them.
func (e *engine) monitor(done <-chan struct{}) {
	producers, consumers := make([]answerWatch, len(e.producers)), make([]answerWatch, len(e.consumers))
	conn, producer, consumer := -1, -1, -1 // looked at last
	ticker := time.NewTicker(monitorPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		now := e.clock.Now()
		for range portion(len(e.conns)) {
			conn = (conn + 1) % len(e.conns)
			if c := e.conn(conn); c.opened.Load() && c.usable() {
				c.look(now)
			}
		}
		for range portion(len(e.producers)) {
			producer = (producer + 1) % len(e.producers)
			e.lookAtConfirms(e.producers[producer], &producers[producer], now)
		}
		for range portion(len(e.consumers)) {
			consumer = (consumer + 1) % len(e.consumers)
			e.lookAtAnswers(e.consumers[consumer], &consumers[consumer], now)
		}
		if e.rec.Err() != nil {
			e.recorderRefused()
		}
	}
}

// look sends heartbeats so early that where connections are few two frames are never further apart than half the interval: what was
// written was seen up to a period later, and so is the end of the wait.
func (c *conn) look(now int64) {
	w := &c.watch
	interval := int64(c.link.limits.Heartbeat) * int64(time.Second)
	// A reader that is busy, or waits for the recorder, is not a silent broker.
	if reads := c.reads.Load(); reads != w.reads || !c.listens() || w.silentSince == 0 {
		w.reads, w.silentSince = reads, now
	} else if interval > 0 && now-w.silentSince >= 2*interval {
		c.fail(loss{text: fmt.Sprintf("nothing came from the broker for two heartbeat intervals (%d s)", 2*c.link.limits.Heartbeat)})
		return
	}
	if writes := c.out.writes.Load(); writes != w.writes || w.idleSince == 0 {
		w.writes, w.idleSince = writes, now
	} else if interval > 0 && now-w.idleSince >= interval/2-2*int64(monitorPeriod) && c.out.size.Load() == 0 && c.out.busy.Load() == 0 {
		w.idleSince = now
		c.out.send(wire.AppendHeartbeat(nil))
	}
	limit, option := c.eng.plan.WriteTimeout, "write-timeout"
	if c.current() == event.Blocked {
		limit, option = c.eng.plan.BlockedTimeout, "blocked-timeout"
		if w.blockedSince == 0 {
			w.blockedSince = now
		}
		if now-w.blockedSince > int64(limit) {
			c.fail(loss{text: fmt.Sprintf("the broker has kept the connection blocked for %v (--blocked-timeout)", limit)})
			return
		}
	} else {
		w.blockedSince = 0
	}
	if busy := c.out.busy.Load(); busy != 0 && now-busy > int64(limit) {
		c.fail(loss{text: fmt.Sprintf("the broker has taken nothing from the socket for %v (--%s)", limit, option)})
		return
	}
	if c.secretOverdue(now) {
		c.fail(loss{text: fmt.Sprintf("the broker did not answer connection.update-secret within %v", c.eng.plan.secretTimeout)})
		return
	}
	if c.withheld.Load() {
		c.poke()
	}
}

// listens reports whether the reader would have seen something if it had come.
func (c *conn) listens() bool {
	if !c.reading.Load() || !c.polled {
		return c.reading.Load()
	}
	rounds := c.shared.rounds.Load()
	stuck := rounds == c.watch.rounds && !c.shared.waits.Load()
	c.watch.rounds = rounds
	return !stuck
}
