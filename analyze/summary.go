package analyze

import (
	"fmt"
	"maps"
	"slices"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// config describes what was run, over all captures.
func (a *analysis) config() result.Config {
	x := result.Config{StartedNS: a.window.runStart, AckMode: "none", Durable: true, Persistent: true, TLSVerified: true}
	queues, rate, open := map[string]bool{}, 0.0, true
	keys := map[string]bool{}
	for _, c := range a.captures {
		m := c.manifest
		if m == nil {
			continue
		}
		if x.Tool == "" {
			x.Tool = m.Tool.Name + " " + m.Tool.Version
			x.Command, x.Options = m.Command, optionsOf(m)
		}
		x.Connections += m.Connections
		x.CoalesceNS = max(x.CoalesceNS, m.CoalesceNS)
		x.Producers += len(m.Producers)
		x.Consumers += len(m.Consumers)
		addQueues(&x, m, queues)
		addRouting(&x, m, keys)
		addPlaces(&x, m)
		for i := range m.Producers {
			p := &m.Producers[i]
			addProducer(&x, p, i == 0, m.Bodies)
			open = open && p.Timed()
			if open {
				rate += p.MeanRate()
			}
		}
		for i := range m.Consumers {
			addConsumer(&x, &m.Consumers[i])
		}
		if v := m.Broker.TLSVerified; v != nil {
			x.TLS = true
			x.TLSVerified = x.TLSVerified && *v
		}
	}
	x.Queues = len(queues)
	x.RoutingKeysTotal = len(keys)
	x.FanOut = a.ledger.FanOut()
	x.Durable = x.Durable && x.Queues > 0
	x.Persistent = x.Persistent && x.Producers > 0
	x.TLSVerified = x.TLSVerified && x.TLS
	if open && x.Producers > 0 {
		x.OpenLoop, x.RateTotal = true, &rate
	}
	x.SizesBytes = a.course.sizes.list()
	x.EndpointConnections = a.course.connectionsTo(x.Endpoints)
	return x
}

func optionsOf(m *manifest.Manifest) (options []result.Option) {
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		options = append(options, result.Option{Name: name, Value: m.Options[name]})
	}
	return options
}

// addProducer adds how one producer publishes; of the first of a capture also what only words can say.
func addProducer(x *result.Config, p *manifest.Producer, first bool, bodies []manifest.Body) {
	x.Persistent = x.Persistent && p.Persistent
	x.Confirm = max(x.Confirm, p.Confirm)
	x.PublishTxSize = max(x.PublishTxSize, p.TxSize)
	if first && x.Schedule == "" {
		x.Schedule = p.DescribeSchedule()
	}
	if first && x.Publishing == "" {
		x.Publishing = describePublishing(p, bodies)
	}
}

func addQueues(x *result.Config, m *manifest.Manifest, seen map[string]bool) {
	for i := range m.Topology.Queues {
		q := &m.Topology.Queues[i]
		name := q.Name
		if name == "" {
			name = fmt.Sprintf("%s/%d", m.ID, i)
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		x.Durable = x.Durable && q.Durable
		if len(x.QueueNames) < namesKept && !q.ServerNamed { // such a name tells nothing
			x.QueueNames = append(x.QueueNames, name)
		}
		if q.Type != "" && !slices.Contains(x.QueueTypes, q.Type) {
			x.QueueTypes = append(x.QueueTypes, q.Type)
		}
		if q.ReadyAtStart != nil {
			n := *q.ReadyAtStart
			if x.ReadyStart != nil {
				n += *x.ReadyStart
			}
			x.ReadyStart = &n
		}
	}
}

// How many routing keys and names of queues a result holds.
const (
	keysKept  = 5
	namesKept = 5
)

// addRouting adds the exchanges and routing keys that producers publish to.
func addRouting(x *result.Config, m *manifest.Manifest, keys map[string]bool) {
	seen, used := map[[2]int]bool{}, make([]bool, len(m.Topology.Routes))
	for i := range m.Producers {
		k := [2]int{m.Producers[i].Route, max(1, m.Producers[i].Routes)} // as many producers may have as many routes
		if seen[k] {
			continue
		}
		seen[k] = true
		for n := k[0]; n < k[0]+k[1]; n++ {
			if !used[n] {
				used[n] = true
				addRoute(x, m, &m.Topology.Routes[n], keys)
			}
		}
	}
}

func addRoute(x *result.Config, m *manifest.Manifest, route *manifest.Route, keys map[string]bool) {
	exchange := result.Exchange{Name: route.Exchange}
	for _, e := range m.Topology.Exchanges {
		if e.Name == route.Exchange && e.Name != "" {
			exchange.Type = e.Type
		}
	}
	if !slices.Contains(x.Exchanges, exchange) {
		x.Exchanges = append(x.Exchanges, exchange)
	}
	key := route.RoutingKey
	if route.Random {
		key = "random for each message"
	}
	if keys[key] {
		return
	}
	keys[key] = true
	if len(x.RoutingKeys) < keysKept {
		x.RoutingKeys = append(x.RoutingKeys, key)
	}
}

// A drain of less than that is no rate: it tells of the moment at which publishing stopped.
const (
	leastDrainNS = 10e6
	leastDrained = 100
)

// rates over the window, and of the drain: from the stop of publishing to the last message received.
func (a *analysis) rates() result.Rates {
	var r result.Rates
	var in, drain intervalCounts
	for i := range a.time.counts {
		n, to := &a.time.counts[i], &in
		switch a.time.phase(i) {
		case phaseDrain:
			to = &drain
		case phaseBefore, phaseAfter:
			continue
		}
		to.sent += n.sent
		to.republished += n.republished
		to.confirmed += n.confirmed
		to.committed += n.committed
		to.received += n.received
		to.bytes += n.bytes
	}
	publishes := slices.ContainsFunc(a.captures, (*source).publishes)
	consumes := slices.ContainsFunc(a.captures, (*source).consumes)
	span := a.window.until - a.window.start
	if publishes {
		r.Sent, r.SentBytes = perSecond(in.sent, span), perSecond(in.bytes, span)
		if in.republished > 0 {
			r.Republished = perSecond(in.republished, span)
		}
		if a.confirms() {
			r.Confirmed = perSecond(in.confirmed, span)
		}
		if a.transacts() {
			r.Committed = perSecond(in.committed, span)
		}
	}
	if whole := a.window.start == a.window.runStart && a.window.stop == a.window.runStop; whole && a.facts.ArrivedNS != nil {
		r.ArrivedNS, r.Arrived = a.facts.ArrivedNS, perSecond(in.sent+drain.sent, *a.facts.ArrivedNS)
	}
	if consumes {
		r.Received = perSecond(in.received, span)
		if _, last := extent(a.captures, schema.Deliveries); publishes && last-a.window.runStop >= leastDrainNS && drain.received >= leastDrained {
			ns := last - a.window.runStop
			r.DrainNS, r.Drain = &ns, perSecond(drain.received, ns)
		}
	}
	return r
}

// arrivals learns how long after the start it was proved that the broker had taken all that was published, or why it was not; of
// messages without confirms.
func (a *analysis) arrivals(f *integrity.Facts) {
	if a.confirms() || a.transacts() {
		return
	}
	last, proved := int64(0), true
	for _, c := range a.captures {
		switch o := c.outcome(); {
		case !c.publishes():
		case o == nil || o.ArrivedNS == nil:
			proved = false
			if o != nil && f.NotArrived == "" {
				f.NotArrived = o.DrainNote
			}
		default:
			last = max(last, *o.ArrivedNS-a.window.runStart)
		}
	}
	if proved && last > 0 {
		f.ArrivedNS = &last
	}
}

func (a *analysis) confirms() bool {
	for _, c := range a.captures {
		if c.counts.acks+c.counts.nacks > 0 {
			return true
		}
		if c.manifest != nil && slices.ContainsFunc(c.manifest.Producers, func(p manifest.Producer) bool { return p.Confirm > 0 }) {
			return true
		}
	}
	return false
}

func (a *analysis) transacts() bool {
	for _, c := range a.captures {
		if c.counts.commits > 0 {
			return true
		}
		if c.manifest != nil && slices.ContainsFunc(c.manifest.Producers, func(p manifest.Producer) bool { return p.TxSize > 0 }) {
			return true
		}
	}
	return false
}

// perSecond is nil over no time.
func perSecond(n, ns int64) *float64 {
	if ns <= 0 {
		return nil
	}
	v := float64(n) / (float64(ns) / 1e9)
	return &v
}

// published tells whether an interval is of the run until publishing stopped, in the window or not.
func (a *analysis) published(i int) bool { return a.time.phase(i) != phaseDrain }

// loadFacts are the facts about offered load and backlog.
func (a *analysis) loadFacts() {
	var sent, backlog int64
	intervals := slices.DeleteFunc(a.time.ordered(), func(i int) bool { return !a.published(i) })
	for k, i := range intervals {
		sent += a.time.counts[i].sent
		backlog += a.time.counts[i].arrivals
		if k == (len(intervals)-1)/2 {
			a.facts.BacklogBefore = backlog
		}
	}
	if a.ledger.RoutesKnown() && slices.ContainsFunc(a.captures, (*source).consumes) {
		a.facts.Backlog = &backlog
		a.facts.BacklogStood = len(intervals) > 1 && backlog <= a.facts.BacklogBefore+a.facts.BacklogBefore/2
	}
	if len(a.facts.NotOneRun) > 0 { // no rate was asked for of all of them together
		return
	}
	span := a.window.runStop - a.window.runStart
	if end := a.scheduleEnd(); end != event.None {
		span = end - a.window.runStart
	}
	if planned, length, ok := a.planned(span); ok {
		length = min(length, span)
		a.facts.TargetRate, a.facts.SentRate = perSecond(planned, length), a.achieved(sent, length)
		if sent >= planned && a.facts.SentRate != nil && *a.facts.SentRate > *a.facts.TargetRate {
			a.facts.SentRate = a.facts.TargetRate // by the rounding of what was planned
		}
	}
}

// achieved is the rate of what was sent, over the schedule's length: a last message that is late by a little is no lack of
// load. Where sending took a quarter longer than the schedule, and longer by more than a hiccup, it is the time that it took:
// to the last message, for what a run does afterwards is no sending.
func (a *analysis) achieved(sent, length int64) *float64 {
	const hiccupNS = 100e6
	first, last := extent(a.captures, schema.Sends)
	last = min(last, a.window.runStop)
	took := last - a.window.runStart
	if sent > 1 {
		took += (last - first) / (sent - 1) // N messages span N-1 gaps, and a schedule N
	}
	if took > length+max(length/4, hiccupNS) {
		return perSecond(sent, took)
	}
	return perSecond(sent, length)
}

// planned is how many messages the schedules place in a window of that length, and after what time all of them have ended;
// ok only where every producer has one. A run that lasts longer than its schedules was late with all it sent. The rows
// tell better than the rates what was due, for a slot that was not sent has one, too: of slow producers to the message, of
// Poisson arrivals at all. But a producer that failed has none from then on.
func (a *analysis) planned(span int64) (n, length int64, ok bool) {
	poisson := false
	for _, c := range a.captures {
		if c.manifest == nil {
			return 0, 0, false
		}
		for i := range c.manifest.Producers {
			p := &c.manifest.Producers[i]
			if !p.Timed() {
				return 0, 0, false
			}
			due, ends := p.Planned(span), span
			if p.Limit > 0 {
				due = min(due, p.Limit)
			}
			if p.Arrivals == manifest.ArrivalsPoisson {
				poisson = true
			} else if p.Limit > 0 && len(p.Stages) == 0 {
				ends = int64(min(float64(p.PhaseNS)+float64(p.Limit)/p.Rate.PerSecond()*1e9, float64(span)))
			}
			n += due
			length = max(length, ends)
			ok = true
		}
	}
	recorded := int64(0)
	for i := range a.time.counts {
		if a.published(i) {
			recorded += a.time.counts[i].due
		}
	}
	if poisson || recorded > n {
		n = recorded
	}
	return n, length, ok
}
