package analyze

import (
	"slices"

	"leveret/analyze/integrity"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// visitor takes the rows of each batch to where they belong.
type visitor struct {
	a      *analysis
	ledger *integrity.Ledger
	// first: the first reading, which counts. A later one only joins again.
	first bool
	acked *ackTimes // nil where ack latency is not, or no longer, looked for
	merge *merger   // nil where deliveries are joined as they are read
	// resent is nil where nothing can have been sent again.
	resent *resent
}

// newVisitor visits the batches of one reading.
func (a *analysis) newVisitor(l *integrity.Ledger, first bool) *visitor {
	v := &visitor{a: a, ledger: l, first: first, resent: a.newResent()}
	if a.merged {
		v.merge = newMerger(a.o.MemoryBytes, func(r *rows, from, to int) { l.Deliveries(slice(deliveriesOf(r), from, to)) })
	}
	return v
}

// columns are those that v looks at, of the kinds of which there are millions of rows.
func (a *analysis) columns(v *visitor) columns {
	sends := []int{schema.SendsProducer, schema.SendsSeq, schema.SendsDue, schema.SendsSent, schema.SendsRoute}
	settlements := []int{schema.SettlementsProducer, schema.SettlementsSeq, schema.SettlementsKind, schema.SettlementsAt}
	deliveries := []int{schema.DeliveriesConsumer, schema.DeliveriesQueue, schema.DeliveriesTag, schema.DeliveriesProducer,
		schema.DeliveriesSeq, schema.DeliveriesReceived, schema.DeliveriesBody, schema.DeliveriesRedelivered}
	if v.first {
		sends = append(sends, schema.SendsSize)
		settlements = append(settlements, schema.SettlementsFrameMessages)
	}
	if v.acked != nil {
		deliveries = append(deliveries, schema.DeliveriesDeliveryTag)
	}
	if a.window.stamped {
		deliveries = append(deliveries, schema.DeliveriesDue, schema.DeliveriesSize)
	}
	return columns{schema.Sends: sends, schema.Settlements: settlements, schema.Deliveries: deliveries}
}

func (v *visitor) visit(r *rows) {
	if v.first {
		r.batch.capture.rows[r.batch.kind] += r.batch.rows
	}
	switch r.batch.kind {
	case schema.Sends:
		v.sends(r)
	case schema.Settlements:
		v.settlements(r)
	case schema.Deliveries:
		v.deliveries(r)
		if v.merge != nil {
			v.merge.add(r)
		} else {
			v.ledger.Deliveries(deliveriesOf(r))
		}
	case schema.Writes:
		v.writes(r)
	case schema.Acks:
		v.acks(r)
	case schema.Connections:
		v.connections(r)
	case schema.Self:
		v.self(r)
	case schema.BrokerNodes, schema.BrokerQueues, schema.BrokerConnections:
		v.brokerSide(r)
	case schema.Churn:
		v.churn(r)
	}
}

func (v *visitor) sends(r *rows) {
	s := sendsOf(r)
	if by := v.a.latency.bySize; v.first && by != nil {
		by.sizes.add(s, u32(r.rec, schema.SendsSize))
	}
	v.ledger.Sends(s)
	recorded := s.Sent
	again := v.resent.leaveOut(s)
	due := s.Due
	if !slices.ContainsFunc(due, func(t int64) bool { return t != event.None }) {
		due = nil // closed loop
	}
	v.a.latency.lateness(due, s.Sent)
	if !v.first {
		return
	}
	if v.a.histories != nil {
		v.a.histories.CountSends(s)
	}
	v.a.time.add(again, 1, func(c *intervalCounts) *int64 { return &c.republished })
	if due != nil {
		v.a.time.add(due, 1, func(c *intervalCounts) *int64 { return &c.due })
		v.a.course.lastDue.add(s)
	}
	v.a.course.movement.sends(s.Due, s.Sent)
	v.a.course.effects.sends(s)
	v.a.time.addSends(s.Sent, u32(r.rec, schema.SendsSize))
	if v.a.window.asked {
		v.a.time.addCohort(s.Due, s.Sent)
	}
	n := &r.batch.capture.counts
	for _, t := range recorded {
		if t != event.None {
			n.sent++
		} else {
			n.notSent++
		}
	}
	v.a.course.sizes.add(u32(r.rec, schema.SendsSize))
}

func (v *visitor) settlements(r *rows) {
	s := settlementsOf(r)
	v.ledger.Settlements(s)
	if !v.first {
		return
	}
	if v.a.histories != nil {
		v.a.histories.CountSettlements(s)
	}
	v.a.time.addSettlements(s.At, s.Kind)
	v.a.course.movement.answers(s.At, s.Kind)
	v.a.course.effects.settlements(s)
	v.a.observed.frames.add(s.Kind, u32(r.rec, schema.SettlementsFrameMessages))
	n := &r.batch.capture.counts
	for i := 0; i < len(s.Kind); {
		j := i + 1
		for j < len(s.Kind) && s.Kind[j] == s.Kind[i] {
			j++
		}
		n.settled(event.SettlementKind(s.Kind[i]), int64(j-i))
		i = j
	}
}

func (c *rowCounts) settled(kind event.SettlementKind, n int64) {
	switch kind {
	case event.Ack:
		c.acks += n
	case event.Nack:
		c.nacks += n
	case event.Return:
		c.returns += n
	case event.Commit:
		c.commits += n
	case event.InDoubt:
		c.inDoubt += n
	}
}

func (v *visitor) deliveries(r *rows) {
	d := deliveriesOf(r)
	if v.acked != nil {
		v.acked.deliveries(r)
	}
	if v.a.window.stamped {
		v.stamped(d, i64(r.rec, schema.DeliveriesDue), u32(r.rec, schema.DeliveriesSize))
	}
	if !v.first {
		return
	}
	if v.a.histories != nil {
		v.a.histories.CountDeliveries(d)
	}
	v.a.time.add(d.Received, 1, func(c *intervalCounts) *int64 { return &c.received })
	v.a.time.countBefore(d.Received)
	v.a.course.movement.moves(d.Received)
	v.a.course.effects.deliveries(d)
	v.a.countReceived(d.Capture, d.Consumer)
}

// stamped makes latencies of the due times in the stamps of messages whose producers were not recorded. What has the
// redelivered flag is left out: it is not known to be the first delivery.
func (v *visitor) stamped(d *integrity.DeliveryRows, due []int64, sizes []uint32) {
	bySize := v.a.latency.bySize
	if v.first && bySize != nil {
		bySize.sizes.received(sizes)
	}
	for i, t := range due {
		if len(v.a.latency.groupings) > 0 {
			v.a.latency.Of(integrity.Party{Producer: -1, Queue: v.a.expected.Queue(d.Capture, d.Queue[i]), ConsumerCapture: d.Capture, Consumer: int(d.Consumer[i])})
		}
		if bySize != nil {
			bySize.sizes.size = int64(sizes[i])
		}
		if t != event.None && event.Body(d.Body[i]) == event.Intact && d.Redelivered[i] == 0 {
			v.a.latency.stamped(d.Received[i], t)
		}
	}
}

func (v *visitor) writes(r *rows) { v.a.observed.batches.add(u32(r.rec, schema.WritesMessages)) }

func (v *visitor) acks(r *rows) {
	if v.acked != nil {
		v.acked.acked(r)
	}
	if !v.first {
		return
	}
	for _, n := range u32(r.rec, schema.AcksMessages) {
		r.batch.capture.counts.acked += int64(n)
	}
}

func sendsOf(r *rows) *integrity.SendRows {
	return &integrity.SendRows{
		Capture:  r.batch.capture.index,
		Producer: u16(r.rec, schema.SendsProducer), Seq: u64(r.rec, schema.SendsSeq),
		Due: i64(r.rec, schema.SendsDue), Sent: i64(r.rec, schema.SendsSent), Route: u16(r.rec, schema.SendsRoute),
	}
}

func settlementsOf(r *rows) *integrity.SettlementRows {
	return &integrity.SettlementRows{
		Capture:  r.batch.capture.index,
		Producer: u16(r.rec, schema.SettlementsProducer), Seq: u64(r.rec, schema.SettlementsSeq),
		Kind: u8(r.rec, schema.SettlementsKind), At: i64(r.rec, schema.SettlementsAt),
	}
}

func deliveriesOf(r *rows) *integrity.DeliveryRows {
	return &integrity.DeliveryRows{
		Capture:  r.batch.capture.index,
		Consumer: u16(r.rec, schema.DeliveriesConsumer), Queue: u16(r.rec, schema.DeliveriesQueue),
		Tag: u16(r.rec, schema.DeliveriesTag), Producer: u16(r.rec, schema.DeliveriesProducer), Seq: u64(r.rec, schema.DeliveriesSeq),
		Received: i64(r.rec, schema.DeliveriesReceived), Body: u8(r.rec, schema.DeliveriesBody), Redelivered: u8(r.rec, schema.DeliveriesRedelivered),
	}
}
