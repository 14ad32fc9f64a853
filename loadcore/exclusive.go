package loadcore

import (
	"context"
	"fmt"
	"slices"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Exclusive queues belong to the connection that declares them: the engine declares and binds them itself, on the connection
// of their consumers, before these subscribe.

// declareExclusive declares the exclusive queues of a topology, and binds them.
func (e *engine) declareExclusive(ctx context.Context, queue int) error {
	q := &e.plan.Topology.Queues[queue]
	if !q.Exclusive || !q.Declare {
		return nil
	}
	i := slices.IndexFunc(e.consumers, func(s *consumer) bool { return slices.Contains(s.spec.Queues, queue) })
	if i < 0 {
		return nil // refused by Validate
	}
	s, o := e.consumers[i], e.plan.connectOptions(0)
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	declare := &wire.QueueDeclare{Queue: q.Name, Durable: q.Durable, Exclusive: true, AutoDelete: q.AutoDelete, Arguments: tableOf(q.Arguments)}
	if _, err := s.ch.call(ctx, declare, wire.QueueDeclareOkID); err != nil {
		return s.ch.conn.laneError(fmt.Errorf("declaring exclusive queue %s: %w", q.Name, err), o)
	}
	for _, b := range e.plan.Topology.Bindings {
		if b.Queue != queue {
			continue
		}
		bind := &wire.QueueBind{Queue: q.Name, Exchange: b.Exchange, RoutingKey: b.RoutingKey, Arguments: tableOf(b.Arguments)}
		if _, err := s.ch.call(ctx, bind, wire.QueueBindOkID); err != nil {
			return s.ch.conn.laneError(fmt.Errorf("binding exclusive queue %s to exchange %s: %w", q.Name, b.Exchange, err), o)
		}
	}
	return nil
}

// checkExclusive refuses exclusive queues that no consumer, or consumers of several connections, would use.
func (p *Plan) checkExclusive() error {
	for i := range p.Topology.Queues {
		q := &p.Topology.Queues[i]
		if !q.Exclusive || !q.Declare {
			continue
		}
		if q.Name == "" {
			return fmt.Errorf("--exclusive: exclusive queue %d has no name", i)
		}
		owner := -1
		for k := range p.Consumers {
			c := &p.Consumers[k]
			if !slices.Contains(c.Queues, i) {
				continue
			}
			if owner >= 0 && owner != c.Connection {
				return fmt.Errorf("--exclusive: queue %s has consumers on connections %d and %d, and an exclusive queue is for one connection", q.Name, owner, c.Connection)
			}
			owner = c.Connection
		}
		if owner < 0 {
			return fmt.Errorf("--exclusive: queue %s has no consumer: an exclusive queue is declared on the connection of its consumers, so give it one (--consumers), or leave --exclusive out", q.Name)
		}
	}
	return nil
}

// ownerOf is the connection that an exclusive queue belongs to; nil for any other queue.
func (r *run) ownerOf(q *manifest.Queue, queue int) *conn {
	if !q.Exclusive {
		return nil
	}
	for _, s := range r.consumers {
		if slices.Contains(s.spec.Queues, queue) {
			return r.conn(s.spec.Connection)
		}
	}
	return nil
}
