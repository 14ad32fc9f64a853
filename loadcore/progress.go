package loadcore

import (
	"slices"
	"sync"
	"sync/atomic"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Progress gives the counters of a run while it goes on. The zero value is ready for one run; safe for concurrent use.
type Progress struct {
	run     atomic.Pointer[engine]
	phase   atomic.Int32
	open    atomic.Int32
	blocked atomic.Int32
	stop    atomic.Pointer[Counts] // when publishing stopped; nil before

	mu     sync.Mutex // guards the following
	self   event.Self // from the barrier on
	outage Outage     // the last one
}

// Phase is where a run stands.
type Phase int32

const (
	PhaseConnecting Phase = iota
	PhaseRunning
	PhaseConfirming // publishing has stopped, confirms are awaited
	PhaseDraining   // consumers empty the queues
	PhaseClosing
	PhaseDone
)

// Counts are counters of a run at one moment.
type Counts struct {
	Phase           Phase
	BarrierNS       int64 // when load began, on the record's clock; 0 before
	PublishStopNS   int64 // when the last producer stopped publishing; 0 before
	Connections     int   // open ones, blocked ones included
	Planned         int   // connections in all
	Blocked         int   // of them, blocked by the broker
	ProducersActive int
	ConsumersActive int
	Sent            int64
	Confirmed       int64
	Nacked          int64
	Returned        int64
	Unconfirmed     int64 // sent with confirms on and not settled yet
	Committed       int64 // messages of transactions that were committed
	Uncommitted     int64 // sent in transactions and not committed yet
	InDoubt         int64 // of Sent: lost their channel before they had an answer
	Received        int64
	Acked           int64
}

// Snapshot reads all counters. They are read one after the other: a message may be counted as received and not yet as sent.
func (p *Progress) Snapshot() Counts {
	c := Counts{Phase: Phase(p.phase.Load()), Connections: int(p.open.Load()), Blocked: int(p.blocked.Load())}
	e := p.run.Load()
	if e == nil {
		return c
	}
	c.BarrierNS = e.barrier.Load()
	if stop := p.stop.Load(); stop != nil {
		c.PublishStopNS = stop.PublishStopNS
	}
	c.Planned = len(e.conns)
	c.ProducersActive = int(e.publishers.Load())
	for _, s := range e.consumers {
		if s.live() {
			c.ConsumersActive++
		}
		c.Received += s.count.received.Load()
		c.Acked += s.count.acked.Load() - s.count.abandoned.Load()
	}
	for _, p := range e.producers {
		c.Confirmed += p.count.confirmed.Load()
		c.Nacked += p.count.nacked.Load()
		c.Returned += p.count.returned.Load()
		if p.tx != nil {
			c.Committed += p.count.committed.Load()
			c.Uncommitted += int64(p.unsettled())
		} else {
			c.Unconfirmed += int64(p.unsettled())
		}
		c.Sent += p.count.sent.Load()
		c.InDoubt += p.count.inDoubt.Load()
	}
	return c
}

// AtStop returns what the counters were when the last producer stopped publishing, and false before that.
func (p *Progress) AtStop() (Counts, bool) {
	if c := p.stop.Load(); c != nil {
		return *c, true
	}
	return Counts{}, false
}

// publishingStopped keeps what AtStop returns.
func (p *Progress) publishingStopped(now int64) {
	c := p.Snapshot()
	c.PublishStopNS = now
	p.stop.Store(&c)
}

// Failures returns those of the run's failures, in the order in which they came, that are not among the first known of them.
func (p *Progress) Failures(known int) []manifest.Failure {
	e := p.run.Load()
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if known >= len(e.failures) {
		return nil
	}
	return slices.Clone(e.failures[known:])
}

// Self is what the process has noticed of itself since the barrier, as one interval: all that was recorded, merged. The
// difference of the sums of two calls is what went on between them, in steps of a sample.
func (p *Progress) Self() event.Self {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.self
}

// noticed adds an interval of self-observation.
func (p *Progress) noticed(s *event.Self) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self.SpanNS == 0 {
		p.self = *s
		return
	}
	p.self.Merge(s)
}

func (p *Progress) enter(phase Phase) { p.phase.Store(int32(phase)) }

// connection counts a change of a connection's state.
func (p *Progress) connection(from, to event.ConnectionState) {
	isOpen := func(s event.ConnectionState) bool { return s == event.Open || s == event.Blocked || s == event.Closing }
	if isOpen(to) != isOpen(from) {
		p.open.Add(step(isOpen(to)))
	}
	if (to == event.Blocked) != (from == event.Blocked) {
		p.blocked.Add(step(to == event.Blocked))
	}
}

func step(up bool) int32 {
	if up {
		return 1
	}
	return -1
}
