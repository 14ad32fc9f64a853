package loadcore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"leveret/loadcore/wire"
)

// channel is one channel of a connection: a lane's, or number 0, or one for questions only.
type channel struct {
	conn     *conn
	number   uint16
	producer *producer // at most one of these
	consumer *consumer
	content  content // the message that is arriving; the reader's
	shuts    bool    // the broker has closed it; the reader's

	calls   sync.Mutex // one question at a time
	stale   int        // guarded by calls: questions that nobody waits for any more, and whose answers may still come
	replies chan wire.Method
	open    atomic.Int32 // questions without an answer

	// gate is held from the look at gone until the frame is posted: nothing may be sent on a channel once it is closed,
	// or the broker closes the whole connection.
	gate sync.Mutex
	once sync.Once
	// doomed: its end is certain, and its lane is recovered then.
	doomed atomic.Bool
	// refused: the broker has closed it for what a message is. There is no recovery from that.
	refused atomic.Bool
	gone    chan struct{} // closed when nothing more can be done on it
	why     loss          // valid once gone is closed
}

func newChannel(c *conn, number uint16) *channel {
	return &channel{conn: c, number: number, replies: make(chan wire.Method, 1+staleMost), gone: make(chan struct{})}
}

// carry gives the channel to its lane.
func (ch *channel) carry() {
	if p := ch.producer; p != nil {
		p.ch = ch
		p.current.Store(ch)
	} else if s := ch.consumer; s != nil {
		s.ch = ch
		s.current.Store(ch)
	}
}

// end marks the channel as gone and stops its lane. The first reason counts.
func (ch *channel) end(why loss) {
	ch.once.Do(func() {
		ch.why = why
		mends := ch.doomed.Load() || ch.conn.mends.Load()
		switch { // before anybody learns of it
		case ch.producer != nil && mends:
			ch.producer.suspend()
		case ch.producer != nil:
			ch.producer.halt()
		case ch.consumer != nil && mends:
			ch.consumer.mending.Store(true)
		}
		close(ch.gone)
		if ch.consumer != nil && !mends {
			ch.conn.eng.consumerEnded(ch.consumer)
		}
	})
}

func (ch *channel) isGone() bool {
	select {
	case <-ch.gone:
		return true
	default:
		return false
	}
}

// send posts a method; false if the channel is gone.
func (ch *channel) send(m wire.Method) bool {
	ch.gate.Lock()
	defer ch.gate.Unlock()
	if ch.isGone() {
		return false
	}
	ch.conn.out.send(wire.AppendMethod(nil, ch.number, m))
	return true
}

// post posts whole frames as send does.
func (ch *channel) post(frames []byte) bool {
	ch.gate.Lock()
	defer ch.gate.Unlock()
	if ch.isGone() {
		return false
	}
	ch.conn.out.send(frames)
	return true
}

// shut is the end of a channel that the broker has closed: its lane stops, and then the broker gets its close-ok. A
// producer looks at halted with the outbox locked, which puts its batch either before the close-ok or nowhere. Whoever waits
// for the channel learns of its end last: a channel of the same number may be opened only behind the close-ok.
func (ch *channel) shut(why loss) {
	ch.gate.Lock()
	defer ch.gate.Unlock()
	switch {
	case ch.producer == nil:
	case ch.doomed.Load():
		ch.producer.suspend()
	default:
		ch.producer.halt()
	}
	ch.conn.out.send(wire.AppendMethod(nil, ch.number, &wire.ChannelCloseOk{}))
	ch.end(why)
}

// call sends a method and waits for its answer, or the end of the channel, the connection or ctx.
func (ch *channel) call(ctx context.Context, m wire.Method, want wire.MethodID) (wire.Method, error) {
	ch.calls.Lock()
	defer ch.calls.Unlock()
	if ch.stale == staleMost {
		return nil, fmt.Errorf("%s on channel %d: %d earlier questions were never answered", m.ID(), ch.number, ch.stale)
	}
	if err := wire.CheckMethod(m, ch.conn.link.limits.FrameMax); err != nil {
		return nil, err
	}
	ch.open.Add(1)
	if !ch.send(m) {
		return nil, fmt.Errorf("%s: %w", m.ID(), ch.why)
	}
	for ; ; ch.stale-- {
		var reply wire.Method
		select {
		case reply = <-ch.replies:
		case <-ctx.Done():
			ch.stale++
			return nil, &unansweredError{m.ID(), ch.number, ctx.Err()}
		case <-ch.gone:
			select {
			case reply = <-ch.replies: // it came before the end
			default:
				return nil, fmt.Errorf("%s: %w", m.ID(), ch.why)
			}
		}
		switch {
		case ch.stale > 0: // answers come in the order of the questions
		case reply.ID() != want:
			return nil, fmt.Errorf("the broker answered %s with %s on channel %d", m.ID(), reply.ID(), ch.number)
		default:
			return reply, nil
		}
	}
}

// unansweredError is a question that the broker has not answered in time, or before the run was interrupted.
type unansweredError struct {
	asked   wire.MethodID
	channel uint16
	cause   error // of the context
}

func (e *unansweredError) Error() string {
	if errors.Is(e.cause, context.Canceled) {
		return fmt.Sprintf("%s on channel %d: interrupted before the broker answered", e.asked, e.channel)
	}
	return fmt.Sprintf("%s on channel %d: no answer from the broker in time", e.asked, e.channel)
}

func (e *unansweredError) Unwrap() error { return e.cause }

// staleMost is how many questions of a channel may go unanswered in time before no more are asked.
const staleMost = 3
