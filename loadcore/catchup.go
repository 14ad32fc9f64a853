package loadcore

// Catching up: what happens to slots of a schedule whose time has passed while the producer was held up - by a full window,
// a full socket, the recorder, or for want of a processor. By default all of them are sent as fast as it goes. With a bound
// of N at most the N last of them are, and the older ones are recorded as not sent.

const (
	// lateAfter is when a slot counts as late: once the producer's next slot, too, has been due for so long. Being woken
	// takes a busy machine some milliseconds, in which a fast schedule has many slots that nothing has held up.
	lateAfter = 10_000_000 // ns
	// roomAgain is when a producer looks again that has late slots to leave out and finds no room in the record.
	roomAgain = 1_000_000 // ns
	// passedAtOnce bounds the slots that are recorded as not sent in one call, and so the memory it takes.
	passedAtOnce = 4096
)

// passOverLate leaves out the late slots beyond the bound. It does not wait: false if the record has no room for them now.
func (p *producer) passOverLate(now, end int64) bool {
	if p.sched.due > now-lateAfter {
		return true
	}
	if p.overdue.n <= p.sched.n {
		p.overdue = p.sched
	}
	for p.overdue.due <= now-lateAfter && p.overdue.due < end {
		p.overdue.next()
	}
	// All slots before the last one that has been overdue for so long are late; the last one isn't, for its next isn't due.
	last := p.overdue.n - 1
	for bound := uint64(*p.spec.CatchUp); p.sched.n+bound < last && p.seq < p.limit; {
		before := p.sched
		if n := p.slots(last-bound-p.sched.n, end); n == 0 {
			return true
		} else if !p.eng.rec.TryReserve(n) {
			p.sched = before
			return false
		}
		p.recordPassed()
	}
	return true
}

// recordNotSent records what was due before the end and had to stay unsent: leaving it out would flatter the response
// latency.
func (p *producer) recordNotSent() {
	end := p.eng.end.Load()
	for p.seq < p.limit {
		n := p.slots(p.limit, end)
		if n == 0 {
			return
		}
		if p.eng.rec.Reserve(p.eng.draining, p.spend(n)) != nil {
			p.eng.recorderRefused()
			return
		}
		p.recordPassed()
	}
}

// slots takes the next slots that are due before end, at most most of them and not too many at once. Their due times are
// then in due.
func (p *producer) slots(most uint64, end int64) int {
	most = min(most, p.limit-p.seq, passedAtOnce)
	p.due = p.due[:0]
	for uint64(len(p.due)) < most && p.sched.due < end {
		p.due = append(p.due, p.sched.due)
		p.sched.next()
	}
	return len(p.due)
}

func (p *producer) recordPassed() {
	p.sends.Due = p.due
	p.describe(len(p.due))
	p.record(0, len(p.due), 0)
}
