package broker

import (
	"cmp"
	"slices"

	"leveret/loadcore/wire"
)

// transaction holds back what a transactional channel has published and settled until it commits. As on RabbitMQ, errors
// of a publish or of an ack are raised at once, and what comes of routing - returns, queues that refuse - at the commit.
type transaction struct {
	messages   []heldMessage
	bytes      int // of messages
	settled    []heldSettlement
	committing bool
	refused    bool // a queue has refused a message of the commit under way
}

type heldMessage struct {
	publish     wire.Publish
	props, body []byte
}

// heldSettlement is a delivery that has been taken off the channel's list.
type heldSettlement struct {
	delivery delivery
	requeue  bool
}

// maxTransaction bounds the bytes that a channel may have published and not committed.
const maxTransaction = 256 << 20

// txSelect makes a channel transactional.
func (c *conn) txSelect(ch *channel) *amqpError {
	if ch.confirm {
		return soft(wire.ReplyPreconditionFailed, "cannot switch from confirm to tx mode")
	}
	if ch.tx == nil {
		ch.tx = &transaction{}
	}
	c.send(ch.id, &wire.TxSelectOk{})
	return nil
}

// holdPublish keeps a message for the commit.
func (ch *channel) holdPublish(p wire.Publish, props, body []byte) *amqpError {
	t := ch.tx
	size := len(p.Exchange) + len(p.RoutingKey) + len(props) + len(body)
	if t.bytes += size; t.bytes > maxTransaction {
		return soft(wire.ReplyResourceError, "the transaction holds more than %d bytes", maxTransaction).by(wire.BasicPublishID)
	}
	kept := make([]byte, 0, size)
	keep := func(b []byte) []byte {
		from := len(kept)
		kept = append(kept, b...)
		return kept[from:len(kept):len(kept)]
	}
	p.Exchange, p.RoutingKey = keep(p.Exchange), keep(p.RoutingKey)
	t.messages = append(t.messages, heldMessage{p, keep(props), keep(body)})
	return nil
}

// holdSettlement keeps acks and rejections for the commit.
func (ch *channel) holdSettlement(s wire.Settle) *amqpError {
	return ch.settleAll(s, func(d delivery) {
		ch.tx.settled = append(ch.tx.settled, heldSettlement{d, s.Requeue})
	})
}

// txCommit publishes and settles what was held back. The answer comes behind everything that it has led to.
func (c *conn) txCommit(ch *channel) *amqpError {
	t := ch.tx
	if t == nil {
		return notTransactional()
	}
	messages, settled := t.messages, t.settled
	*t = transaction{committing: true}
	for i := range messages {
		m := &messages[i]
		if err := c.publish(ch, m.publish, m.props, m.body); err != nil {
			ch.tx = &transaction{settled: settled} // the channel ends: they go back to their queues
			return err
		}
		if c.halt&haltCut != 0 { // fault: nothing may follow
			t.settled = settled
			return nil
		}
	}
	c.settleHeld(settled)
	c.flush()
	refused := t.refused
	*t = transaction{}
	if refused {
		return soft(wire.ReplyPreconditionFailed, "partial tx completion")
	}
	if ch.limit.Load() > 0 {
		ch.kick()
	}
	c.send(ch.id, &wire.TxCommitOk{})
	return nil
}

// settleHeld settles in the order in which it was asked for: what goes back to its queue first can be delivered first.
func (c *conn) settleHeld(settled []heldSettlement) {
	for i := 0; i < len(settled); {
		if !settled[i].requeue {
			c.discard(settled[i].delivery)
			i++
			continue
		}
		var back []delivery
		for ; i < len(settled) && settled[i].requeue; i++ {
			back = append(back, settled[i].delivery)
		}
		c.flush()
		requeueDeliveries(back)
	}
}

// txRollback forgets what was published; what was settled is unsettled again.
func (c *conn) txRollback(ch *channel) *amqpError {
	if ch.tx == nil {
		return notTransactional()
	}
	ch.undoSettlements()
	*ch.tx = transaction{}
	c.send(ch.id, &wire.TxRollbackOk{})
	return nil
}

// undoSettlements puts the deliveries of the open transaction back into the channel's list, in the order of their tags.
func (ch *channel) undoSettlements() {
	if ch.tx == nil || len(ch.tx.settled) == 0 {
		return
	}
	var all []delivery
	for ch.unacked.n > 0 {
		all = append(all, ch.unacked.popFront())
	}
	for _, s := range ch.tx.settled {
		all = append(all, s.delivery)
	}
	ch.tx.settled = nil
	slices.SortFunc(all, func(a, b delivery) int { return cmp.Compare(a.tag, b.tag) })
	for _, d := range all {
		ch.unacked.push(d)
	}
}

func notTransactional() *amqpError {
	return soft(wire.ReplyPreconditionFailed, "channel is not transactional")
}
