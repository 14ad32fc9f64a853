package loadcore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Consumers that stop by themselves (exit when idle, or empty): control plane. A consumer to which nothing has come for
// over a second, and that has nothing left to work on, acks its tail, cancels its subscriptions and counts as finished;
// with empty, only if one of its queues has nothing ready, as a passive declare on its channel answers.
const (
	exitLook  = 250 * time.Millisecond
	exitAgain = time.Second     // between two questions of one consumer
	exitIdle  = time.Second     // nothing has come for longer than this
	exitAfter = 2 * time.Second // from when it began: PerfTest's first look
)

// exitWatch is what is remembered of one consumer.
type exitWatch struct {
	seen  int64 // messages received and worked on
	since int64 // when that changed last, as far as was noticed
	again int64 // not to be asked before
}

// exits watches the consumers that stop by themselves.
type exits struct {
	stop chan struct{}
	done sync.WaitGroup
}

// watchExits begins to watch; nil if no consumer stops by itself.
func (r *run) watchExits() *exits {
	var watched []*consumer
	for _, s := range r.consumers {
		if s.spec.ExitWhen != "" {
			watched = append(watched, s)
		}
	}
	if len(watched) == 0 {
		return nil
	}
	x := &exits{stop: make(chan struct{})}
	x.done.Go(func() {
		ticker := time.NewTicker(exitLook)
		defer ticker.Stop()
		watches := make([]exitWatch, len(watched))
		for {
			select {
			case <-ticker.C:
			case <-x.stop:
				return
			}
			now := r.clock.Now()
			forEachOf(watched, watches, func(s *consumer, w *exitWatch) bool { return w.quiet(s, now) }, func(s *consumer, w *exitWatch) {
				r.exit(r.draining, s, w)
			})
		}
	})
	return x
}

// forEachOf calls do for those that are chosen, some at the same time.
func forEachOf(consumers []*consumer, watches []exitWatch, choose func(*consumer, *exitWatch) bool, do func(*consumer, *exitWatch)) {
	var chosen []int
	for i, s := range consumers {
		if choose(s, &watches[i]) {
			chosen = append(chosen, i)
		}
	}
	forEach(len(chosen), askAtOnce, func(i int) error {
		do(consumers[chosen[i]], &watches[chosen[i]])
		return nil
	})
}

// end ends the watching; it waits for an exit that is under way.
func (x *exits) end() {
	if x != nil {
		close(x.stop)
		x.done.Wait()
	}
}

// quiet reports whether the consumer has been idle for long enough.
func (w *exitWatch) quiet(s *consumer, now int64) bool {
	begun := s.begun.Load()
	if begun == 0 || !s.live() || s.mending.Load() {
		return false
	}
	received, worked := s.count.received.Load(), s.count.worked.Load()
	if seen := received + worked; seen != w.seen || w.since == 0 || s.work != nil && worked < received {
		w.seen, w.since = seen, now
		return false
	}
	return now-begun >= int64(exitAfter) && now-w.since > int64(exitIdle) && now >= w.again
}

// exit has an idle consumer leave, if it may.
func (r *run) exit(ctx context.Context, s *consumer, w *exitWatch) {
	w.again = r.clock.Now() + int64(exitAgain)
	limit := r.plan.connectOptions(0).Timeout
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	leaving := true
	var err error
	if s.spec.ExitWhen == manifest.ExitEmpty {
		leaving, err = anyEmpty(asking, s)
	}
	if err == nil && leaving {
		s.flushAcks.Store(true)
		s.current.Load().conn.poke()
		err = r.cancel(asking, s)
	}
	if isTimeout(err) && s.live() && !s.mending.Load() {
		r.consumerFailed(s, fmt.Sprintf("%v (%v, --connect-timeout)", err, limit))
	}
	if err != nil || !leaving { // an error else: the channel is gone, and the lane's end says so
		return
	}
	for s.live() && ctx.Err() == nil && !r.allAcked(ctx, []drainPart{{s, 0}}) {
	}
	if s.ended.Load() || ctx.Err() != nil {
		return
	}
	s.left.Store(true)
	s.finished.Store(true)
	r.wakeMain()
}

// anyEmpty reports whether a queue of the consumer has nothing ready. Unacked messages are not seen that way.
func anyEmpty(ctx context.Context, s *consumer) (bool, error) {
	for i := range s.queues {
		ready, _, err := askQueue(ctx, s.current.Load(), s.eng.queueName(int(s.queues[i].queue)))
		if err != nil || ready == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// cancel ends what a consumer consumes. What comes before a cancel-ok, or answers its last get, is recorded and acked like
// everything else.
func (r *run) cancel(ctx context.Context, s *consumer) error {
	for k := range s.queues {
		q := &s.queues[k]
		q.state.CompareAndSwap(notYet, cancelled)
		if s.current.Load().isGone() || !q.state.CompareAndSwap(subscribed, cancelled) || s.polls != nil {
			continue
		}
		if err := s.cancelOne(ctx, k); err != nil {
			return err
		}
	}
	for s.polls != nil && s.polls.asking.Load() && !s.current.Load().isGone() {
		if ctx.Err() != nil {
			return &unansweredError{wire.BasicGetID, s.current.Load().number, ctx.Err()}
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// ends counts the lanes that ended by themselves, by why.
func (r *run) ends() map[string]int {
	n := map[string]int{}
	for _, p := range r.producers {
		if p.spec.Limit > 0 && p.seq >= p.limit {
			n[manifest.EndProducerLimit]++
		}
	}
	for _, s := range r.consumers {
		switch {
		case s.left.Load():
			n[endOf[s.spec.ExitWhen]]++
		case s.finished.Load():
			n[manifest.EndConsumerLimit]++
		}
	}
	if len(n) == 0 {
		return nil
	}
	return n
}

// endOf says how a consumer has ended that may stop by itself.
var endOf = map[string]string{manifest.ExitIdle: manifest.EndConsumerIdle, manifest.ExitEmpty: manifest.EndConsumerEmpty}
