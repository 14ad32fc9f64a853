package loadcore

import (
	"slices"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Read coalescing: a broker that sends confirms and deliveries in many small frames costs a reader that takes each as it
// comes a read call and a wake-up per frame. So in closed loop a reader may rest after a read call, and take what has come
// meanwhile at once. Since read calls bypass the scheduler (callnow_linux.go) it saves nothing against RabbitMQ 3.10 on two
// processors, and costs throughput with 1024-byte messages; so it is off unless asked for.
//
//	calls  |#|         |#|#|#|  rest  |####|  rest  |###|             |#|        ...
//	       silence      dense: as long as frames follow each other      silence again: the reader sits in the read call,
//	                    closely, it rests after each call               what comes is taken at once
//
// A rest ends Plan.Coalesce after the read call before it: what comes during a rest, be it a multiple ack of 21 bytes that
// reopens a whole window, is late by that at most. A reader rests only where that saves calls: while the time that it sits
// in a read call is short beside the bound, on the mean of the last calls, and the calls bring little.
const (
	// UsualCoalesce is the bound to begin with.
	UsualCoalesce = 200 * time.Microsecond
	// MaxCoalesce keeps the bound below what a broker's or the engine's own timeouts would notice.
	MaxCoalesce = 100 * time.Millisecond

	// coalesceEnough is what a read call brings (bytes) that was worth its cost.
	coalesceEnough = 16 << 10
	// coalesceLeast is how many messages must be able to be under way to a connection: with a window of 5 there is nothing
	// to gather, and a rest would only hold the producer up.
	coalesceLeast = 64
	// gapsMeant is over about how many read calls the mean goes.
	gapsMeant = 8
)

// rests is the resting of one connection's reader, which owns it.
type rests struct {
	bound int64 // ns; 0: never
	ready int64 // when the reader was ready to read, last time
	gap   int64 // how long it then took until something was read: a mean, ns
	alarm *alarm
	taken int64 // rests so far
}

// prepareRests decides whether the connection's reader may rest at all.
func (c *conn) prepareRests() {
	n := 0
	for _, l := range c.lanePlan {
		if l.producer != nil {
			n += l.producer.spec.Confirm
		} else {
			n += underWay(l.consumer.spec)
		}
	}
	if c.eng.plan.Coalesce > 0 && n >= coalesceLeast {
		c.rests.bound = int64(c.eng.plan.Coalesce)
		c.rests.gap = gapsMeant * c.rests.bound
	}
}

// underWay is how many messages the broker can send to a consumer before it has to wait for acks, or coalesceLeast for no
// limit.
func underWay(s *manifest.Consumer) int {
	limit := s.Prefetch * max(len(s.Queues), 1)
	if s.GlobalPrefetch > 0 && (limit == 0 || s.GlobalPrefetch < limit) {
		limit = s.GlobalPrefetch
	}
	switch {
	case s.Polling:
		return 1
	case s.AutoAck || limit == 0:
		return coalesceLeast
	}
	return limit
}

// CoalesceBound is by how much read coalescing can delay what this plan's lanes get to see; 0 where no reader may rest.
func (p *Plan) CoalesceBound() time.Duration {
	if p.Coalesce <= 0 || p.ChosenDrive() == DriveShared {
		return 0
	}
	n := make([]int, p.Connections)
	for i := range p.Producers {
		n[p.Producers[i].Connection] += p.Producers[i].Confirm
	}
	for i := range p.Consumers {
		n[p.Consumers[i].Connection] += underWay(&p.Consumers[i])
	}
	if slices.ContainsFunc(n, func(n int) bool { return n >= coalesceLeast }) {
		return p.Coalesce
	}
	return 0
}

// after is called after a read call that brought n bytes by the time at, and rests if that is of use.
func (r *rests) after(clock *event.Clock, at int64, n int) {
	if r.bound == 0 || !r.due(at, n) {
		return
	}
	left := at + r.bound - clock.Now()
	if left <= 0 || !r.canRest() {
		return
	}
	r.taken++
	r.alarm.set(left)
	r.alarm.wait()
	r.ready = at + r.bound
}

// due takes a read call into account, and tells whether a rest after it is of use.
func (r *rests) due(at int64, n int) bool {
	r.gap += (min(at-r.ready, gapsMeant*r.bound) - r.gap) / gapsMeant
	r.ready = at
	return n < coalesceEnough && r.gap <= r.bound/2
}

// canRest makes the timer; without one there are no rests.
func (r *rests) canRest() bool {
	if r.alarm == nil {
		a, err := newAlarm()
		if err != nil {
			r.bound = 0
			return false
		}
		r.alarm = &a
	}
	return true
}

func (r *rests) end() {
	if r.alarm != nil {
		r.alarm.close()
	}
}
