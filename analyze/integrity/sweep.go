package integrity

import (
	"math"
	"math/bits"

	"leveret/capture/event"
)

// absence counts messages that were sent to a destination, not refused, and never received intact there.
type absence struct {
	acked       int64
	unconfirmed int64 // confirms were on
	unasked     int64 // no confirms
}

func (a absence) all() int64 { return a.acked + a.unconfirmed + a.unasked }

// fate is what the absence of a message from a destination means.
type fate uint8

const (
	unjudged fate = iota // rows of deliveries are missing: nobody can tell
	waiting              // the queue was not drained
	vanished             // the queue could not be asked any more when the run ended, and all its consumers had ended before
	judged               // missing
)

// span is a run of consecutive messages of one producer.
type span struct {
	producer    *producer
	first, last uint64
}

// Finish looks at what has not been answered. It is called once, after the last rows.
func (l *Ledger) Finish(f *Facts) {
	l.published = l.findPublished()
	for i := range l.x.queues {
		l.decide(&l.x.queues[i], f)
	}
	for _, s := range l.strays {
		if pg := s.producer.page(s.seq >> l.shift); pg != nil {
			l.claim(pg, s.dest, int(s.seq)&(l.size-1))
		}
	}
	for _, ps := range l.producers {
		for _, p := range ps {
			if p != nil {
				l.finishProducer(p)
			}
		}
	}
	l.finishDoubts()
	l.excuse()
	l.lookUp()
}

// decide finds what the absence of a message from a queue means. What is the same for all subscriptions of a stream is found once.
func (l *Ledger) decide(q *queue, f *Facts) {
	removal, loss, lossEnd := l.removalRule(q, f), l.lossRule(q, f), f.lossesEnd(q)
	absent := waiting
	switch {
	case !f.DeliveriesWhole:
		absent = unjudged
	case q.drained(l.x, f):
		absent = judged
	case q.vanished(f):
		absent = vanished
	}
	for _, d := range q.dests {
		c, rule, loss := l.destCounts(d), removal, loss
		if l.x.dests[d].reopened = f.reopened(&l.x.dests[d]); l.x.dests[d].reopened {
			rule = joined(rule, reopenedRule)
		}
		if rule != "" || lossEnd == math.MaxInt64 { // one that explains all explains more
			rule, loss = joined(rule, loss), ""
		}
		c.removable, c.purges = rule+loss != "", f.Purges[q.name]
		c.lossRule, c.lossEnd, c.fate, c.begun = loss, lossEnd, absent, event.None
		if c.ownIntact > 0 && f.ClockErrorNS < math.MaxInt64 {
			c.begun = c.first + f.ClockErrorNS
		}
		if absent >= vanished {
			c.rule = rule
		}
	}
}

func (l *Ledger) finishProducer(p *producer) {
	p.awaits, p.assumed = p.awaited(), false
	l.total.sent += p.sent
	switch p.awaits {
	case AwaitsConfirm:
		l.total.unconfirmed += p.sent - p.answered
	case AwaitsCommit:
		l.total.uncommitted += p.sent - p.answered
	}
	p.eachPage(func(n uint64, pg *page) {
		l.countPublished(p, pg)
		if pg.ahead {
			l.countNeverSent(pg)
		}
		if pg.done || !pg.sentNS.exists() {
			return
		}
		for w := range l.words {
			l.finishWord(p, pg, n, w)
		}
	})
}

// countNeverSent counts messages that arrived although no row of sends tells of them.
func (l *Ledger) countNeverSent(pg *page) {
	pg.each(func(a *arrivals) {
		for w := range l.words {
			l.destCounts(a.dest).neverSent += int64(bits.OnesCount64(a.intact[w] &^ pg.sent[w]))
		}
	})
}

// finishWord looks at 64 messages of a page.
func (l *Ledger) finishWord(p *producer, pg *page, n uint64, w int) {
	sent := pg.sent[w]
	refused := word(pg.odd.nacked, w) | word(pg.odd.returns, w)
	if p.awaits != NoAnswer {
		for left := sent &^ pg.acked[w] &^ word(pg.odd.nacked, w); left != 0; left &= left - 1 {
			slot := w<<6 + bits.TrailingZeros64(left)
			sent, due := l.timesOf(pg, slot)
			l.of(p, n<<l.shift+uint64(slot), -1, -1, -1)
			if p.awaits == AwaitsCommit {
				l.answers.Uncommitted(sent, due)
			} else {
				l.answers.Unconfirmed(sent, due)
			}
		}
	}
	if p.awaits == AwaitsCommit {
		refused |= l.forgo(p, pg, n, w, sent&^pg.acked[w]&^refused)
	}
	if pg.routes != nil {
		for left := sent &^ refused; left != 0; left &= left - 1 {
			slot := w<<6 + bits.TrailingZeros64(left)
			l.finishRoute(p, pg, n, w, left&-left, pg.routes[slot])
		}
		return
	}
	if sent&^refused != 0 {
		l.finishRoute(p, pg, n, w, sent&^refused, pg.route)
	}
}

// forgo no longer expects messages (the bits of a word) whose transaction was not committed: the broker keeps none of them.
// One that arrived nevertheless, intact or damaged, is not taken back. It returns the messages whose queues are known.
func (l *Ledger) forgo(p *producer, pg *page, n uint64, w int, messages uint64) (forgone uint64) {
	for left := messages; left != 0; left &= left - 1 {
		slot := w<<6 + bits.TrailingZeros64(left)
		rt := &l.x.routes[pg.routeOf(slot)]
		if !rt.known {
			continue
		}
		forgone |= left & -left
		for _, d := range rt.all {
			if !pg.arrived(d, slot) {
				l.forgoAt(p, pg, n, slot, d, rt.waitsFor(d))
			}
		}
	}
	return forgone
}

func (l *Ledger) forgoAt(p *producer, pg *page, n uint64, slot int, d int32, waits bool) {
	sent, due := l.timesOf(pg, slot)
	if waits {
		l.answers.Expected([]int64{sent}, -1)
	}
	if !waits || !pg.claimed(d, slot) {
		l.destCounts(d).expected--
		return
	}
	l.destCounts(d).attributed++
	l.of(p, n<<l.shift+uint64(slot), d, -1, -1)
	l.answers.Undelivered(sent, due)
}

// finishRoute looks at messages (the bits of one word) that have the same route.
func (l *Ledger) finishRoute(p *producer, pg *page, n uint64, w int, messages uint64, route int32) {
	rt := &l.x.routes[route]
	if !rt.known {
		somewhere := uint64(0)
		pg.each(func(a *arrivals) {
			claimed := messages & word(a.odd.corrupt, w) &^ a.intact[w]
			l.destCounts(a.dest).attributed += int64(bits.OnesCount64(claimed))
			somewhere |= a.intact[w] | claimed
		})
		l.total.nowhere += int64(bits.OnesCount64(messages &^ somewhere))
		return
	}
	for _, d := range rt.waits {
		missing, corrupt := messages, uint64(0)
		if a := pg.at(d); a != nil {
			missing &^= a.intact[w]
			corrupt = missing & word(a.odd.corrupt, w)
		}
		if missing != 0 && l.x.dests[d].stream {
			l.subscribe(p, pg, n, w, d, missing)
			before := missing &^ l.subscribed(p, d, n, w) &^ corrupt
			missing &^= before
			for left := before; left != 0; left &= left - 1 { // never to come: no part of a backlog
				sent, _ := l.timesOf(pg, w<<6+bits.TrailingZeros64(left))
				l.answers.Expected([]int64{sent}, -1)
			}
		}
		for left := missing; left != 0; left &= left - 1 {
			slot := w<<6 + bits.TrailingZeros64(left)
			sent, due := l.timesOf(pg, slot)
			l.of(p, n<<l.shift+uint64(slot), d, -1, -1)
			l.answers.Undelivered(sent, due)
			if left&-left&corrupt != 0 {
				l.destCounts(d).attributed++
				l.answers.Expected([]int64{sent}, -1) // it came, damaged
				continue
			}
			l.absent(p, pg, n, slot, d)
		}
	}
}

// subscribed is the part of a word that a stream's subscription should have got, which need not begin at the stream's beginning:
// what lies behind the first message of the producer that it got, and what subscribe found.
func (l *Ledger) subscribed(p *producer, d int32, page uint64, w int) uint64 {
	ln := p.find(l.x.dests[d].lane(d))
	if ln == nil {
		return 0
	}
	switch first := page<<l.shift + uint64(w)<<6; {
	case ln.low >= first+64:
		return 0
	case ln.low <= first:
		return ^uint64(0)
	default:
		return ^uint64(0) << (ln.low - first)
	}
}

// subscribe looks, among messages (bits of a word) that a stream's subscription did not get, for one that was sent after it had got
// one of any producer: that lies behind in the stream, and so do all that the producer sent later.
func (l *Ledger) subscribe(p *producer, pg *page, page uint64, w int, d int32, messages uint64) {
	begun := l.destCounts(d).begun
	if begun == event.None {
		return
	}
	for left := messages &^ l.subscribed(p, d, page, w); left != 0; left &= left - 1 {
		slot := w<<6 + bits.TrailingZeros64(left)
		if sent, _ := l.timesOf(pg, slot); sent > begun {
			p.lane(l.x.dests[d].lane(d)).low = page<<l.shift + uint64(slot)
			return
		}
	}
}

// absent counts one message that did not arrive.
func (l *Ledger) absent(p *producer, pg *page, n uint64, slot int, d int32) {
	c, acked := l.destCounts(d), testBit(pg.acked, slot)
	list := &l.total.uncertainFirst
	sent, _ := l.timesOf(pg, slot)
	purge := event.None
	if c.fate >= vanished {
		purge = purgeAfter(c.purges, sent)
	}
	switch {
	case purge != event.None && c.rule == "":
		c.explain(l, pg, slot)
		c.purgedCount++
		list = &l.total.ruleFirst
	case c.fate >= vanished && c.lossRule != "" && sent <= c.lossEnd:
		c.explain(l, pg, slot)
		c.lossCount++
		list = &l.total.ruleFirst
	case acked:
		c.absent.acked++
		list = &l.total.lostFirst
	case p.awaits == AwaitsConfirm:
		c.absent.unconfirmed++
		list = &l.total.unconfirmedFirst
	default:
		c.absent.unasked++
	}
	switch {
	case purge != event.None: // until then it was in the queue
		l.answers.Expected([]int64{purge}, -1)
	case c.fate >= vanished || c.removable:
		// It is not in the queue any more, or may not be, and from when on nobody knows: it was no part of the backlog.
		l.answers.Expected([]int64{sent}, -1)
	}
	if c.fate != judged && list != &l.total.ruleFirst {
		return
	}
	if c.rule != "" {
		list = &l.total.ruleFirst
	}
	seq := n<<l.shift + uint64(slot)
	l.note(list, example{producer: p, seq: seq, dest: d, consumer: -1, received: event.None})
	c.span(p, seq)
}

// maxSpans is how many spans of missing messages a finding tells of.
const maxSpans = 3

func (c *destCounts) span(p *producer, seq uint64) {
	if n := len(c.spans); n > 0 && !c.manySpans {
		if s := &c.spans[n-1]; s.producer == p && s.last+1 == seq {
			s.last = seq
			return
		}
	}
	if len(c.spans) == maxSpans {
		c.manySpans = true
		return
	}
	c.spans = append(c.spans, span{p, seq, seq})
}

func word(bits []uint64, w int) uint64 {
	if bits == nil {
		return 0
	}
	return bits[w]
}

// countPublished counts a page for the destinations of its messages.
func (l *Ledger) countPublished(p *producer, pg *page) {
	for w, sent := range pg.sent {
		if sent == 0 {
			continue
		}
		if pg.routes == nil {
			l.countWord(p, pg, w, sent, pg.route)
			continue
		}
		for left := sent; left != 0; { // messages of one route together
			route := pg.routes[w<<6+bits.TrailingZeros64(left)]
			same := uint64(0)
			for rest := left; rest != 0; rest &= rest - 1 {
				if pg.routes[w<<6+bits.TrailingZeros64(rest)] == route {
					same |= rest & -rest
				}
			}
			l.countWord(p, pg, w, same, route)
			left &^= same
		}
	}
}

// countWord counts messages of a word that have one route.
func (l *Ledger) countWord(p *producer, pg *page, w int, messages uint64, route int32) {
	n := func(word uint64) int64 { return int64(bits.OnesCount64(messages & word)) }
	acked, nacked := pg.acked[w], word(pg.odd.nacked, w)
	open := n(^(acked | nacked))
	for _, d := range l.x.routes[route].all {
		c := &l.destCounts(d).published
		c.sent += n(^uint64(0))
		c.nacked += n(nacked)
		c.returned += n(word(pg.odd.returns, w))
		switch p.awaits {
		case AwaitsConfirm:
			c.confirmed += n(acked)
			c.unconfirmed += open
		case AwaitsCommit:
			c.committed += n(acked)
			c.uncommitted += open
		default: // answers that nobody asked for
			c.confirmed += n(acked)
		}
	}
}

func (l *Ledger) timesOf(pg *page, slot int) (sent, due int64) {
	s, d, _ := l.times(pg, slot, 1)
	if d == nil {
		return s[0], event.None
	}
	return s[0], d[0]
}
