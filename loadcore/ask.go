package loadcore

import (
	"context"
	"errors"
	"slices"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// What brokers are asked about queues: control plane.

// askQueue declares a queue passively.
func askQueue(ctx context.Context, ch *channel, name string) (ready, consumers int64, err error) {
	m, err := ch.call(ctx, &wire.QueueDeclare{Queue: name, Passive: true}, wire.QueueDeclareOkID)
	if err != nil {
		return 0, 0, err
	}
	ok := m.(*wire.QueueDeclareOk)
	return int64(ok.MessageCount), int64(ok.ConsumerCount), nil
}

// askRemaining asks once more what is ready in each queue, on a channel of its own: one that does not exist costs that
// channel and no lane. Queues that the run declared to vanish with their last consumer keep the answer of the
// last round.
func (r *run) askRemaining(ctx context.Context, queues []*drainQueue) {
	var short []*drainQueue
	for _, q := range queues {
		if q.spec.AutoDelete && q.spec.Declare && len(q.consumers) > 0 {
			continue
		}
		ready, err := r.askApart(ctx, q)
		if err == nil {
			q.ready.Store(ready)
		} else if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		if err == nil && q.short() {
			short = append(short, q)
		}
	}
	r.askAgain(ctx, short)
}

// arrivalPatience is how long the count of a queue may stand still before what it lacks is taken as not coming.
const arrivalPatience = time.Second

// askAgain repeats the question to queues that nobody consumes and that have not counted all that was sent to them: rule 3. It
// takes half of the time that is left at most; the other half is for closing.
func (r *run) askAgain(ctx context.Context, queues []*drainQueue) {
	end, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(end)/2)
	defer cancel()
	for changed := time.Now(); len(queues) > 0 && time.Since(changed) < arrivalPatience; {
		select {
		case <-time.After(arrivalPatience / 20):
		case <-ctx.Done():
			return
		}
		queues = slices.DeleteFunc(queues, func(q *drainQueue) bool {
			ready, err := r.askApart(ctx, q)
			if err != nil {
				return true
			}
			if q.ready.Swap(ready) != ready {
				changed = time.Now()
			}
			return !q.short()
		})
	}
}

// askApart asks on the spare channel of any connection that is still usable and has one. A broker that has blocked a
// connection does not read what is asked on it, and an exclusive queue can be asked for on its own connection only.
func (r *run) askApart(ctx context.Context, q *drainQueue) (int64, error) {
	for _, c := range r.connections() {
		if q.owner != nil && q.owner != c || !c.opened.Load() || !c.usable() || c.current() == event.Blocked || !c.hasSpare() {
			continue
		}
		ch, err := c.spare(ctx)
		if err != nil {
			return 0, err
		}
		ready, _, err := askQueue(ctx, ch, r.queueName(q.index))
		return ready, err
	}
	return 0, errors.New("no connection is left to ask on")
}

// hasSpare: not where the lanes take all channels that the broker allows.
func (c *conn) hasSpare() bool { return len(c.lanes) > len(c.lanePlan)+1 }

// spare is the connection's channel for questions, opened again where the last answer has closed it.
func (c *conn) spare(ctx context.Context) (*channel, error) {
	last := len(c.lanePlan) + 1
	if ch := c.lane(last); ch != nil && !ch.isGone() {
		return ch, nil
	}
	ch := newChannel(c, uint16(last))
	c.lanes[last].Store(ch)
	if _, err := ch.call(ctx, &wire.ChannelOpen{}, wire.ChannelOpenOkID); err != nil {
		return nil, err
	}
	return ch, nil
}
