package broker

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"leveret/loadcore/wire"
)

// vhost is a namespace of exchanges and queues.
type vhost struct {
	name  string
	mem   *memory
	clock clock

	// version changes with everything that can change a route, so that connections can keep routes they have looked up.
	version atomic.Uint64

	mu        sync.RWMutex // guards the following
	exchanges map[string]*exchange
	queues    map[string]*queue
	lastID    uint64
}

type exchange struct {
	name       string
	kind       string // direct, fanout, topic
	durable    bool
	autoDelete bool
	internal   bool

	// Guarded by vhost.mu. Two bindings that differ only in their arguments are two bindings, but one way.
	bindings map[string]map[*queue]int // by routing key or pattern
}

// bindingRef is a binding as seen from its queue.
type bindingRef struct {
	exchange *exchange
	key      string
	args     string // encoded
}

func newVHost(name string, mem *memory, c clock) *vhost {
	v := &vhost{name: name, mem: mem, clock: c, exchanges: map[string]*exchange{}, queues: map[string]*queue{}}
	for _, kind := range []string{"direct", "fanout", "topic"} {
		v.exchanges["amq."+kind] = newExchange("amq."+kind, kind)
		v.exchanges["amq."+kind].durable = true
	}
	v.exchanges[""] = newExchange("", "direct")
	v.exchanges[""].durable = true
	return v
}

func newExchange(name, kind string) *exchange {
	return &exchange{name: name, kind: kind, bindings: map[string]map[*queue]int{}}
}

// changed is called with mu held for writing, after every change of exchanges, queues or bindings.
func (v *vhost) changed() { v.version.Add(1) }

// route appends the queues that a message reaches to dst, each once, in the order of their declaration, and returns
// the exchange; nil if there is none of that name.
func (v *vhost) route(dst []*queue, exchangeName, key string) (*exchange, []*queue, uint64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	version := v.version.Load()
	x := v.exchanges[exchangeName]
	if x == nil {
		return nil, dst, version
	}
	switch {
	case x.name == "":
		if q := v.queues[key]; q != nil {
			dst = append(dst, q)
		}
		return x, dst, version
	case x.kind == "direct":
		for q := range x.bindings[key] {
			dst = append(dst, q)
		}
	default:
		for pattern, queues := range x.bindings {
			if x.kind == "topic" && !topicMatches(pattern, key) {
				continue
			}
			for q := range queues {
				dst = append(dst, q)
			}
		}
	}
	slices.SortFunc(dst, func(a, b *queue) int { return cmp.Compare(a.id, b.id) })
	return x, slices.Compact(dst), version
}

// queue returns the queue of that name, nil if there is none.
func (v *vhost) queue(name string) *queue {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.queues[name]
}

// bind adds a binding; adding it again changes nothing.
func (v *vhost) bind(x *exchange, q *queue, key string, args wire.Table) {
	v.mu.Lock()
	defer v.mu.Unlock()
	ref := bindingRef{x, key, string(wire.AppendTable(nil, args))}
	if _, known := q.bound[ref]; known || v.queues[q.name] != q || v.exchanges[x.name] != x {
		return
	}
	q.bound[ref] = struct{}{}
	ways := x.bindings[key]
	if ways == nil {
		ways = map[*queue]int{}
		x.bindings[key] = ways
	}
	ways[q]++
	v.changed()
}

// unbind removes a binding; removing one that is not there changes nothing.
func (v *vhost) unbind(x *exchange, q *queue, key string, args wire.Table) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dropBinding(q, bindingRef{x, key, string(wire.AppendTable(nil, args))})
}

// dropBinding removes a binding, and with its last one an auto-delete exchange. Called with mu held for writing.
func (v *vhost) dropBinding(q *queue, ref bindingRef) {
	if _, known := q.bound[ref]; !known {
		return
	}
	delete(q.bound, ref)
	x := ref.exchange
	if ways := x.bindings[ref.key]; ways[q] > 1 {
		ways[q]--
	} else if delete(ways, q); len(ways) == 0 {
		delete(x.bindings, ref.key)
	}
	if x.autoDelete && len(x.bindings) == 0 {
		delete(v.exchanges, x.name)
	}
	v.changed()
}

// deleteExchange removes an exchange with its bindings; false if it is bound and must not be.
func (v *vhost) deleteExchange(name string, ifUnused bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.exchanges[name]
	if x == nil {
		return true
	}
	if ifUnused && len(x.bindings) > 0 {
		return false
	}
	for _, ways := range x.bindings {
		for q := range ways {
			for ref := range q.bound {
				if ref.exchange == x {
					delete(q.bound, ref)
				}
			}
		}
	}
	delete(v.exchanges, name)
	v.changed()
	return true
}

type deleteResult uint8

const (
	queueDeleted deleteResult = iota
	queueInUse
	queueNotEmpty
)

// deleteQueue removes a queue with its bindings and tells the connections of its consumers. It returns how many messages
// were ready. A queue that is gone already counts as deleted.
func (v *vhost) deleteQueue(q *queue, ifUnused, ifEmpty bool) (int, deleteResult) {
	v.mu.Lock()
	if v.queues[q.name] != q {
		v.mu.Unlock()
		return 0, queueDeleted
	}
	ready, consumers := q.counts()
	switch {
	case ifEmpty && ready > 0:
		v.mu.Unlock()
		return 0, queueNotEmpty
	case ifUnused && consumers > 0:
		v.mu.Unlock()
		return 0, queueInUse
	}
	delete(v.queues, q.name)
	for ref := range q.bound {
		v.dropBinding(q, ref)
	}
	v.changed()
	ready, orphans := q.remove()
	v.mu.Unlock()
	for _, c := range orphans {
		c.ch.conn.queueGone(c)
	}
	return ready, queueDeleted
}

func (v *vhost) hasExchange(name string) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.exchanges[name] != nil
}

// ends returns the two ends of a binding, nil for what is not there.
func (v *vhost) ends(exchangeName, queueName string) (*exchange, *queue) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.exchanges[exchangeName], v.queues[queueName]
}

// deleteAll deletes all queues, when nobody uses them any more.
func (v *vhost) deleteAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, q := range v.queues {
		q.remove()
		delete(v.queues, name)
	}
}
