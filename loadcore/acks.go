package loadcore

import (
	"sync/atomic"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// The acks of a consumer: data plane.

// acksAtOnce bounds the bytes of acks that are made at once, where many have been withheld. The rest follows.
const acksAtOnce = backlogLimit

// acking reports whether the consumer has anything to send for what it has received.
func (s *consumer) acking() bool { return !s.spec.AutoAck || s.tx != nil }

// owing reports whether it is of interest which queue a delivery came from, once it is recorded: its ack, or its work.
func (s *consumer) owing() bool { return !s.spec.AutoAck || s.work != nil }

// appendAcks appends the acks that are due and records them as one.
func (s *consumer) appendAcks(dst []byte) []byte {
	upTo := s.reach()
	if s.tx != nil {
		upTo = min(upTo, s.txReach())
	}
	first := s.acked
	flush := s.flushAcks.Load() || upTo == s.limit
	switch {
	case s.spec.AutoAck:
		s.acked = upTo
	case s.spec.Nack:
		dst = s.nacks(dst, upTo, flush)
	default:
		for s.acked+s.every <= upTo && len(dst) < acksAtOnce {
			s.acked += s.every
			dst = wire.AppendAck(dst, s.ch.number, s.acked-s.shift, s.every > 1)
		}
		if s.acked < upTo && s.acked+s.every > upTo && flush {
			s.acked = upTo
			dst = wire.AppendAck(dst, s.ch.number, s.acked-s.shift, true)
		}
	}
	if s.tx != nil {
		dst = s.appendCommit(dst, upTo, flush)
	}
	n := s.acked - first
	if n == 0 || s.spec.AutoAck {
		return dst
	}
	s.acks = event.Acks{Consumer: s.index, At: s.eng.clock.Now(), DeliveryTag: s.acked, Messages: uint32(n), Multiple: s.every > 1}
	s.eng.rec.Acks(&s.acks)
	if s.tx == nil {
		s.settle(n)
		s.count.acked.Store(int64(s.acked))
	}
	return dst
}

// nacks refuses what would be acked.
func (s *consumer) nacks(dst []byte, upTo uint64, flush bool) []byte {
	for s.acked+s.every <= upTo && len(dst) < acksAtOnce {
		s.acked += s.every
		dst = wire.AppendNack(dst, s.ch.number, s.acked-s.shift, s.every > 1, s.spec.Requeue)
	}
	if s.acked < upTo && s.acked+s.every > upTo && flush {
		s.acked = upTo
		dst = wire.AppendNack(dst, s.ch.number, s.acked-s.shift, true, s.spec.Requeue)
	}
	return dst
}

// settle forgets the queues of the n deliveries that have owed the longest.
func (s *consumer) settle(n uint64) {
	if len(s.queues) > 1 {
		s.owed = s.owed[:copy(s.owed, s.owed[n:])]
	}
}

// owes reports whether something is due that was not sent.
func (s *consumer) owes() bool {
	switch {
	case s.ch.isGone():
		return false
	case s.polls != nil && s.pollDue() <= s.ch.conn.at:
		return true
	case s.spec.AutoAck:
		return false
	}
	upTo := s.reach()
	if s.tx != nil {
		upTo = min(upTo, s.txReach())
	}
	return upTo >= s.acked+s.every || upTo > s.acked && s.flushAcks.Load()
}

// transactions are a consumer's commits: every size messages, and of the tail; one is under way at a time, as with a client
// that waits for it, but reading goes on meanwhile.
//
//	messages  1 2 3 4 5 6 7 8 9 ...      size 4
//	acks      a a a a                    5 and further wait for commit-ok
//	               commit ... commit-ok
type transactions struct {
	frame      []byte // tx.commit
	size       uint64
	taken      uint64 // messages that commits have covered
	committing bool
	asked      uint64 // the acks that the commit under way makes good go up to here
	committed  uint64 // the acks that hold go up to here

	waiting atomic.Bool   // committing, for others to see
	answers atomic.Uint64 // commits that were answered
}

// txReach is up to which delivery acks belong into the transaction that is open; nothing while a commit is under way.
func (s *consumer) txReach() uint64 {
	t := s.tx
	if t.committing {
		return s.acked
	}
	end := t.taken + t.size
	if group := s.acked + s.every; group > end && !s.spec.AutoAck { // without an ack in it there is nothing to commit
		end += (group - end + t.size - 1) / t.size * t.size
	}
	return end
}

// appendCommit commits what is acked up to a delivery where that ends the transaction, or with flush.
func (s *consumer) appendCommit(dst []byte, upTo uint64, flush bool) []byte {
	t := s.tx
	whole := upTo >= t.taken+t.size && s.acked+s.every > upTo
	if t.committing || s.acked == t.asked || !whole && !(flush && s.acked == upTo) {
		return dst
	}
	t.committing, t.asked, t.taken = true, s.acked, upTo
	t.waiting.Store(true)
	return append(dst, t.frame...)
}

// commitConfirmed takes tx.commit-ok.
func (s *consumer) commitConfirmed() {
	t := s.tx
	t.committing = false
	t.answers.Add(1)
	t.waiting.Store(false)
	if !s.spec.AutoAck {
		s.settle(t.asked - t.committed)
		s.count.acked.Store(int64(t.asked))
	}
	t.committed = t.asked
	s.touch()
}

// settled is the last delivery whose ack holds.
func (s *consumer) settled() uint64 {
	if s.tx != nil {
		return s.tx.committed
	}
	return s.acked
}
