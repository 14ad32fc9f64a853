package integrity

import (
	"math/bits"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// Messages in doubt: their channel was lost before the broker had answered. They may be sent again under the same identity, and
// then may arrive twice, and behind later ones, without anybody's fault.

// suspect is what would be a defect of the broker's, unless the message was sent again.
type suspect struct{ extra, late int64 }

// doubted notes that n messages from slot on are in doubt.
func (l *Ledger) doubted(pg *page, slot, n int) {
	o := pg.unusual()
	if o.doubt == nil {
		o.doubt = l.arena.bits(l.words)
	}
	l.total.doubt.Messages += int64(n - countSpan(o.doubt, slot, n))
	setSpan(o.doubt, slot, n)
}

// sentAgain notes a further row of sends for a message.
func (l *Ledger) sentAgain(pg *page, slot int) {
	l.total.repeatedSends++
	l.setOdd(&pg.unusual().again, slot)
}

// mayRepublish tells whether messages of the captures may have been sent again.
func mayRepublish(m *manifest.Manifest) bool {
	return m == nil || m.Options["republish"] == "true" || m.Outcome != nil && m.Outcome.Republished > 0
}

// suspected is a message at a place.
type suspected struct {
	producer *producer
	seq      uint64
	dest     int32
}

// maxSuspects bounds the memory for them: some 20 MiB.
const maxSuspects = 1 << 18

// mayHaveLost tells whether connections may have been lost.
func mayHaveLost(m *manifest.Manifest) bool {
	return m == nil || m.Outcome == nil || len(m.Outcome.Failures)+len(m.Outcome.Recoveries) > 0
}

// MayRepublish tells whether messages of the captures may have been sent again.
func (x *Expected) MayRepublish() bool { return x.republishes }

// suspected keeps what finishDoubts has to take back where the message was sent again; of very many messages the first.
func (l *Ledger) suspected(p *producer, seq uint64, dest int32, extra, late int64) {
	k := suspected{p, seq, dest}
	if _, known := l.suspects[k]; !known && (!l.x.republishes || len(l.suspects) >= maxSuspects) {
		return
	}
	if l.suspects == nil {
		l.suspects = map[suspected]suspect{}
	}
	s := l.suspects[k]
	l.suspects[k] = suspect{s.extra + extra, s.late + late}
}

// sentTwice tells whether a message was in doubt and sent again.
func (l *Ledger) sentTwice(p *producer, seq uint64) bool {
	pg, slot := p.page(seq>>l.shift), int(seq)&(l.size-1)
	return pg != nil && testIn(pg.odd.doubt, slot) && testIn(pg.odd.again, slot)
}

// finishDoubts finds out what became of the messages in doubt, and takes back what was held against the broker for sending
// again. Rows can come in any order, so that it is not known before.
func (l *Ledger) finishDoubts() {
	for k, s := range l.suspects {
		if l.sentTwice(k.producer, k.seq) {
			c := l.destCounts(k.dest)
			c.duplicates -= s.extra
			c.outOfOrder -= s.late
			l.total.doubt.DuplicatedByRepublishing += s.extra
		}
	}
	for _, list := range []*[]*example{&l.total.duplicateFirst, &l.total.outOfOrderFirst} {
		kept := (*list)[:0]
		for _, e := range *list {
			if e.producer == nil || !l.sentTwice(e.producer, e.seq) {
				kept = append(kept, e)
			}
		}
		*list = kept
	}
	if l.total.doubt.Messages == 0 {
		return
	}
	l.total.repeatedSends = 0
	for _, ps := range l.producers {
		for _, p := range ps {
			if p != nil {
				p.eachPage(func(_ uint64, pg *page) { l.finishDoubtsOf(pg) })
			}
		}
	}
}

func (l *Ledger) finishDoubtsOf(pg *page) {
	d := &l.total.doubt
	for w := range l.words {
		doubt, again := word(pg.odd.doubt, w), word(pg.odd.again, w)
		l.total.repeatedSends += int64(bits.OnesCount64(again &^ doubt))
		nacked := word(pg.odd.nacked, w)
		d.Republished += int64(bits.OnesCount64(doubt & again))
		d.Confirmed += int64(bits.OnesCount64(doubt & pg.acked[w]))
		refused := doubt & nacked &^ pg.acked[w]
		d.Refused += int64(bits.OnesCount64(refused))
		for left := refused; left != 0; left &= left - 1 {
			if pg.arrivedSomewhere(w<<6 + bits.TrailingZeros64(left)) {
				d.RefusedReceived++
			}
		}
		for left := doubt &^ pg.acked[w] &^ nacked; left != 0; left &= left - 1 {
			*l.doubtFate(pg, w<<6+bits.TrailingZeros64(left))++
		}
	}
}

// arrivedSomewhere tells whether a message arrived intact at any destination.
func (pg *page) arrivedSomewhere(slot int) (yes bool) {
	pg.each(func(a *arrivals) { yes = yes || testBit(a.intact, slot) })
	return yes
}

// doubtFate is where a message in doubt counts that never had an answer.
func (l *Ledger) doubtFate(pg *page, slot int) *int64 {
	d, rt := &l.total.doubt, &l.x.routes[pg.routeOf(slot)]
	if !rt.known || len(rt.waits) == 0 {
		if pg.arrivedSomewhere(slot) {
			return &d.Received
		}
		return &d.Unknown
	}
	for _, to := range rt.waits {
		switch {
		case pg.arrived(to, slot):
		case l.destCounts(to).fate == judged:
			return &d.Missing
		default:
			return &d.Unknown
		}
	}
	return &d.Received
}

// losses are the findings about connections that were lost and came back, and what that left behind.
func (r *report) losses() {
	f, d := r.f, &r.l.total.doubt
	what := "loss"
	if f.Recovered != 1 {
		what = "losses"
	}
	r.add(CodeReconnected, result.SeverityWarning, f.Recovered, nil, "%s %s of connections or channels recovered, the longest took %s: %s",
		result.Group(f.Recovered), what, seconds(f.LongestOutageNS), few(f.Recoveries))
	r.add(CodeInDoubt, result.SeverityWarning, d.Messages, nil, "%s in doubt: sent, and without an answer when the connection was lost; %s", messages(d.Messages), d.Describe())
	r.add(CodeRepublishedTwice, result.SeverityWarning, d.DuplicatedByRepublishing, nil,
		"%s received twice because they were sent again: the broker had taken them before the connection was lost", messages(d.DuplicatedByRepublishing))
}
