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

// How long one write call may wait for the socket. A broker that holds a connection back by TCP alone does so for moments;
// one that has sent connection.blocked may do so until somebody has freed its disk.
const (
	writeTimeout        = time.Minute
	writeTimeoutBlocked = time.Hour
)

// watch is what the monitor remembers of a connection. All times are of the record's clock.
type watch struct {
	reads       uint64
	rounds      uint64 // of the scheduler that reads it
	silentSince int64
	writes      uint64
	idleSince   int64
}

// confirmWatch is what the monitor remembers of a producer: since when its oldest unsettled message has been the same.
type confirmWatch struct {
	tail  uint64
	since int64
}

// monitor keeps the clocks of a run: heartbeats both ways, stuck writes, confirms that do not come, withheld acks, the
// recorder's health. One goroutine for all connections; it never waits for any of them.
func (e *engine) monitor(done <-chan struct{}) {
	watches := make([]confirmWatch, len(e.producers))
	conn, producer := -1, -1 // looked at last
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
			e.lookAtConfirms(e.producers[producer], &watches[producer], now)
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
	limit := writeTimeout
	if c.current() == event.Blocked {
		limit = writeTimeoutBlocked
	}
	if busy := c.out.busy.Load(); busy != 0 && now-busy > int64(limit) {
		c.fail(loss{text: fmt.Sprintf("the broker has taken nothing from the socket for %v", limit)})
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

// lookAtConfirms ends a producer whose oldest message has waited too long. A blocked connection is not held against it, nor is the
// time in which its channel was recovered.
func (e *engine) lookAtConfirms(p *producer, w *confirmWatch, now int64) {
	timeout := e.plan.ConfirmTimeout
	if p.win == nil && p.tx == nil || timeout < 0 || e.barrier.Load() == 0 {
		return
	}
	tail, waits := p.oldest()
	if tail != w.tail || !waits || p.halted.Load() || p.current.Load().conn.current() == event.Blocked {
		w.tail, w.since = tail, now
		return
	}
	if now-w.since >= int64(timeout) {
		e.producerFailed(p, fmt.Sprintf("%s within %v", p.unsettledText(p.unsettled()), timeout))
	}
}

// oldest is a number that stays the same while the broker's next answer to the producer stays out, and whether there is
// one to come.
func (p *producer) oldest() (tail uint64, waits bool) {
	if p.tx != nil {
		return p.tx.commits.Load(), p.tx.committing.Load()
	}
	return p.win.seen.Load(), p.unsettled() > 0
}
