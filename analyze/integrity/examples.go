package integrity

import (
	"leveret/analyze/result"
	"leveret/capture/event"
)

// watched is a page with messages whose times are looked for: there may be hundreds of thousands of them.
type watched struct {
	capture, producer int
	page              uint64
}

// lookUp finds out about the examples what the pages still tell: after it they are not needed.
func (l *Ledger) lookUp() {
	for _, list := range l.total.examples() {
		for _, e := range *list {
			if e.producer == nil {
				continue
			}
			pg, slot := e.producer.page(e.seq>>l.shift), int(e.seq)&(l.size-1)
			if pg == nil || !testBit(pg.sent, slot) {
				continue
			}
			e.known = true
			e.attributed = e.corrupt && !pg.arrived(e.dest, slot) && !pg.refused(slot)
			if sent, due, ok := l.times(pg, slot, 1); ok {
				e.sent = sent[0]
				if due != nil {
					e.due = due[0]
				}
			}
		}
	}
}

// Watch makes l, which reads the same rows again, look for the times of the messages that the findings of first will
// name and that first no longer held. It tells whether there are any.
func (l *Ledger) Watch(first *Ledger) bool {
	l.watch = map[watched][]*example{}
	for _, list := range first.total.examples() {
		for _, e := range *list {
			if e.known && e.sent == event.None {
				k := watched{e.producer.capture, e.producer.number, e.seq >> l.shift}
				l.watch[k] = append(l.watch[k], e)
			}
		}
	}
	return len(l.watch) > 0
}

// fill gives the watched messages among these sends, all of one page, their times. Of a message that was sent again the first count.
func (l *Ledger) fill(p *producer, first uint64, sent, due []int64) {
	if len(l.watch) == 0 {
		return
	}
	for _, e := range l.watch[watched{p.capture, p.number, first >> l.shift}] {
		if i := e.seq - first; e.seq >= first && i < uint64(len(sent)) && e.sent == event.None {
			e.sent, e.due = sent[i], due[i]
		}
	}
}

// examples are all lists of examples.
func (t *totals) examples() []*[]*example {
	return []*[]*example{&t.duplicateFirst, &t.outOfOrderFirst, &t.corruptFirst, &t.nackedFirst, &t.returnFirst,
		&t.lostFirst, &t.unconfirmedFirst, &t.uncertainFirst, &t.ruleFirst}
}

// messages makes plain values of examples.
func (l *Ledger) messages(list []*example) []result.Message {
	var out []result.Message
	for _, e := range list {
		m := result.Message{Producer: int(e.claimed), Sequence: int64(e.seq), DueNS: known(e.due), SentNS: known(e.sent), ReceivedNS: known(e.received)}
		if e.producer != nil {
			m.Producer = e.producer.number
		}
		if e.dest >= 0 {
			m.Queue = l.x.queues[l.x.dests[e.dest].queue].name
		}
		m.Claimed = e.corrupt && !e.attributed
		if e.consumer >= 0 {
			c := int(e.consumer)
			m.Consumer = &c
		}
		out = append(out, m)
	}
	return out
}

// known is nil for a missing time.
func known(t int64) *int64 {
	if t == event.None {
		return nil
	}
	return &t
}
