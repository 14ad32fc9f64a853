package integrity

import "leveret/capture/event"

// Settlements joins rows of settlements.
func (l *Ledger) Settlements(r *SettlementRows) {
	for i := 0; i < len(r.Seq); {
		p, seq, kind := r.Producer[i], r.Seq[i], r.Kind[i]
		j, end := i+1, min(len(r.Seq), i+l.size-int(seq)&(l.size-1))
		for j < end && r.Producer[j] == p && r.Seq[j] == seq+uint64(j-i) && r.Kind[j] == kind {
			j++
		}
		l.settle(l.producer(r.Capture, p, false), seq, event.SettlementKind(kind), r.At[i:j])
		i = j
	}
}

func (l *Ledger) settle(p *producer, seq uint64, kind event.SettlementKind, at []int64) {
	pg, slot, n := l.pageFor(p, seq>>l.shift), int(seq)&(l.size-1), len(at)
	if kind == event.InDoubt { // no answer: one may come yet, to the message sent again
		l.doubted(pg, slot, n)
		return
	}
	commit := kind == event.Commit
	switch {
	case commit:
		p.commits += int64(n)
	case kind != event.Return:
		p.confirms += int64(n)
	}
	plain := (kind == event.Ack || commit) && !pg.done && pg.odd.nacked == nil
	if !plain || countSpan(pg.sent, slot, n) < n || countSpan(pg.acked, slot, n) > 0 {
		for i := range at {
			l.settleOne(p, pg, seq+uint64(i), slot+i, kind, at[i])
		}
		return
	}
	setSpan(pg.acked, slot, n)
	*l.total.vouched(commit) += int64(n)
	p.answered += int64(n)
	l.of(p, seq, -1, -1, -1)
	l.vouched(commit, pg, slot, at...)
	if p.awaits != NoAnswer {
		pg.open -= int32(n)
		l.release(pg)
	}
}

func (l *Ledger) settleOne(p *producer, pg *page, seq uint64, slot int, kind event.SettlementKind, at int64) {
	sent := testBit(pg.sent, slot)
	pg.ahead = pg.ahead || !sent
	if kind == event.Return {
		l.returnOne(p, pg, seq, slot, sent, at)
		return
	}
	if testBit(pg.acked, slot) || testIn(pg.odd.nacked, slot) {
		l.total.contradictions++
		return
	}
	if sent {
		p.answered++
	}
	if kind == event.Ack || kind == event.Commit {
		*l.total.vouched(kind == event.Commit)++
		setBit(pg.acked, slot)
		if !sent {
			l.setEarly(pg, confirmDest, slot, at)
			return
		}
		l.of(p, seq, -1, -1, -1)
		l.vouched(kind == event.Commit, pg, slot, at)
	} else {
		l.total.nacked++
		l.note(&l.total.nackedFirst, example{producer: p, seq: seq, dest: -1, consumer: -1, received: event.None})
		was := pg.refused(slot)
		l.setOdd(&pg.unusual().nacked, slot)
		if sent && !was {
			l.refuse(pg, slot, at)
		}
	}
	if sent && p.awaits != NoAnswer && !pg.done {
		pg.open--
		l.release(pg)
	}
}

// vouched is the count of messages that the broker took: acked, or committed.
func (t *totals) vouched(commit bool) *int64 {
	if commit {
		return &t.committed
	}
	return &t.acked
}

func (l *Ledger) returnOne(p *producer, pg *page, seq uint64, slot int, sent bool, at int64) {
	if testIn(pg.odd.returns, slot) {
		l.total.contradictions++
		return
	}
	was := pg.refused(slot)
	l.setOdd(&pg.unusual().returns, slot)
	l.total.returned++
	l.note(&l.total.returnFirst, example{producer: p, seq: seq, dest: -1, consumer: -1, received: event.None})
	if !sent {
		return
	}
	l.countReturn(pg, slot)
	if !was {
		l.refuse(pg, slot, at)
	}
}

// countReturn counts a returned message that was meant to reach a queue.
func (l *Ledger) countReturn(pg *page, slot int) {
	if rt := &l.x.routes[pg.routeOf(slot)]; rt.known && len(rt.all) > 0 {
		l.total.returnedWanted++
	}
}

// refuse no longer expects a message that the broker nacked or returned. Its times are kept nevertheless: it may arrive.
func (l *Ledger) refuse(pg *page, slot int, at int64) {
	if rt := &l.x.routes[pg.routeOf(slot)]; rt.known {
		left := 0 // not arrived yet
		for _, d := range rt.waits {
			if !pg.arrived(d, slot) {
				left++
			}
		}
		l.answers.Expected([]int64{at}, -left)
		for _, d := range rt.all {
			l.destCounts(d).expected--
		}
	}
}
