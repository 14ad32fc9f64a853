package integrity

import (
	"slices"

	"leveret/analyze/result"
)

// Streams: queues that may be one, and subscriptions that were lost and opened again. A stream keeps no account of what a subscriber has had: one that is opened
// again begins where its x-stream-offset says. With next, which is the default, it never gets what came meanwhile, with first or an
// offset it gets once more what it had. The engine opens it as it was planned (loadcore), so that neither is the broker's fault.

// mayBeStream: the captures use the queue as it was, nobody told of what type it is, and several consumers read it.
func (q *queue) mayBeStream() bool {
	_, said := q.argument("x-queue-type")
	return !q.made && !said && q.kind != "stream" && len(q.consumers) > 1
}

// reopenedRule is why a message may be missing from such a subscription.
const reopenedRule = "the subscription of the stream was opened again, and begins where its x-stream-offset says, next by default"

// subscription is the consumer that a destination of a stream is of.
type subscription struct{ capture, consumer int }

// lane is how a producer's messages come by the destination, number d, of a stream's subscription.
func (x *dest) lane(d int32) laneKey {
	return laneKey{dest: d, capture: uint16(x.of.capture), number: uint16(x.of.consumer)}
}

// subscription is the destination of one consumer of a stream.
func (x *Expected) subscription(capture int, queue, consumer uint16) int32 {
	c := &x.captures[capture]
	d, ok := c.streams[[2]uint16{queue, consumer}]
	if !ok {
		d = x.addDest(int(c.queues[queue]), true)
		x.dests[d].of = &subscription{capture, int(consumer)}
		c.streams[[2]uint16{queue, consumer}] = d
	}
	return d
}

// reopened tells whether the destination is a subscription that was away for a time.
func (f *Facts) reopened(d *dest) bool {
	return d.stream && d.of != nil && f.of(d.of.capture, d.of.consumer).away > 0
}

// excuse takes back what was held against the broker for messages that such subscriptions got once more. Rows come before the
// facts, so that it is not known before.
func (l *Ledger) excuse() {
	for i := range l.x.dests {
		if l.x.dests[i].reopened {
			c := l.destCounts(int32(i))
			l.total.readAgain += c.duplicates
			c.duplicates = 0
		}
	}
	l.total.duplicateFirst = slices.DeleteFunc(l.total.duplicateFirst, func(e *example) bool { return e.dest >= 0 && l.x.dests[e.dest].reopened })
}

// readAgain is the finding about them.
func (r *report) readAgain() {
	n := r.l.total.readAgain
	r.add(CodeReadAgain, result.SeverityWarning, n, nil,
		"%s received again by subscriptions of a stream that were lost and opened again: they begin where their x-stream-offset says", messages(n))
}
