package loadcore

import (
	"context"
	"fmt"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Exclusive queues belong to the connection that declares them: the engine declares and binds them itself, on the connection
// of their consumers, before these subscribe.

// exclusiveQueue is one that a consumer's connection owns.
type exclusiveQueue struct {
	consumer int // the first of those that consume it
	bindings []manifest.Binding
}

// exclusiveQueues lists them by queue, with those that are used as they are.
func (p *Plan) exclusiveQueues() map[int]*exclusiveQueue {
	all := map[int]*exclusiveQueue{}
	for i := range p.Consumers {
		for _, queue := range p.Consumers[i].Queues {
			if p.Topology.Queues[queue].Exclusive && all[queue] == nil {
				all[queue] = &exclusiveQueue{consumer: i}
			}
		}
	}
	for _, b := range p.Topology.Bindings {
		if x := all[b.Queue]; x != nil {
			x.bindings = append(x.bindings, b)
		}
	}
	return all
}

// declareExclusive declares an exclusive queue, where that is the run's to do, and binds it.
func (e *engine) declareExclusive(ctx context.Context, queue int) error {
	q, x := &e.plan.Topology.Queues[queue], e.exclusive[queue]
	if !q.Declare {
		return nil
	}
	s, o := e.consumers[x.consumer], e.plan.connectOptions(0)
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	declare := &wire.QueueDeclare{Queue: q.Name, Durable: q.Durable, Exclusive: true, AutoDelete: q.AutoDelete, Arguments: tableOf(q.Arguments)}
	if _, err := s.ch.call(ctx, declare, wire.QueueDeclareOkID); err != nil {
		return s.ch.conn.laneError(fmt.Errorf("declaring exclusive queue %s: %w", q.Name, err), o)
	}
	for _, b := range x.bindings {
		bind := &wire.QueueBind{Queue: q.Name, Exchange: b.Exchange, RoutingKey: b.RoutingKey, Arguments: tableOf(b.Arguments)}
		if _, err := s.ch.call(ctx, bind, wire.QueueBindOkID); err != nil {
			return s.ch.conn.laneError(fmt.Errorf("binding exclusive queue %s to exchange %s: %w", q.Name, b.Exchange, err), o)
		}
	}
	return nil
}

// checkExclusive refuses exclusive queues that no consumer, or consumers of several connections, would use.
func (p *Plan) checkExclusive() error {
	all := p.exclusiveQueues()
	for i := range p.Topology.Queues {
		q := &p.Topology.Queues[i]
		if !q.Exclusive || !q.Declare {
			continue
		}
		if q.Name == "" {
			return fmt.Errorf("--exclusive: exclusive queue %d has no name", i)
		}
		if all[i] == nil {
			return fmt.Errorf("--exclusive: queue %s has no consumer: an exclusive queue is declared on the connection of its consumers, so give it one (--consumers), or leave --exclusive out", q.Name)
		}
	}
	for i := range p.Consumers {
		for _, queue := range p.Consumers[i].Queues {
			if q := &p.Topology.Queues[queue]; q.Exclusive && q.Declare {
				if owner, other := p.Consumers[all[queue].consumer].Connection, p.Consumers[i].Connection; owner != other {
					return fmt.Errorf("--exclusive: queue %s has consumers on connections %d and %d, and an exclusive queue is for one connection", q.Name, owner, other)
				}
			}
		}
	}
	return nil
}

// ownerOf is the number of the connection that an exclusive queue belongs to; -1 for any other queue.
func (e *engine) ownerOf(queue int) int {
	if x := e.exclusive[queue]; x != nil {
		return e.plan.Consumers[x.consumer].Connection
	}
	return -1
}
