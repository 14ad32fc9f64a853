package loadcore

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leveret/capture/manifest"
)

// Draining. Publishing has stopped and the confirms are in. A queue is drained when it is proved that everything in it has
// come out, while its consumers still consume:
//
//  1. What was published without confirms has arrived at the queue: a passive declare on the producer's own channel answers
//     after the channel has handed on everything that it published before.
//  2. A round: every consumer of the queue declares it passively on its own channel, and each is told ready 0; everything
//     that all of them have received is acked; and nothing has come during the round. A delivery that left the queue before
//     one of the answers precedes that consumer's own answer on its channel, so none is on its way any more.
//  3. Ready counts of quorum queues and streams may lag, and so may what a lost producer has left in the broker's socket. What
//     was published without confirms may still wait in front of the queue, for RabbitMQ has a queue's process answer
//     questions before it takes messages. There the rounds have to agree for settleTime, unless as many messages have come as
//     were confirmed, or sent.
//  4. A stream keeps what was read, so that its ready count says nothing of rule 2. Each subscription is quiet for settleTime
//     then, or has all that was confirmed; one from the first message on has also as many as the stream counts.
//  5. A consumer that has left by itself, or at its limit, stands in for one that consumes, where all that it received is
//     acked: nothing comes behind its cancel-ok. Of a stream it proves what it has counted, and its silence nothing. A queue
//     that is deleted with the last of them was empty if all has come that was confirmed; it is not asked while messages come.
//
// The ready count alone proves nothing: it does not count what is unacked. A queue whose consumers put messages back (nack
// with requeue) is never empty, and is not waited for, unless it drops what has come back too often.

const (
	settleTime   = 3 * time.Second
	firstPause   = 2 * time.Millisecond   // between rounds
	longestPause = 250 * time.Millisecond // it doubles
	askAtOnce    = 32                     // questions under way at the same time
)

// drain empties the queues as far as that can be had, cancels the consumers, and asks what was left.
func (r *run) drain() {
	ctx := r.draining
	queues := r.drainQueues()
	notes := append(r.confirmNotes(), r.proveArrived(ctx, queues)...)
	if len(notes) > 0 || r.cut.Load() {
		for _, q := range queues {
			q.slow = true
		}
	}
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
	late := false // a queue for which the time was too short
	var open []string
	for _, q := range queues {
		if len(q.consumers) > 0 && !q.proved {
			r.outcome.Drained = false
			open = append(open, q.note(r.plan.DrainTimeout))
			late = late || q.gaveUp == ""
		}
		end := manifest.QueueEnd{Queue: q.index, Consumed: len(q.consumers) > 0, Drained: q.proved}
		if ready := q.ready.Load(); ready >= 0 {
			end.Ready = &ready
		}
		r.outcome.Queues = append(r.outcome.Queues, end)
	}
	notes = append(notes, first(open, mostSayings)...)
	if late && ctx.Err() != nil {
		notes = append(notes, "--drain-timeout gives it more time, --rate or --confirm less to drain")
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

// drainQueues lists all queues of the topology with their consumers.
func (r *run) drainQueues() []*drainQueue {
	queues := make([]*drainQueue, len(r.plan.Topology.Queues))
	for i, f := range r.feeds() {
		spec := &r.plan.Topology.Queues[i]
		q := &drainQueue{index: i, spec: spec, expected: f.expected, slow: f.lags(spec)}
		if owner := r.ownerOf(i); owner >= 0 {
			q.owner = r.conn(owner)
		}
		q.ready.Store(-1)
		queues[i] = q
	}
	for _, s := range r.consumers {
		for local := range s.queues {
			q := queues[s.queues[local].queue]
			q.consumers = append(q.consumers, drainPart{s, local})
			if !s.spec.Nack || !s.spec.Requeue || s.spec.AutoAck {
				continue
			}
			q.expected = -1 // what comes again does not add up
			if !q.limited(r.limitsDeliveries.Load()) {
				q.gaveUp = "its consumers put messages back (nack with requeue), so that it never gets empty"
			}
		}
	}
	return queues
}

// stream is the queue type that keeps what was read.
const stream = "stream"

// lags tells whether the queue's own word may come before what is on its way to it: rule 3. A queue that is used as it is may
// be of any type.
func (f feed) lags(q *manifest.Queue) bool {
	return !q.Declare || q.Type == "quorum" || q.Type == stream || f.unconfirmed
}

// rounds repeats rule 2 until every queue is proved or given up, or the drain's time is over. A run without producers has
// nothing to wait for: one round tells what is left, and more of them only what rules 3 and 4 ask for.
func (r *run) rounds(ctx context.Context, queues []*drainQueue) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		open, most := openQueues(queues)
		forEach(len(open), max(askAtOnce/max(most, 1), 1), func(i int) error {
			r.round(ctx, open[i])
			return nil
		})
		left, quiet := 0, true
		for _, q := range open {
			if !q.proved && q.gaveUp == "" {
				left++
				quiet = quiet && (q.quietSince > 0 || q.leaving)
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

// openQueues are those that are neither proved nor given up, and how many consumers one of them has at most.
func openQueues(queues []*drainQueue) (open []*drainQueue, most int) {
	for _, q := range queues {
		if !q.proved && q.gaveUp == "" && len(q.consumers) > 0 {
			open, most = append(open, q), max(most, len(q.consumers))
		}
	}
	return open, most
}

// round is rule 2, and then the others, for one queue.
func (r *run) round(ctx context.Context, q *drainQueue) {
	if slices.ContainsFunc(q.consumers, func(d drainPart) bool { return d.s.mending.Load() && d.s.live() }) {
		q.quietSince = 0 // it comes back, or ends
		return
	}
	if r.cut.Load() { // what comes twice, or not, does not add up
		q.expected = -1
	}
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
	case consuming == 0 && q.spec.AutoDelete && !r.stays(ctx, q):
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

// stays reports whether a queue is there although its consumers have left, and asks what it holds, apart: asked on a lane's channel, one
// that goes in that moment would take the channel with it. Of a queue that the run uses as it is, nobody knows whether it is deleted with
// the last of its consumers, as the plan has it; one that the run declared is not asked.
func (r *run) stays(ctx context.Context, q *drainQueue) bool {
	if q.spec.Declare {
		return false
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	r.askQueues(ctx, []*drainQueue{q})
	return q.refused == nil
}

// anyToCome reports whether a consumer of the queue has not begun.
func (r *run) anyToCome(q *drainQueue) bool {
	return slices.ContainsFunc(q.consumers, func(d drainPart) bool { return d.s.begun.Load() == 0 && !d.s.ended.Load() })
}

// ask is a round's questions.
func (r *run) ask(ctx context.Context, q *drainQueue, parts []drainPart, consuming int) {
	before := sumReceived(q.consumers)
	var busy atomic.Bool
	var mu sync.Mutex // guards refusals
	var refusals sayings
	asked := parts
	if consuming == 0 && q.spec.AutoDelete { // stays has just asked
		asked = nil
		busy.Store(q.ready.Load() > 0)
	}
	err := forEach(len(asked), askAtOnce, func(i int) error {
		ready, consumers, err := askQueue(ctx, asked[i].s.current.Load(), r.queueName(q.index))
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			refusals.add("consumer", int(asked[i].s.index), strings.ReplaceAll(err.Error(), "\n", "; "))
			return err
		}
		if old := q.ready.Swap(ready); q.spec.Type == stream && ready != old && old >= 0 || q.spec.Type != stream && ready > 0 {
			busy.Store(true)
		}
		q.others.Store(consumers - int64(consuming))
		return nil
	})
	switch {
	case err != nil && slices.ContainsFunc(parts, func(d drainPart) bool { return d.s.mending.Load() }):
		q.quietSince = 0
	case err != nil && ctx.Err() == nil:
		q.gaveUp = strings.Join(refusals.list(), "; ")
	case consuming == 0 && busy.Load() && q.spec.Type != stream:
		q.gaveUp = "its consumers have left before it was empty"
	case err != nil || busy.Load() || !r.allAcked(ctx, parts) || sumReceived(q.consumers) != before:
		q.quietSince = 0
	default:
		q.agreed(parts, r.clock.Now())
	}
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
				d.s.current.Load().conn.poke()
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
	for _, c := range r.connections() {
		for _, l := range c.lanePlan {
			if l.consumer != nil && c.opened.Load() && c.usable() {
				c.poke()
				break
			}
		}
	}
}

// cancelConsumers ends all subscriptions; what comes before a cancel-ok is recorded and acked like everything else.
func (r *run) cancelConsumers(ctx context.Context) {
	forEach(len(r.consumers), askAtOnce, func(i int) error {
		s := r.consumers[i]
		if err := r.cancel(ctx, s); isTimeout(err) { // another error: the channel is gone
			s.eng.leftUnanswered("consumer", int(s.index), err.Error())
		}
		return nil
	})
	r.pokeConsumers()
	for _, s := range r.consumers {
		if s.live() {
			r.allAcked(ctx, []drainPart{{s, 0}})
		}
	}
}
