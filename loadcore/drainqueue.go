package loadcore

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"leveret/capture/manifest"
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
	refused    error  // why it did not answer when it was asked what is left
	gaveUp     string // why it cannot be drained
}

// ours are the run's own consumers that still take from the queue.
func (q *drainQueue) ours() (n int64) {
	for _, d := range q.consumers {
		if d.consuming() {
			n++
		}
	}
	return n
}

// counted reports whether a queue that nobody consumes has told of all that was sent to it.
func (q *drainQueue) counted() bool {
	return len(q.consumers) == 0 && q.spec.Type != stream && q.expected > 0 && q.ready.Load() >= q.expected
}

// short reports whether a queue that nobody consumes counts less than what was sent to it, and may not have got to it yet.
func (q *drainQueue) short() bool {
	return len(q.consumers) == 0 && q.slow && q.spec.Type != stream && q.ready.Load() < q.expected
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

// limited reports whether the queue drops what has come back too often, so that it gets empty although its consumers put messages
// back. A quorum queue does where an argument or a policy gives it a delivery limit, or, of itself, from RabbitMQ 4.0 on; -1 is none.
func (q *drainQueue) limited(byItself bool) bool {
	if q.spec.Type != "quorum" {
		return false
	}
	rules := q.spec.Arguments
	if f := q.spec.Found; f != nil {
		rules = slices.Concat(rules, f.Arguments, f.Rules)
	}
	i := slices.IndexFunc(rules, func(a manifest.Arg) bool { return a.Key == "x-delivery-limit" || a.Key == "delivery-limit" })
	if i < 0 {
		return byItself
	}
	switch n := rules[i].Value.(type) {
	case int64:
		return n >= 0
	case float64: // as the management API tells it
		return n >= 0
	}
	return false
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
