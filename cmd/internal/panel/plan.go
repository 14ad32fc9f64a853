package panel

import (
	"slices"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// plan is what lines and panel need to know of a plan. Figures that a run cannot have are not shown as 0.
type plan struct {
	*loadcore.Plan
	timed        bool  // a rate is set
	limit        int64 // messages of all producers; 0: at least one has no limit
	consume      int64 // of all consumers, likewise
	window       int64 // confirms that may be awaited; 0: without confirms
	transactions bool  // producers publish in them
	publishing   int   // connections that publish
	perMessage   int64 // deliveries that each message makes; -1: not known, or not the same for all
	waiting      int64 // messages that the queues held before the run; -1: not known
}

func newPlan(p *loadcore.Plan) *plan {
	s := &plan{Plan: p}
	connections := map[int]bool{}
	limited := true
	for i := range p.Producers {
		r := &p.Producers[i]
		s.timed = s.timed || r.Timed()
		s.limit += r.Limit
		limited = limited && r.Limit > 0
		s.window += int64(r.Confirm)
		s.transactions = s.transactions || r.TxSize > 0
		connections[r.Connection] = true
	}
	if !limited {
		s.limit = 0
	}
	s.publishing = len(connections)
	limited = true
	for i := range p.Consumers {
		s.consume += p.Consumers[i].Limit
		limited = limited && p.Consumers[i].Limit > 0
	}
	if !limited {
		s.consume = 0
	}
	s.perMessage, s.waiting = s.fanOut()
	return s
}

// due is how many messages the schedule has asked for so long after the barrier; what is due at the end is not sent.
func (s *plan) due(elapsed time.Duration) (sum int64) {
	if s.Time > 0 {
		elapsed = min(elapsed, s.Time)
	}
	for i := range s.Producers {
		r := &s.Producers[i]
		n := r.Planned(int64(elapsed))
		if r.Limit > 0 {
			n = min(n, r.Limit)
		}
		sum += n
	}
	return sum
}

// fanOut works out how many deliveries a message makes, and how many were to come before the first one was sent. It is not
// known where messages may go elsewhere, vanish by a rule, or come again.
func (s *plan) fanOut() (perMessage, waiting int64) {
	for i := range s.Consumers {
		if c := &s.Consumers[i]; c.Nack && c.Requeue {
			return -1, -1
		}
	}
	deliveries := make([]int64, len(s.Topology.Queues)) // of one message that a queue gets
	subscriptions := s.subscriptions()
	for i := range s.Topology.Queues {
		q := &s.Topology.Queues[i]
		if q.ReadyAtStart == nil && !q.ServerNamed && !q.Exclusive || slices.ContainsFunc(q.Arguments, removes) {
			return -1, -1
		}
		deliveries[i] = 1
		if q.ReadyAtStart != nil {
			waiting += *q.ReadyAtStart
		}
		if q.Type == "stream" {
			if waiting > 0 { // how many of them come depends on the offset
				return -1, -1
			}
			deliveries[i] = subscriptions[i]
		}
	}
	perMessage = -1
	known := map[[2]int]bool{} // ranges of routes: thousands of producers may take the same thousands in turn
	for i := range s.Producers {
		p := &s.Producers[i]
		if p.Properties != nil && p.Properties.Expiration != "" {
			return -1, -1
		}
		from, to := p.Route, p.Route+max(p.Routes, 1)
		if known[[2]int{from, to}] {
			continue
		}
		known[[2]int{from, to}] = true
		for r := from; r < to; r++ {
			n, ok := s.reaches(r, deliveries)
			if !ok || perMessage >= 0 && n != perMessage {
				return -1, -1
			}
			perMessage = n
		}
	}
	return max(perMessage, 0), waiting
}

func (s *plan) reaches(route int, deliveries []int64) (n int64, ok bool) {
	if route >= len(s.Topology.Routes) || !s.Topology.Routes[route].Known || s.Topology.Routes[route].Random {
		return 0, false
	}
	for _, q := range s.Topology.Routes[route].Queues {
		n += deliveries[q]
	}
	return n, true
}

// subscriptions counts the consumers of each queue. Of a stream each is given all of it.
func (s *plan) subscriptions() []int64 {
	n := make([]int64, len(s.Topology.Queues))
	for i := range s.Consumers {
		for _, q := range s.Consumers[i].Queues {
			n[q]++
		}
	}
	return n
}

// removes tells whether an argument lets a queue drop messages.
func removes(a manifest.Arg) bool {
	return slices.Contains([]string{"x-message-ttl", "x-max-length", "x-max-length-bytes", "x-max-age", "x-delivery-limit"}, a.Key)
}

// backlog is how many deliveries are still to come; -1: not known.
func (s *plan) backlog(c *loadcore.Counts) int64 {
	if s.perMessage < 0 {
		return -1
	}
	return max(0, s.waiting+(c.Sent-c.Returned-c.Nacked)*s.perMessage-c.Received)
}
