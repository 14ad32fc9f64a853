package integrity

import (
	"slices"

	"leveret/analyze/result"
)

// Subscriptions of a stream that were lost and opened again. A stream keeps no account of what a subscriber has had: one that is opened
// again begins where its x-stream-offset says. With next, which is the default, it never gets what came meanwhile, with first or an
// offset it gets once more what it had. The engine opens it as it was planned (loadcore), so that neither is the broker's fault.

// reopenedRule is why a message may be missing from such a subscription.
const reopenedRule = "the subscription of the stream was opened again, and begins where its x-stream-offset says, next by default"

// subscription is the consumer that a destination of a stream is of.
type subscription struct{ capture, consumer int }

// reopened tells whether the destination is a subscription that was away for a time.
func (f *Facts) reopened(d *dest) bool {
	return d.stream && d.of != nil && slices.Contains(f.Away, Away{d.of.capture, d.of.consumer})
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
