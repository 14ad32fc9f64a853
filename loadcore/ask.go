package loadcore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
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

// askRemaining asks once more what is ready in each queue, and those that nobody consumes and that have not counted all that was
// sent to them again (rule 3), in half of the time that is left: the other half is for closing. Not asked are those that told it
// behind the last message, and those that the run declared to vanish with their last consumer, of which the last round counts.
func (r *run) askRemaining(ctx context.Context, queues []*drainQueue) {
	end, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(end)/2)
	defer cancel()
	queues = slices.DeleteFunc(slices.Clone(queues), func(q *drainQueue) bool {
		return q.counted() || q.spec.AutoDelete && q.spec.Declare && len(q.consumers) > 0
	})
	for changed := time.Now(); len(queues) > 0 && time.Since(changed) < arrivalPatience; {
		if r.askQueues(ctx, queues) {
			changed = time.Now()
		}
		if queues = slices.DeleteFunc(queues, func(q *drainQueue) bool { return q.refused != nil || !q.short() }); len(queues) == 0 {
			return
		}
		select {
		case <-time.After(arrivalPatience / 20):
		case <-ctx.Done():
			return
		}
	}
}

// arrivalPatience is how long the count of a queue may stand still before what it lacks is taken as not coming.
const arrivalPatience = time.Second

// askQueues asks all of the queues on channels of their own: a queue that does not exist costs that channel and no lane. It
// reports whether one of them told something else than before.
func (r *run) askQueues(ctx context.Context, queues []*drainQueue) (changed bool) {
	var free []*conn
	for _, c := range r.connections() {
		if len(free) < askAtOnce && c.answersApart() {
			free = append(free, c)
		}
	}
	by := map[*conn][]*drainQueue{}
	for i, q := range queues {
		switch {
		case q.owner != nil:
			by[q.owner] = append(by[q.owner], q)
		case len(free) > 0:
			by[free[i%len(free)]] = append(by[free[i%len(free)]], q)
		default:
			q.refused = errNoneToAsk
		}
	}
	conns := slices.Collect(maps.Keys(by))
	var news atomic.Bool
	forEach(len(conns), askAtOnce, func(i int) error {
		for _, q := range by[conns[i]] {
			var ready, consumers int64
			if ready, consumers, q.refused = r.askApart(ctx, conns[i], q); q.refused != nil {
				continue
			}
			if q.others.Store(consumers - q.ours()); q.ready.Swap(ready) != ready {
				news.Store(true)
			}
		}
		return nil
	})
	return news.Load()
}

var errNoneToAsk = errors.New("no connection is left to ask on")

// answersApart reports whether the connection can be asked beside its lanes. A broker that has blocked it does not read what is
// asked on it.
func (c *conn) answersApart() bool {
	return c.opened.Load() && c.usable() && c.current() != event.Blocked && c.hasSpare()
}

// askApart asks on the spare channel of a connection. It is for one goroutine at a time.
func (r *run) askApart(ctx context.Context, c *conn, q *drainQueue) (ready, consumers int64, err error) {
	if !c.answersApart() {
		return 0, 0, errNoneToAsk
	}
	ch, err := c.spare(ctx)
	if err != nil {
		return 0, 0, err
	}
	return askQueue(ctx, ch, r.queueName(q.index))
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
