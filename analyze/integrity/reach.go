package integrity

import (
	"strconv"
	"strings"
	"time"

	"leveret/capture/event"
)

// reach is how far a queue can have filled up in the captures, and for how long a message of theirs can have been in it, each
// twice over, so that what cannot be known in detail (a message sent again, how a broker counts bytes) does not decide. A limit
// beyond it explains nothing. Negative: unknown.
type reach struct {
	messages, bytes float64
	lasting         time.Duration
	unused          time.Duration // the queue, at one time
}

var unknownReach = reach{messages: -1, bytes: -1, lasting: -1, unused: -1}

// overhead is more than what a broker counts for a message beside its body, in bytes.
const overhead = 1 << 10

// reachOf a queue. Of a queue that others made, or publish to, nothing is known.
func (l *Ledger) reachOf(q *queue, f *Facts) reach {
	r := unknownReach
	if !q.made || len(q.ends) == 0 {
		return r
	}
	end := int64(event.None)
	for _, e := range q.ends {
		if e.endNS == event.None {
			return r
		}
		end = max(end, e.endNS)
	}
	r.lasting = time.Duration(2 * (end - f.StartNS))
	if r.unused = r.lasting; l.consumedThroughout(q, f) {
		r.unused = 0
	}
	known := l.published.known && f.SendsWhole
	for _, d := range q.declared {
		known = known && d.ReadyAtStart != nil
	}
	for _, d := range q.dests {
		known = known && l.destCounts(d).foreign == 0
	}
	if !known {
		return r
	}
	ready, sent := q.readyAtStart(), l.sentTo(q)
	r.messages = 2 * float64(ready+sent)
	if ready == 0 {
		r.bytes = 2 * float64(sent) * float64(l.published.size+overhead)
	}
	return r
}

// publishedInAll is what producers did, as Finish finds it: there may be as many producers as queues.
type publishedInAll struct {
	sent  int64 // copies among them
	size  int   // of the largest message
	known bool  // every producer has a manifest
}

func (l *Ledger) findPublished() publishedInAll {
	p := publishedInAll{sent: l.total.repeatedSends}
	for capture, ps := range l.producers {
		for number, of := range ps {
			if of == nil {
				continue
			}
			m := l.x.captures[capture].manifest
			if m == nil || number >= len(m.Producers) {
				return publishedInAll{}
			}
			p.sent, p.size = p.sent+of.sent, max(p.size, m.Producers[number].Size)
		}
	}
	p.known = true
	return p
}

// sentTo is how many messages can have come to a queue at most: those whose routes lead there, those that were refused and may have
// come all the same, and copies. Where it is not known where messages go, it is all of them.
func (l *Ledger) sentTo(q *queue) int64 {
	t := &l.total
	if t.unknownRoute+t.otherQueue > 0 {
		return l.published.sent
	}
	most := int64(0)
	for _, d := range q.dests {
		most = max(most, l.destCounts(d).expected)
	}
	return min(l.published.sent, most+t.nacked+t.returned+t.repeatedSends)
}

// consumedThroughout tells whether a consumer was subscribed to the queue from the start to the end of its drain: as long as one is,
// the queue is in use.
func (l *Ledger) consumedThroughout(q *queue, f *Facts) bool {
	for _, c := range q.consumers {
		o, x := l.x.captures[c.capture].manifest.Outcome, f.of(c.capture, c.number)
		stays := !c.Polling && c.StartDelayNS == 0 && !c.leaves()
		if stays && o != nil && o.BarrierNS != event.None && o.BarrierNS <= f.StartNS && x.away == 0 && !x.ended && len(x.cancelled) == 0 {
			return true
		}
	}
	return false
}

// excludes tells whether the queue cannot have come to a limit: an argument, the same key of a policy without "x-", or the expiration of
// messages.
func (r reach) excludes(key string, value any) bool {
	limit := func(most float64) bool {
		n, ok := number(value)
		return ok && most >= 0 && most <= n
	}
	switch strings.TrimPrefix(key, "x-") {
	case "max-length":
		return limit(r.messages)
	case "max-length-bytes":
		return limit(r.bytes)
	case "message-ttl", "expiration":
		return limit(float64(r.lasting) / float64(time.Millisecond))
	case "expires":
		return limit(float64(r.unused) / float64(time.Millisecond))
	case "max-age":
		age, ok := streamAge(value)
		return ok && r.lasting >= 0 && r.lasting <= age
	}
	return false
}

// number is an argument's value; a manifest that was read has all of them as float64.
func number(value any) (float64, bool) {
	switch n := value.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	}
	return 0, false
}

// streamAge reads an x-max-age: a whole number and one of Y, M, D, h, m, s (RabbitMQ's rabbit_stream_queue).
func streamAge(value any) (time.Duration, bool) {
	text, ok := value.(string)
	if !ok || text == "" {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{'Y': 365 * 24 * time.Hour, 'M': 30 * 24 * time.Hour, 'D': 24 * time.Hour,
		'h': time.Hour, 'm': time.Minute, 's': time.Second}[text[len(text)-1]]
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
	if !ok || err != nil || n > 200*365*24*3600/int64(unit/time.Second) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
