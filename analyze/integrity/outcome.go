package integrity

// Outcome says what became of a message at one place: a queue, or a subscription of a stream.
type Outcome string

// The outcomes. Those that stand for a count of result.Counts have its name.
const (
	OutcomeDelivered   Outcome = "delivered" // received intact where its route leads
	OutcomeOtherQueue  Outcome = "other_queue"
	OutcomeForeign     Outcome = "foreign"
	OutcomeCorrupt     Outcome = "corrupt" // received there, damaged, and never intact
	OutcomeCorruptElse Outcome = "corrupt_unattributed"
	OutcomeNotSent     Outcome = "not_sent"
	OutcomeNacked      Outcome = "nacked"
	OutcomeReturned    Outcome = "returned"
	OutcomeUnroutable  Outcome = "unroutable"
	OutcomeUncommitted Outcome = "uncommitted"
	OutcomeLost        Outcome = "lost"
	OutcomeUnconfirmed Outcome = "missing_unconfirmed"
	OutcomeMissing     Outcome = "missing" // without confirms, or from a queue that the run did not declare
	OutcomeRemoved     Outcome = "removed_by_rule"
	OutcomeUnaccounted Outcome = "unaccounted"
	OutcomeQueued      Outcome = "queued"
	OutcomeDiscarded   Outcome = "discarded"           // at the stop, by consumers with automatic acks
	OutcomeQueuedOr    Outcome = "queued_or_discarded" // the broker told how many were left, not which
	OutcomeBefore      Outcome = "before_subscription"
	OutcomeNotJudged   Outcome = "not_judged" // rows are missing from the capture, which may tell that it was received
	OutcomeUnknown     Outcome = "unknown"    // where it should have gone is not known, and it was seen nowhere
)

// Meanings says in a few words what each outcome means.
var Meanings = []struct {
	Outcome Outcome
	Text    string
}{
	{OutcomeDelivered, "received intact where its route leads"},
	{OutcomeOtherQueue, "received intact where its route does not lead"},
	{OutcomeCorrupt, "received damaged, and never intact"},
	{OutcomeCorruptElse, "received damaged; which it was cannot be told"},
	{OutcomeForeign, "not of this run; producer, seq as its stamp says"},
	{OutcomeNotSent, "due, and not sent"},
	{OutcomeNacked, "refused by the broker"},
	{OutcomeReturned, "returned by the broker as unroutable"},
	{OutcomeUnroutable, "known to reach no queue"},
	{OutcomeUncommitted, "in a transaction that was not committed"},
	{OutcomeLost, "confirmed, not received, and no rule allows it"},
	{OutcomeUnconfirmed, "not received, and never confirmed"},
	{OutcomeMissing, "not received; confirms off, or a queue of others"},
	{OutcomeRemoved, "not received; a rule may have removed it"},
	{OutcomeUnaccounted, "not received, nor known to be in the queue"},
	{OutcomeQueued, "still in the queue at the stop"},
	{OutcomeDiscarded, "discarded at the stop, under automatic acks"},
	{OutcomeQueuedOr, "either: the broker told how many, not which"},
	{OutcomeQueued + "_or_" + OutcomeUnaccounted, "likewise, of a queue that nobody consumes"},
	{OutcomeQueued + "_or_" + OutcomeRemoved, "likewise, where a rule may have removed some"},
	{OutcomeBefore, "sent before the subscription of the stream begins"},
	{OutcomeNotJudged, "not received as far as recorded: rows are missing"},
	{OutcomeUnknown, "seen nowhere, and where it should be is not known"},
}

// Fate is the outcome at one destination; dest is -1 where the message has none.
type Fate struct {
	dest int32
	Outcome
}

// outcomes tells what became of each message, from the bits that a finished ledger holds: it must not be closed yet (Rest
// is fine).
type outcomes struct {
	l      *Ledger
	whole  bool      // of sends
	absent []Outcome // by destination: of messages that are not judged missing there; "": they are
	unread []Outcome // by destination that nobody consumes
	fed    []bool    // by queue: messages of the run can be among what was received from it
}

func (l *Ledger) outcomes(f *Facts) *outcomes {
	o := &outcomes{l: l, whole: f.SendsWhole}
	for d := range l.x.dests {
		c, q := l.destCounts(int32(d)), &l.x.queues[l.x.dests[d].queue]
		o.absent = append(o.absent, absentOutcome(c, q))
		o.unread = append(o.unread, l.unreadOutcome(c, q, f))
	}
	for i := range l.x.queues {
		fed := l.x.queues[i].fed
		for _, d := range l.x.queues[i].dests {
			c := l.destCounts(d)
			fed = fed || c.ownIntact > 0 || c.attributed > 0
		}
		o.fed = append(o.fed, fed)
	}
	return o
}

// absentOutcome is what a message is that did not come from a consumed queue; compare Ledger.judge, which counts.
func absentOutcome(c *destCounts, q *queue) Outcome {
	switch {
	case c.fate == unjudged:
		return OutcomeNotJudged
	case c.fate != waiting && c.rule != "":
		return OutcomeRemoved
	case c.fate == vanished:
		return OutcomeUnaccounted
	case c.fate == judged && !q.made:
		return OutcomeMissing
	case c.fate == judged:
		return ""
	}
	ready, n := q.ready(), c.absent.all()
	switch {
	case ready < 0 || !q.automatic || ready >= n:
		return OutcomeQueued
	case ready == 0:
		return OutcomeDiscarded
	}
	return OutcomeQueuedOr
}

// unreadOutcome is the same where nobody consumes; compare judgeUnconsumed.
func (l *Ledger) unreadOutcome(c *destCounts, q *queue, f *Facts) Outcome {
	n, ready := max(0, c.expected-(c.unique-c.neverSent)), q.ready()
	switch {
	case q.kind == "stream", ready < 0 && len(q.ends) == 0:
		return OutcomeQueued
	case ready < 0 && l.x.consumers > 0:
		return OutcomeUnaccounted
	case ready < 0:
		return OutcomeNotJudged
	}
	gone := OutcomeUnaccounted
	if l.goneRule(q, f) != "" {
		gone = OutcomeRemoved
	}
	switch queued := min(n, max(0, ready-q.readyAtStart())); queued {
	case n:
		return OutcomeQueued
	case 0:
		return gone
	}
	return OutcomeQueued + "_or_" + gone
}

// of appends the fates of a message at all places that it should have reached or came from. known: a row of sends tells of it.
func (o *outcomes) of(p *producer, seq uint64, known bool, fates []Fate) []Fate {
	pg, slot := p.page(seq>>o.l.shift), int(seq)&(o.l.size-1)
	if pg == nil {
		return append(fates, Fate{-1, OutcomeUnknown})
	}
	begin := len(fates)
	switch sent := testBit(pg.sent, slot); {
	case sent:
		fates = o.ofSent(p, pg, seq, slot, fates)
	case known:
		for _, d := range o.l.x.routes[pg.routeOf(slot)].all {
			if !pg.arrived(d, slot) {
				fates = append(fates, Fate{d, OutcomeNotSent})
			}
		}
	}
	if !testBit(pg.sent, slot) {
		came := OutcomeDelivered
		if o.whole {
			came = OutcomeForeign
		}
		pg.each(func(a *arrivals) {
			if testBit(a.intact, slot) {
				fates = append(fates, Fate{a.dest, came})
			}
		})
	}
	switch {
	case len(fates) > begin:
	case known:
		fates = append(fates, Fate{-1, o.nowhere(pg, slot)})
	default:
		fates = append(fates, Fate{-1, OutcomeUnknown})
	}
	return fates
}

// nowhere is the outcome of a message that no queue is known of.
func (o *outcomes) nowhere(pg *page, slot int) Outcome {
	switch rt := &o.l.x.routes[pg.routeOf(slot)]; {
	case !testBit(pg.sent, slot):
		return OutcomeNotSent
	case pg.refused(slot):
		return refusal(pg, slot)
	case rt.known:
		return OutcomeUnroutable
	}
	return OutcomeUnknown
}

func refusal(pg *page, slot int) Outcome {
	if testIn(pg.odd.nacked, slot) {
		return OutcomeNacked
	}
	return OutcomeReturned
}

func (o *outcomes) ofSent(p *producer, pg *page, seq uint64, slot int, fates []Fate) []Fate {
	rt := &o.l.x.routes[pg.routeOf(slot)]
	for _, d := range rt.all {
		what := OutcomeDelivered
		if !pg.arrived(d, slot) {
			what = o.ofAbsent(p, pg, seq, slot, d, rt.waitsFor(d))
		}
		fates = append(fates, Fate{d, what})
	}
	pg.each(func(a *arrivals) {
		switch {
		case rt.reaches(a.dest):
		case testBit(a.intact, slot) && rt.known:
			fates = append(fates, Fate{a.dest, OutcomeOtherQueue})
		case testBit(a.intact, slot):
			fates = append(fates, Fate{a.dest, OutcomeDelivered})
		case !rt.known && !pg.refused(slot) && testIn(a.odd.corrupt, slot):
			fates = append(fates, Fate{a.dest, OutcomeCorrupt})
		}
	})
	return fates
}

// ofAbsent is the outcome of a message that was sent to a destination and did not arrive there intact; compare finishWord.
func (o *outcomes) ofAbsent(p *producer, pg *page, seq uint64, slot int, d int32, waits bool) Outcome {
	acked := testBit(pg.acked, slot)
	switch {
	case pg.refused(slot):
		return refusal(pg, slot)
	case p.awaits == AwaitsCommit && !acked:
		if waits && pg.claimed(d, slot) {
			return OutcomeCorrupt
		}
		return OutcomeUncommitted
	case !waits:
		return o.unread[d]
	case pg.claimed(d, slot):
		return OutcomeCorrupt
	case o.l.x.dests[d].stream && o.l.subscribed(p, d, seq>>o.l.shift, slot>>6)>>(slot&63)&1 == 0:
		return OutcomeBefore
	case o.l.destCounts(d).isExplained(pg, slot):
		return OutcomeRemoved
	case o.absent[d] != "":
		return o.absent[d]
	case acked:
		return OutcomeLost
	case p.awaits == AwaitsConfirm:
		return OutcomeUnconfirmed
	}
	return OutcomeMissing
}
