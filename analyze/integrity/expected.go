package integrity

import (
	"fmt"
	"slices"
	"strconv"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Expected says which message should reach which queue, as far as the manifests of the captures tell. Queues of several
// captures are the same where they have the same name.
type Expected struct {
	captures []expectedCapture
	queues   []queue
	dests    []dest
	routes   []route
	byName   map[string]int // queue
	byTag    [event.MaxTag + 1]int16
	// tagClash: two captures stamp with the same tag, so that their messages cannot be told apart.
	tagClash bool
	// publisher is the only capture with producers, -1 if there are none or several.
	publisher int
	consumers int
	producers int
	// lossy: connections may have been lost.
	lossy bool
	// republishes: messages may have been sent again after their channel was lost.
	republishes bool
}

// expectedCapture holds what the indexes in the rows of one capture mean.
type expectedCapture struct {
	manifest *manifest.Manifest // nil: unknown
	queues   []int32            // by queue of the capture: queue in Expected
	dests    []int32            // likewise: destination, -1 where each consumer is one of its own
	streams  map[[2]uint16]int32
	routes   []int32 // by route of the capture: route in Expected
}

// queue is one queue over all captures.
type queue struct {
	name, kind string
	declared   []*manifest.Queue
	made       bool // by a run of the captures, or told of by the management API; if not, its arguments are not known, and others may consume from it
	consumed   bool // a consumer of a capture reads it
	automatic  bool // and all of them acknowledge automatically
	fed        bool // a route of a capture reaches it
	transient  bool // messages that are not persistent go to it
	// expiration is the shortest that its messages have as a property, as given and in ms; "": none.
	expiration   string
	expirationMS int64
	ends         []queueEnd
	starts       []queueStart
	consumers    []consumerOf
	requeuing    int     // of the consumers, those that give messages back
	dests        []int32 // one; of a stream, one a subscription
}

// consumerOf is one consumer of one capture.
type consumerOf struct {
	*manifest.Consumer
	capture, number int
}

// queueEnd is what one capture says about the queue's end.
type queueEnd struct {
	manifest.QueueEnd
	capture int
	endNS   int64 // end of the drain
}

// queueStart is what was ready in the queue when a capture began.
type queueStart struct {
	ready   int64
	capture int
	atNS    int64 // the barrier
}

// dest is where a message is judged to arrive: a queue, or one subscription of a stream.
type dest struct {
	queue     int
	waits     bool // messages are expected to be received from it
	automatic bool
	unordered bool // order is not judged: priorities, or consumers that give messages back
	stream    bool
	of        *subscription // of a stream; nil: nobody reads it
	reopened  bool          // it was lost and opened again, as Ledger.Finish finds
}

// route is one (exchange, routing key) of one capture.
type route struct {
	known bool
	all   []int32  // destinations it reaches, if known
	waits []int32  // those of them that are consumed
	mask  []uint64 // a bit for each of waits, where these are not few
}

// unknownRoute is the route of messages whose capture does not say where they go.
const unknownRoute = 0

// NewExpected reads the manifests, in the order of the captures; nil where a capture has none, and then tag is what its
// files say.
func NewExpected(ms []*manifest.Manifest, tags []uint16) *Expected {
	x := &Expected{byName: map[string]int{}, routes: []route{{}}, publisher: -1}
	x.captures = make([]expectedCapture, len(ms))
	for i := range ms {
		x.captures[i] = expectedCapture{manifest: ms[i], streams: map[[2]uint16]int32{}}
		x.addTag(i, tags[i])
		x.addPublisher(i, ms[i])
		x.lossy = x.lossy || mayHaveLost(ms[i])
		x.republishes = x.republishes || mayRepublish(ms[i])
	}
	for i, m := range ms {
		if m != nil {
			x.addQueues(i, m)
		}
	}
	for i, m := range ms {
		if m != nil {
			x.addDests(i, m)
		}
	}
	for i, m := range ms {
		if m != nil {
			x.addRoutes(i, m)
			x.addSendings(i, m)
		}
	}
	return x
}

func (x *Expected) addTag(capture int, tag uint16) {
	tag &= event.MaxTag
	x.tagClash = x.tagClash || x.byTag[tag] != 0
	if x.byTag[tag] == 0 {
		x.byTag[tag] = int16(capture) + 1
	}
}

func (x *Expected) addPublisher(capture int, m *manifest.Manifest) {
	if m != nil {
		x.consumers += len(m.Consumers)
		x.producers += len(m.Producers)
		if len(m.Producers) == 0 {
			return
		}
	}
	if x.publisher == -1 {
		x.publisher = capture
	} else {
		x.publisher = -2
	}
}

func (x *Expected) addQueues(capture int, m *manifest.Manifest) {
	c := &x.captures[capture]
	for i := range m.Topology.Queues {
		q := &m.Topology.Queues[i]
		name := q.Name
		if name == "" {
			name = fmt.Sprintf("queue %d of capture %d", i, capture+1)
		}
		n := x.queueNamed(name, q.Type)
		x.queues[n].declared = append(x.queues[n].declared, q)
		if told := q.Declare || !m.Topology.Predeclared || q.Found != nil; told && !x.queues[n].made {
			x.queues[n].made, x.queues[n].kind = true, q.Type // of others the options tell, which need not be so
		}
		c.queues = append(c.queues, int32(n))
		if q.ReadyAtStart != nil && m.Outcome != nil && m.Outcome.BarrierNS != event.None {
			x.queues[n].starts = append(x.queues[n].starts, queueStart{*q.ReadyAtStart, capture, m.Outcome.BarrierNS})
		}
	}
	for i := range m.Consumers {
		for _, q := range m.Consumers[i].Queues {
			if q >= 0 && q < len(c.queues) {
				x.queues[c.queues[q]].consume(consumerOf{&m.Consumers[i], capture, i})
			}
		}
	}
	for _, r := range m.Topology.Routes {
		for _, q := range r.Queues {
			if q >= 0 && q < len(c.queues) {
				x.queues[c.queues[q]].fed = true
			}
		}
	}
	if m.Outcome == nil {
		return
	}
	for _, e := range m.Outcome.Queues {
		if e.Queue >= 0 && e.Queue < len(c.queues) {
			q := &x.queues[c.queues[e.Queue]]
			q.ends = append(q.ends, queueEnd{QueueEnd: e, capture: capture, endNS: m.Outcome.DrainEndNS})
		}
	}
}

func (x *Expected) queueNamed(name, kind string) int {
	n, ok := x.byName[name]
	if !ok {
		n = len(x.queues)
		x.byName[name] = n
		x.queues = append(x.queues, queue{name: name, kind: kind})
	}
	return n
}

func (q *queue) consume(c consumerOf) {
	q.automatic = c.AutoAck && (q.automatic || !q.consumed)
	q.consumed = true
	q.consumers = append(q.consumers, c)
	if c.Nack && c.Requeue && !c.AutoAck {
		q.requeuing++
	}
}

// argument finds a declared argument of a queue.
func (q *queue) argument(key string) (any, bool) {
	for _, d := range q.declared {
		for _, a := range d.Arguments {
			if a.Key == key {
				return a.Value, true
			}
		}
	}
	return nil, false
}

// addDests makes a destination of each queue, and of each subscription of a stream.
func (x *Expected) addDests(capture int, m *manifest.Manifest) {
	c := &x.captures[capture]
	for _, q := range c.queues {
		d := int32(-1)
		if x.queues[q].kind != "stream" {
			d = x.destOf(int(q))
		}
		c.dests = append(c.dests, d)
	}
	for n, consumer := range m.Consumers {
		for _, q := range consumer.Queues {
			if q >= 0 && q < len(c.dests) && c.dests[q] == -1 && n < event.MaxProducers {
				x.subscription(capture, uint16(q), uint16(n))
			}
		}
	}
}

// destOf is the destination of a queue that all its consumers share.
func (x *Expected) destOf(queue int) int32 {
	if ds := x.queues[queue].dests; len(ds) > 0 {
		return ds[0]
	}
	return x.addDest(queue, false)
}

func (x *Expected) addDest(n int, stream bool) int32 {
	q := &x.queues[n]
	_, priority := q.argument("x-max-priority")
	requeues, _ := q.requeues()
	x.dests = append(x.dests, dest{queue: n, waits: q.consumed, automatic: q.automatic, unordered: priority || requeues, stream: stream})
	d := int32(len(x.dests) - 1)
	q.dests = append(q.dests, d)
	return d
}

// dest is the destination that a delivery arrived at. An index that the manifest does not explain gets a queue of its
// own.
func (x *Expected) dest(capture int, queue, consumer uint16) int32 {
	c := &x.captures[capture]
	for int(queue) >= len(c.dests) {
		n := x.queueNamed(fmt.Sprintf("queue %d of capture %d", len(c.dests), capture+1), "")
		c.queues = append(c.queues, int32(n))
		c.dests = append(c.dests, x.destOf(n))
	}
	if d := c.dests[queue]; d >= 0 {
		return d
	}
	return x.subscription(capture, queue, consumer)
}

// Queue is the number of a capture's queue among those of all captures, by their names; -1 where the manifest does not tell.
func (x *Expected) Queue(capture int, queue uint16) int {
	if qs := x.captures[capture].queues; int(queue) < len(qs) {
		return int(qs[queue])
	}
	return -1
}

func (x *Expected) addRoutes(capture int, m *manifest.Manifest) {
	c := &x.captures[capture]
	var last []int // the list of the route before, which many routes may share
	for _, r := range m.Topology.Routes {
		if n := len(r.Queues); r.Known && n > 0 && n == len(last) && &r.Queues[0] == &last[0] {
			c.routes = append(c.routes, int32(len(x.routes)))
			x.routes = append(x.routes, x.routes[len(x.routes)-1])
			continue
		}
		n := route{known: r.Known}
		once := map[int32]bool{} // bound twice, a queue gets a message once
		for _, q := range r.Queues {
			if q < 0 || q >= len(c.queues) || !r.Known {
				continue
			}
			if len(x.queues[c.queues[q]].dests) == 0 { // a stream that nobody reads takes its messages all the same
				x.addDest(int(c.queues[q]), false)
			}
			for _, d := range x.queues[c.queues[q]].dests {
				if !once[d] {
					once[d] = true
					n.add(d, x.dests[d].waits)
				}
			}
		}
		last = nil
		if r.Known {
			last = r.Queues
		}
		c.routes = append(c.routes, int32(len(x.routes)))
		x.routes = append(x.routes, n)
	}
}

// sending is how producers send, to so many routes from one on. There may be as many producers as routes.
type sending struct {
	route, routes int
	how
}

type how struct {
	persistent bool
	expiration string // as given, "": none
}

// listed are queues of a route, a list that many of them may share, to which messages are sent so.
type listed struct {
	first *int
	n     int
	how
}

// addSendings notes what of the messages that go to a queue may have the broker remove them.
func (x *Expected) addSendings(capture int, m *manifest.Manifest) {
	seen, lists := map[sending]bool{}, map[listed]bool{}
	for i := range m.Producers {
		p := &m.Producers[i]
		s := sending{p.Route, max(p.Routes, 1), how{persistent: p.Persistent}}
		if p.Properties != nil {
			s.expiration = p.Properties.Expiration
		}
		if seen[s] || s.route < 0 || s.routes > len(m.Topology.Routes)-s.route {
			continue
		}
		seen[s] = true
		for _, r := range m.Topology.Routes[s.route : s.route+s.routes] {
			if len(r.Queues) == 0 || lists[listed{&r.Queues[0], len(r.Queues), s.how}] {
				continue
			}
			lists[listed{&r.Queues[0], len(r.Queues), s.how}] = true
			for _, q := range r.Queues {
				if qs := x.captures[capture].queues; q >= 0 && q < len(qs) {
					x.queues[qs[q]].gets(s.how)
				}
			}
		}
	}
}

// gets notes how messages of the queue are sent.
func (q *queue) gets(h how) {
	q.transient = q.transient || !h.persistent
	if h.expiration == "" {
		return
	}
	if ms, err := strconv.ParseInt(h.expiration, 10, 64); err == nil && (q.expiration == "" || ms < q.expirationMS) {
		q.expiration, q.expirationMS = h.expiration, ms
	}
}

func (r *route) add(d int32, waits bool) {
	r.all = append(r.all, d)
	if !waits {
		return
	}
	r.waits = append(r.waits, d)
	switch {
	case len(r.waits) > fewWaits:
		r.mark(d)
	case len(r.waits) == fewWaits:
		for _, d := range r.waits {
			r.mark(d)
		}
	}
}

// fewWaits is from how many destinations on a route has a bit for each that there is: tens of thousands of routes that lead to one each
// would take more than everything else.
const fewWaits = 8

func (r *route) mark(d int32) {
	for int(d)>>6 >= len(r.mask) {
		r.mask = append(r.mask, 0)
	}
	setBit(r.mask, int(d))
}

func (r *route) waitsFor(d int32) bool {
	if len(r.waits) < fewWaits {
		return slices.Contains(r.waits, d)
	}
	return int(d)>>6 < len(r.mask) && testBit(r.mask, int(d))
}

// reaches tells whether a route is known to lead to a destination.
func (r *route) reaches(d int32) bool { return r.waitsFor(d) || slices.Contains(r.all, d) }

// FanOut is the most queues that a message of the captures reaches; 0 where a route's are unknown.
func (l *Ledger) FanOut() int {
	most := 0
	for i := 1; i < len(l.x.routes); i++ { // the first is unknownRoute
		r := &l.x.routes[i]
		if !r.known {
			return 0
		}
		queues := map[int]bool{} // a stream has a destination for each subscription
		for _, d := range r.all {
			queues[l.x.dests[d].queue] = true
		}
		most = max(most, len(queues))
	}
	return most
}

// route is the route of a row.
func (x *Expected) route(capture int, n uint16) int32 {
	if rs := x.captures[capture].routes; int(n) < len(rs) {
		return rs[n]
	}
	return unknownRoute
}
