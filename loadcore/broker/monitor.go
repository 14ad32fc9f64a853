package broker

import "time"

// watch is what the monitor has seen of one connection. Only the monitor uses it.
type watch struct {
	reads, writes         uint64
	lastRead, lastWritten int64 // on the server's clock
}

const monitorInterval = 100 * time.Millisecond

// monitor looks after all connections' heartbeats and deadlines, so that none of them needs timers of its own and the hot
// paths need not read the clock: they only count. It ends when the server closes.
func (s *Server) monitor() {
	defer s.wg.Done()
	t := time.NewTicker(monitorInterval)
	defer t.Stop()
	var all []*conn
	for {
		select {
		case <-s.done:
			return
		case <-t.C:
		}
		now := s.clock.now()
		all = s.connections(all[:0])
		for _, c := range all {
			c.check(now)
		}
		clear(all)
	}
}

// check sends a heartbeat after half an interval without a write, and ends the connection after two intervals without a
// read (AMQP 0-9-1 section 4.2.7) or when its close is overdue.
func (c *conn) check(now int64) {
	w := &c.watch
	if n := c.reads.Load(); n != w.reads || w.lastRead == 0 || c.paused.Load() {
		w.reads, w.lastRead = n, now
	}
	if n := c.writes.Load(); n != w.writes || w.lastWritten == 0 {
		w.writes, w.lastWritten = n, now
	}
	if d := c.deadline.Load(); d != 0 && now > d {
		c.srv.log("connection %s: not closed within %v", c.name, closeTime)
		c.stop()
		return
	}
	interval := c.beat.Load()
	if interval == 0 {
		return
	}
	if now-w.lastRead > 2*interval {
		c.srv.log("connection %s: missed heartbeats from the client, interval %v", c.name, time.Duration(interval))
		c.stop()
		return
	}
	if now-w.lastWritten >= interval/2 {
		w.lastWritten = now
		c.wantBeat.Store(true)
		c.signal()
	}
}
