package integrity

import "leveret/capture/event"

// Deliveries joins rows of deliveries.
func (l *Ledger) Deliveries(r *DeliveryRows) {
	for i := 0; i < len(r.Seq); {
		j := l.deliveryRun(r, i)
		d := l.x.dest(r.Capture, r.Queue[i], r.Consumer[i])
		c := l.destCounts(d)
		c.received += int64(j - i)
		flagged := false
		for _, flag := range r.Redelivered[i:j] {
			if flag != 0 {
				c.redelivered++
				flagged = true
			}
		}
		switch event.Body(r.Body[i]) {
		case event.Intact:
			l.intact(r, i, j, d, flagged)
		case event.Unstamped:
			c.foreign++
		default:
			l.corrupt(r, i, d)
		}
		i = j
	}
}

// deliveryRun finds the end of the run that row i begins: intact, consecutive messages of one producer within a page,
// received by one consumer from one queue. A row that is not intact is a run of its own.
func (l *Ledger) deliveryRun(r *DeliveryRows, i int) int {
	j := i + 1
	if event.Body(r.Body[i]) != event.Intact {
		return j
	}
	seq := r.Seq[i]
	end := min(len(r.Seq), i+l.size-int(seq)&(l.size-1))
	for j < end && r.Seq[j] == seq+uint64(j-i) && r.Producer[j] == r.Producer[i] && r.Consumer[j] == r.Consumer[i] &&
		r.Queue[j] == r.Queue[i] && r.Tag[j] == r.Tag[i] && r.Body[j] == r.Body[i] {
		j++
	}
	return j
}

// own finds the producer that a stamp names; nil where it is none of the captures given.
func (l *Ledger) own(tag, number uint16) *producer {
	if tag > event.MaxTag || l.x.byTag[tag] == 0 {
		return nil
	}
	return l.producer(int(l.x.byTag[tag])-1, number, true)
}

func (l *Ledger) intact(r *DeliveryRows, i, j int, d int32, flagged bool) {
	c, n, seq := l.destCounts(d), j-i, r.Seq[i]
	p := l.own(r.Tag[i], r.Producer[i])
	if p == nil || seq > event.MaxSequence {
		c.foreign += int64(n)
		return
	}
	if at := r.Received[i]; c.ownIntact == 0 || at < c.first {
		c.first = at
	}
	c.ownIntact += int64(n)
	pg, slot := l.pageFor(p, seq>>l.shift), int(seq)&(l.size-1)
	a := l.arrivals(pg, d)
	ln := p.lane(laneKey{dest: d, capture: uint16(r.Capture), number: r.Consumer[i]})
	plain := !flagged && !pg.done && pg.routes == nil && seq >= ln.next && pg.odd.nacked == nil && pg.odd.returns == nil
	if !plain || countSpan(pg.sent, slot, n) < n || countSpan(a.intact, slot, n) > 0 {
		for k := i; k < j; k++ {
			l.intactOne(r, k, p, pg, a, ln)
		}
		return
	}
	setSpan(a.intact, slot, n)
	c.unique += int64(n)
	ln.next, ln.low = seq+uint64(n), min(ln.low, seq)
	rt := &l.x.routes[pg.route]
	l.of(p, seq, d, r.Capture, int(r.Consumer[i]))
	switch {
	case !rt.known:
		l.delivered(pg, slot, r.Received[i:j]...)
	case rt.waitsFor(d):
		l.delivered(pg, slot, r.Received[i:j]...)
		pg.open -= int32(n)
		l.release(pg)
	default:
		l.elsewhere(rt, d, n)
	}
}

func (l *Ledger) intactOne(r *DeliveryRows, k int, p *producer, pg *page, a *arrivals, ln *lane) {
	seq, d, flagged := r.Seq[k], a.dest, r.Redelivered[k] != 0
	slot, c := int(seq)&(l.size-1), l.destCounts(d)
	if testBit(a.intact, slot) {
		l.total.repeated++
		// With automatic acks the first delivery was its own ack; else only a clear flag proves that the broker did not
		// mean to repeat a message whose ack it may not have seen.
		switch {
		case flagged && !l.x.dests[d].automatic:
		case !flagged && testIn(a.odd.early, slot):
			a.odd.early[slot>>6] &^= 1 << (slot & 63) // the delivery that the other one repeats, read later from a connection that was about to go
		default:
			c.duplicates++
			l.suspected(p, seq, d, 1, 0)
			l.note(&l.total.duplicateFirst, l.exampleOf(r, k, p, d))
		}
		return
	}
	setBit(a.intact, slot)
	c.unique++
	if flagged && l.x.lossy && !l.x.dests[d].automatic {
		l.setOdd(&a.unusual().early, slot)
	}
	if seq+1 < ln.next && !flagged && !l.x.dests[d].unordered {
		c.outOfOrder++
		l.suspected(p, seq, d, 0, 1)
		l.note(&l.total.outOfOrderFirst, l.exampleOf(r, k, p, d))
	}
	ln.next, ln.low = max(ln.next, seq+1), min(ln.low, seq)
	if !testBit(pg.sent, slot) {
		pg.ahead = true
		l.setEarly(pg, d, slot, r.Received[k])
		return
	}
	rt := &l.x.routes[pg.routeOf(slot)]
	if rt.known && !rt.waitsFor(d) {
		l.elsewhere(rt, d, 1)
		return
	}
	l.of(p, seq, d, r.Capture, int(r.Consumer[k]))
	if rt.known && pg.refused(slot) { // nothing was expected any more
		l.answers.Expected(r.Received[k:k+1], 1)
	}
	l.delivered(pg, slot, r.Received[k:k+1]...)
	if rt.known {
		pg.open--
		l.release(pg)
	}
}

// elsewhere counts messages that arrived where their route does not lead.
func (l *Ledger) elsewhere(rt *route, d int32, n int) {
	if !rt.reaches(d) {
		l.total.otherQueue += int64(n)
	}
}

// corrupt notes a body whose checksum does not hold, and which message it claims to be.
func (l *Ledger) corrupt(r *DeliveryRows, i int, d int32) {
	l.destCounts(d).corrupt++
	p := l.own(r.Tag[i], r.Producer[i])
	if p == nil && l.x.publisher >= 0 { // the damage may be in the tag
		p = l.producer(l.x.publisher, r.Producer[i], true)
	}
	e := l.exampleOf(r, i, p, d)
	e.corrupt = true
	l.note(&l.total.corruptFirst, e)
	if p == nil || r.Seq[i] > event.MaxSequence {
		return
	}
	pg := p.page(r.Seq[i] >> l.shift)
	if pg == nil {
		l.strays = append(l.strays, stray{producer: p, dest: d, seq: r.Seq[i]})
		return
	}
	l.claim(pg, d, int(r.Seq[i])&(l.size-1))
}

// claim notes that a corrupt body at a destination names a message of a page.
func (l *Ledger) claim(pg *page, d int32, slot int) {
	l.setOdd(&l.arrivals(pg, d).unusual().corrupt, slot)
}

func (l *Ledger) exampleOf(r *DeliveryRows, k int, p *producer, d int32) example {
	return example{producer: p, claimed: r.Producer[k], seq: r.Seq[k], dest: d, consumer: int32(r.Consumer[k]), received: r.Received[k]}
}

// destCounts are the counts of a destination; valid until the next new destination.
func (l *Ledger) destCounts(d int32) *destCounts {
	for int(d) >= len(l.dests) {
		l.dests = append(l.dests, destCounts{})
	}
	return &l.dests[d]
}
