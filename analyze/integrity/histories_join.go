package integrity

import (
	"slices"

	"leveret/capture/event"
)

// record returns the page of a message and its slot, and takes the row off those that are to come; done must follow.
func (h *Histories) record(r *records, seq uint64) (pg *record, slot int) {
	s := r.state(seq >> h.l.shift)
	if s.page == nil {
		s.page = &record{}
	}
	s.rows--
	return s.page, int(seq) & (h.l.size - 1)
}

// done hands out the page of a message if the row was its last.
func (h *Histories) done(r *records, seq uint64) {
	n := seq >> h.l.shift
	if s := r.state(n); s.rows == 0 {
		h.handOut(r, n, s.page)
		s.page = nil
	}
}

// column is a column of a page to write into.
func (h *Histories) column(c *column, fill int64) []int64 {
	if !c.exists() {
		h.pager.create(c, fill)
	}
	return h.pager.change(c)
}

// Sends joins rows of sends; size has as many values.
func (h *Histories) Sends(r *SendRows, size []uint32) {
	for i, seq := range r.Seq {
		p := h.records(h.l.producer(r.Capture, r.Producer[i], false))
		pg, slot := h.record(p, seq)
		if facts := h.column(&pg.facts, 0); facts[slot]&factKnown == 0 {
			facts[slot] |= factKnown | int64(size[i]) | int64(r.Route[i])<<32
			h.column(&pg.sent, event.None)[slot] = r.Sent[i]
			if r.Due[i] != event.None {
				h.column(&pg.due, event.None)[slot] = r.Due[i]
			}
		} else if r.Sent[i] != event.None {
			setOnce(h.column(&pg.again, event.None), slot, r.Sent[i])
		}
		h.done(p, seq)
	}
}

// Settlements joins rows of settlements. Of several answers the first counts.
func (h *Histories) Settlements(r *SettlementRows) {
	for i, seq := range r.Seq {
		p := h.records(h.l.producer(r.Capture, r.Producer[i], false))
		pg, slot := h.record(p, seq)
		switch event.SettlementKind(r.Kind[i]) {
		case event.InDoubt: // no answer
			setOnce(h.column(&pg.doubt, event.None), slot, r.At[i])
		case event.Return:
			setOnce(h.column(&pg.returned, event.None), slot, r.At[i])
		default:
			if facts := h.column(&pg.facts, 0); facts[slot]>>factKind == 0 {
				facts[slot] |= int64(r.Kind[i]) << factKind
				h.column(&pg.settled, event.None)[slot] = r.At[i]
			}
		}
		h.done(p, seq)
	}
}

// setOnce keeps the first time.
func setOnce(times []int64, slot int, at int64) {
	if times[slot] == event.None {
		times[slot] = at
	}
}

// Deliveries joins rows of deliveries; due and size, of the same rows, are for messages that are none of the captures'.
func (h *Histories) Deliveries(r *DeliveryRows, due []int64, size []uint32) {
	for i, seq := range r.Seq {
		d := h.l.x.dest(r.Capture, r.Queue[i], r.Consumer[i])
		p, intact := h.l.claimant(r, i), event.Body(r.Body[i]) == event.Intact
		if p == nil {
			h.stranger(r, i, d, due[i], size[i])
			continue
		}
		known := h.records(p)
		pg, slot := h.record(known, seq)
		switch {
		case intact:
			h.arrive(known, pg, slot, d, r, i)
		case !h.damaged(known, pg, slot, d, r, i):
			h.stranger(r, i, d, due[i], size[i])
		}
		h.done(known, seq)
	}
}

// arrive notes an intact delivery; compare Ledger.intactOne, which counts.
func (h *Histories) arrive(p *records, pg *record, slot int, d int32, r *DeliveryRows, i int) {
	v, flagged, dest := pg.visit(d), r.Redelivered[i] != 0, &h.l.x.dests[d]
	what := h.column(&v.what, 0)
	if what[slot]&whatIntact != 0 {
		duplicate := !flagged || dest.automatic
		if !flagged && what[slot]&whatEarly != 0 {
			what[slot] &^= whatEarly
			duplicate = false
		}
		h.repeat(v, slot, duplicate && !dest.reopened && !h.l.sentTwice(p.producer, r.Seq[i]))
		return
	}
	now := whatIntact | int64(r.Consumer[i]) | int64(r.Capture)<<16
	ln := p.lanes.lane(laneKey{dest: d, capture: uint16(r.Capture), number: r.Consumer[i]})
	switch {
	case flagged:
		now |= whatRedelivered
		if h.l.x.lossy && !dest.automatic {
			now |= whatEarly
		}
	case r.Seq[i]+1 < ln.next && !dest.unordered && !h.l.sentTwice(p.producer, r.Seq[i]):
		now |= whatOutOfOrder
	}
	ln.next = max(ln.next, r.Seq[i]+1)
	what[slot] = now
	h.column(&v.at, event.None)[slot] = r.Received[i]
}

// repeat notes a further delivery of a message.
func (h *Histories) repeat(v *visit, slot int, duplicate bool) {
	h.column(&v.what, 0)[slot] |= whatRepeated
	counts := h.column(&v.counts, 1)
	counts[slot]++
	if duplicate {
		counts[slot] += 1 << 32
	}
}

// damaged notes a corrupt delivery with the message that it claims to be, if it is that one: sent to the queue, and never
// received intact. Of several only the first is.
func (h *Histories) damaged(p *records, pg *record, slot int, d int32, r *DeliveryRows, i int) bool {
	h.fates = h.o.of(p.producer, r.Seq[i], true, h.fates[:0])
	if !slices.Contains(h.fates, Fate{d, OutcomeCorrupt}) {
		return false
	}
	v := pg.visit(d)
	what := h.column(&v.what, 0)
	if what[slot]&whatCorrupt != 0 {
		return false
	}
	what[slot] = whatCorrupt | int64(r.Consumer[i]) | int64(r.Capture)<<16
	if r.Redelivered[i] != 0 {
		what[slot] |= whatRedelivered
	}
	h.column(&v.at, event.None)[slot] = r.Received[i]
	return true
}

func (pg *record) visit(d int32) *visit {
	for _, v := range pg.visits {
		if v.dest == d {
			return v
		}
	}
	v := &visit{dest: d}
	pg.visits = append(pg.visits, v)
	return v
}
