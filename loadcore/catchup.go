package loadcore

import "context"

// Catching up: what happens to slots of a schedule whose time has passed while the producer was held up - by a full window,
// a full socket, the recorder, or for want of a processor. By default all of them are sent as fast as it goes. With a bound
// of N at most the N last of them are, and the older ones are recorded as not sent.

// lateAfter is when a slot counts as late: once the producer's next slot, too, has been due for so long. Being woken takes a
// busy machine some milliseconds, in which a fast schedule has many slots that nothing has held up.
const lateAfter = 10_000_000 // ns

// passOverLate leaves out the late slots beyond the bound; false if the record could not be made.
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
	bound := uint64(*p.spec.CatchUp)
	if p.overdue.n <= p.sched.n+1+bound {
		return true
	}
	return p.passOver(p.eng.publishing, p.overdue.n-1-bound-p.sched.n, end)
}

// passOver records the next slots, at most most of them and those that are due before end, as not sent; false if that could
// not be recorded.
func (p *producer) passOver(ctx context.Context, most uint64, end int64) bool {
	const rows = 4096
	most = min(most, p.limit-p.seq)
	for most > 0 && p.sched.due < end {
		before := p.sched
		p.due = p.due[:0]
		for len(p.due) < rows && most > 0 && p.sched.due < end {
			p.due = append(p.due, p.sched.due)
			p.sched.next()
			most--
		}
		if !p.eng.rec.TryReserve(len(p.due)) && p.eng.rec.Reserve(ctx, len(p.due)) != nil {
			p.eng.recorderRefused()
			p.sched = before
			return false
		}
		p.sends.Due = p.due
		p.record(0, len(p.due), 0)
	}
	return true
}
