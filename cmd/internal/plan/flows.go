package plan

import (
	"fmt"
	"math"
	"slices"

	"leveret/capture/manifest"
)

// flow is messages and messages per second; NaN where unknown. It can be added and scaled.
type flow struct{ messages, rate float64 }

func (f flow) plus(g flow) flow { return flow{f.messages + g.messages, f.rate + g.rate} }
func (f flow) times(factor float64) flow {
	if factor == 0 {
		return flow{} // of what is unknown, too
	}
	return flow{f.messages * factor, f.rate * factor}
}

var unknownFlow = flow{math.NaN(), math.NaN()}

// flows is what goes through the parts of a run.
type flows struct {
	r        Run
	t        *manifest.Topology
	each     []flow // of each producer
	into     []flow // of each queue
	senders  []int  // producers whose messages reach it, by queue
	readers  []int  // consumers, by queue
	unknown  bool   // some route's queues are not known
	received flow
	ranges   map[[2]int]*routeRange
}

// routeRange is where the messages go that take some routes in turn.
type routeRange struct {
	share map[int]float64 // of a message, by queue
	known bool
	alike int // how many queues each message reaches; -1: that differs
}

// routes of a producer. Many producers have the same.
func (f *flows) routes(p *manifest.Producer) *routeRange {
	key := [2]int{p.Route, max(p.Routes, 1)}
	if r := f.ranges[key]; r != nil {
		return r
	}
	routes := f.t.Routes[key[0] : key[0]+key[1]]
	r := &routeRange{share: map[int]float64{}, known: true, alike: len(routes[0].Queues)}
	for i := range routes {
		r.known = r.known && routes[i].Known
		if len(routes[i].Queues) != r.alike {
			r.alike = -1
		}
		for _, q := range routes[i].Queues {
			r.share[q] += 1 / float64(len(routes))
		}
	}
	f.ranges[key] = r
	return r
}

func newFlows(r Run) *flows {
	t := r.Plan.Topology
	f := &flows{r: r, t: t, into: make([]flow, len(t.Queues)), senders: make([]int, len(t.Queues)), readers: make([]int, len(t.Queues)), ranges: map[[2]int]*routeRange{}}
	for i := range r.Plan.Consumers {
		for _, q := range r.Plan.Consumers[i].Queues {
			f.readers[q]++
		}
	}
	for i := range r.Plan.Producers {
		p := &r.Plan.Producers[i]
		one := f.sends(p)
		f.each = append(f.each, one)
		r := f.routes(p)
		f.unknown = f.unknown || !r.known
		for q, share := range r.share {
			f.into[q] = f.into[q].plus(one.times(share))
			f.senders[q]++
		}
	}
	for q := range t.Queues {
		f.received = f.received.plus(f.into[q].times(float64(f.deliveries(q))))
	}
	if f.unknown {
		f.received = unknownFlow
	}
	return f
}

// deliveries of each message of a queue: consumers share it, but each reads all of a stream.
func (f *flows) deliveries(queue int) int {
	if f.t.Queues[queue].Type == "stream" {
		return f.readers[queue]
	}
	return min(f.readers[queue], 1)
}

// sends is what one producer sends, as far as limits and rates say it.
func (f *flows) sends(p *manifest.Producer) flow {
	if f.r.Options.Idle {
		return flow{}
	}
	s := unknownFlow
	if p.Limit > 0 {
		s.messages = float64(p.Limit)
	}
	if p.Timed() {
		s.rate = p.MeanRate()
		if d := int64(f.r.Plan.Time); d > 0 {
			within := *p
			within.PhaseNS = 0 // phases differ at random
			if n := float64(within.Planned(d)); !(n >= s.messages) {
				s.messages = n
			}
		}
	}
	return s
}

func (f *flows) totals() Expected {
	var sent flow
	for _, one := range f.each {
		sent = sent.plus(one)
	}
	received := f.received
	if limit := f.consumerLimit(); limit > 0 && !(received.messages <= limit) {
		received.messages = limit
	}
	c := f.r.Plan.Consumers
	if len(c) > 0 && c[0].Nack && c[0].Requeue {
		received = unknownFlow // what is refused comes again, for ever
	}
	t := Expected{Sent: known(sent.messages), SentPerSecond: known(sent.rate), Received: known(received.messages), ReceivedPerSecond: known(received.rate)}
	if len(f.each) == 0 {
		t.Received, t.ReceivedPerSecond = nil, nil // what is in the queues
		return t
	}
	if !f.unknown {
		t.FanOut = f.fanOut()
	}
	return t
}

// consumerLimit is the most that all consumers together take; 0: no limit.
func (f *flows) consumerLimit() float64 {
	limit := 0.0
	for i := range f.r.Plan.Consumers {
		if f.r.Plan.Consumers[i].Limit == 0 {
			return 0
		}
		limit += float64(f.r.Plan.Consumers[i].Limit)
	}
	return limit
}

// fanOut is how many deliveries a message makes, on the average of producers that send alike.
func (f *flows) fanOut() *float64 {
	total := 0.0
	for i := range f.r.Plan.Producers {
		for q, share := range f.routes(&f.r.Plan.Producers[i]).share {
			total += float64(f.deliveries(q)) * share
		}
	}
	return known(total / float64(len(f.each)))
}

// queues are the queues in groups of like ones.
func (f *flows) queues() []Queues {
	keys := make([]*string, len(f.t.Queues))
	for i := range f.t.Bindings {
		keys[f.t.Bindings[i].Queue] = &f.t.Bindings[i].RoutingKey
	}
	groups := []Queues{}
	var last string // how the group's queues are described, names apart
	for i := range f.t.Queues {
		q := &f.t.Queues[i]
		g := Queues{
			Count: 1, First: q.Name, Last: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive,
			Arguments: append([]manifest.Arg{}, q.Arguments...), How: how(f.t, q.Declare), RoutingKey: keys[i],
			Producers: f.senders[i], Consumers: f.readers[i], Messages: known(f.into[i].messages), PerSecond: known(f.into[i].rate),
		}
		if q.Exclusive {
			g.How = "declared by the connection of its consumers"
		}
		switch l := f.r.Layout; {
		case g.RoutingKey == nil:
		case l.Sequence && *g.RoutingKey == q.Name:
			g.RoutingKey, g.ByName = nil, true
		case l.RandomKey:
			g.RoutingKey, g.ByRandomKey = nil, true
		}
		if f.unknown {
			g.Messages, g.PerSecond = nil, nil
		}
		if alike := g.alike(); len(groups) > 0 && alike == last {
			groups[len(groups)-1].Count++
			groups[len(groups)-1].Last = q.Name
		} else {
			groups, last = append(groups, g), alike
		}
	}
	return groups
}

// alike is the same text for queues that may stand in one group.
func (g Queues) alike() string {
	key := "not bound"
	if g.RoutingKey != nil {
		key = "by " + *g.RoutingKey
	}
	messages, rate := rounded(g.Messages), rounded(g.PerSecond)
	g.First, g.Last, g.RoutingKey, g.Messages, g.PerSecond = "", "", nil, nil, nil
	return fmt.Sprint(g, key, messages, rate)
}

func rounded(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6g", *f)
}

func (f *flows) producers() []Producers {
	groups := []Producers{}
	for i, one := range f.each {
		g := Producers{Messages: known(one.messages), PerSecond: known(one.rate), Queues: f.reach(&f.r.Plan.Producers[i])}
		k := slices.IndexFunc(groups, g.same)
		if k < 0 {
			k, groups = len(groups), append(groups, g)
		}
		groups[k].Count++
	}
	return groups
}

func (g Producers) same(o Producers) bool {
	return rounded(g.Messages) == rounded(o.Messages) && rounded(g.PerSecond) == rounded(o.PerSecond) &&
		(g.Queues == nil) == (o.Queues == nil) && (g.Queues == nil || *g.Queues == *o.Queues)
}

// reach is how many queues each message of a producer reaches; nil where that is not known, or differs.
func (f *flows) reach(p *manifest.Producer) *int {
	r := f.routes(p)
	if !r.known || r.alike < 0 {
		return nil
	}
	return &r.alike
}

func (f *flows) consumers() []Consumers {
	groups := []Consumers{}
	for i := range f.r.Plan.Consumers {
		c := &f.r.Plan.Consumers[i]
		g, share := Consumers{Queues: len(c.Queues)}, flow{}
		for _, q := range c.Queues {
			share = share.plus(f.into[q].times(float64(f.deliveries(q)) / float64(f.readers[q])))
			g.Shared = g.Shared || f.readers[q] > f.deliveries(q)
		}
		if f.unknown || len(f.each) == 0 || c.Nack && c.Requeue {
			share = unknownFlow
		}
		if limit := float64(c.Limit); limit > 0 && !(share.messages <= limit) {
			share.messages = limit
		}
		g.Messages = known(share.messages)
		k := slices.IndexFunc(groups, func(o Consumers) bool {
			return o.Queues == g.Queues && o.Shared == g.Shared && rounded(o.Messages) == rounded(g.Messages)
		})
		if k < 0 {
			k, groups = len(groups), append(groups, g)
		}
		groups[k].Count++
	}
	return groups
}
