package loadcore

import (
	"math"

	"leveret/capture/manifest"
)

// Simulated work and a consumer's own rate: data plane. PerfTest blocks in the delivery callback for them. Here the reader
// goes on reading, and what the consumer would be doing is worked out from the clock: one message after the other, each
// beginning when it has come, the one before it is finished and the rate allows it.
//
//	received   m1 m2 m3 m4             m5
//	work       |--m1--|--m2--|--m3--|--m4--|    |--m5--|
//	finished          1      2      3      4           5        acks are due up to here
//
// That takes no timer and no memory a message: only how many are finished, and when the next one can begin. Acks that fall
// due within workTogether of each other go out together, so that short work is not bound by how finely the system wakes us.
const (
	// workTogether (ns) is how long a finished message may wait for its ack so that others go along. It waits at most for
	// a quarter of those that the consumer has, so that with a small prefetch the broker need not wait for acks.
	workTogether = 1_000_000
	// rateCredit (ns) is how far a consumer that was late may catch up with its rate: more than a timer is late, far less
	// than would show as a burst.
	rateCredit = 10_000_000
)

// work is a consumer's work on its messages. It belongs to the connection's reader.
type work struct {
	done uint64 // messages finished
	free int64  // when the next one can begin

	stages []manifest.WorkStage
	cycle  int64 // all stages together, ns; 0: a single one, for ever
	begin  int64 // of the first stage, on the record's clock
	// The stage that was looked up last holds from until to.
	from, to, each int64

	// The rate: the next message begins at slot + part/messages at the earliest.
	messages     int64 // 0: no limit
	period, rest int64 // ns from message to message: period + rest/messages
	slot, part   int64
}

// newWork is nil for a consumer that is done with a message as soon as it has come.
func newWork(s *manifest.Consumer) *work {
	if len(s.Work) == 0 && s.Rate.Messages == 0 {
		return nil
	}
	w := &work{stages: s.Work, messages: s.Rate.Messages}
	if w.messages > 0 {
		w.period, w.rest = s.Rate.PerNS/w.messages, s.Rate.PerNS%w.messages
	}
	for _, stage := range s.Work {
		w.cycle += stage.ForNS
	}
	return w
}

// finish is when the next message will be finished; it then counts as that.
func (w *work) finish() int64 {
	start := w.free
	if w.messages > 0 {
		if w.slot == 0 { // the first message
			w.slot = start
		}
		start = max(start, w.slot)
		w.slot = max(w.slot, start-rateCredit) + w.period
		if w.part += w.rest; w.part >= w.messages {
			w.part -= w.messages
			w.slot++
		}
	}
	w.free = addClock(start, uint64(w.at(start)))
	w.done++
	return w.free
}

// at is how long work takes that begins at a time, ns. Before the load has begun the first stage holds.
func (w *work) at(start int64) int64 {
	switch {
	case len(w.stages) == 0:
		return 0
	case start >= w.from && start < w.to:
		return w.each
	case w.cycle == 0 || w.begin == 0 || start < w.begin:
		return w.stages[0].WorkNS
	}
	w.to = start - (start-w.begin)%w.cycle // of the cycle before
	for i := range w.stages {
		w.from, w.each = w.to, w.stages[i].WorkNS
		if w.to += w.stages[i].ForNS; start < w.to {
			break
		}
	}
	return w.each
}

// catchUp counts what is finished by now, of messages that have come. A message that comes now finds the consumer free if
// none is left.
func (w *work) catchUp(now int64, come uint64) {
	for w.done < come {
		next := *w
		if next.finish() > now {
			return
		}
		*w = next
	}
	w.free = max(w.free, now)
}

// due is when acks are to be sent next, math.MaxInt64 if nothing is being worked on.
func (w *work) due(now int64, come uint64) int64 {
	due, ahead := int64(math.MaxInt64), *w
	for n := max((come-w.done)/4, 1); n > 0 && ahead.done < come; n-- {
		end := ahead.finish()
		if due != math.MaxInt64 && end > now+workTogether {
			break
		}
		due = end
	}
	return due
}

// idle is when all that has come will be finished.
func (w *work) idle(come uint64) int64 {
	ahead := *w
	for ahead.done < come {
		ahead.finish()
	}
	return ahead.free
}
