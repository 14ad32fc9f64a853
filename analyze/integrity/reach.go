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
}

var unknownReach = reach{messages: -1, bytes: -1, lasting: -1}

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
	ready := q.readyAtStart()
	for _, d := range q.declared {
		if d.ReadyAtStart == nil {
			return r
		}
	}
	for _, d := range q.dests {
		if l.destCounts(d).foreign > 0 {
			return r
		}
	}
	sent, size, known := l.published()
	if !known || !f.SendsWhole {
		return r
	}
	r.messages = 2 * float64(ready+sent)
	if ready == 0 {
		r.bytes = 2 * float64(sent) * float64(size+overhead)
	}
	return r
}

// published is how many messages were sent in all, copies among them, and the size of the largest; false where a producer has
// no manifest.
func (l *Ledger) published() (sent int64, size int, known bool) {
	sent = l.total.repeatedSends
	for capture, ps := range l.producers {
		for number, p := range ps {
			if p == nil {
				continue
			}
			m := l.x.captures[capture].manifest
			if m == nil || number >= len(m.Producers) {
				return 0, 0, false
			}
			sent, size = sent+p.sent, max(size, m.Producers[number].Size)
		}
	}
	return sent, size, true
}

// excludes tells whether the queue cannot have come to a limit: an argument, or the same key of a policy without "x-".
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
	case "message-ttl", "expires":
		return limit(float64(r.lasting) / float64(time.Millisecond))
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
