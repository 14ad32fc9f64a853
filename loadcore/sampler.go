package loadcore

import (
	"sync"
	"time"

	"leveret/capture/event"
)

const unsentConnections = 256 // that are asked for what is in their sockets

// sampler records, at every interval from the barrier on, what the process has noticed of itself. It reads counters that the
// data plane keeps, and never waits for
// anybody.
type sampler struct {
	eng  *engine
	done chan struct{}
	gone sync.WaitGroup

	mu        sync.Mutex // guards the following
	begun     int64
	last      int64
	producers []producerMark
	conns     []connMark
	unsent    unsentMeter
	process   *processMeter
	self      event.Self
	// kept is what the recorder had no room for: it becomes a part of the next interval.
	kept event.Self
}

// producerMark is what was reported of a producer.
type producerMark struct {
	waited                                 [waitKinds]int64
	writes, messages, lateMessages, lateNS int64
}

// connMark is what was reported of a connection.
type connMark struct {
	reads, bytes, deliveryReads, deliveries, paused int64
}

// connSelf is what the sampler reads of a connection; all of it is written by the connection's reader.
type connSelf struct {
	bytes         int64Counter // read
	deliveryReads int64Counter
	deliveries    int64Counter
	paused        int64Counter // ns that reading was paused for the recorder
	largest       int64Counter // deliveries in the largest read since the sampler looked
}

// newSampler begins to look at the barrier.
func (e *engine) newSampler(barrier int64) *sampler {
	s := &sampler{
		eng: e, done: make(chan struct{}), begun: barrier, last: barrier, process: newProcessMeter(),
		producers: make([]producerMark, len(e.producers)), conns: make([]connMark, len(e.conns)),
	}
	for _, p := range e.producers {
		p.seen.lateMax.Store(lateNone)
	}
	for i, c := range e.connections() {
		s.readConn(c, &s.conns[i]) // what came before does not count
		if len(c.lanePlan) > 0 && c.lanePlan[0].producer != nil && i < unsentConnections && c.link != nil {
			s.unsent.add(c.link.tcp)
		}
	}
	s.self = event.Self{}
	s.gone.Go(s.run)
	return s
}

func (s *sampler) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for due := s.begun; ; {
		step := event.SelfStepNS(due-s.begun, len(s.producers), len(s.conns))
		for now := s.eng.clock.Now(); due <= now; {
			due += step
		}
		timer.Reset(time.Duration(due - s.eng.clock.Now()))
		select {
		case <-timer.C:
			s.sample()
		case <-s.done:
			return
		}
	}
}

// stop records what is left and ends the sampler.
func (s *sampler) stop() {
	close(s.done)
	s.gone.Wait()
	s.sample()
}

// sample ends an interval now and records it.
func (s *sampler) sample() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.eng.clock.Now()
	if now <= s.last {
		return
	}
	v := &s.self
	*v = event.Self{At: now, SpanNS: now - s.last, LateMaxNS: event.None, UnsentMaxBytes: event.None}
	s.last = now
	for i, p := range s.eng.producers {
		s.readProducer(p, &s.producers[i])
	}
	for i, c := range s.eng.connections() {
		s.readConn(c, &s.conns[i])
	}
	if bytes, ok := s.unsent.most(); ok {
		v.UnsentMaxBytes = bytes
	}
	s.process.read(v)
	s.eng.progress.noticed(v)
	if s.kept.SpanNS > 0 {
		s.kept.Merge(v)
		*v = s.kept
	}
	s.kept = event.Self{}
	if !s.eng.rec.Self(v) {
		s.kept = *v
	}
}

func (s *sampler) readProducer(p *producer, m *producerMark) {
	v := &s.self
	waited := p.seen.read(v.At)
	var added [waitKinds]int64
	for k := range waited {
		added[k] = max(waited[k]-m.waited[k], 0)
		m.waited[k] += added[k]
	}
	v.PublishingNS += max(v.SpanNS-added[waitNoMore], 0)
	for k, to := range [...]*event.Wait{waitWindow: &v.Window, waitSocket: &v.Socket, waitRecorder: &v.Recorder, waitSchedule: &v.Schedule} {
		if to != nil {
			to.SumNS += added[k]
			to.MaxNS = max(to.MaxNS, added[k])
		}
	}
	v.Writes += advance(&m.writes, p.seen.writes.Load())
	v.WrittenMessages += advance(&m.messages, p.count.sent.Load()+p.count.republished.Load())
	v.LargestWrite = max(v.LargestWrite, p.seen.largest.Swap(0))
	v.LateMessages += advance(&m.lateMessages, p.seen.lateMessages.Load())
	v.LateSumNS += advance(&m.lateNS, p.seen.lateSum.Load())
	v.LateMaxNS = max(v.LateMaxNS, p.seen.lateMax.Swap(lateNone)) // event.None is the least there is
}

func (s *sampler) readConn(c *conn, m *connMark) {
	v := &s.self
	v.Reads += advance(&m.reads, int64(c.reads.Load()))
	v.ReadBytes += advance(&m.bytes, c.seen.bytes.Load())
	v.DeliveryReads += advance(&m.deliveryReads, c.seen.deliveryReads.Load())
	v.Deliveries += advance(&m.deliveries, c.seen.deliveries.Load())
	v.PausedNS += advance(&m.paused, c.seen.paused.Load())
	v.LargestRead = max(v.LargestRead, c.seen.largest.Swap(0))
}

// advance moves a mark to where a counter is, and tells how far it went.
func advance(mark *int64, to int64) int64 {
	n := to - *mark
	*mark = to
	return n
}
