package broker

import (
	"strings"

	"leveret/loadcore/wire"
)

// declareQueue creates the queue or checks that the one there is the same, by RabbitMQ's rules and in its words.
func (v *vhost) declareQueue(c *conn, m *wire.QueueDeclare) (*queue, *amqpError) {
	name := stripLineEnds(m.Queue)
	if name != "" && strings.HasPrefix(name, "amq.") {
		return nil, soft(wire.ReplyAccessRefused, "queue name '%s' contains reserved prefix 'amq.*'", name)
	}
	generated := name == ""
	if generated {
		name = generatedName("amq.gen-")
	}
	durable := m.Durable && !m.Exclusive
	v.mu.Lock()
	defer v.mu.Unlock()
	if q := v.queues[name]; q != nil {
		return q, q.checkSame(c, m, durable)
	}
	q := &queue{
		name: name, vhost: v, mem: v.mem, clock: v.clock, durable: durable, exclusive: m.Exclusive, autoDel: m.AutoDelete,
		args: m.Arguments, maxLength: -1, bound: map[bindingRef]struct{}{},
	}
	if err := q.applyArguments(m.Arguments); err != nil {
		return nil, err
	}
	if m.Exclusive {
		q.owner = c
		c.exclusive[q] = struct{}{}
	}
	v.lastID++
	q.id = v.lastID
	v.queues[name] = q
	v.changed()
	return q, nil
}

// checkSame compares a declaration with the queue that is there.
func (q *queue) checkSame(c *conn, m *wire.QueueDeclare, durable bool) *amqpError {
	if m.Exclusive != q.exclusive || (q.exclusive && q.owner != c) {
		return q.locked()
	}
	if q.durable != durable {
		return inequivalent("durable", q.rs(), valueText(durable), valueText(q.durable))
	}
	if q.autoDel != m.AutoDelete {
		return inequivalent("auto_delete", q.rs(), valueText(m.AutoDelete), valueText(q.autoDel))
	}
	for _, key := range queueArguments {
		if err := sameArgument(q.rs(), key, q.args, m.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// rs is how RabbitMQ names a resource in its texts.
func (q *queue) rs() string { return queueText(q.name, q.vhost.name) }

func queueText(name, vhost string) string { return "queue '" + name + "' in vhost '" + vhost + "'" }
func exchangeText(name, vhost string) string {
	return "exchange '" + name + "' in vhost '" + vhost + "'"
}

func (q *queue) locked() *amqpError {
	return soft(wire.ReplyResourceLocked, "cannot obtain exclusive access to locked %s. It could be originally declared on "+
		"another connection or the exclusive property value does not match that of the original declaration.", q.rs())
}

// access checks that the connection may use the queue.
func (q *queue) access(c *conn) *amqpError {
	if q.exclusive && q.owner != c {
		return q.locked()
	}
	return nil
}

// declareExchange creates the exchange or checks that the one there is the same.
func (v *vhost) declareExchange(m *wire.ExchangeDeclare) *amqpError {
	switch m.Type {
	case "direct", "fanout", "topic":
	default:
		// headers, and whatever plug-ins add: RabbitMQ's words for a type it does not have.
		return hard(wire.ReplyCommandInvalid, "unknown exchange type '%s'", m.Type)
	}
	name := stripLineEnds(m.Exchange)
	if name == "" {
		return soft(wire.ReplyAccessRefused, "operation not permitted on the default exchange")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.exchanges[name]
	if x != nil {
		return x.checkSame(v, m)
	}
	if strings.HasPrefix(name, "amq.") {
		return soft(wire.ReplyAccessRefused, "exchange name '%s' contains reserved prefix 'amq.*'", name)
	}
	if err := checkExchangeArguments(name, m.Arguments); err != nil {
		return err
	}
	x = newExchange(name, m.Type)
	x.durable, x.autoDelete, x.internal = m.Durable, m.AutoDelete, m.Internal
	v.exchanges[name] = x
	v.changed()
	return nil
}

func (x *exchange) checkSame(v *vhost, m *wire.ExchangeDeclare) *amqpError {
	what := exchangeText(x.name, v.name)
	if x.kind != m.Type {
		return inequivalent("type", what, "'"+m.Type+"'", "'"+x.kind+"'")
	}
	for _, p := range []struct {
		name      string
		now, have bool
	}{{"durable", m.Durable, x.durable}, {"auto_delete", m.AutoDelete, x.autoDelete}, {"internal", m.Internal, x.internal}} {
		if p.now != p.have {
			return inequivalent(p.name, what, valueText(p.now), valueText(p.have))
		}
	}
	// No exchange here has an alternate one.
	return sameArgument(what, "alternate-exchange", nil, m.Arguments)
}

// stripLineEnds removes what RabbitMQ removes from names in declarations.
func stripLineEnds(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(s)
}
