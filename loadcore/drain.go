package loadcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Draining. Publishing has stopped and the confirms are in. A queue is drained when it is proved that everything in it has
// come out, while its consumers still consume:
//
//  1. What was published without confirms has arrived in the queue: a passive declare on the producer's own channel answers
//     after everything that the channel has published before it.
//  2. A round: every consumer of the queue declares it passively on its own channel, and each is told ready 0; everything
//     that all of them have received is acked; and nothing has come during the round. A delivery that left the queue before
//     one of the answers precedes that consumer's own answer on its channel, so none is on its way any more.
//  3. Ready counts of quorum queues and streams may lag, and so may what a lost producer has left in the broker's socket:
//     there the rounds have to agree for settleTime, unless as many messages have come as were confirmed.
//  4. A stream keeps what was read, so that its ready count says nothing of rule 2. Each subscription is quiet for settleTime
//     then, or has all that was confirmed; one from the first message on has also as many as the stream counts.
//  5. A consumer that has left by itself, or at its limit, stands in for one that consumes, where all that it received is
//     acked: nothing comes behind its cancel-ok. Of a stream it proves what it has counted, and its silence nothing. A queue
//     that is deleted with the last of them was empty if all has come that was confirmed; it is not asked while messages come.
//
// The ready count alone proves nothing: it does not count what is unacked. A queue whose consumers put messages back (nack
// with requeue) is never empty, and is not waited for.

const (
	settleTime   = 3 * time.Second
	firstPause   = 2 * time.Millisecond   // between rounds
	longestPause = 250 * time.Millisecond // it doubles
	askAtOnce    = 32                     // questions under way at the same time
)

// drainQueue is one queue while it is drained.
type drainQueue struct {
	index     int
	spec      *manifest.Queue
	consumers []drainPart
	expected  int64 // deliveries that will make it (a stream: each of its subscriptions) complete; -1 where that cannot be counted
	slow      bool  // rule 3
	owner     *conn // of an exclusive queue: nobody else may ask

	ready      atomic.Int64 // as answered last; -1: not yet
	others     atomic.Int64 // consumers that the broker counts beyond ours
	quietSince int64        // first of the agreeing rounds; 0: none
	seen       int64        // received, as comes saw it
	seenAt     int64
	leaving    bool // a consumer that has reached its limit waits for its cancel-ok
	proved     bool
	gaveUp     string // why it cannot be drained
}

// drainPart is one consumer of a queue.
type drainPart struct {
	s     *consumer
	local int // place in the consumer's queues
}

func (d drainPart) received() int64 { return d.s.queues[d.local].shown.Load() }

// consuming reports whether the consumer still takes from this queue.
func (d drainPart) consuming() bool {
	return d.s.live() && d.s.queues[d.local].state.Load() == subscribed
}

// hasLeft reports whether the consumer has left by itself, in order, or at its limit with nothing beyond it: rule 5.
func (d drainPart) hasLeft() bool {
	s := d.s
	switch {
	case s.ended.Load() || !s.finished.Load():
		return false
	case s.polls != nil:
		return !s.polls.asking.Load()
	case s.left.Load():
		return true
	}
	return s.queues[d.local].state.Load() == cancelled && (s.spec.AutoAck || s.count.acked.Load() == s.count.received.Load())
}

// holds reports whether the consumer has been cancelled at its limit with messages beyond it, which it does not ack.
func (d drainPart) holds() bool {
	s := d.s
	return s.finished.Load() && !s.ended.Load() && !s.spec.AutoAck && s.count.received.Load() > int64(s.limit) && s.limit > 0
}

// leaving reports whether the consumer has been cancelled at its limit and waits for the answer.
func (d drainPart) leaving() bool {
	return !d.s.ended.Load() && d.s.queues[d.local].state.Load() == cancelling
}

// drain empties the queues as far as that can be had, cancels the consumers, and asks what was left.
func (r *run) drain() {
	ctx := r.draining
	notes := r.confirmNotes()
	if err := r.proveArrived(ctx); err != nil {
		notes = append(notes, err.Error())
	}
	queues := r.drainQueues(len(notes) > 0)
	for _, s := range r.consumers {
		s.flushAcks.Store(true)
	}
	r.pokeConsumers()
	r.rounds(ctx, queues)
	// The drain's time may be over: the consumers are cancelled and the queues asked all the same, in the time for closing.
	last := r.leave()
	if r.liftWork() {
		r.readOut(last, queues)
	}
	r.cancelConsumers(last)
	r.askRemaining(last, queues)
	r.outcome.Drained = len(notes) == 0
	for _, q := range queues {
		if len(q.consumers) > 0 && !q.proved {
			r.outcome.Drained = false
			notes = append(notes, q.note(r.plan.DrainTimeout))
		}
		end := manifest.QueueEnd{Queue: q.index, Consumed: len(q.consumers) > 0, Drained: q.proved}
		if ready := q.ready.Load(); ready >= 0 {
			end.Ready = &ready
		}
		r.outcome.Queues = append(r.outcome.Queues, end)
	}
	r.outcome.DrainNote = strings.Join(notes, "; ")
}

// liftWork ends the work of consumers with automatic acks: what the broker has handed out to them is only read from here on,
// however much that is. Reports whether there are any.
func (r *run) liftWork() (lifted bool) {
	for _, s := range r.consumers {
		if s.spec.AutoAck && s.work != nil {
			s.lifted.Store(true)
			lifted = true
		}
	}
	if lifted {
		r.pokeConsumers()
	}
	return lifted
}

// readOut goes on with the rounds, for half of the time that is left: the broker may have nothing any more, and all of it
// have been under way to a consumer that works slowly.
func (r *run) readOut(last context.Context, queues []*drainQueue) {
	end, ok := last.Deadline()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(last, time.Until(end)/2)
	defer cancel()
	r.rounds(ctx, queues)
}

// note says why a queue is not drained.
func (q *drainQueue) note(timeout time.Duration) string {
	switch ready := q.ready.Load(); {
	case q.gaveUp != "":
		return fmt.Sprintf("queue %s: %s", q.spec.Name, q.gaveUp)
	case ready > 0:
		return fmt.Sprintf("queue %s: %d messages were still ready when the drain ended (drain timeout %v)", q.spec.Name, ready, timeout)
	}
	return fmt.Sprintf("queue %s: it could not be proved that all was received within %v", q.spec.Name, timeout)
}

// confirmNotes says whose confirms are missing.
func (r *run) confirmNotes() (notes []string) {
	for _, p := range r.producers {
		if n := p.unsettled(); n > 0 {
			what := "unconfirmed"
			if p.tx != nil {
				what = "uncommitted"
			}
			notes = append(notes, fmt.Sprintf("producer %d: %d messages %s", p.index, n, what))
		}
	}
	return notes
}

// proveArrived is rule 1.
func (r *run) proveArrived(ctx context.Context) error {
	return forEach(len(r.producers), askAtOnce, func(i int) error {
		p := r.producers[i]
		if p.win != nil || p.tx != nil || p.seq == 0 { // confirms and commits say so themselves
			return nil
		}
		for _, q := range r.routeQueues(p) {
			if err := r.askOnPublishingChannel(ctx, p, q); err != nil {
				return fmt.Errorf("producer %d: it could not be proved that its messages have arrived: %w", i, err)
			}
		}
		return nil
	})
}

// askOnPublishingChannel makes a round trip behind everything that the producer has published: through the queue, or, where
// the queue may be gone with its last consumer, or is another connection's, and asking for it would cost the channel, through
// the broker's channel only.
func (r *run) askOnPublishingChannel(ctx context.Context, p *producer, queue int) error {
	q := &r.plan.Topology.Queues[queue]
	leaves := len(r.plan.Consumers) == 0 || // those of other processes, whenever they like
		slices.ContainsFunc(r.plan.Consumers, func(c manifest.Consumer) bool { return c.Limit > 0 || c.ExitWhen != "" })
	if owner := r.ownerOf(q, queue); q.AutoDelete && leaves || owner != nil && owner != p.ch.conn {
		_, err := p.ch.call(ctx, &wire.ExchangeDeclare{Exchange: "amq.direct", Type: "direct", Passive: true}, wire.ExchangeDeclareOkID)
		return err
	}
	_, err := p.ch.call(ctx, &wire.QueueDeclare{Queue: q.Name, Passive: true}, wire.QueueDeclareOkID)
	return err
}

// routeQueues are the queues that a producer's messages reach; where that is unknown, all that the run knows.
func (r *run) routeQueues(p *producer) []int {
	var reached []int
	for _, route := range r.routesOf(p) {
		if !route.Known {
			all := make([]int, len(r.plan.Topology.Queues))
			for i := range all {
				all[i] = i
			}
			return all
		}
		for _, q := range route.Queues {
			if !slices.Contains(reached, q) {
				reached = append(reached, q)
			}
		}
	}
	return reached
}

func (r *run) routesOf(p *producer) []manifest.Route {
	return r.plan.Topology.Routes[p.spec.Route : p.spec.Route+max(p.spec.Routes, 1)]
}

// drainQueues lists all queues of the topology with their consumers.
func (r *run) drainQueues(unproven bool) []*drainQueue {
	queues := make([]*drainQueue, len(r.plan.Topology.Queues))
	for i := range queues {
		spec := &r.plan.Topology.Queues[i]
		q := &drainQueue{index: i, spec: spec, expected: r.expected(i), slow: unproven || spec.Type == "quorum" || spec.Type == stream, owner: r.ownerOf(spec, i)}
		q.ready.Store(-1)
		queues[i] = q
	}
	for _, s := range r.consumers {
		for local := range s.queues {
			q := queues[s.queues[local].queue]
			q.consumers = append(q.consumers, drainPart{s, local})
			if s.spec.Nack && s.spec.Requeue && !s.spec.AutoAck {
				q.gaveUp = "its consumers put messages back (nack with requeue), so that it never gets empty"
			}
		}
	}
	return queues
}

// stream is the queue type that keeps what was read.
const stream = "stream"

// expected counts the deliveries of a queue that began empty and whose producers are all known.
func (r *run) expected(queue int) int64 {
	if ready := r.plan.Topology.Queues[queue].ReadyAtStart; ready == nil || *ready != 0 {
		return -1
	}
	n := int64(0)
	for _, p := range r.producers {
		routes := r.routesOf(p)
		reaching := 0 // of its routes, how many lead to the queue
		for _, route := range routes {
			if !route.Known {
				return -1
			}
			if slices.Contains(route.Queues, queue) {
				reaching++
			}
		}
		switch {
		case reaching == 0:
		case reaching < len(routes):
			return -1
		case p.win != nil:
			n += p.count.confirmed.Load() - p.count.returned.Load()
		case p.tx != nil:
			n += p.count.committed.Load() - p.count.returned.Load()
		default:
			n += p.count.sent.Load()
		}
	}
	return n
}

// rounds repeats rule 2 until every queue is proved or given up, or the drain's time is over. A run without producers has
// nothing to wait for: one round tells what is left, and more of them only what rules 3 and 4 ask for.
func (r *run) rounds(ctx context.Context, queues []*drainQueue) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		left, quiet := 0, true
		for _, q := range queues {
			if !q.proved && q.gaveUp == "" && len(q.consumers) > 0 {
				r.round(ctx, q)
				if !q.proved && q.gaveUp == "" {
					left++
					quiet = quiet && (q.quietSince > 0 || q.leaving)
				}
			}
		}
		if left == 0 || len(r.producers) == 0 && !quiet || r.fatalError() != nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// round is rule 2, and then the others, for one queue.
func (r *run) round(ctx context.Context, q *drainQueue) {
	var parts []drainPart
	consuming := 0
	for _, d := range q.consumers {
		switch {
		case d.consuming():
			consuming++
			parts = append(parts, d)
		case d.hasLeft():
			parts = append(parts, d)
		}
	}
	q.leaving = slices.ContainsFunc(q.consumers, drainPart.leaving)
	switch {
	case q.leaving:
		return
	case slices.ContainsFunc(q.consumers, drainPart.holds):
		q.gaveUp = "consumers that have reached their limit hold messages beyond it"
		return
	case len(parts) == 0 && r.anyToCome(q):
		q.gaveUp = "its consumers had not begun when the run stopped"
		return
	case len(parts) == 0:
		q.gaveUp = "its consumers have stopped before it was empty"
		return
	case q.spec.AutoDelete && q.mayVanish() && q.complete(parts) && r.allAcked(ctx, parts):
		q.proved = true
		return
	case consuming == 0 && q.spec.AutoDelete:
		q.gaveUp = "its consumers have left, and it is deleted with the last of them"
		return
	case q.spec.AutoDelete && q.mayVanish() && q.comes(r.clock.Now()):
		q.quietSince = 0 // a question that finds it gone would cost the channel
		return
	case !r.workedOff(parts):
		q.quietSince = 0 // and the answers would come behind all that is under way to them
		return
	}
	r.ask(ctx, q, parts, consuming)
}

// mayVanish reports whether the next message may make a consumer leave, and an auto-delete queue go with it.
func (q *drainQueue) mayVanish() bool {
	return q.expected >= 0 && slices.ContainsFunc(q.consumers, func(d drainPart) bool { return d.s.limit > 0 || d.s.finished.Load() })
}

// comes reports whether something has come in the last few seconds.
func (q *drainQueue) comes(now int64) bool {
	if n := sumReceived(q.consumers); n != q.seen || q.seenAt == 0 {
		q.seen, q.seenAt = n, now
	}
	return now-q.seenAt < int64(settleTime)
}

// anyToCome reports whether a consumer of the queue has not begun.
func (r *run) anyToCome(q *drainQueue) bool {
	return slices.ContainsFunc(q.consumers, func(d drainPart) bool { return d.s.begun.Load() == 0 && !d.s.ended.Load() })
}

// ask is a round's questions.
func (r *run) ask(ctx context.Context, q *drainQueue, parts []drainPart, consuming int) {
	before := sumReceived(q.consumers)
	var busy atomic.Bool
	err := forEach(len(parts), askAtOnce, func(i int) error {
		ready, consumers, err := askQueue(ctx, parts[i].s.ch, q.spec.Name)
		if err != nil {
			return err
		}
		if old := q.ready.Swap(ready); q.spec.Type == stream && ready != old && old >= 0 || q.spec.Type != stream && ready > 0 {
			busy.Store(true)
		}
		q.others.Store(consumers - int64(consuming))
		return nil
	})
	switch {
	case err != nil && ctx.Err() == nil:
		q.gaveUp = err.Error()
	case consuming == 0 && busy.Load() && q.spec.Type != stream:
		q.gaveUp = "its consumers have left before it was empty"
	case err != nil || busy.Load() || !r.allAcked(ctx, parts) || sumReceived(q.consumers) != before:
		q.quietSince = 0
	default:
		q.agreed(parts, r.clock.Now())
	}
}

// agreed takes a round in which everything was quiet.
func (q *drainQueue) agreed(parts []drainPart, now int64) {
	if q.quietSince == 0 {
		q.quietSince = now
	}
	switch settled := now-q.quietSince >= int64(settleTime); {
	case q.slow && !q.complete(parts) && !settled:
	case q.spec.Type == stream && settled && !q.complete(parts) && !q.read(parts):
		q.gaveUp = "its consumers have left, and it does not show whether they have read all of it"
	case q.others.Load() > 0 && q.spec.Type != stream: // a consumer of ours that has just been cancelled may still be counted, but not for long
		if settled {
			q.gaveUp = fmt.Sprintf("%d other consumers are on it, which may hold messages", q.others.Load())
		}
	default:
		q.proved = true
	}
}

// complete reports whether all has come that is expected: of a queue to its consumers together, of a stream to each.
func (q *drainQueue) complete(parts []drainPart) bool {
	if q.expected < 0 {
		return false
	}
	if q.spec.Type != stream {
		return sumReceived(q.consumers) >= q.expected
	}
	return !slices.ContainsFunc(parts, func(d drainPart) bool { return d.received() < q.expected })
}

// read reports whether each subscription of a stream has been quiet to the end, or has read as many messages as the stream
// counts, from the first on.
func (q *drainQueue) read(parts []drainPart) bool {
	return !slices.ContainsFunc(parts, func(d drainPart) bool {
		return !d.consuming() && !(d.fromFirst() && d.received() >= q.ready.Load())
	})
}

// fromFirst reports whether the consumer reads a stream from its first message on.
func (d drainPart) fromFirst() bool {
	return slices.ContainsFunc(d.s.spec.Arguments, func(a manifest.Arg) bool { return a.Key == streamOffset && a.Value == "first" })
}

func sumReceived(parts []drainPart) (n int64) {
	for _, d := range parts {
		n += d.received()
	}
	return n
}

// ackPatience is how long a round waits for acks that are withheld. The next round asks again.
const ackPatience = 200 * time.Millisecond

// allAcked waits a little until the consumers have acked all that they have received.
func (r *run) allAcked(ctx context.Context, parts []drainPart) bool {
	deadline := time.Now().Add(ackPatience)
	for {
		owing := false
		for _, d := range parts {
			c := &d.s.count
			if !d.s.spec.AutoAck && d.s.live() && c.acked.Load() < c.received.Load() {
				owing = true
				d.s.ch.conn.poke()
			}
		}
		if !owing {
			return true
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return false
		}
		time.Sleep(time.Millisecond)
	}
}

// workedOff reports whether consumers with automatic acks have done their work on all that has come to them.
func (r *run) workedOff(parts []drainPart) bool {
	return !slices.ContainsFunc(parts, func(d drainPart) bool {
		c := &d.s.count
		return d.s.spec.AutoAck && d.s.work != nil && !d.s.lifted.Load() && d.consuming() && c.worked.Load() < c.received.Load()
	})
}

func (r *run) pokeConsumers() {
	for _, c := range r.conns {
		for _, l := range c.lanePlan {
			if l.consumer != nil && c.usable() {
				c.poke()
				break
			}
		}
	}
}

// cancelConsumers ends all subscriptions; what comes before a cancel-ok is recorded and acked like everything else.
func (r *run) cancelConsumers(ctx context.Context) {
	forEach(len(r.consumers), askAtOnce, func(i int) error {
		r.cancel(ctx, r.consumers[i]) // an error: the channel is gone, or the broker mute, and closing says so
		return nil
	})
	r.pokeConsumers()
	for _, s := range r.consumers {
		if s.live() {
			r.allAcked(ctx, []drainPart{{s, 0}})
		}
	}
}
