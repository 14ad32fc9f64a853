package loadcore

import (
	"context"
	"errors"
	"fmt"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// closeAtOnce bounds how many connections are being closed at the same time.
const closeAtOnce = 64

// close closes all channels and connections politely within the close timeout, and the rest of them without asking; then
// it waits for every goroutine of every connection.
func (e *engine) close() {
	e.closing.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), e.plan.CloseTimeout)
	defer cancel()
	forEach(len(e.conns), closeAtOnce, func(i int) error {
		c := e.conns[i]
		if c.opened.Load() {
			c.close(ctx)
			c.readers.Wait()
			c.out.flushers.Wait()
		}
		return nil
	})
}

// close closes one connection. The close-ok of a consumer's channel proves that the broker has seen all of its acks.
func (c *conn) close(ctx context.Context) {
	if c.usable() {
		for i := 1; i < len(c.lanes); i++ {
			if ch := c.lane(i); ch != nil && !ch.isGone() {
				ch.close(ctx)
			}
		}
	}
	if !c.enter(event.Closing, loss{}) {
		return
	}
	m := &wire.ConnectionClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}
	_, err := c.lane(0).call(ctx, m, wire.ConnectionCloseOkID)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no connection.close-ok within %v", c.eng.plan.CloseTimeout)
		}
		c.fail(loss{text: err.Error()})
	}
}

// close closes a channel; false if the broker did not answer in time.
func (ch *channel) close(ctx context.Context) bool {
	_, err := ch.call(ctx, &wire.ChannelClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}, wire.ChannelCloseOkID)
	ch.end(loss{text: "channel closed"})
	return err == nil
}
