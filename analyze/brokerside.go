package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"

	"github.com/apache/arrow/go/v17/arrow"
)

// brokerSide are the rows of what the broker said of itself. Of several captures that asked the same broker one is enough: the
// first.
type brokerSide struct {
	vhost       queueCourse
	queues      map[int64]*queueCourse
	nodes       map[int64]*nodeCourse
	connections thinned[event.BrokerConnections]
	looked      int64 // rows of connections
	flow        int64 // of them, with a connection in flow
	alarms      int64 // rows of nodes with an alarm
}

// mostCourses bounds the queues, and the nodes, that are followed; a recording has fewer.
const mostCourses = 1000

// management is what the first capture that asked the broker says of it.
func (a *analysis) management() (*source, *manifest.Management) {
	for _, c := range a.captures {
		if c.manifest != nil && c.manifest.Management != nil {
			return c, c.manifest.Management
		}
	}
	return nil, nil
}

func (v *visitor) brokerSide(r *rows) {
	if c, _ := v.a.management(); !v.first || c != r.batch.capture {
		return
	}
	b := &v.a.brokerSide
	for row := range int(r.batch.rows) {
		switch r.batch.kind {
		case schema.BrokerNodes:
			var n event.BrokerNode
			fillRow(r.rec, row, schema.BrokerNodeFields(&n))
			b.node(&n)
		case schema.BrokerQueues:
			var q event.BrokerQueue
			fillRow(r.rec, row, schema.BrokerQueueFields(&q))
			b.queue(&q)
		case schema.BrokerConnections:
			var c event.BrokerConnections
			fillRow(r.rec, row, schema.BrokerConnectionFields(&c))
			b.connections.add(c)
			b.looked++
			if c.Flow > 0 {
				b.flow++
			}
		}
	}
}

// fillRow reads one row, whose columns are all of int64.
func fillRow(rec arrow.Record, row int, fields []*int64) {
	for i, f := range fields {
		*f = i64(rec, i)[row]
	}
}

func (b *brokerSide) queue(q *event.BrokerQueue) {
	if q.Queue == event.None {
		b.vhost.add(q)
		return
	}
	if of := follow(&b.queues, q.Queue); of != nil {
		of.add(q)
	}
}

func (b *brokerSide) node(n *event.BrokerNode) {
	if n.MemoryAlarm == 1 || n.DiskAlarm == 1 {
		b.alarms++
	}
	if of := follow(&b.nodes, n.Node); of != nil {
		of.add(n)
	}
}

// follow finds one of many by its index; nil where they are too many.
func follow[T any](of *map[int64]*T, index int64) *T {
	if *of == nil {
		*of = map[int64]*T{}
	}
	if (*of)[index] == nil && index >= 0 && len(*of) < mostCourses {
		(*of)[index] = new(T)
	}
	return (*of)[index]
}

// mostSamples of one queue or node are kept.
const mostSamples = 1000

// thinned keeps every one of few values, every second of more, ..., and always the last.
type thinned[T any] struct {
	kept []T
	step int // one of so many is kept
	seen int
	last T
}

func (t *thinned[T]) add(v T) {
	t.step = max(t.step, 1)
	if t.last = v; t.seen%t.step == 0 {
		t.kept = append(t.kept, v)
	}
	t.seen++
	if len(t.kept) < mostSamples {
		return
	}
	half := t.kept[:0]
	for i := 0; i < len(t.kept); i += 2 {
		half = append(half, t.kept[i])
	}
	t.kept, t.step = half, 2*t.step
}

// all are those that are kept, by time.
func (t *thinned[T]) all(at func(*T) int64) []T {
	out := slices.Clone(t.kept)
	if t.seen > 0 && (t.seen-1)%t.step != 0 {
		out = append(out, t.last)
	}
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(at(&a), at(&b)) })
	return out
}

// most is the most, least the least of figures; nil where none is known.
type most struct{ *int64 }

func (m *most) see(v int64) {
	if v != event.None && (m.int64 == nil || v > *m.int64) {
		m.int64 = &v
	}
}

type least struct{ *int64 }

func (l *least) see(v int64) {
	if v != event.None && (l.int64 == nil || v < *l.int64) {
		l.int64 = &v
	}
}

// counted adds up a counter of the broker over its rows. What the first row does not have counts from 0: a queue that nobody
// has used yet has no counters.
type counted struct {
	total  int64
	last   int64
	known  bool
	before bool // a row was seen
}

func (c *counted) see(v int64) {
	switch {
	case v == event.None:
	case !c.before:
		c.known = true // what was counted before the load
	case v < c.last: // the broker began anew
		c.known, c.total = true, c.total+v
	default:
		c.known, c.total = true, c.total+v-c.last
	}
	if c.before = true; v != event.None {
		c.last = v
	}
}

func (c *counted) value() *int64 {
	if !c.known {
		return nil
	}
	v := c.total
	return &v
}

// queueCourse is a queue, or the virtual host, over time.
type queueCourse struct {
	samples                thinned[event.BrokerQueue]
	ready, unacked, memory most

	published, confirmed, returned, delivered, acked, redelivered counted
}

func (x *queueCourse) add(q *event.BrokerQueue) {
	x.samples.add(*q)
	x.ready.see(q.Ready)
	x.unacked.see(q.Unacked)
	x.memory.see(q.MemoryBytes)
	x.published.see(q.Published)
	x.confirmed.see(q.Confirmed)
	x.returned.see(q.Returned)
	x.delivered.see(delivered(q))
	x.acked.see(q.Acked)
	x.redelivered.see(q.Redelivered)
}

// delivered is what went to consumers in any way; None where nothing is known of it.
func delivered(q *event.BrokerQueue) int64 {
	sum := event.None
	for _, n := range [...]int64{q.Delivered, q.DeliveredNoAck, q.Got, q.GotNoAck} {
		if n != event.None {
			sum = max(sum, 0) + n
		}
	}
	return sum
}

// nodeCourse is a node over time.
type nodeCourse struct {
	samples                thinned[event.BrokerNode]
	memory, limit          most
	diskFree               least
	diskLimit, runQueue    most
	memoryAlarm, diskAlarm bool
	down                   bool
	cpu                    counted
	first, last            int64 // when CPU time was first and last known
}

func (x *nodeCourse) add(n *event.BrokerNode) {
	x.samples.add(*n)
	x.memory.see(n.MemoryBytes)
	x.limit.see(n.MemoryLimitBytes)
	x.diskFree.see(n.DiskFreeBytes)
	x.diskLimit.see(n.DiskLimitBytes)
	x.runQueue.see(n.RunQueue)
	x.memoryAlarm = x.memoryAlarm || n.MemoryAlarm == 1
	x.diskAlarm = x.diskAlarm || n.DiskAlarm == 1
	x.down = x.down || n.Running == 0
	if n.CPUNS == event.None {
		return
	}
	if !x.cpu.before {
		x.first = n.At
	}
	x.cpu.see(n.CPUNS)
	x.last = n.At
}

// cores is how many processors were kept busy; nil where that is not known.
func (x *nodeCourse) cores() *float64 {
	if !x.cpu.known || x.last <= x.first {
		return nil
	}
	v := float64(x.cpu.total) / float64(x.last-x.first)
	return &v
}

// brokerFacts are what findings say of the broker's side.
func (a *analysis) brokerFacts() {
	_, m := a.management()
	if m == nil {
		return
	}
	b, f := &a.brokerSide, &a.facts
	for _, i := range slices.Sorted(maps.Keys(b.nodes)) {
		n, name := b.nodes[i], fmt.Sprintf("node %d", i)
		if i < int64(len(m.Nodes)) {
			name = m.Nodes[i].Name
		}
		if n.memoryAlarm {
			f.BrokerAlarms = append(f.BrokerAlarms, "memory of "+name)
		}
		if n.diskAlarm {
			f.BrokerAlarms = append(f.BrokerAlarms, "free disk space of "+name)
		}
	}
	f.FlowSamples, f.FlowText = b.flow, fmt.Sprintf("%d of %d", b.flow, b.looked)
}
