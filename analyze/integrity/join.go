package integrity

import (
	"math"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Rows come in runs: consecutive messages of one producer. Each run within a page is joined at once where nothing
// unusual is known of the page, message by message where there is; both ways give the same counts.

// producer returns a producer of a capture; made where it is new, unless the capture's manifest does not know it and
// the row only claims to come from it.
func (l *Ledger) producer(capture int, number uint16, claimed bool) *producer {
	ps := l.producers[capture]
	if int(number) < len(ps) && ps[number] != nil {
		return ps[number]
	}
	m := l.x.captures[capture].manifest
	p := &producer{capture: capture, number: int(number)}
	switch {
	case m == nil:
		p.assumed, p.awaits = true, AwaitsConfirm
	case int(number) < len(m.Producers):
		p.awaits, p.turn = awaits(&m.Producers[number]), l.turnOf(capture, &m.Producers[number])
	case claimed:
		return nil
	}
	for len(ps) <= int(number) {
		ps = append(ps, nil)
	}
	ps[number] = p
	l.producers[capture] = ps
	return p
}

func awaits(p *manifest.Producer) Answer {
	switch {
	case p.Confirm > 0:
		return AwaitsConfirm
	case p.TxSize > 0:
		return AwaitsCommit
	}
	return NoAnswer
}

// turnKey says which routes of a capture are taken in turn.
type turnKey struct{ capture, first, n int }

// turnOf makes the turn of a producer, one for all with the same; nil where it has a single route or more than a page has
// messages.
func (l *Ledger) turnOf(capture int, p *manifest.Producer) *turn {
	if p.Routes < 2 || p.Routes > l.size || p.Route < 0 {
		return nil
	}
	k := turnKey{capture, p.Route, p.Routes}
	if t := l.turns[k]; t != nil {
		return t
	}
	t := &turn{n: uint64(p.Routes), routes: make([]int32, l.size+p.Routes)}
	for i := range t.routes {
		t.routes[i] = unknownRoute
		if r := p.Route + i%p.Routes; r <= math.MaxUint16 {
			t.routes[i] = l.x.route(capture, uint16(r))
		}
	}
	l.turns[k] = t
	return t
}

// Sends joins rows of sends.
func (l *Ledger) Sends(r *SendRows) {
	for i := 0; i < len(r.Seq); {
		p, seq, route := r.Producer[i], r.Seq[i], r.Route[i]
		j, end := i+1, min(len(r.Seq), i+l.size-int(seq)&(l.size-1))
		for j < end && r.Producer[j] == p && r.Seq[j] == seq+uint64(j-i) && r.Route[j] == route {
			j++
		}
		l.send(l.producer(r.Capture, p, false), seq, l.x.route(r.Capture, route), r.Sent[i:j], r.Due[i:j])
		i = j
	}
}

func (l *Ledger) send(p *producer, seq uint64, route int32, sent, due []int64) {
	pg, slot, n := l.pageFor(p, seq>>l.shift), int(seq)&(l.size-1), len(sent)
	pg.setRoute(p, seq-uint64(slot), slot, n, l.size, route)
	if pg.ahead || countSpan(pg.sent, slot, n) > 0 || slices.Contains(sent, event.None) {
		for i := range sent {
			l.fill(p, seq+uint64(i), sent[i:i+1], due[i:i+1])
			l.sendOne(p, pg, seq+uint64(i), sent[i], due[i])
		}
		return
	}
	l.putTimes(pg, slot, sent, due)
	l.fill(p, seq, sent, due)
	setSpan(pg.sent, slot, n)
	pg.seen += int32(n)
	p.sent += int64(n)
	rt := &l.x.routes[route]
	for _, d := range rt.all {
		l.destCounts(d).expected += int64(n)
	}
	pg.open += int32(n * l.awaited(p, rt))
	l.answers.Expected(sent, len(rt.waits))
	l.countRoute(rt, n)
	l.release(pg)
}

// awaited is how many answers a message awaits. Where its queues are unknown there is one more that never comes: any
// queue may still deliver it, so its times are kept to the end.
func (l *Ledger) awaited(p *producer, rt *route) int {
	n := len(rt.waits)
	if p.awaits != NoAnswer {
		n++
	}
	if !rt.known {
		n++
	}
	return n
}

func (l *Ledger) countRoute(rt *route, n int) {
	switch {
	case !rt.known:
		l.total.unknownRoute += int64(n)
	case len(rt.all) == 0:
		l.total.unroutable += int64(n)
	}
}

// putTimes keeps the times of messages that were sent.
func (l *Ledger) putTimes(pg *page, slot int, sent, due []int64) {
	if !pg.sentNS.exists() {
		l.pager.claim(&pg.sentNS) // nobody looks at the times of messages that were not sent
	}
	copy(l.pager.change(&pg.sentNS)[slot:], sent)
	if !pg.dueNS.exists() {
		if !slices.ContainsFunc(due, func(t int64) bool { return t != event.None }) {
			return
		}
		l.pager.create(&pg.dueNS, event.None)
	}
	copy(l.pager.change(&pg.dueNS)[slot:], due)
}

func (l *Ledger) sendOne(p *producer, pg *page, seq uint64, sent, due int64) {
	slot := int(seq) & (l.size - 1)
	if testBit(pg.sent, slot) {
		l.sentAgain(pg, slot)
		return
	}
	pg.seen++
	if sent == event.None {
		l.total.notSent++
		if due != event.None {
			l.unsent(p, seq, due, &l.x.routes[pg.routeOf(slot)])
		}
		for _, d := range l.x.routes[pg.routeOf(slot)].all {
			l.destCounts(d).published.notSent++
		}
		l.release(pg)
		return
	}
	l.putTimes(pg, slot, []int64{sent}, []int64{due})
	setBit(pg.sent, slot)
	p.sent++
	rt := &l.x.routes[pg.routeOf(slot)]
	l.answers.Expected([]int64{sent}, len(rt.waits))
	l.countRoute(rt, 1)
	l.meetConfirm(p, pg, seq, slot)
	l.meetArrivals(p, pg, seq, slot, rt)
	l.release(pg)
}

// meetConfirm joins a send with a settlement that was read before it.
func (l *Ledger) meetConfirm(p *producer, pg *page, seq uint64, slot int) {
	acked := testBit(pg.acked, slot)
	switch {
	case acked:
		l.of(p, seq, -1, -1, -1)
		l.vouched(p.awaited() == AwaitsCommit, pg, slot, l.earlyTime(pg, confirmDest, slot))
		p.answered++
	case testIn(pg.odd.nacked, slot):
		p.answered++
	case p.awaits != NoAnswer:
		pg.open++
	}
	if testIn(pg.odd.returns, slot) {
		l.countReturn(pg, slot)
	}
}

// meetArrivals joins a send with deliveries that were read before it, and notes the ones to come.
func (l *Ledger) meetArrivals(p *producer, pg *page, seq uint64, slot int, rt *route) {
	if !rt.known {
		pg.open++
		pg.each(func(a *arrivals) {
			if testBit(a.intact, slot) {
				l.of(p, seq, a.dest, -1, -1)
				l.delivered(pg, slot, l.earlyTime(pg, a.dest, slot))
			}
		})
		return
	}
	if !pg.refused(slot) {
		for _, d := range rt.all {
			l.destCounts(d).expected++
		}
	}
	for _, d := range rt.waits {
		if pg.arrived(d, slot) {
			l.of(p, seq, d, -1, -1)
			l.delivered(pg, slot, l.earlyTime(pg, d, slot))
		} else {
			pg.open++
		}
	}
}

// of tells the answers of whom the next call is; dest and consumer are -1 where there is none.
func (l *Ledger) of(p *producer, seq uint64, dest int32, consumerCapture, consumer int) {
	if !l.o.Parties {
		return
	}
	queue := -1
	if dest >= 0 {
		queue = l.x.dests[dest].queue
	}
	l.answers.Of(Party{Capture: p.capture, Producer: p.number, Seq: seq, Queue: queue, ConsumerCapture: consumerCapture, Consumer: consumer})
}

// unsent hands on a message that was due and never sent.
func (l *Ledger) unsent(p *producer, seq uint64, due int64, rt *route) {
	l.of(p, seq, -1, -1, -1)
	if !l.o.Parties {
		l.answers.Unsent(due, p.awaited(), len(rt.waits))
		return
	}
	l.answers.Unsent(due, p.awaited(), 0)
	for _, d := range rt.waits {
		l.of(p, seq, d, -1, -1)
		l.answers.Unsent(due, NoAnswer, 1)
	}
}

// release gives up the times of a page when no answer to any of its messages is awaited.
func (l *Ledger) release(pg *page) {
	if pg.open != 0 || int(pg.seen) != l.size || pg.done {
		return
	}
	pg.done = true
	l.pager.drop(&pg.sentNS)
	l.pager.drop(&pg.dueNS)
	if early := pg.odd.early; early != nil {
		for _, e := range early {
			l.pager.drop(&e.at)
		}
		pg.odd.early = nil
	}
	for _, bits := range []*[]uint64{&pg.sent, &pg.acked, &pg.first.intact} {
		l.share(bits)
	}
}

// share gives up bits that are all set: none of these is ever cleared, and all such pages have the same ones.
func (l *Ledger) share(bits *[]uint64) {
	for _, w := range *bits {
		if w != ^uint64(0) {
			return
		}
	}
	if *bits != nil {
		l.arena.give(*bits)
		*bits = l.full
	}
}

// vouched and delivered hand on the answers to messages from slot on, which were sent: an ack, or the commit of their
// transaction.
func (l *Ledger) vouched(commit bool, pg *page, slot int, at ...int64) {
	sent, due, ok := l.times(pg, slot, len(at))
	switch {
	case !ok:
	case commit:
		l.answers.Committed(at, sent, due)
	default:
		l.answers.Confirmed(at, sent, due)
	}
}

func (l *Ledger) delivered(pg *page, slot int, at ...int64) {
	if sent, due, ok := l.times(pg, slot, len(at)); ok {
		l.answers.Delivered(at, sent, due)
	}
}

func (l *Ledger) times(pg *page, slot, n int) (sent, due []int64, ok bool) {
	if !pg.sentNS.exists() {
		return nil, nil, false
	}
	if pg.dueNS.exists() {
		due = l.pager.load(&pg.dueNS)[slot : slot+n]
	}
	return l.pager.load(&pg.sentNS)[slot : slot+n], due, true
}

// setEarly keeps the time of an answer whose send was not read yet.
func (l *Ledger) setEarly(pg *page, dest int32, slot int, at int64) {
	if pg.done {
		return
	}
	i := slices.IndexFunc(pg.odd.early, func(e *early) bool { return e.dest == dest })
	o := pg.unusual()
	if i < 0 {
		i = len(o.early)
		o.early = append(o.early, &early{dest: dest})
		l.pager.create(&o.early[i].at, event.None)
	}
	l.pager.change(&o.early[i].at)[slot] = at
}

// earlyTime is the time kept by setEarly.
func (l *Ledger) earlyTime(pg *page, dest int32, slot int) int64 {
	for _, e := range pg.odd.early {
		if e.dest == dest {
			return l.pager.load(&e.at)[slot]
		}
	}
	return event.None
}

// note keeps the first few examples of a finding.
func (l *Ledger) note(list *[]*example, e example) {
	if len(*list) < l.o.Examples {
		e.sent, e.due = event.None, event.None
		*list = append(*list, &e)
	}
}
