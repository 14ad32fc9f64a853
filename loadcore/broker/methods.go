package broker

import (
	"leveret/loadcore/wire"
)

// handle does what a method on a channel asks for, except for those that come once a message. Called under the lock, with
// nothing left to flush.
func (c *conn) handle(ch *channel, m wire.Method) *amqpError {
	switch m := m.(type) {
	case *wire.ChannelOpen:
		return c.channelOpen(ch)
	case *wire.ChannelClose:
		ch.end()
		c.dropChannel(ch)
		c.send(ch.id, &wire.ChannelCloseOk{})
	case *wire.ChannelCloseOk: // nobody asked: RabbitMQ forgets the channel
		ch.end()
		c.dropChannel(ch)
	case *wire.ChannelFlow:
		if !m.Active {
			return hard(wire.ReplyNotImplemented, "active=false")
		}
		c.send(ch.id, &wire.ChannelFlowOk{Active: true})
	case *wire.TxSelect:
		return c.txSelect(ch)
	case *wire.TxCommit:
		return c.txCommit(ch)
	case *wire.TxRollback:
		return c.txRollback(ch)
	case *wire.ConfirmSelect:
		if ch.tx != nil {
			return soft(wire.ReplyPreconditionFailed, "cannot switch from tx to confirm mode")
		}
		ch.confirm = true
		if !m.NoWait {
			c.send(ch.id, &wire.ConfirmSelectOk{})
		}
	case *wire.ExchangeDeclare:
		return c.exchangeDeclare(ch, m)
	case *wire.ExchangeDelete:
		return c.exchangeDelete(ch, m)
	case *wire.QueueDeclare:
		return c.queueDeclare(ch, m)
	case *wire.QueueBind:
		return c.queueBind(ch, m)
	case *wire.QueueUnbind:
		return c.queueUnbind(ch, m)
	case *wire.QueuePurge:
		return c.queuePurge(ch, m)
	case *wire.QueueDelete:
		return c.queueDelete(ch, m)
	default:
		return c.handleBasic(ch, m)
	}
	return nil
}

func (c *conn) handleBasic(ch *channel, m wire.Method) *amqpError {
	switch m := m.(type) {
	case *wire.BasicQos:
		return c.basicQos(ch, m)
	case *wire.BasicConsume:
		return c.basicConsume(ch, m)
	case *wire.BasicCancel:
		c.basicCancel(ch, m)
	case *wire.BasicCancelOk: // a client's answer to a cancel that needs none
	case *wire.BasicGet:
		return c.basicGet(ch, m)
	case *wire.BasicRecover:
		return c.basicRecover(ch, m.Requeue, true)
	case *wire.BasicRecoverAsync:
		return c.basicRecover(ch, m.Requeue, false)
	case *wire.ExchangeBind, *wire.ExchangeUnbind:
		return hard(wire.ReplyNotImplemented, "%s", m.ID())
	default:
		return hard(wire.ReplyCommandInvalid, "unimplemented method")
	}
	return nil
}

func (c *conn) channelOpen(ch *channel) *amqpError {
	if ch.opened {
		return hard(wire.ReplyChannelError, "second 'channel.open' seen")
	}
	ch.opened = true
	c.send(ch.id, &wire.ChannelOpenOk{})
	return nil
}

func (c *conn) exchangeDeclare(ch *channel, m *wire.ExchangeDeclare) *amqpError {
	if m.Passive {
		name := stripLineEnds(m.Exchange)
		if name == "" {
			return notOnDefaultExchange()
		}
		if !c.vhost.hasExchange(name) {
			return soft(wire.ReplyNotFound, "no %s", exchangeText(name, c.vhost.name))
		}
	} else if err := c.vhost.declareExchange(m); err != nil {
		return err
	}
	if !m.NoWait {
		c.send(ch.id, &wire.ExchangeDeclareOk{})
	}
	return nil
}

func notOnDefaultExchange() *amqpError {
	return soft(wire.ReplyAccessRefused, "operation not permitted on the default exchange")
}

func (c *conn) exchangeDelete(ch *channel, m *wire.ExchangeDelete) *amqpError {
	name := stripLineEnds(m.Exchange)
	switch {
	case name == "":
		return notOnDefaultExchange()
	case len(name) >= 4 && name[:4] == "amq.":
		return soft(wire.ReplyAccessRefused, "deletion of system %s not allowed", exchangeText(name, c.vhost.name))
	case !c.vhost.deleteExchange(name, m.IfUnused):
		return soft(wire.ReplyPreconditionFailed, "%s in use", exchangeText(name, c.vhost.name))
	}
	if !m.NoWait {
		c.send(ch.id, &wire.ExchangeDeleteOk{})
	}
	return nil
}

func (c *conn) queueDeclare(ch *channel, m *wire.QueueDeclare) *amqpError {
	var q *queue
	var err *amqpError
	switch {
	case isDirectReplyTo(m.Queue):
		return soft(wire.ReplyNotFound, "no %s", queueText(m.Queue, c.vhost.name))
	case m.Passive:
		name := stripLineEnds(m.Queue)
		if q = c.vhost.queue(name); q == nil {
			return soft(wire.ReplyNotFound, "no %s", queueText(name, c.vhost.name))
		}
		err = q.access(c)
	default:
		q, err = c.vhost.declareQueue(c, m)
	}
	if err != nil {
		return err
	}
	ch.lastQueue = q.name
	if !m.NoWait {
		ready, consumers := q.counts()
		c.send(ch.id, &wire.QueueDeclareOk{Queue: q.name, MessageCount: uint32(ready), ConsumerCount: uint32(consumers)})
	}
	return nil
}

// bindingNames resolves what empty names stand for in a bind or unbind.
func bindingNames(ch *channel, queueName, exchangeName, key string) (queue, exchange, routingKey string, problem *amqpError) {
	if queueName == "" && key == "" {
		key = ch.lastQueue
	}
	name, problem := ch.queueName(queueName)
	if problem != nil {
		return "", "", "", problem
	}
	if exchangeName = stripLineEnds(exchangeName); exchangeName == "" {
		return "", "", "", notOnDefaultExchange()
	}
	return stripLineEnds(name), exchangeName, key, nil
}

func (c *conn) queueBind(ch *channel, m *wire.QueueBind) *amqpError {
	queueName, exchangeName, key, problem := bindingNames(ch, m.Queue, m.Exchange, m.RoutingKey)
	if problem != nil {
		return problem
	}
	x, q := c.vhost.ends(exchangeName, queueName)
	switch {
	case x == nil:
		return soft(wire.ReplyNotFound, "no %s", exchangeText(exchangeName, c.vhost.name))
	case q == nil:
		return soft(wire.ReplyNotFound, "no %s", queueText(queueName, c.vhost.name))
	}
	if problem := q.access(c); problem != nil {
		return problem
	}
	c.vhost.bind(x, q, key, m.Arguments)
	if !m.NoWait {
		c.send(ch.id, &wire.QueueBindOk{})
	}
	return nil
}

// queueUnbind removes a binding. As on RabbitMQ it is no error if that, or one of its ends, is not there.
func (c *conn) queueUnbind(ch *channel, m *wire.QueueUnbind) *amqpError {
	queueName, exchangeName, key, problem := bindingNames(ch, m.Queue, m.Exchange, m.RoutingKey)
	if problem != nil {
		return problem
	}
	if x, q := c.vhost.ends(exchangeName, queueName); x != nil && q != nil {
		if problem := q.access(c); problem != nil {
			return problem
		}
		c.vhost.unbind(x, q, key, m.Arguments)
	}
	c.send(ch.id, &wire.QueueUnbindOk{})
	return nil
}

func (c *conn) queuePurge(ch *channel, m *wire.QueuePurge) *amqpError {
	q, err := ch.lookup(m.Queue)
	if err != nil {
		return err
	}
	n := q.purge()
	if !m.NoWait {
		c.send(ch.id, &wire.QueuePurgeOk{MessageCount: uint32(n)})
	}
	return nil
}

func (c *conn) queueDelete(ch *channel, m *wire.QueueDelete) *amqpError {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	n := 0
	if q := c.vhost.queue(stripLineEnds(name)); q != nil {
		if err := q.access(c); err != nil {
			return err
		}
		var result deleteResult
		switch n, result = c.vhost.deleteQueue(q, m.IfUnused, m.IfEmpty); result {
		case queueInUse:
			return soft(wire.ReplyPreconditionFailed, "%s in use", q.rs())
		case queueNotEmpty:
			return soft(wire.ReplyPreconditionFailed, "%s not empty", q.rs())
		}
		delete(c.exclusive, q)
	}
	if !m.NoWait {
		c.send(ch.id, &wire.QueueDeleteOk{MessageCount: uint32(n)})
	}
	return nil
}
