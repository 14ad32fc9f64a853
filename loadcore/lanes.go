package loadcore

import (
	"context"
	"fmt"
	"strconv"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// The control side of producers and consumers: how they are made, and how they end.

func (e *engine) newProducer(index int, spec *manifest.Producer) *producer {
	p := &producer{
		eng: e, index: uint16(index), spec: spec, timed: spec.Timed(),
		limit:   event.MaxSequence + 1,
		sleeper: sleeper{index: -1},
	}
	p.sleeper.producer = p
	if e.plan.ChosenDrive() == DriveDedicated {
		p.wake = make(chan struct{}, 1)
	}
	if spec.Limit > 0 {
		p.limit = min(p.limit, uint64(spec.Limit))
	}
	if spec.Confirm > 0 {
		p.win = newWindow(spec.Confirm, 0)
	}
	if spec.TxSize > 0 {
		p.tx = &transaction{size: spec.TxSize}
	}
	p.sends = event.Sends{Producer: uint16(index), Size: uint32(spec.Size), Route: uint16(spec.Route)}
	p.confirms.batch.Producer = uint16(index)
	if p.timed && e.plan.Republish && p.win != nil {
		p.dues = &dueRing{dues: make([]int64, p.win.mask+1), mask: p.win.mask}
	}
	return p
}

// prepare makes the producer ready on its channel, which is open.
func (p *producer) prepare(ctx context.Context) error {
	if err := p.encode(); err != nil {
		return err
	}
	var err error
	switch {
	case p.win != nil:
		_, err = p.ch.call(ctx, &wire.ConfirmSelect{}, wire.ConfirmSelectOkID)
	case p.tx != nil:
		_, err = p.ch.call(ctx, &wire.TxSelect{}, wire.TxSelectOkID)
	}
	return err
}

// encode prepares the producer's frames; the channel is known and the connection's limits are negotiated.
func (p *producer) encode() error {
	props, limits := messageProperties(p.spec), p.ch.conn.link.limits
	if err := wire.CheckProperties(props, limits.FrameMax); err != nil {
		return propertiesError(err)
	}
	if p.tx != nil {
		p.tx.frame = wire.AppendMethod(nil, p.ch.number, &wire.TxCommit{})
	}
	if p.eng.plan.assembled(p.spec) {
		a, err := newAssembler(p, props)
		if err != nil {
			return err
		}
		p.enc = &encoder{asm: a, most: batchBytes / len(a.header)}
		if p.spec.Batch > 0 {
			p.enc.most = min(p.enc.most, p.spec.Batch)
		}
		return nil
	}
	route := &p.eng.plan.Topology.Routes[p.spec.Route]
	publish := wire.AppendPublish(nil, p.ch.number, route.Exchange, route.RoutingKey, p.spec.Mandatory)
	st := newStamper(p.eng.plan.Tag, p.index, p.spec.Size, p.timed)
	p.enc = newEncoder(st, publish, p.ch.number, p.spec.Size, props, limits.FrameMax, p.spec.Batch)
	return nil
}

func (e *engine) newConsumer(index int, spec *manifest.Consumer) *consumer {
	s := &consumer{eng: e, index: uint16(index), spec: spec, every: uint64(max(spec.AckEvery, 1)), limit: uint64(spec.Limit)}
	s.batch.Consumer = uint16(index)
	s.work = newWork(spec)
	if spec.TxSize > 0 {
		s.tx = &transactions{size: uint64(spec.TxSize)}
	}
	s.queues = make([]subscription, len(spec.Queues))
	for i, q := range spec.Queues {
		s.queues[i].queue = uint16(q)
		s.queues[i].name = e.plan.Topology.Queues[q].Name
		if s.beginsLater() {
			s.queues[i].state.Store(notYet)
		}
	}
	return s
}

// consumerTag of a consumer's i-th queue; see consumer.subscription.
func consumerTag(i int) string { return strconv.Itoa(i) }

// live reports whether the consumer still takes messages and acks them.
func (s *consumer) live() bool { return !s.ended.Load() && !s.finished.Load() }

// finish is called by the reader when the limit is reached: what lies beyond it is recorded as it comes, but not acked.
func (s *consumer) finish(dst []byte) []byte {
	s.finished.Store(true)
	if !s.ch.isGone() && s.polls == nil {
		for i := range s.queues {
			if s.queues[i].state.CompareAndSwap(subscribed, cancelling) {
				dst = wire.AppendMethod(dst, s.ch.number, &wire.BasicCancel{ConsumerTag: consumerTag(i)})
			}
		}
	}
	s.eng.wakeMain()
	return dst
}

// cancelOne cancels one subscription and waits for the answer.
func (s *consumer) cancelOne(ctx context.Context, i int) error {
	_, err := s.current.Load().call(ctx, &wire.BasicCancel{ConsumerTag: consumerTag(i)}, wire.BasicCancelOkID)
	return err
}

// cancelConfirmed takes a cancel-ok; false if it is the answer to a question of somebody else's.
func (s *consumer) cancelConfirmed(tag string) bool {
	i, err := s.subscription([]byte(tag))
	return err == nil && s.queues[i].state.CompareAndSwap(cancelling, cancelled)
}

// cancelledByBroker is basic.cancel from the broker: the queue was deleted, or its node is gone.
func (s *consumer) cancelledByBroker(tag string) error {
	i, err := s.subscription([]byte(tag))
	if err != nil {
		return fmt.Errorf("the broker sent basic.cancel for the unknown consumer tag %q on channel %d", tag, s.ch.number)
	}
	was := s.queues[i].state.Swap(notYet)
	if was == notYet || s.queues[i].dropped {
		s.queues[i].state.CompareAndSwap(notYet, was)
		return fmt.Errorf("the broker sent basic.cancel for consumer tag %q on channel %d, which consumes nothing", tag, s.ch.number)
	}
	if was == cancelling { // it has left, and its cancel-ok is still to come
		s.queues[i].state.CompareAndSwap(notYet, cancelling)
		return nil
	}
	consumed := was == subscribed
	why := loss{text: "the broker cancelled the consumer of queue " + s.queues[i].name}
	f := s.eng.laneEvent(s.ch, event.ConsumerCancelled, why)
	if consumed && s.eng.mending[s.ch.conn.number].loseConsumer(s, why) {
		return nil
	}
	s.queues[i].state.Store(cancelled)
	s.queues[i].dropped = true
	s.eng.laneFailed(f)
	for k := range s.queues {
		if s.queues[k].state.Load() == subscribed {
			return nil
		}
	}
	s.eng.consumerEnded(s)
	return nil
}

// unacked is how many deliveries of the consumer's i-th queue were never acked. For after the reader has ended.
func (s *consumer) unacked(i int) int64 {
	if s.spec.AutoAck {
		return 0
	}
	if len(s.queues) == 1 {
		return int64(s.tag - s.settled())
	}
	return s.owedOf(i)
}

// unworked is how many deliveries of the consumer's i-th queue its work never came to, with automatic acks. For after the
// reader has ended.
func (s *consumer) unworked(i int) int64 {
	if !s.spec.AutoAck || s.work == nil {
		return 0
	}
	if len(s.queues) == 1 {
		return int64(s.tag - s.work.done)
	}
	return s.owedOf(i)
}

func (s *consumer) owedOf(i int) int64 {
	n := int64(0)
	for _, local := range s.owed {
		if int(local) == i {
			n++
		}
	}
	return n
}
