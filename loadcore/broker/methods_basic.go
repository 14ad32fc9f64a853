package broker

import "leveret/loadcore/wire"

// basicQos sets the prefetch: of consumers to come, or with global of the channel as a whole.
func (c *conn) basicQos(ch *channel, m *wire.BasicQos) *amqpError {
	if m.PrefetchSize != 0 {
		return hard(wire.ReplyNotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	}
	if m.Global {
		ch.limit.Store(int32(m.PrefetchCount))
	} else { // RabbitMQ lifts the channel's limit with it
		ch.prefetch = int(m.PrefetchCount)
		ch.limit.Store(0)
	}
	ch.kick()
	c.send(ch.id, &wire.BasicQosOk{})
	return nil
}

func (c *conn) basicConsume(ch *channel, m *wire.BasicConsume) *amqpError {
	if _, there := ch.consumers[m.ConsumerTag]; there {
		return hard(wire.ReplyNotAllowed, "attempt to reuse consumer tag '%s'", m.ConsumerTag)
	}
	if m.Queue == directReplyTo {
		return hard(wire.ReplyNotImplemented, "direct reply-to")
	}
	q, err := ch.lookup(m.Queue)
	if err != nil {
		return err
	}
	if err := q.checkConsumeArguments(m.Arguments); err != nil {
		return err
	}
	cons := &consumer{tag: m.ConsumerTag, ch: ch, queue: q, noAck: m.NoAck, exclusive: m.Exclusive, prefetch: ch.prefetch}
	if cons.tag == "" {
		cons.tag = generatedName("amq.ctag-")
	}
	switch ok, gone := q.subscribe(cons); {
	case gone:
		return soft(wire.ReplyNotFound, "no %s", q.rs())
	case !ok:
		return soft(wire.ReplyAccessRefused, "%s in exclusive use", q.rs())
	}
	// Deliveries come behind this: the writer needs the lock that is held here.
	ch.consumers[cons.tag] = cons
	if !m.NoWait {
		c.send(ch.id, &wire.BasicConsumeOk{ConsumerTag: cons.tag})
	}
	return nil
}

// basicCancel ends a consumer. What it was given before is delivered before the answer, as RabbitMQ does it, so that a
// client that has seen the queue empty and then the answer to its cancel has seen everything.
func (c *conn) basicCancel(ch *channel, m *wire.BasicCancel) {
	if cons := ch.consumers[m.ConsumerTag]; cons != nil {
		inbox, unused := cons.queue.unsubscribe(cons)
		c.out = c.deliver(c.out, cons, inbox)
		cons.gone = true
		delete(ch.consumers, cons.tag)
		if unused {
			c.deleteUnused(cons.queue)
		}
	}
	if !m.NoWait {
		c.send(ch.id, &wire.BasicCancelOk{ConsumerTag: m.ConsumerTag})
	}
}

func (c *conn) basicGet(ch *channel, m *wire.BasicGet) *amqpError {
	q, err := ch.lookup(m.Queue)
	if err != nil {
		return err
	}
	e, left, ok := q.get(m.NoAck)
	if !ok {
		c.send(ch.id, &wire.BasicGetEmpty{})
		return nil
	}
	exchange, key, props, body := e.slab.parts(e.idx)
	c.out = wire.AppendGetOk(c.out, ch.id, ch.nextTag, e.redelivered(), exchange, key, uint32(left))
	c.out = wire.AppendRawHeader(c.out, ch.id, uint64(len(body)), props)
	c.out = wire.AppendBody(c.out, ch.id, body, c.frameMax)
	if m.NoAck {
		e.slab.release(c.srv.mem, 1)
	} else {
		ch.unacked.push(delivery{tag: ch.nextTag, queue: q, entry: e})
	}
	ch.nextTag++
	c.srv.stats.delivered.Add(1)
	return nil
}

// basicRecover puts all unacknowledged deliveries of the channel back.
func (c *conn) basicRecover(ch *channel, requeue, answer bool) *amqpError {
	if !requeue {
		return hard(wire.ReplyNotImplemented, "requeue=false")
	}
	ch.requeueAll()
	if ch.limit.Load() > 0 {
		ch.kick()
	}
	if answer {
		c.send(ch.id, &wire.BasicRecoverOk{})
	}
	return nil
}
