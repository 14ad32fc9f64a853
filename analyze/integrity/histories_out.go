package integrity

import "leveret/capture/event"

// copied are the columns of a page while it is handed out: more of them than the pager keeps in place at a time.
type copied struct {
	sent, due, facts, settled, returned, doubt, again []int64
	visits                                            []copiedVisit
}

type copiedVisit struct {
	dest             int32
	at, what, counts []int64
}

// take copies a column, or fills the copy where there is none, and drops the column.
func (h *Histories) take(to *[]int64, c *column, otherwise int64) {
	if *to == nil {
		*to = make([]int64, h.l.size)
	}
	if c.exists() {
		copy(*to, h.pager.load(c))
		h.pager.drop(c)
		return
	}
	for i := range *to {
		(*to)[i] = otherwise
	}
}

// handOut hands out the messages of a page, and gives up the page.
func (h *Histories) handOut(p *records, n uint64, pg *record) {
	c := &h.copy
	h.take(&c.sent, &pg.sent, event.None)
	h.take(&c.due, &pg.due, event.None)
	h.take(&c.facts, &pg.facts, 0)
	h.take(&c.settled, &pg.settled, event.None)
	h.take(&c.returned, &pg.returned, event.None)
	h.take(&c.doubt, &pg.doubt, event.None)
	h.take(&c.again, &pg.again, event.None)
	for len(c.visits) < len(pg.visits) {
		c.visits = append(c.visits, copiedVisit{})
	}
	for i, v := range pg.visits {
		to := &c.visits[i]
		to.dest = v.dest
		h.take(&to.at, &v.at, event.None)
		h.take(&to.what, &v.what, 0)
		h.take(&to.counts, &v.counts, 1)
	}
	for slot := range h.l.size {
		if h.Err() != nil {
			return
		}
		h.handOutOne(p, n<<h.l.shift+uint64(slot), slot, c.visits[:len(pg.visits)])
	}
}

func (h *Histories) handOutOne(p *records, seq uint64, slot int, visits []copiedVisit) {
	c := &h.copy
	facts := c.facts[slot]
	something := facts != 0 || c.returned[slot] != event.None || c.doubt[slot] != event.None
	for i := range visits {
		something = something || visits[i].what[slot] != 0
	}
	if !something {
		return
	}
	m := &h.one
	*m = History{
		Capture: p.capture, Producer: p.number, Seq: seq, Sent: c.sent[slot], Due: c.due[slot], Known: facts&factKnown != 0,
		Size: -1, Route: -1, Settled: event.SettlementKind(facts >> factKind), SettledAt: c.settled[slot],
		Returned: c.returned[slot], InDoubt: c.doubt[slot], Republished: c.again[slot], Awaits: p.awaits,
	}
	if m.Known {
		m.Size, m.Route = facts&(1<<32-1), int(facts>>32&(1<<16-1))
	}
	h.fates = h.o.of(p.producer, seq, m.Known, h.fates[:0])
	for _, f := range h.fates {
		m.place(h.l.x, f)
		for i := range visits {
			if v := &visits[i]; v.dest == f.dest && v.what[slot] != 0 {
				m.visited(v, slot)
			}
		}
		h.tell(m)
	}
}

func (h *Histories) tell(m *History) {
	if h.err == nil {
		h.err = h.each(m)
	}
}

// place begins the history at a place, where nothing arrived yet.
func (m *History) place(x *Expected, f Fate) {
	m.Outcome, m.Queue, m.QueueIndex = f.Outcome, "", -1
	if f.dest >= 0 {
		m.QueueIndex = x.dests[f.dest].queue
		m.Queue = x.queues[m.QueueIndex].name
	}
	m.Received, m.ConsumerCapture, m.Consumer, m.Redelivered, m.Body = event.None, -1, -1, false, 0
	m.Deliveries, m.Duplicates, m.OutOfOrder = 0, 0, false
}

func (m *History) visited(v *copiedVisit, slot int) {
	what := v.what[slot]
	m.Received, m.Consumer, m.ConsumerCapture = v.at[slot], int(what&(1<<16-1)), int(what>>16&(1<<16-1))
	m.Redelivered, m.OutOfOrder = what&whatRedelivered != 0, what&whatOutOfOrder != 0
	m.Body = event.Intact
	if what&whatCorrupt != 0 {
		m.Body = event.Corrupt
	}
	m.Deliveries = 1
	if what&whatRepeated != 0 {
		m.Deliveries, m.Duplicates = v.counts[slot]&(1<<32-1), v.counts[slot]>>32
	}
}

// stranger hands out a delivery that is of no message known: foreign, or so damaged that nobody can tell which it was.
func (h *Histories) stranger(r *DeliveryRows, i int, d int32, due int64, size uint32) {
	outcome, body := OutcomeForeign, event.Body(r.Body[i])
	if body == event.Corrupt && h.o.fed[h.l.x.dests[d].queue] {
		outcome = OutcomeCorruptElse
	}
	m := &h.one
	*m = History{Capture: -1, Tag: r.Tag[i], Producer: int(r.Producer[i]), Seq: r.Seq[i], Sent: event.None, Due: due,
		Size: int64(size), Route: -1, SettledAt: event.None, Returned: event.None, InDoubt: event.None, Republished: event.None}
	m.place(h.l.x, Fate{d, outcome})
	m.Received, m.Consumer, m.ConsumerCapture = r.Received[i], int(r.Consumer[i]), r.Capture
	m.Redelivered, m.Body, m.Deliveries = r.Redelivered[i] != 0, body, 1
	h.tell(m)
}

// Finish hands out what is left: pages whose rows did not come again as they came first.
func (h *Histories) Finish() error {
	for _, p := range h.order {
		for n := range p.near {
			if pg := p.near[n].page; pg != nil {
				h.handOut(p, uint64(n), pg)
			}
		}
		for n, s := range p.far {
			if s.page != nil {
				h.handOut(p, n, s.page)
			}
		}
	}
	return h.Err()
}
