package loadcore

import (
	"fmt"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// Answers of the broker that a lane waits for while the load goes on: the monitor's.

// lookAtConfirms ends a producer whose oldest message has waited too long, and one that channel.flow has stopped for too long. A
// blocked connection is not held against it, as that has a bound of its own, nor is the time in which its channel was recovered.
func (e *engine) lookAtConfirms(p *producer, w *answerWatch, now int64) {
	if e.barrier.Load() == 0 || p.halted.Load() {
		w.since, w.stopped = now, 0
		return
	}
	blocked := p.current.Load().conn.current() == event.Blocked
	if limit := e.plan.BlockedTimeout; !p.paused.Load() || blocked {
		w.stopped = 0
	} else if w.stopped == 0 {
		w.stopped = now
	} else if now-w.stopped >= int64(limit) {
		e.producerFailed(p, fmt.Sprintf("the broker has stopped channel %d by channel.flow for %v (--blocked-timeout)", p.current.Load().number, limit))
		return
	}
	timeout := e.plan.ConfirmTimeout
	if p.win == nil && p.tx == nil || timeout < 0 {
		return
	}
	tail, waits := p.oldest()
	if tail != w.tail || !waits || blocked {
		w.tail, w.since = tail, now
		return
	}
	if now-w.since >= int64(timeout) {
		e.producerFailed(p, fmt.Sprintf("%s within %v", p.unsettledText(p.unsettled()), timeout))
	}
}

// oldest is a number that stays the same while the broker's next answer to the producer stays out, and whether there is
// one to come.
func (p *producer) oldest() (tail uint64, waits bool) {
	if p.tx != nil {
		return p.tx.commits.Load(), p.tx.committing.Load()
	}
	return p.win.seen.Load(), p.unsettled() > 0
}

// lookAtAnswers ends a consumer that has waited too long for the answer to its commit, or to its basic.get: it would receive no
// more, and nobody would know why.
func (e *engine) lookAtAnswers(s *consumer, w *answerWatch, now int64) {
	timeout := e.plan.ConfirmTimeout
	if timeout < 0 || s.tx == nil && !s.spec.Polling {
		return
	}
	if e.barrier.Load() == 0 || s.ended.Load() || s.mending.Load() || s.current.Load().conn.current() == event.Blocked {
		w.since = now
		return
	}
	answers, asked := s.awaited()
	if answers != w.tail || asked == 0 {
		w.tail, w.since = answers, now
		return
	}
	if now-w.since >= int64(timeout) {
		e.consumerFailed(s, fmt.Sprintf("the broker did not answer %s on channel %d within %v (--confirm-timeout)", asked, s.current.Load().number, timeout))
	}
}

// awaited is how many answers of the kind have come, and to what the next is; 0: to nothing.
func (s *consumer) awaited() (answers uint64, asked wire.MethodID) {
	if t := s.tx; t != nil && t.waiting.Load() {
		return t.answers.Load(), wire.TxCommitID
	}
	if p := s.polls; p != nil && p.asking.Load() {
		return p.answers.Load(), wire.BasicGetID
	}
	return 0, 0
}
