package broker

import (
	"sync"
	"time"

	"leveret/loadcore/wire"
)

// write is the connection's writer: woken by signal, it takes what there is to say and the deliveries that wait, and writes
// them in one call. It ends when the connection does, after everything in out, or with the first failed write.
func (c *conn) write() {
	defer close(c.writerDone)
	var spare []byte
	for {
		select {
		case <-c.wake:
		case <-c.kill:
			return
		}
		c.woken.Store(false)
		for {
			buf, last := c.gather(spare)
			if len(buf) == 0 {
				spare = nil
				if last {
					return
				}
				break
			}
			c.nc.SetWriteDeadline(time.Now().Add(c.writeTime(last)))
			if _, err := c.nc.Write(buf); err != nil {
				c.srv.log("connection %s: write: %v", c.name, err)
				c.stop()
				return
			}
			c.writes.Add(1)
			spare = buf[:0]
		}
	}
}

// outBuffers are output buffers that no connection needs now. An idle connection keeps none, and a busy one that runs empty
// between two bursts finds one of full size again, instead of growing one from nothing each time.
type outBuffers struct {
	mu   sync.Mutex
	free [][]byte // at most keepBuffers
}

const (
	// keepOut and keepLeast bound a buffer that is kept, bytes; a single large message may need more for once, and a small
	// one is soon made.
	keepOut     = 1 << 20
	keepLeast   = 4 << 10
	keepBuffers = 16
)

// take returns an empty buffer, nil if there is none.
func (b *outBuffers) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.free) - 1
	if n < 0 {
		return nil
	}
	buf := b.free[n]
	b.free[n] = nil
	b.free = b.free[:n]
	return buf
}

// give takes a buffer over from its user.
func (b *outBuffers) give(buf []byte) {
	if cap(buf) < keepLeast || cap(buf) > keepOut {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < keepBuffers {
		b.free = append(b.free, buf[:0])
	}
}

func (c *conn) writeTime(last bool) time.Duration {
	if last {
		return closeTime
	}
	return c.srv.opts.WriteTimeout
}

// fullWrite is when a write is large enough: larger ones save nothing.
const fullWrite = 128 << 10

// gather takes the output and adds deliveries to it, under the lock. spare becomes the next output buffer; where there is no
// output, no buffer is kept. last says that nothing more will come.
func (c *conn) gather(spare []byte) (buf []byte, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != stateClosed {
		if c.wantBeat.Swap(false) {
			c.out = wire.AppendHeartbeat(c.out)
		}
		c.out = c.deliveries(c.out)
	}
	if len(c.out) == 0 {
		c.srv.outs.give(c.out)
		c.srv.outs.give(spare)
		buf, c.out = nil, nil
	} else {
		if cap(spare) == 0 || cap(spare) > keepOut {
			spare = c.srv.outs.take()
		}
		buf, c.out = c.out, spare[:0]
	}
	select {
	case c.space <- struct{}{}:
	default:
	}
	return buf, c.finishing
}

// deliveries appends what waits in the inboxes of this connection's consumers, and then the cancellation of those whose
// queue is gone.
func (c *conn) deliveries(out []byte) []byte {
	c.events.Lock()
	c.pending = append(c.pending, c.events.deliverable...)
	clear(c.events.deliverable)
	c.events.deliverable = c.events.deliverable[:0]
	orphans := c.events.orphans
	c.events.orphans = nil
	c.events.Unlock()

	done := 0
	if cap(out) < keepLeast && len(c.pending) > 0 {
		out = append(c.srv.outs.take(), out...)
	}
	for ; done < len(c.pending) && len(out) < fullWrite; done++ {
		if cons := c.pending[done]; !cons.gone {
			out = c.deliver(out, cons, cons.queue.take(cons))
		}
	}
	n := copy(c.pending, c.pending[done:])
	clear(c.pending[n:])
	c.pending = c.pending[:n]
	for _, cons := range orphans {
		out = c.cancelOrphan(out, cons)
	}
	return out
}

// deliver appends the messages of one consumer's inbox. Those that need an acknowledgement go to the channel's list, the
// others are done with.
func (c *conn) deliver(out []byte, cons *consumer, batch []entry) []byte {
	ch := cons.ch
	for i := range batch {
		e := &batch[i]
		exchange, key, props, body := e.slab.parts(e.idx)
		out = wire.AppendDeliver(out, ch.id, cons.tag, ch.nextTag, e.redelivered(), exchange, key)
		out = wire.AppendRawHeader(out, ch.id, uint64(len(body)), props)
		out = wire.AppendBody(out, ch.id, body, c.frameMax)
		if cons.noAck {
			c.free.release(e.slab)
		} else {
			ch.unacked.push(delivery{tag: ch.nextTag, queue: cons.queue, consumer: cons, entry: *e})
		}
		ch.nextTag++
	}
	c.free.flush()
	c.srv.stats.delivered.Add(uint64(len(batch)))
	clear(batch) // the slabs have other holders now
	return out
}

// cancelOrphan ends a consumer whose queue was deleted: what it was given is still delivered, then the client is told, if
// it can understand.
func (c *conn) cancelOrphan(out []byte, cons *consumer) []byte {
	if cons.gone {
		return out
	}
	out = c.deliver(out, cons, cons.queue.take(cons))
	cons.gone = true
	delete(cons.ch.consumers, cons.tag)
	if c.tellCancel {
		out = wire.AppendMethod(out, cons.ch.id, &wire.BasicCancel{ConsumerTag: cons.tag, NoWait: true})
	}
	return out
}
