package loadcore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// The topology that a lane needs is made again on its own channel before it goes on: what a broker has forgotten in a restart,
// what went with a connection (exclusive) or with the last consumer (auto-delete). What is still there is declared once more,
// which changes nothing. Only what the run itself has declared is.

// renaming is what queues that the broker has named are called now.
type renaming struct {
	mu    sync.Mutex // guards the following
	names map[int]string
	gone  map[int]bool // queues that were looked for and not found
}

// queueName is what a queue of the topology is called.
func (e *engine) queueName(queue int) string {
	e.renaming.mu.Lock()
	defer e.renaming.mu.Unlock()
	if name := e.renaming.names[queue]; name != "" {
		return name
	}
	return e.plan.Topology.Queues[queue].Name
}

// remade is what is made again for a lane.
type remade struct {
	exchanges []*manifest.Exchange
	queues    []int
	bindings  []*manifest.Binding
}

// redeclareEach is how long each object may take beyond the time for a lane, as when it was declared first.
const redeclareEach = 50 * time.Millisecond

// time is how much more time the lane has.
func (r *remade) time() time.Duration {
	return time.Duration(len(r.exchanges)+len(r.queues)+len(r.bindings)) * redeclareEach
}

// remade is what the lane publishes to or consumes from. Lanes with the same routes, or the same queue, have it in common.
func (e *engine) remade(l lanePlan) *remade {
	if e.plan.Topology.Strict {
		return &remade{}
	}
	var key any
	switch c := l.consumer; {
	case c == nil:
		key = [2]int{l.producer.spec.Route, max(l.producer.spec.Routes, 1)}
	case len(c.spec.Queues) == 1:
		key = c.spec.Queues[0]
	default:
		key = c
	}
	if known, ok := e.remakes.Load(key); ok {
		return known.(*remade)
	}
	r := e.newRemade(l)
	e.remakes.Store(key, r)
	return r
}

func (e *engine) newRemade(l lanePlan) *remade {
	t, r := e.plan.Topology, &remade{}
	exchanges, queues := map[string]bool{}, map[int]bool{}
	add := func(queue int) {
		if !queues[queue] {
			queues[queue] = true
			r.queues = append(r.queues, queue)
		}
	}
	if l.consumer != nil {
		for _, q := range l.consumer.spec.Queues {
			add(q)
		}
	} else {
		for _, route := range t.Routes[l.producer.spec.Route:][:max(l.producer.spec.Routes, 1)] {
			exchanges[route.Exchange] = true
			for _, q := range route.Queues {
				if !t.Queues[q].Exclusive && !t.Queues[q].ServerNamed {
					add(q)
				}
			}
		}
	}
	for _, q := range r.queues {
		for _, b := range e.bindingsOf()[q] {
			exchanges[b.Exchange] = true
			r.bindings = append(r.bindings, b)
		}
	}
	for i := range t.Exchanges {
		if x := &t.Exchanges[i]; x.Declare && exchanges[x.Name] {
			r.exchanges = append(r.exchanges, x)
		}
	}
	return r
}

// bindingsByQueue are all of the topology.
func bindingsByQueue(t *manifest.Topology) map[int][]*manifest.Binding {
	by := map[int][]*manifest.Binding{}
	for i := range t.Bindings {
		b := &t.Bindings[i]
		by[b.Queue] = append(by[b.Queue], b)
	}
	return by
}

// redeclare makes what the lane of a channel publishes to or consumes from.
func (e *engine) redeclare(ctx context.Context, ch *channel) error {
	r := e.remade(lanePlan{ch.producer, ch.consumer})
	for _, x := range r.exchanges {
		if err := redeclareExchange(ctx, ch, x); err != nil {
			return err
		}
	}
	for _, q := range r.queues {
		if err := e.redeclareQueue(ctx, ch, q); err != nil {
			return err
		}
	}
	for _, b := range r.bindings {
		name := e.queueName(b.Queue)
		bind := &wire.QueueBind{Queue: name, Exchange: b.Exchange, RoutingKey: b.RoutingKey, Arguments: tableOf(b.Arguments)}
		if _, err := ch.call(ctx, bind, wire.QueueBindOkID); err != nil {
			return fmt.Errorf("binding queue %s to exchange %s again: %w", name, b.Exchange, err)
		}
	}
	return nil
}

// redeclareExchange leaves those alone that every broker has.
func redeclareExchange(ctx context.Context, ch *channel, x *manifest.Exchange) error {
	if x.Name == "" || len(x.Name) > 4 && x.Name[:4] == "amq." {
		return nil
	}
	m := &wire.ExchangeDeclare{Exchange: x.Name, Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete}
	if _, err := ch.call(ctx, m, wire.ExchangeDeclareOkID); err != nil {
		return fmt.Errorf("declaring exchange %s again: %w", x.Name, err)
	}
	return nil
}

// redeclareQueue declares a queue. One that the broker has named cannot be declared by that name: where it went with its
// consumer, or is not found, it gets another one.
func (e *engine) redeclareQueue(ctx context.Context, ch *channel, queue int) error {
	q := &e.plan.Topology.Queues[queue]
	if !q.Declare {
		return nil
	}
	name := e.queueName(queue)
	m := &wire.QueueDeclare{Queue: name, Durable: q.Durable, Exclusive: q.Exclusive, AutoDelete: q.AutoDelete, Arguments: tableOf(q.Arguments)}
	if q.ServerNamed {
		e.renaming.mu.Lock()
		gone := q.AutoDelete || e.renaming.gone[queue]
		e.renaming.mu.Unlock()
		if gone {
			m.Queue = ""
		} else {
			m.Passive = true
		}
	}
	answer, err := ch.call(ctx, m, wire.QueueDeclareOkID)
	var why loss
	switch {
	case err == nil:
	case m.Passive && errors.As(err, &why) && why.code == uint16(wire.ReplyNotFound):
		e.renaming.note(queue, "", true)
		fallthrough
	default:
		return fmt.Errorf("declaring queue %s again: %w", name, err)
	}
	if now := answer.(*wire.QueueDeclareOk).Queue; now != name {
		e.renaming.note(queue, now, false)
		ch.conn.onReader(func() { ch.consumer.rename(queue, now) })
	}
	return nil
}

// rename is what the connection's reader does about a queue that has another name.
func (s *consumer) rename(queue int, name string) {
	for i := range s.queues {
		if q := &s.queues[i]; int(q.queue) == queue {
			q.name = name
		}
	}
	if s.polls != nil {
		s.polls.gets = newPolls(s).gets
	}
}

func (r *renaming) note(queue int, name string, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names, r.gone = map[int]string{}, map[int]bool{}
	}
	r.gone[queue] = gone
	if name != "" {
		r.names[queue] = name
	}
}

// awaitQueues waits until the exclusive queues that a producer publishes to are there again: their consumers' connections make
// them, and what came before would be dropped. Connections that are given up are not waited for.
func (m *mending) awaitQueues(ctx context.Context, p *producer) error {
	e := m.eng
	for _, route := range e.plan.Topology.Routes[p.spec.Route:][:max(p.spec.Routes, 1)] {
		for _, queue := range route.Queues {
			owner := e.ownerOf(queue)
			for owner >= 0 && owner != p.spec.Connection && e.mending[owner].isBusy() {
				select {
				case <-time.After(10 * asideLook):
				case <-ctx.Done():
					return fmt.Errorf("exclusive queue %s is not there again", e.plan.Topology.Queues[queue].Name)
				}
			}
		}
	}
	return nil
}

func (m *mending) isBusy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy
}
