package loadcore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// closeAtOnce bounds how many connections are being closed at the same time: each waits in a goroutine.
const closeAtOnce = 1024

// closeHundred is how much longer closing may take for each hundred channels and connections: for RabbitMQ the end of a consumer is
// also that of its auto-delete queue, which takes it milliseconds.
const closeHundred = 500 * time.Millisecond

// leave begins the time for cancelling, asking and closing; the context that it returns, always the same, ends with it.
func (e *engine) leave() context.Context {
	e.leaveOnce.Do(func() {
		e.drained.Store(true)
		e.leaveTime = e.plan.CloseTimeout
		if e.leaveTime > 0 {
			e.leaveTime += time.Duration((len(e.producers)+len(e.consumers)+len(e.conns))/100) * closeHundred
		}
		if e.plan.EndTimeout > 0 && !e.endingSince.IsZero() {
			e.leaveTime = max(e.leaveTime, e.plan.EndTimeout-time.Since(e.endingSince))
		}
		e.leaving, e.stopLeaving = context.WithTimeout(context.Background(), e.leaveTime)
	})
	return e.leaving
}

// close closes all channels and connections politely within the close timeout, and the rest of them without asking; then
// it waits for every goroutine of every connection. Those that the broker has blocked come last: it does not read from them,
// and the others shall not wait for that.
func (e *engine) close() {
	e.endMending()
	ctx := e.leave()
	defer e.stopLeaving()
	var order, blocked []*conn
	for _, c := range e.connections() {
		switch {
		case !c.opened.Load():
		case c.current() == event.Blocked:
			blocked = append(blocked, c)
		default:
			order = append(order, c)
		}
	}
	order = append(order, blocked...)
	forEach(len(order), closeAtOnce, func(i int) error {
		c := order[i]
		if e.plan.CloseTimeout > 0 {
			c.close(ctx)
		} else if c.enter(event.Closing, loss{}) && c.enter(event.Closed, loss{text: "without asking"}) {
			c.end()
		}
		c.readers.Wait()
		c.out.flushers.Wait()
		return nil
	})
}

// leftUnanswered notes what a connection or consumer was asked for at its end, and did not answer in time.
func (e *engine) leftUnanswered(what string, number int, text string) {
	e.mu.Lock()
	e.unanswered.add(what, number, text)
	e.mu.Unlock()
}

// close closes one connection. The close-ok of a consumer's channel proves that the broker has seen all of its acks; a
// producer's proves nothing that connection.close-ok does not.
func (c *conn) close(ctx context.Context) {
	if c.usable() {
		for i := 1; i < len(c.lanes); i++ {
			if ch := c.lane(i); ch != nil && ch.producer == nil && !ch.isGone() {
				if err := ch.close(ctx); isTimeout(err) {
					c.eng.leftUnanswered("connection", int(c.number), err.Error())
				}
			}
		}
	}
	blocked := c.current() == event.Blocked
	if !c.enter(event.Closing, loss{}) {
		return
	}
	m := &wire.ConnectionClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}
	_, err := c.lane(0).call(ctx, m, wire.ConnectionCloseOkID)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no connection.close-ok within %v", c.eng.leaveTime.Round(time.Millisecond))
			if blocked {
				err = fmt.Errorf("%w: the broker has blocked the connection", err)
			}
			c.eng.leftUnanswered("connection", int(c.number), err.Error())
		}
		c.fail(loss{text: err.Error()})
	}
}

// close closes a channel; an error: the broker did not answer in time, or the channel was gone.
func (ch *channel) close(ctx context.Context) error {
	_, err := ch.call(ctx, &wire.ChannelClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}, wire.ChannelCloseOkID)
	ch.end(loss{text: "channel closed"})
	return err
}
