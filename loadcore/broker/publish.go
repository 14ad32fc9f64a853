package broker

import (
	"bytes"

	"leveret/loadcore/wire"
)

// publisher is a connection's publishing side. Messages are copied into the connection's slab as they are parsed, their
// entries collected in one batch a queue, and the batches handed over when the turn ends: one lock operation a queue and
// turn, one confirm a channel and turn. All of it is used under the connection's lock.
type publisher struct {
	fill         filler
	routes       map[string]*route // by exchange and key, see routeKey
	version      uint64            // of the vhost when the routes were looked up
	lastRoute    *route
	lastExchange []byte // of lastRoute
	lastKey      []byte
	keyScratch   []byte

	batches     map[*queue]*batch
	dirty       []*batch   // with entries in them
	unconfirmed []*channel // with messages to be confirmed
	taken       uint64     // messages taken in this turn, not yet in the server's count

	goodProps    []byte // properties that were found to be good last
	publishedNow bool   // something was published in this turn; used by the reader alone
	holding      bool   // a message of this connection was held back once (fault reorder): look for successors
	halt         halt
}

// batch holds entries on their way to one queue.
type batch struct {
	queue   *queue
	entries []entry
	slack   slack
}

// route is where messages with one exchange and routing key go.
type route struct {
	exchange *exchange // nil: there is none of that name
	targets  []*batch
	careful  bool // a queue may refuse the message, so every one has to be asked
}

// keepBatch is how many entries a batch keeps room for when there is little to do.
const keepBatch = 256

// maxRoutes bounds what a connection remembers; past it, it begins anew.
const maxRoutes = 4096

func (p *publisher) init(mem *memory) {
	p.fill.mem = mem
	p.routes = map[string]*route{}
	p.batches = map[*queue]*batch{}
}

func (p *publisher) close() {
	p.fill.drop()
	p.forget()
}

func (p *publisher) forget() {
	clear(p.routes)
	clear(p.batches)
	p.lastRoute = nil
}

// publishFrame processes basic.publish, and at once the whole message if the frames that belong to it are there in one
// piece: header and at most one body frame. Else the channel collects them.
func (c *conn) publishFrame(ch *channel, f wire.Frame, args, rest []byte) (more int, problem *amqpError) {
	p, err := wire.ParsePublish(args)
	if err != nil {
		return 0, methodError(f.Payload, err)
	}
	if p.Immediate {
		return 0, hard(wire.ReplyNotImplemented, "immediate=true").by(wire.BasicPublishID)
	}
	header, n, err := wire.NextFrame(rest, c.frameMax)
	if err == nil && n > 0 && header.Type == wire.FrameHeader && header.Channel == f.Channel {
		h, err := wire.ParseHeader(header.Payload)
		if err == nil && h.BodySize == 0 {
			return n, c.publish(ch, p, h.RawProperties, nil)
		}
		body, m, err2 := wire.NextFrame(rest[n:], c.frameMax)
		if err == nil && err2 == nil && m > 0 && body.Type == wire.FrameBody && body.Channel == f.Channel && uint64(len(body.Payload)) == h.BodySize {
			return n + m, c.publish(ch, p, h.RawProperties, body.Payload)
		}
	}
	ch.content.begin(p)
	return 0, nil
}

// publish takes one message. The slices are read before it returns and not kept.
func (c *conn) publish(ch *channel, p wire.Publish, props, body []byte) *amqpError {
	if len(body) > c.srv.opts.MaxMessageSize {
		return c.tooLarge(len(body))
	}
	r := c.route(p.Exchange, p.RoutingKey)
	switch {
	case r.exchange == nil:
		return soft(wire.ReplyNotFound, "no %s", exchangeText(string(p.Exchange), c.vhost.name)).by(wire.BasicPublishID)
	case r.exchange.internal:
		return soft(wire.ReplyAccessRefused, "cannot publish to internal %s", exchangeText(string(p.Exchange), c.vhost.name)).by(wire.BasicPublishID)
	}
	if err := c.checkProperties(props); err != nil {
		return err.by(wire.BasicPublishID)
	}
	if ch.tx != nil && !ch.tx.committing {
		return ch.holdPublish(p, props, body)
	}
	c.publishedNow = true
	if c.srv.faulty {
		n := c.srv.stats.published.Add(1)
		if set, any := c.srv.opts.Faults.at(n); any {
			return c.publishFaulty(ch, r, p, props, body, &set)
		}
	} else {
		c.taken++
	}
	ch.count()
	if len(r.targets) == 0 {
		c.unroutable(ch, p, props, body)
		return nil
	}
	if r.careful || c.holding {
		c.publishCarefully(ch, r, c.fill.add(p.Exchange, p.RoutingKey, props, body), 1)
		return nil
	}
	e := c.fill.add(p.Exchange, p.RoutingKey, props, body)
	c.fill.hold(len(r.targets))
	for _, b := range r.targets {
		if len(b.entries) == 0 {
			c.dirty = append(c.dirty, b)
		}
		b.entries = append(b.entries, e)
	}
	return nil
}

func (c *conn) tooLarge(size int) *amqpError {
	return soft(wire.ReplyPreconditionFailed, "message size %d is larger than configured max size %d", size, c.srv.opts.MaxMessageSize).by(wire.BasicPublishID)
}

// count gives the message its confirm number, if confirms are on, and notes that it has to be answered.
func (ch *channel) count() {
	if !ch.confirm {
		return
	}
	ch.published++
	if !ch.touched {
		ch.touched = true
		ch.conn.unconfirmed = append(ch.conn.unconfirmed, ch)
	}
}

// unroutable sends a message back that was published as mandatory and reaches no queue.
func (c *conn) unroutable(ch *channel, p wire.Publish, props, body []byte) {
	if !p.Mandatory {
		return
	}
	c.srv.stats.returned.Add(1)
	c.out = wire.AppendReturn(c.out, ch.id, wire.ReplyNoRoute, wire.ReplyNoRoute.String(), p.Exchange, p.RoutingKey)
	c.out = wire.AppendRawHeader(c.out, ch.id, uint64(len(body)), props)
	c.out = wire.AppendBody(c.out, ch.id, body, c.frameMax)
}

// publishCarefully hands one message to its queues at once, n times to each, and notes a nack if one of them refuses it.
func (c *conn) publishCarefully(ch *channel, r *route, e entry, n int) {
	c.flushBatches()
	c.fill.hold(n * len(r.targets))
	c.fill.settle()
	refused := false
	for _, b := range r.targets {
		for range n {
			if !b.queue.enqueueFrom(ch, e) {
				refused = true
			}
		}
	}
	if refused {
		ch.nack()
	}
}

// nack makes the answer to the message counted last a negative one. A transaction fails as a whole.
func (ch *channel) nack() {
	switch {
	case ch.confirm:
		ch.nacked = append(ch.nacked, ch.published)
	case ch.tx != nil:
		ch.tx.refused = true
	}
}

// route looks up where a message goes; from memory, unless something has changed.
func (c *conn) route(exchange, key []byte) *route {
	if v := c.vhost.version.Load(); v != c.version {
		c.flushBatches() // into the batches that are about to be forgotten
		c.forget()
		c.version = v
	}
	if c.lastRoute != nil && bytes.Equal(key, c.lastKey) && bytes.Equal(exchange, c.lastExchange) {
		return c.lastRoute
	}
	c.keyScratch = append(append(append(c.keyScratch[:0], byte(len(exchange))), exchange...), key...)
	r := c.routes[string(c.keyScratch)]
	if r == nil {
		r = c.lookupRoute(string(exchange), string(key))
		if len(c.routes) >= maxRoutes {
			clear(c.routes)
		}
		c.routes[string(c.keyScratch)] = r
	}
	c.lastRoute = r
	c.lastExchange = append(c.lastExchange[:0], exchange...)
	c.lastKey = append(c.lastKey[:0], key...)
	return r
}

func (c *conn) lookupRoute(exchange, key string) *route {
	// The version may have moved on since route looked at it; then this route is the newer one, and is looked up again.
	x, queues, _ := c.vhost.route(nil, exchange, key)
	r := &route{exchange: x}
	for _, q := range queues {
		b := c.batches[q]
		if b == nil {
			b = &batch{queue: q}
			c.batches[q] = b
		}
		r.targets = append(r.targets, b)
		r.careful = r.careful || q.rejectPublish
	}
	return r
}

// flushPublishes hands the collected messages to their queues and then confirms them.
func (c *conn) flushPublishes() {
	c.flushBatches()
	for _, ch := range c.unconfirmed {
		c.confirm(ch)
	}
	clear(c.unconfirmed)
	c.unconfirmed = c.unconfirmed[:0]
}

func (c *conn) flushBatches() {
	if c.taken > 0 {
		c.srv.stats.published.Add(c.taken)
		c.taken = 0
	}
	if len(c.dirty) == 0 {
		return
	}
	c.fill.settle()
	for _, b := range c.dirty {
		b.queue.enqueue(b.entries)
		clear(b.entries)
		if b.slack.tooLarge(len(b.entries), cap(b.entries), keepBatch) {
			b.entries = nil // of a busier time
		}
		b.entries = b.entries[:0]
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}

// confirm answers everything the channel has published: one ack for a run of any length, a nack for each message
// that was refused, in rising order.
func (c *conn) confirm(ch *channel) {
	ch.touched = false
	if cap(c.out) == 0 {
		c.out = c.srv.outs.take()
	}
	next := ch.confirmed + 1
	for _, n := range ch.nacked {
		c.out = ackUpTo(c.out, ch.id, next, n-1)
		c.out = wire.AppendNack(c.out, ch.id, n, false, false)
		next = n + 1
	}
	c.out = ackUpTo(c.out, ch.id, next, ch.published)
	ch.nacked = ch.nacked[:0]
	ch.confirmed = ch.published
}

func ackUpTo(out []byte, channel uint16, from, to uint64) []byte {
	if to < from {
		return out
	}
	return wire.AppendAck(out, channel, to, to > from)
}
