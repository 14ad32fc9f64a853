package integrity

import (
	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// tally are the counts of one queue, with what its findings need.
type tally struct {
	result.Counts
	queue       *queue
	rule        string
	unjudged    int64 // absent, but rows are missing
	unaccounted int64 // neither received nor, as far as the broker told, in the queue; no rule, and not drained
	expected    int64 // deliveries
	published   published
	unasked     int64 // missing, confirms off
	unexplained int64 // missing from a queue that the run did not declare
	unworked    int64 // received, and discarded at the stop before a consumer's work came to them
	ready       int64 // -1: unknown
	purged      int64 // went with a purge that is marked; of RemovedByRule
	losses      int64 // may have gone with a loss; of RemovedByRule
	lossRule    string
	spans       []span
	manySpans   bool
}

// tallies counts by queue, in the order of the topology.
func (l *Ledger) tallies(f *Facts) []tally {
	ts := make([]tally, len(l.x.queues))
	for i := range l.x.queues {
		q := &l.x.queues[i]
		t := &ts[i]
		t.queue, t.ready = q, q.ready()
		fed := q.fed
		for _, d := range q.dests {
			c := l.destCounts(d)
			fed = fed || c.ownIntact > 0 || c.attributed > 0
			t.add(c)
			if c.rule != "" {
				t.rule = c.rule
			}
			if c.lossRule != "" {
				t.lossRule = c.lossRule
			}
			l.judge(t, c, l.x.dests[d].waits, f)
		}
		for _, e := range q.ends {
			t.UnackedAtStop += e.UnackedAtStop
			t.DiscardedAtStop += e.UnworkedAtStop
			t.unworked += e.UnworkedAtStop
		}
		t.publish()
		if !fed { // no message of the run can be among these
			t.Foreign += t.Corrupt
			t.Corrupt, t.CorruptUnattributed = 0, 0
		}
	}
	return ts
}

// add takes over what needs no judgement.
func (t *tally) add(c *destCounts) {
	t.expected += c.expected
	if c.published.sent+c.published.notSent > t.published.sent+t.published.notSent {
		t.published = c.published // the same for all subscriptions of a stream that the topology knows
	}
	t.Received += c.received
	t.ReceivedUnique += c.unique
	t.Redelivered += c.redelivered
	t.Duplicates += c.duplicates
	t.OutOfOrder += c.outOfOrder
	t.Foreign += c.foreign
	t.Corrupt += c.corrupt
	t.CorruptUnattributed += c.corrupt - c.attributed
}

// publish takes over what producers did with the messages of the queue.
func (t *tally) publish() {
	p := &t.published
	t.Sent, t.NotSent, t.Confirmed, t.Unconfirmed = p.sent, p.notSent, p.confirmed, p.unconfirmed
	t.Committed, t.Uncommitted, t.Nacked, t.Returned = p.committed, p.uncommitted, p.nacked, p.returned
}

// judge says what the messages that did not arrive are.
func (l *Ledger) judge(t *tally, c *destCounts, waits bool, f *Facts) {
	if f.SendsWhole {
		t.Foreign += c.neverSent
		t.ReceivedUnique -= c.neverSent
	}
	if !waits {
		l.judgeUnconsumed(t, max(0, c.expected-(c.unique-c.neverSent)), f)
		return
	}
	absent := c.absent.all()
	t.Missing += c.purgedCount + c.lossCount
	t.RemovedByRule += c.purgedCount + c.lossCount
	t.purged += c.purgedCount
	t.losses += c.lossCount
	switch c.fate {
	case vanished:
		if c.rule != "" {
			t.Missing += absent
			t.RemovedByRule += absent
		} else {
			t.unaccounted += absent
		}
	case unjudged:
		t.unjudged += absent
	case waiting:
		queued := absent
		if r := t.ready; r >= 0 && t.queue.automatic {
			queued = min(absent, r) // the broker had handed out the others
		}
		t.QueuedAtStop += queued
		t.DiscardedAtStop += absent - queued
	case judged:
		t.Missing += absent
		switch {
		case c.rule != "":
			t.RemovedByRule += absent
		case !t.queue.made:
			t.unexplained += absent
		default:
			t.Lost += c.absent.acked
			t.MissingUnconfirmed += c.absent.unconfirmed
			t.unasked += c.absent.unasked
		}
	}
	kept := min(len(c.spans), maxSpans-len(t.spans)) // a stream has as many as subscriptions
	t.spans = append(t.spans, c.spans[:kept]...)
	t.manySpans = t.manySpans || c.manySpans || kept < len(c.spans)
}

// judgeUnconsumed is for a queue that no capture consumes: what the broker counted in it at the end is all there is.
func (l *Ledger) judgeUnconsumed(t *tally, absent int64, f *Facts) {
	if t.queue.kind == "stream" { // whose count lags by seconds
		t.QueuedAtStop = absent
		return
	}
	if t.ready < 0 {
		switch {
		case len(t.queue.ends) == 0: // nobody asked
			t.QueuedAtStop = absent
		case l.x.consumers > 0: // the broker knew no such queue, or could not answer
			t.unaccounted += absent
		}
		return
	}
	t.QueuedAtStop = min(absent, max(0, t.ready-t.queue.readyAtStart()))
	gone := absent - t.QueuedAtStop
	if t.rule = l.goneRule(t.queue, f); t.rule != "" {
		t.Missing += gone
		t.RemovedByRule += gone
	} else {
		t.unaccounted += gone
	}
}

// sum adds up the queues and what belongs to none.
func (l *Ledger) sum(ts []tally) result.Counts {
	c := result.Counts{
		Sent: l.total.sent, Confirmed: l.total.acked, Nacked: l.total.nacked, Returned: l.total.returned,
		Committed: l.total.committed, Uncommitted: l.total.uncommitted,
		Unconfirmed: l.total.unconfirmed, NotSent: l.total.notSent, Unroutable: l.total.unroutable,
	}
	for i := range ts {
		t := &ts[i]
		c.Received += t.Received
		c.ReceivedUnique += t.ReceivedUnique
		c.Redelivered += t.Redelivered
		c.Lost += t.Lost
		c.Missing += t.Missing
		c.MissingUnconfirmed += t.MissingUnconfirmed
		c.RemovedByRule += t.RemovedByRule
		c.QueuedAtStop += t.QueuedAtStop
		c.UnackedAtStop += t.UnackedAtStop
		c.DiscardedAtStop += t.DiscardedAtStop
		c.Duplicates += t.Duplicates
		c.Corrupt += t.Corrupt
		c.CorruptUnattributed += t.CorruptUnattributed
		c.OutOfOrder += t.OutOfOrder
		c.Foreign += t.Foreign
	}
	return c
}

// manifests calls f for every manifest there is.
func (x *Expected) manifests(f func(*manifest.Manifest)) {
	for i := range x.captures {
		if m := x.captures[i].manifest; m != nil {
			f(m)
		}
	}
}
