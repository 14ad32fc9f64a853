package analyze

import (
	"fmt"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// reference is the slow and obvious way to say what became of every message: maps, one message at a time, straight from
// the definitions of the counts. It shares nothing with the code under test but the types.
type reference struct {
	h      *history
	counts result.Counts
	queues []result.Counts
	// latency values by group, those of the window; censored ones counted.
	values   [groups][]int64
	censored [groups]int64
	members  map[string]*reference // the same of the messages of one producer, queue or consumer

	sent     map[message]sendEvent
	answer   map[message]event.SettlementKind
	answered map[message]int64
	returned map[message]bool
	doubt    map[message]bool // lost their connection before the broker had answered
	copied   map[message]bool // and were sent again
	firstAt  map[arrival]int64
	firstBy  map[arrival]int // consumer
	claimed  map[arrival]bool
	// apart: the producers were recorded by several processes, so that a damaged tag does not tell whose message it was.
	apart     bool
	expected  []int64 // messages, by queue
	corrupt   []int64 // by queue
	ownIntact []int64 // by queue
}

type message struct {
	producer int
	seq      uint64
}

// arrival is a message at a queue; at a stream, at one of its consumers (subscription: its number and 1), each of which gets all.
type arrival struct {
	message
	queue, subscription int
}

func (r *reference) stream(queue int) bool { return r.h.m.Topology.Queues[queue].Type == "stream" }

// arrivals are all places at which a message in a queue should arrive.
func (r *reference) arrivals(m message, queue int) (as []arrival) {
	if r.stream(queue) {
		for c := range r.h.m.Consumers {
			if r.h.m.Consumers[c].Queues[0] == queue {
				as = append(as, arrival{m, queue, c + 1})
			}
		}
	}
	if as == nil {
		as = append(as, arrival{m, queue, 0})
	}
	return as
}

// begun tells whether a subscription had begun when the message came: that is from the first one of its producer on that it
// received, or where one of any producer had been received when it was sent. A subscription need not begin at the beginning of its stream.
func (r *reference) begun(a arrival) bool {
	if a.subscription == 0 {
		return true
	}
	for b, at := range r.firstAt {
		if b.subscription == a.subscription && (b.producer == a.producer && b.seq <= a.seq || at < r.sent[a.message].at) {
			return true
		}
	}
	return false
}

func judgeByReference(h *history) *reference { return judge(h, false) }

func judge(h *history, apart bool) *reference {
	r := &reference{
		h: h, apart: apart, queues: make([]result.Counts, len(h.m.Topology.Queues)),
		sent: map[message]sendEvent{}, answer: map[message]event.SettlementKind{}, answered: map[message]int64{}, returned: map[message]bool{}, doubt: map[message]bool{}, copied: map[message]bool{},
		firstAt: map[arrival]int64{}, firstBy: map[arrival]int{}, members: map[string]*reference{}, claimed: map[arrival]bool{},
		expected: make([]int64, len(h.m.Topology.Queues)),
		corrupt:  make([]int64, len(h.m.Topology.Queues)), ownIntact: make([]int64, len(h.m.Topology.Queues)),
	}
	r.readSends()
	r.readSettlements()
	r.readDeliveries()
	for m, s := range r.sent {
		r.judgeConfirm(m, s)
		r.judgeDelivery(m, s)
	}
	r.finishQueues()
	for g := range r.values {
		slices.Sort(r.values[g])
		for _, m := range r.members {
			slices.Sort(m.values[g])
		}
	}
	return r
}

func (r *reference) readSends() {
	for _, s := range r.h.sends {
		if s.copy {
			r.copied[message{s.producer, s.seq}] = true
			continue
		}
		if s.at == event.None {
			r.counts.NotSent++
			r.measureUnsent(s)
			if route := r.h.m.Topology.Routes[s.route]; route.Known {
				for _, q := range route.Queues {
					r.queues[q].NotSent++
				}
			}
			continue
		}
		r.counts.Sent++
		r.sent[message{s.producer, s.seq}] = s
	}
}

func (r *reference) readSettlements() {
	for _, s := range r.h.settlements {
		m := message{s.producer, s.seq}
		if s.kind == event.InDoubt {
			r.doubt[m] = true
		} else if s.kind == event.Return {
			r.returned[m] = true
		} else if _, twice := r.answer[m]; !twice {
			r.answer[m], r.answered[m] = s.kind, s.at
		}
	}
	for _, kind := range r.answer {
		switch kind {
		case event.Ack:
			r.counts.Confirmed++
		case event.Commit:
			r.counts.Committed++
		default:
			r.counts.Nacked++
		}
	}
	r.counts.Returned = int64(len(r.returned))
}

func (r *reference) readDeliveries() {
	type lane struct{ producer, queue, consumer int }
	highest := map[lane]uint64{}
	for _, e := range r.h.deliveries {
		q := int(e.d.Queue)
		c := &r.queues[q]
		c.Received++
		if e.d.Redelivered {
			c.Redelivered++
		}
		a := arrival{message{int(e.d.Producer), e.d.Seq}, q, 0}
		if r.stream(q) {
			a.subscription = e.consumer + 1
		}
		own := e.d.Tag == r.h.m.Tag && a.producer < len(r.h.m.Producers)
		switch {
		case e.d.Body == event.Unstamped || e.d.Body == event.Intact && !own:
			c.Foreign++
			continue
		case e.d.Body == event.Corrupt:
			r.corrupt[q]++
			if !r.apart || e.d.Tag == r.h.m.Tag {
				r.claimed[a] = true // of one recording of producers whatever its tag
			}
			continue
		}
		r.ownIntact[q]++
		excused := r.doubt[a.message] && r.copied[a.message]
		if _, again := r.firstAt[a]; again {
			if (!e.d.Redelivered || r.automatic(q)) && !excused {
				c.Duplicates++
			}
			continue
		}
		r.firstAt[a], r.firstBy[a] = e.at, e.consumer
		l := lane{a.producer, q, e.consumer}
		if h, ok := highest[l]; ok && a.seq < h && !e.d.Redelivered && !excused && !r.has(q, "x-max-priority") && !r.requeues(q, true) {
			c.OutOfOrder++
		}
		highest[l] = max(highest[l], a.seq)
		if _, ok := r.sent[a.message]; ok {
			c.ReceivedUnique++
		} else {
			c.Foreign++
		}
	}
}

func (r *reference) automatic(queue int) bool {
	all := true
	for _, c := range r.h.m.Consumers {
		all = all && (c.Queues[0] != queue || c.AutoAck)
	}
	return all
}

// requeues tells whether some, or all, consumers of a queue give messages back.
func (r *reference) requeues(queue int, some bool) bool {
	n, of := 0, 0
	for _, c := range r.h.m.Consumers {
		if c.Queues[0] == queue {
			of++
			if c.Nack && c.Requeue && !c.AutoAck {
				n++
			}
		}
	}
	return n > 0 && (some || n == of)
}

func (r *reference) drained(queue int) bool {
	return r.h.m.Outcome.Queues[queue].Drained && !r.requeues(queue, false)
}

func (r *reference) has(queue int, argument string) bool {
	for _, a := range r.h.m.Topology.Queues[queue].Arguments {
		if a.Key == argument {
			return true
		}
	}
	return false
}

func (r *reference) measure(group int, s sendEvent, at int64, members ...string) {
	for _, m := range append(members, r.partOf(s)...) {
		r.member(m).measureOne(r.h, group, s, at)
	}
	r.measureOne(r.h, group, s, at)
}

// partOf are the groups that a message belongs to by what its producer made of it.
func (r *reference) partOf(s sendEvent) []string {
	priority := "no priority"
	if p := r.h.m.Producers[s.producer].Properties; p != nil {
		priority = fmt.Sprintf("priority %d", *p.Priority)
	}
	return []string{fmt.Sprintf("producer %d", s.producer), result.Plural(int64(s.size), "byte"), priority}
}

func (r *reference) member(name string) *reference {
	if r.members[name] == nil {
		r.members[name] = &reference{}
	}
	return r.members[name]
}

func (r *reference) measureOne(h *history, group int, s sendEvent, at int64) {
	from := s.at
	if s.due != event.None {
		from = s.due
	}
	if o := h.m.Outcome; from < o.BarrierNS || from > o.PublishStopNS {
		return
	}
	if at == event.None {
		r.censored[group]++
	} else {
		r.values[group] = append(r.values[group], at-s.at)
	}
	if s.due == event.None {
		return
	}
	if at == event.None {
		r.censored[group+1]++
	} else {
		r.values[group+1] = append(r.values[group+1], at-s.due)
	}
}

// measureUnsent: what was due and never sent would have had an answer from the broker and from each consumed queue.
func (r *reference) measureUnsent(s sendEvent) {
	if o := r.h.m.Outcome; s.due == event.None || s.due < o.BarrierNS || s.due > o.PublishStopNS {
		return
	}
	censor := func(group int, n int64, members ...string) {
		r.censored[group] += n
		for _, m := range append(members, r.partOf(s)...) {
			r.member(m).censored[group] += n
		}
	}
	if r.h.m.Producers[s.producer].Confirm > 0 {
		censor(confirmResponse, 1)
	}
	if r.h.m.Producers[s.producer].TxSize > 0 {
		censor(commitResponse, 1)
	}
	route := r.h.m.Topology.Routes[s.route]
	for _, q := range route.Queues {
		if route.Known && r.h.m.Outcome.Queues[q].Consumed {
			n := int64(len(r.arrivals(message{}, q)))
			censor(deliveryResponse, n, r.h.m.Topology.Queues[q].Name)
		}
	}
}

func (r *reference) judgeConfirm(m message, s sendEvent) {
	kind, answered := r.answer[m]
	switch {
	case kind == event.Ack:
		r.measure(confirmService, s, r.answered[m])
	case kind == event.Commit:
		r.measure(commitService, s, r.answered[m])
	case !answered && r.h.m.Producers[m.producer].Confirm > 0:
		r.counts.Unconfirmed++
		r.measure(confirmService, s, event.None)
	case !answered && r.h.m.Producers[m.producer].TxSize > 0:
		r.counts.Uncommitted++
		r.measure(commitService, s, event.None)
	}
}

func (r *reference) judgeDelivery(m message, s sendEvent) {
	route := r.h.m.Topology.Routes[s.route]
	if !route.Known {
		for q := range r.queues {
			for _, a := range r.arrivals(m, q) {
				if at, ok := r.firstAt[a]; ok {
					r.measureDelivery(a, s, at)
				}
			}
		}
		return
	}
	if len(route.Queues) == 0 {
		r.counts.Unroutable++
	}
	for _, q := range route.Queues {
		r.publish(&r.queues[q], m)
		for _, a := range r.arrivals(m, q) {
			r.judgeArrival(a, s)
		}
	}
}

func (r *reference) judgeArrival(a arrival, s sendEvent) {
	kind, answered := r.answer[a.message]
	at, ok := r.firstAt[a]
	uncommitted := !answered && r.h.m.Producers[a.producer].TxSize > 0
	refused := r.returned[a.message] || kind == event.Nack || uncommitted && !ok && !r.claimed[a]
	if !refused {
		r.expected[a.queue]++
	}
	switch {
	case !r.h.m.Outcome.Queues[a.queue].Consumed:
	case ok:
		r.measureDelivery(a, s, at)
	case refused:
	case r.claimed[a]:
		r.measure(deliveryService, s, event.None, r.h.m.Topology.Queues[a.queue].Name)
	case r.begun(a):
		r.measure(deliveryService, s, event.None, r.h.m.Topology.Queues[a.queue].Name)
		r.missing(a.message, a.queue, s.at)
	}
}

func (r *reference) measureDelivery(a arrival, s sendEvent, at int64) {
	r.measure(deliveryService, s, at, r.h.m.Topology.Queues[a.queue].Name, fmt.Sprintf("consumer %d", r.firstBy[a]))
}

// publish counts for a queue what became of a message on its way there.
func (r *reference) publish(c *result.Counts, m message) {
	c.Sent++
	if r.returned[m] {
		c.Returned++
	}
	switch kind, answered := r.answer[m]; {
	case kind == event.Ack:
		c.Confirmed++
	case kind == event.Commit:
		c.Committed++
	case kind == event.Nack:
		c.Nacked++
	case !answered && r.h.m.Producers[m.producer].Confirm > 0:
		c.Unconfirmed++
	case !answered && r.h.m.Producers[m.producer].TxSize > 0:
		c.Uncommitted++
	}
}

// missing judges a message that a consumed queue did not bring.
func (r *reference) missing(m message, q int, sent int64) {
	c := &r.queues[q]
	if !r.drained(q) {
		c.QueuedAtStop++ // finishQueues splits it
		return
	}
	c.Missing++
	switch {
	case r.has(q, "x-max-length"), slices.ContainsFunc(r.purges(q), func(at int64) bool { return sent < at }):
		c.RemovedByRule++
	case r.answer[m] == event.Ack || r.answer[m] == event.Commit:
		c.Lost++
	case r.h.m.Producers[m.producer].Confirm > 0:
		c.MissingUnconfirmed++
	}
}

func (r *reference) purges(queue int) []int64 { return r.h.purges[r.h.m.Topology.Queues[queue].Name] }

func (r *reference) finishQueues() {
	for q := range r.queues {
		c, end := &r.queues[q], r.h.m.Outcome.Queues[q]
		attributed := int64(0)
		for a := range r.claimed {
			s, sent := r.sent[a.message]
			_, intact := r.firstAt[a]
			if !sent || intact || a.queue != q || r.returned[a.message] || r.answer[a.message] == event.Nack {
				continue
			}
			if route := r.h.m.Topology.Routes[s.route]; !route.Known || slices.Contains(route.Queues, q) {
				attributed++
			}
		}
		fed := r.ownIntact[q] > 0 || attributed > 0
		for _, route := range r.h.m.Topology.Routes {
			fed = fed || slices.Contains(route.Queues, q)
		}
		if fed {
			c.Corrupt, c.CorruptUnattributed = r.corrupt[q], r.corrupt[q]-attributed
		} else {
			c.Foreign += r.corrupt[q]
		}
		switch {
		case !end.Consumed && r.stream(q): // nothing is taken out of it
			c.QueuedAtStop = r.expected[q]
		case !end.Consumed && end.Ready == nil: // nothing is known of them
		case !end.Consumed:
			c.QueuedAtStop = min(r.expected[q], *end.Ready)
			if r.has(q, "x-max-length") || len(r.purges(q)) > 0 {
				c.Missing = r.expected[q] - c.QueuedAtStop
				c.RemovedByRule = c.Missing
			}
		case !r.drained(q) && r.automatic(q) && end.Ready != nil:
			c.DiscardedAtStop = max(0, c.QueuedAtStop-*end.Ready)
			c.QueuedAtStop -= c.DiscardedAtStop
		}
		r.add(c)
	}
}

func (r *reference) add(c *result.Counts) {
	t := &r.counts
	t.Received += c.Received
	t.ReceivedUnique += c.ReceivedUnique
	t.Redelivered += c.Redelivered
	t.Lost += c.Lost
	t.Missing += c.Missing
	t.MissingUnconfirmed += c.MissingUnconfirmed
	t.RemovedByRule += c.RemovedByRule
	t.QueuedAtStop += c.QueuedAtStop
	t.DiscardedAtStop += c.DiscardedAtStop
	t.Duplicates += c.Duplicates
	t.Corrupt += c.Corrupt
	t.CorruptUnattributed += c.CorruptUnattributed
	t.OutOfOrder += c.OutOfOrder
	t.Foreign += c.Foreign
}

// percentile is nearest rank over measured and censored; nil among the latter.
func (r *reference) percentile(group int, thousandths int64) *int64 {
	n := int64(len(r.values[group])) + r.censored[group]
	rank := max(1, (thousandths*n+99_999)/100_000)
	if rank > int64(len(r.values[group])) {
		return nil
	}
	return &r.values[group][rank-1]
}
