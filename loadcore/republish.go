package loadcore

import (
	"context"
	"errors"

	"leveret/capture/event"
)

// What a lost channel leaves behind: control plane. The lane is nobody else's meanwhile (recovery.go).

// doubt is what a producer has in doubt and shall send again, in the order in which it was sent.
type doubt struct {
	runs []event.SettledRun
	dues []int64 // of all their messages, one behind the other; nil without a rate
}

// dueRing keeps the due times of the messages that are open, by tag, where they may have to be sent again.
type dueRing struct {
	dues []int64
	mask uint64
}

// keep notes the due times of the next messages.
func (r *dueRing) keep(head uint64, dues []int64) {
	for i, due := range dues {
		r.dues[(head+uint64(i))&r.mask] = due
	}
}

// abandon ends the lane's work on its channel, which is gone: what has no answer is in doubt, and recorded as that. It returns how
// many messages that are.
func (p *producer) abandon(now int64) int {
	p.confirms.touched, p.confirms.batch.Runs = false, p.confirms.batch.Runs[:0]
	var runs []event.SettledRun
	var dues []int64
	switch {
	case p.win != nil:
		runs = p.win.abandon()
		for _, r := range runs {
			for i := range uint64(r.N) {
				if p.dues != nil {
					dues = append(dues, p.dues.dues[(r.First-p.win.base+1+i)&p.dues.mask])
				}
			}
		}
		if p.win.numbering.jumped.Load() {
			runs = p.win.translate(runs)
		}
	case p.tx != nil:
		runs, dues = p.tx.abandon()
	}
	n := countRuns(runs)
	if n == 0 {
		return 0
	}
	p.eng.rec.Settlements(&event.Settlements{Producer: p.index, At: now, Runs: runs})
	p.count.inDoubt.Add(int64(n))
	if p.eng.plan.Republish { // before what was waiting to be sent again
		p.doubt.runs = append(runs[:len(runs):len(runs)], p.doubt.runs...)
		if p.timed {
			p.doubt.dues = append(dues, p.doubt.dues...)
		}
	}
	return n
}

func countRuns(runs []event.SettledRun) (n int) {
	for _, r := range runs {
		n += int(r.N)
	}
	return n
}

// republish sends again what is in doubt, before anything else goes out on the channel, and returns how many messages it sent. With
// transactions these are one of their own.
func (p *producer) republish(ctx context.Context) (sent int, err error) {
	next := p.seq
	p.resends = true
	for err == nil && len(p.doubt.runs) > 0 {
		r := &p.doubt.runs[0]
		p.seq = r.First
		var n int
		n, err = p.resend(ctx, p.enc.fit(r.First, int(r.N)))
		sent += n
		r.First += uint64(n)
		if r.N -= uint32(n); r.N == 0 {
			p.doubt.runs = p.doubt.runs[1:]
		}
		if p.timed {
			p.doubt.dues = p.doubt.dues[n:]
		}
	}
	p.resends = false
	if p.seq = next; p.win != nil && sent > 0 {
		p.win.jump(next)
	}
	if p.tx != nil && p.tx.open > 0 && err == nil { // a full transaction, or one that nobody else would end
		p.commit()
	}
	return sent, err
}

// resend sends n messages from p.seq on, and returns how many of them it had begun.
func (p *producer) resend(ctx context.Context, n int) (int, error) {
	if err := p.eng.rec.Reserve(ctx, n); err != nil {
		return 0, err
	}
	p.sends.Due = nil
	if p.timed {
		p.due = append(p.due[:0], p.doubt.dues[:n]...)
		p.sends.Due = p.due
	}
	p.describe(n)
	p.stamp(n)
	out := p.ch.conn.out
	out.lock()
	if p.ch.doomed.Load() || p.ch.isGone() { // nothing may follow the close-ok of a channel, see channel.shut
		out.unlock()
		p.credit += n
		return 0, errors.New("the channel is lost again")
	}
	if p.win != nil {
		p.win.jump(p.seq)
		p.register(n)
	}
	// A broker that takes nothing does not keep the run from ending.
	conn := p.ch.conn
	stop := context.AfterFunc(p.eng.recovering, func() { conn.fail(errTakesNothing) })
	p.sends.Sent = p.eng.clock.Now()
	out.begin(p.sends.Sent)
	bytes, err := p.enc.write(out.sock, n)
	out.end()
	stop()
	p.sends.Written = p.eng.clock.Now()
	out.unlock()
	if err == nil {
		p.record(n, 0, bytes)
		return n, nil
	}
	begun := p.enc.begun(bytes)
	if p.win != nil {
		p.win.withdraw(n - begun)
	}
	p.credit += n - begun
	p.record(begun, 0, bytes)
	p.ch.conn.fail(err)
	return begun, err
}

// register has the window know of the next n messages before they are written.
func (p *producer) register(n int) {
	if p.dues != nil {
		p.dues.keep(p.win.head.Load(), p.sends.Due)
	}
	p.win.publish(n)
}

// putBack keeps messages that could not be sent for later: they were stamped, and nothing of them has left.
func (p *producer) putBack(begun, n int) {
	p.credit += n
	if p.timed {
		p.sched = p.taken
		for range begun {
			p.sched.next()
		}
	}
}

// abandon ends the transaction that is open: nobody knows of its messages, unless the broker has rolled it back, which it does
// where its commit has not come.
func (t *transaction) abandon() (runs []event.SettledRun, dues []int64) {
	for _, r := range t.runs {
		r.Kind = event.InDoubt
		runs = append(runs, r)
	}
	dues = append(dues, t.dues...)
	t.uncommitted.Add(-int64(t.open))
	t.runs, t.dues, t.open, t.answered = t.runs[:0], t.dues[:0], 0, false
	t.committing.Store(false)
	return runs, dues
}

// abandon ends the consumer's channel: what is not acked, or not committed, is the broker's again, and comes to whoever consumes.
// It returns how many deliveries that are. Delivery tags go on in the record, as if the channel had.
func (s *consumer) abandon() int {
	open := 0
	if !s.spec.AutoAck {
		open = int(s.tag - s.settled())
	}
	s.shift, s.acked, s.touched = s.tag, s.tag, false
	s.owed, s.batch.Rows = s.owed[:0], nil
	s.count.abandoned.Add(int64(open))
	s.count.received.Store(int64(s.tag))
	s.count.acked.Store(int64(s.tag))
	if s.work != nil {
		s.work.done, s.work.free = s.tag, s.eng.clock.Now()
		s.count.worked.Store(int64(s.tag))
	}
	if s.tx != nil {
		s.tx.committing, s.tx.taken, s.tx.asked, s.tx.committed = false, s.tag, s.tag, s.tag
		s.tx.waiting.Store(false)
	}
	if s.polls != nil {
		s.polls.asking.Store(false)
	}
	for i := range s.queues {
		q := &s.queues[i]
		q.shown.Store(int64(q.received))
		q.state.CompareAndSwap(subscribed, notYet)
		q.state.CompareAndSwap(cancelling, cancelled)
	}
	return open
}
