package loadcore

import (
	"fmt"
	"math"
	"sync/atomic"

	"leveret/loadcore/wire"
)

// Polling: a consumer that asks with basic.get instead of subscribing. Data plane.
//
// One get is under way on the channel at a time, over all queues of the consumer, and each queue is asked again an interval
// after its last answer, whether that was a message or none. Without an interval the next get goes out with the read that
// brought the answer before it, so that the broker's round trip sets the pace and nobody spins.
type polls struct {
	gets     [][]byte // basic.get by place in the consumer's queues
	next     []int64  // when each queue may be asked again
	interval int64
	last     int         // the queue that was asked last
	asking   atomic.Bool // a get is under way
	answers  atomic.Uint64
}

// newPolls is for a consumer whose channel is known.
func newPolls(s *consumer) *polls {
	p := &polls{interval: s.spec.PollIntervalNS, next: make([]int64, len(s.queues)), last: len(s.queues) - 1}
	for i := range s.queues {
		p.gets = append(p.gets, wire.AppendMethod(nil, s.ch.number, &wire.BasicGet{Queue: s.queues[i].name, NoAck: s.spec.AutoAck}))
	}
	return p
}

// got takes basic.get-ok; the message follows.
func (s *consumer) got(args []byte) error {
	ok, err := wire.ParseGetOk(args)
	if err != nil {
		return err
	}
	if s.polls == nil || !s.polls.asking.Load() {
		return unasked(wire.BasicGetOkID, s.ch)
	}
	if ok.DeliveryTag+s.shift != s.tag+1 {
		return fmt.Errorf("the broker sent delivery tag %d on channel %d after %d", ok.DeliveryTag, s.ch.number, s.tag-s.shift)
	}
	s.local = s.polls.last
	s.redelivered = ok.Redelivered
	s.ch.content.expects = contentHeader
	s.polls.answered(s.ch.conn.at)
	return nil
}

// gotNone takes basic.get-empty.
func (s *consumer) gotNone() error {
	if s.polls == nil || !s.polls.asking.Load() {
		return unasked(wire.BasicGetEmptyID, s.ch)
	}
	s.polls.answered(s.ch.conn.at)
	s.touch()
	return nil
}

func unasked(id wire.MethodID, ch *channel) error {
	return fmt.Errorf("the broker sent %s on channel %d, where nothing had asked for it", id, ch.number)
}

func (p *polls) answered(at int64) {
	p.next[p.last] = addClock(at, uint64(p.interval))
	p.answers.Add(1)
	p.asking.Store(false)
}

// soonest is the queue that may be asked first, in turn where several may be asked at once; -1 if none is to be asked.
func (s *consumer) soonest() int {
	p, best := s.polls, -1
	for n := range s.queues {
		i := (p.last + 1 + n) % len(s.queues)
		if s.queues[i].state.Load() == subscribed && (best < 0 || p.next[i] < p.next[best]) {
			best = i
		}
	}
	return best
}

// pollDue is when the next get is due; math.MaxInt64 while one is under way, or its message is being worked on.
func (s *consumer) pollDue() int64 {
	if s.polls.asking.Load() || s.ch.content.expects != contentNone || s.finished.Load() || s.work != nil && s.work.done < s.tag {
		return math.MaxInt64
	}
	if i := s.soonest(); i >= 0 {
		return s.polls.next[i]
	}
	return math.MaxInt64
}

// appendGet appends the next get where it is due. The state is looked at once more after asking is set, and whoever ends the
// polling looks at asking after it has set the state: so no get goes out behind its back.
func (s *consumer) appendGet(dst []byte, now int64) []byte {
	if s.ch.isGone() || s.ended.Load() || s.pollDue() > now {
		return dst
	}
	p, i := s.polls, s.soonest()
	if i < 0 {
		return dst
	}
	p.asking.Store(true)
	if s.queues[i].state.Load() != subscribed {
		p.asking.Store(false)
		return dst
	}
	p.last = i
	return append(dst, p.gets[i]...)
}
