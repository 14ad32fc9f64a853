package analyze

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// history is a made-up run: what the recorder would have been told, in order of time.
type history struct {
	m           *manifest.Manifest
	sends       []sendEvent
	settlements []settleEvent
	deliveries  []deliveryEvent
	purges      map[string][]int64 // when queues were purged, as marks say
}

type sendEvent struct {
	producer int
	seq      uint64
	at, due  int64 // epoch included; event.None
	route    int
	size     int
	copy     bool // it was sent before, and its connection lost
}

type settleEvent struct {
	producer int
	seq      uint64
	kind     event.SettlementKind
	at       int64
}

type deliveryEvent struct {
	consumer int
	at       int64
	d        event.Delivery
}

// maker makes random histories.
type maker struct {
	*rand.Rand
	h     *history
	clock int64
	// queues holds what is on its way to the consumers, by queue; of streams, of which each consumer gets all, by consumer.
	queues, streams [][]event.Delivery
	// skip is how many more messages a consumer of a stream does not get, as it begins behind them.
	skip []int
	// doubt are the messages that lost their connection before the broker had answered, by producer; nil where none does.
	doubt map[int][]sendEvent
}

func (g *maker) chance(percent int) bool { return g.IntN(100) < percent }

func (g *maker) tick() int64 {
	g.clock += 1 + g.Int64N(3000) // no two at a time: which came first is told by it
	return g.clock
}

// randomHistory makes a run with every kind of trouble in it.
func randomHistory(seed uint64) *history {
	g := &maker{Rand: rand.New(rand.NewPCG(seed, 99)), h: &history{m: plan(0, 0), purges: map[string][]int64{}}, clock: epoch}
	g.topology()
	g.queues = make([][]event.Delivery, len(g.h.m.Topology.Queues))
	g.streams = make([][]event.Delivery, len(g.h.m.Consumers))
	for range g.streams {
		g.skip = append(g.skip, []int{0, 0, 1, 20}[g.IntN(4)])
	}
	start := []uint64{0, 0, 500, 1<<32 - 5, 3_000_000}[g.IntN(5)]
	stride := []uint64{1, 1, 1, 64, 512}[g.IntN(5)]
	messages := 1 + g.IntN(120)
	trouble := []int{0, 3, 15}[g.IntN(3)]
	if g.chance(40) {
		g.doubt = map[int][]sendEvent{}
		g.h.m.Options = map[string]string{"republish": "true"}
	}
	for i := range messages {
		for p := range g.h.m.Producers {
			g.message(p, start+uint64(i)*stride, trouble)
		}
		for g.chance(60) {
			g.deliverOne(trouble)
		}
	}
	for range 10 * messages {
		g.deliverOne(trouble)
	}
	g.end()
	return g.h
}

func (g *maker) topology() {
	m := g.h.m
	m.Topology = manifest.Topology{}
	m.Outcome.Queues = nil
	for q := range 1 + g.IntN(3) {
		queue := manifest.Queue{Name: fmt.Sprintf("q%d", q), Type: "classic"}
		if g.chance(20) {
			queue.Type = "stream"
		}
		if g.chance(15) {
			queue.Arguments = append(queue.Arguments, manifest.Arg{Key: "x-max-length", Value: int64(5)})
		}
		if g.chance(15) {
			queue.Arguments = append(queue.Arguments, manifest.Arg{Key: "x-max-priority", Value: int64(5)})
		}
		end := manifest.QueueEnd{Queue: q, Consumed: g.chance(85), Drained: g.chance(80)}
		end.Drained = end.Drained && end.Consumed
		if g.chance(50) && queue.Type != "stream" {
			end.Ready = ptr(int64(g.IntN(20)))
		}
		automatic := g.chance(30)
		for range 1 + g.IntN(2) {
			if end.Consumed {
				c := manifest.Consumer{Queues: []int{q}, AutoAck: automatic || g.chance(10)}
				c.Nack, c.Requeue = g.chance(20), g.chance(50)
				m.Consumers = append(m.Consumers, c)
			}
		}
		if g.chance(20) && queue.Type != "stream" {
			g.h.purges[queue.Name] = nil // when, end knows
		}
		m.Topology.Queues = append(m.Topology.Queues, queue)
		m.Outcome.Queues = append(m.Outcome.Queues, end)
	}
	m.Bodies = []manifest.Body{{SizeBytes: 10}, {SizeBytes: 1000}, {SizeBytes: 20}}
	for range 1 + g.IntN(3) {
		r := manifest.Route{Known: g.chance(90)}
		for q := range m.Topology.Queues {
			if g.chance(60) {
				r.Queues = append(r.Queues, q)
			}
		}
		m.Topology.Routes = append(m.Topology.Routes, r)
	}
	for range 1 + g.IntN(3) {
		p := manifest.Producer{Route: g.IntN(len(m.Topology.Routes))}
		switch g.IntN(5) {
		case 0, 1:
			p.Confirm = 100
		case 2:
			p.TxSize = 10
		}
		if g.chance(30) {
			p.Routes = 1 + g.IntN(len(m.Topology.Routes)-p.Route)
		}
		p.Size = []int{12, 100, 1000}[g.IntN(3)]
		switch g.IntN(4) {
		case 0:
			p.PooledBodies = true
		case 1:
			p.Sizes = []manifest.SizeStage{{Bytes: 50, ForNS: 30_000}, {Bytes: 1000, ForNS: 30_000}}
		}
		if priority := uint8(g.IntN(4)); priority > 0 {
			p.Properties = &manifest.Properties{Priority: &priority}
		}
		m.Producers = append(m.Producers, p)
	}
}

// message sends, settles and routes one message, or fails to.
func (g *maker) message(p int, seq uint64, trouble int) {
	m := g.h.m
	s := sendEvent{producer: p, seq: seq, at: g.tick(), due: event.None, route: m.Producers[p].Route}
	if n := m.Producers[p].Routes; n > 1 {
		s.route += int(seq % uint64(n))
	}
	if g.chance(trouble) {
		s.route = g.IntN(len(m.Topology.Routes))
	}
	if p%2 == 0 {
		s.due = s.at - g.Int64N(5000)
	}
	s.size = g.size(&m.Producers[p], seq)
	if g.chance(trouble / 3) {
		s.at, s.due = event.None, s.at
		g.h.sends = append(g.h.sends, s)
		return
	}
	g.h.sends = append(g.h.sends, s)
	if g.doubt != nil && m.Producers[p].Confirm > 0 && g.lose(s, trouble) {
		return
	}
	refused := false
	if g.chance(trouble / 2) {
		refused = true
		g.settle(p, seq, event.Return)
	}
	if m.Producers[p].TxSize > 0 {
		if !g.chance(trouble) {
			g.settle(p, seq, event.Commit)
		} else {
			refused = refused || g.chance(90)
		}
	}
	if m.Producers[p].Confirm > 0 && !g.chance(trouble) {
		kind := event.Ack
		if g.chance(trouble) {
			kind, refused = event.Nack, g.chance(95)
		}
		g.settle(p, seq, kind)
		if g.chance(trouble / 5) {
			g.settle(p, seq, []event.SettlementKind{event.Ack, event.Nack, event.Return}[g.IntN(3)])
		}
	}
	if !refused {
		g.enqueue(s, trouble)
	}
}

// lose has some messages lose their connection before the broker answers, whether it has them or not, and sends some of these again.
func (g *maker) lose(s sendEvent, trouble int) bool {
	lost := g.chance(10)
	if lost {
		g.settle(s.producer, s.seq, event.InDoubt)
		g.doubt[s.producer] = append(g.doubt[s.producer], s)
		if g.chance(50) {
			g.enqueue(s, trouble)
		}
	}
	for g.chance(30) && len(g.doubt[s.producer]) > 0 {
		again := g.doubt[s.producer][0]
		g.doubt[s.producer] = g.doubt[s.producer][1:]
		again.at, again.copy = g.tick(), true
		g.h.sends = append(g.h.sends, again)
		if g.chance(90) {
			g.enqueue(again, trouble)
			g.settle(s.producer, again.seq, event.Ack)
		}
	}
	return lost
}

// size of a message: as planned, but for a few.
func (g *maker) size(p *manifest.Producer, seq uint64) int {
	switch {
	case g.chance(2):
		return 77
	case p.PooledBodies:
		return g.h.m.Bodies[seq%3].SizeBytes
	case p.Sizes != nil:
		return p.Sizes[(g.clock-epoch)/30_000%2].Bytes
	}
	return p.Size
}

func (g *maker) settle(p int, seq uint64, kind event.SettlementKind) {
	g.h.settlements = append(g.h.settlements, settleEvent{p, seq, kind, g.tick()})
}

// enqueue brings a message to its queues, and does to it what a broken broker might.
func (g *maker) enqueue(s sendEvent, trouble int) {
	queues := g.h.m.Topology.Routes[s.route].Queues
	if g.chance(trouble / 3) {
		queues = append([]int{g.IntN(len(g.queues))}, queues...)
	}
	for _, q := range queues {
		d := event.Delivery{Queue: uint16(q), Producer: uint16(s.producer), Seq: s.seq, Tag: g.h.m.Tag, Body: event.Intact, Due: s.due}
		if g.h.m.Topology.Queues[q].Type != "stream" {
			g.push(&g.queues[q], d, trouble)
			continue
		}
		for c := range g.h.m.Consumers {
			switch {
			case g.h.m.Consumers[c].Queues[0] != q:
			case g.skip[c] > 0:
				g.skip[c]--
			default:
				g.push(&g.streams[c], d, trouble)
			}
		}
	}
}

func (g *maker) push(to *[]event.Delivery, d event.Delivery, trouble int) {
	switch {
	case !g.chance(trouble):
		*to = append(*to, d)
	case g.chance(30): // lost
	case g.chance(40):
		*to = append(*to, d, d)
	default:
		*to = append(*to, g.damaged(d))
	}
	if n := len(*to); n > 1 && g.chance(trouble/2) {
		(*to)[n-1], (*to)[n-2] = (*to)[n-2], (*to)[n-1]
	}
}

// damaged changes what a delivery carries.
func (g *maker) damaged(d event.Delivery) event.Delivery {
	d.Body = event.Corrupt
	switch g.IntN(7) {
	case 0:
		d.Seq ^= 1 << g.IntN(36)
	case 1:
		d.Producer ^= 1 << g.IntN(16)
	case 2:
		d.Tag ^= 1 << g.IntN(12)
	case 3:
		d.Body, d.Tag = event.Intact, d.Tag^1 // foreign
	case 4:
		d.Body, d.Tag, d.Producer, d.Seq = event.Unstamped, 0, 0, 0
	case 5:
		d.Body, d.Seq = event.Intact, d.Seq+1_000_000 // of an earlier run with the same tag
	}
	return d
}

// deliverOne takes a message from a random queue to one of its consumers.
func (g *maker) deliverOne(trouble int) {
	if len(g.h.m.Consumers) == 0 {
		return
	}
	c := g.IntN(len(g.h.m.Consumers))
	q := g.h.m.Consumers[c].Queues[0]
	from := &g.queues[q]
	if g.h.m.Topology.Queues[q].Type == "stream" {
		from = &g.streams[c]
	}
	if len(*from) == 0 {
		return
	}
	d := (*from)[0]
	*from = (*from)[1:]
	d.Redelivered = g.chance(trouble / 3)
	g.h.deliveries = append(g.h.deliveries, deliveryEvent{c, g.tick(), d})
	if g.chance(trouble / 3) { // and again: its channel was lost before the ack, perhaps
		d.Redelivered = g.chance(70)
		*from = append([]event.Delivery{d}, *from...)
	}
}

// end makes the manifest agree with the rows.
func (g *maker) end() {
	o := g.h.m.Outcome
	o.BarrierNS = epoch + g.Int64N(20_000) // some messages lie outside the window
	o.PublishStopNS = max(o.BarrierNS, g.clock-g.Int64N(20_000))
	o.DrainEndNS = max(g.clock, o.PublishStopNS) + 1000
	for _, q := range slices.Sorted(maps.Keys(g.h.purges)) {
		for range 1 + g.IntN(2) {
			g.h.purges[q] = append(g.h.purges[q], epoch+g.Int64N(g.clock-epoch+1))
		}
		slices.Sort(g.h.purges[q])
	}
	g.h.tally(o)
}

// tally makes the engine's counters of the events.
func (h *history) tally(o *manifest.Outcome) {
	o.Sent, o.NotSent, o.Confirmed, o.Committed, o.Nacked, o.Returned, o.Republished, o.InDoubt = 0, 0, 0, 0, 0, 0, 0, 0
	o.Received = int64(len(h.deliveries))
	for _, s := range h.sends {
		switch {
		case s.copy:
			o.Republished++
		case s.at != event.None:
			o.Sent++
		default:
			o.NotSent++
		}
	}
	for _, s := range h.settlements {
		switch s.kind {
		case event.Ack:
			o.Confirmed++
		case event.Commit:
			o.Committed++
		case event.Nack:
			o.Nacked++
		case event.Return:
			o.Returned++
		case event.InDoubt:
			o.InDoubt++
		}
	}
}

// record makes a capture of the history.
func (h *history) record(r *recording) string {
	for _, s := range h.sends {
		e := &event.Sends{Producer: uint16(s.producer), First: s.seq, N: 1, Sent: s.at, Written: s.at, Route: uint16(s.route), Size: uint32(s.size)}
		if s.due != event.None {
			e.Due = []int64{s.due}
		}
		r.w.Sends(e)
	}
	for _, s := range h.settlements {
		r.w.Settlements(&event.Settlements{Producer: uint16(s.producer), At: s.at, Runs: []event.SettledRun{{First: s.seq, N: 1, Kind: s.kind}}})
	}
	for _, d := range h.deliveries {
		r.w.Deliveries(&event.Deliveries{Consumer: uint16(d.consumer), At: d.at, Rows: []event.Delivery{d.d}})
	}
	dir := r.close()
	for q, times := range h.purges {
		for _, at := range times {
			if err := manifest.AddMark(dir, &manifest.Mark{AtNS: at, From: manifest.MarkFromUser, Clock: manifest.ClockMonotonic, Text: "purged", Purged: q}); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return dir
}
