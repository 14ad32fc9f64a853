package integrity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// removalRule names a rule of the queue that may explain why a message is missing from it although the broker took it;
// "" where there is none. What matters is that a rule may explain it, not that it does: nothing recorded tells. A limit that
// the queue cannot have come to explains nothing.
func (l *Ledger) removalRule(q *queue, f *Facts) string {
	var rules []string
	within := l.reachOf(q, f)
	argument := func(key string) {
		if v, ok := q.argument(key); ok && !within.excludes(key, v) {
			rules = append(rules, rule(key, v))
		}
	}
	argument("x-message-ttl")
	overflow, given := q.argument("x-overflow")
	if !given {
		overflow = q.policyValue("overflow")
	}
	rejects := strings.HasPrefix(fmt.Sprint(overflow), "reject-publish") // then the newest are nacked instead
	if !rejects {
		argument("x-max-length")
		argument("x-max-length-bytes")
	}
	if q.kind == "stream" {
		argument("x-max-age")
	}
	argument("x-expires")
	if e := q.expiration; e != "" && q.kind != "stream" && !within.excludes("expiration", float64(q.expirationMS)) {
		rules = append(rules, "expiration of its messages, "+e+" ms")
	}
	rules = append(append(rules, q.policyRules(rejects, within)...), l.eventRules(q, f)...)
	if at, ok := f.cancelled(q); ok && len(rules) > 0 { // it explains more than any of them
		first := fmt.Sprintf("the broker cancelled a consumer of it %s after the start, as it does when a queue is deleted; else", seconds(at))
		return first + " " + strings.Join(rules, ", ")
	}
	return strings.Join(rules, ", ")
}

// rule is an argument as it was given. A manifest that was read has all numbers as float64, of which %v makes 2e+10.
func rule(key string, value any) string {
	if n, ok := value.(float64); ok {
		return key + "=" + strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprintf("%s=%v", key, value)
}

// eventRules are those that need something to have happened in the run before they can take a message away.
func (l *Ledger) eventRules(q *queue, f *Facts) (rules []string) {
	var redelivered int64
	for _, d := range q.dests {
		redelivered += l.destCounts(d).redelivered
	}
	ended := f.consumersEnded(q)
	reached := func(limit any) bool { return ended > 0 || redelivered > 0 && !q.returnedLess(limit, f) }
	if v, ok := q.argument("x-delivery-limit"); ok {
		if reached(v) {
			rules = append(rules, rule("x-delivery-limit", v))
		}
	} else if v := q.policyValue("delivery-limit"); v != nil {
		if reached(v) {
			rules = append(rules, q.policyName()+rule("delivery-limit", v))
		}
	} else if q.kind == "quorum" && reached(20) && !l.x.beforeVersion4() {
		rules = append(rules, "the delivery limit that quorum queues have by default since RabbitMQ 4.0 (20)")
	}
	if left, found := q.takenBetween(); left > found {
		rules = append(rules, fmt.Sprintf("another consumer, or a purge: %s ready when one capture ended, %s when the next began", result.Group(left), result.Group(found)))
	}
	if n := q.otherConsumers(); n > 0 {
		rules = append(rules, fmt.Sprintf("another consumer: the queue had %s of other programs when the run began", result.Plural(n, "consumer")))
	}
	for _, d := range q.declared {
		switch {
		case d.AutoDelete && ended > 0 && ended >= len(q.consumers):
			rules = append(rules, "auto-delete: every consumer of the queue ended early, and the queue with the last of them")
		case d.Exclusive && ended > 0:
			rules = append(rules, "exclusive: the queue goes with its connection, which ended early")
		default:
			continue
		}
		break
	}
	return rules
}

// returnedLess tells whether a message that no consumer of the captures received went back to the queue fewer times than its delivery
// limit: it can have done so once each time that one of the consumers was lost, or stopped by itself. Where messages were redelivered
// and none was, nobody knows why.
func (q *queue) returnedLess(limit any, f *Facts) bool {
	times := 0
	for _, c := range q.consumers {
		times += f.of(c.capture, c.number).away
		if c.leaves() {
			times++
		}
	}
	n, ok := number(limit)
	return ok && times > 0 && float64(times) < n
}

// leaves tells whether the consumer may stop by itself before the run does.
func (c *consumerOf) leaves() bool { return c.Limit > 0 || c.ExitWhen != "" }

// lossRule names what may explain why a message is missing that was sent before what was lost was back; "" where nothing does.
func (l *Ledger) lossRule(q *queue, f *Facts) string {
	var rules []string
	away, automatic := f.away(q)
	restarted := f.ConnectionsLost > 0 && q.allGone(f)
	if automatic {
		rules = append(rules, "automatic acks: connections of its consumers were lost, and with them what was on its way there")
	}
	for _, d := range q.declared {
		switch {
		case d.AutoDelete && away > 0 && away >= len(q.consumers):
			rules = append(rules, "auto-delete: every consumer of the queue was away for a time, and the queue goes with the last of them")
		case d.Exclusive && away > 0:
			rules = append(rules, "exclusive: the queue goes with its connection, which was lost")
		case !d.Durable && restarted:
			rules = append(rules, "not durable: connections were lost, and a broker that restarts forgets the queue; --flag persistent, with durable queues, has this judged")
		case q.transient && q.kind != "quorum" && q.kind != "stream" && restarted:
			rules = append(rules, "messages not persistent: connections were lost, and a broker that restarts forgets them; --flag persistent has this judged")
		default:
			continue
		}
		break
	}
	return strings.Join(rules, ", ")
}

// allGone tells whether every consumer of the queue was away for a time, or may have stopped before: a broker that restarts takes all
// of them away, also those that are connected to other nodes than the queue's.
func (q *queue) allGone(f *Facts) bool {
	for i := range q.consumers {
		c := &q.consumers[i]
		if x := f.of(c.capture, c.number); x.away == 0 && !x.ended && len(x.cancelled) == 0 && !c.leaves() {
			return false
		}
	}
	return true
}

// takenBetween tells how many messages one capture left in the queue, and how many a later one found, where that is less.
func (q *queue) takenBetween() (left, found int64) {
	for _, e := range q.ends {
		for _, s := range q.starts {
			if s.capture != e.capture && e.endNS != event.None && s.atNS >= e.endNS && e.Ready != nil && s.ready < *e.Ready {
				return *e.Ready, s.ready
			}
		}
	}
	return 0, 0
}

// vanished tells whether nothing is known of what became of the queue: all its consumers ended early, and it could not be
// asked afterwards. That is how the record of a run looks whose queue was deleted.
func (q *queue) vanished(f *Facts) bool {
	if !q.consumed || q.ready() >= 0 {
		return false
	}
	for _, c := range q.consumers {
		if !f.consumerEnded(c) {
			return false
		}
	}
	return true
}

// requeues tells whether consumers of the queue give messages back, and whether all of them do.
func (q *queue) requeues() (some, all bool) {
	return q.requeuing > 0, q.consumed && q.requeuing == len(q.consumers)
}

// whyNotEmptied says what in the plan keeps the queue's consumers from emptying it; "" where nothing does.
func (q *queue) whyNotEmptied() string {
	if _, all := q.requeues(); all {
		return "its consumers give every message back, nack with requeue, so that it cannot be drained"
	}
	limited, leaving := q.consumed, q.consumed
	for _, c := range q.consumers {
		limited = limited && c.Limit > 0
		leaving = leaving && c.ExitWhen != ""
	}
	switch {
	case limited:
		return "its consumers stop after a number of messages"
	case leaving:
		return "its consumers stop when nothing comes any more"
	}
	return ""
}

// drained tells whether a capture proves that the queue was emptied after the last message was published.
func (q *queue) drained(x *Expected, f *Facts) bool {
	if _, all := q.requeues(); all && q.kind != "quorum" {
		return false // whatever is taken out comes back; a quorum queue drops it in the end
	}
	for _, e := range q.ends {
		if e.Drained && e.Consumed && e.endNS >= f.PublishStopNS {
			return true
		}
	}
	if len(q.ends) > 0 {
		return false
	}
	for _, c := range q.consumers { // a capture that has no word about single queues
		if m := x.captures[c.capture].manifest; m.Outcome != nil && m.Outcome.Drained && m.Outcome.DrainEndNS >= f.PublishStopNS {
			return true
		}
	}
	return false
}

// ready is the last known count of messages in the queue, -1 if unknown.
func (q *queue) ready() int64 {
	for i := len(q.ends) - 1; i >= 0; i-- {
		if r := q.ends[i].Ready; r != nil {
			return *r
		}
	}
	return -1
}

// readyAtStart is the count of messages that were in the queue before the run, when the first capture began; 0 if unknown.
func (q *queue) readyAtStart() int64 {
	first := queueStart{atNS: math.MaxInt64}
	for _, s := range q.starts {
		if s.atNS < first.atNS {
			first = s
		}
	}
	return first.ready
}
