package loadcore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// How consumers begin: control plane.

// prepare readies the consumer's channel, which has just been opened.
func (s *consumer) prepare(ctx context.Context) error {
	for _, m := range []struct {
		count  int
		global bool
	}{{s.spec.Prefetch, false}, {s.spec.GlobalPrefetch, true}} { // RabbitMQ lifts the channel's limit with one of its consumers
		if m.count == 0 {
			continue
		}
		qos := &wire.BasicQos{PrefetchCount: uint16(m.count), Global: m.global}
		if _, err := s.ch.call(ctx, qos, wire.BasicQosOkID); err != nil {
			return fmt.Errorf("consumer %d: %w", s.index, err)
		}
	}
	if s.tx != nil {
		if _, err := s.ch.call(ctx, &wire.TxSelect{}, wire.TxSelectOkID); err != nil {
			return fmt.Errorf("consumer %d: %w", s.index, err)
		}
		s.tx.frame = wire.AppendMethod(nil, s.ch.number, &wire.TxCommit{})
	}
	switch {
	case !s.spec.Polling:
	case s.polls == nil:
		s.polls = newPolls(s)
	default:
		s.polls.gets = newPolls(s).gets // the queue may have another name
	}
	return nil
}

// beginsLater reports whether the consumer begins to consume after the load has begun: a get of a polling one would be
// part of no rate before.
func (s *consumer) beginsLater() bool { return s.spec.StartDelayNS > 0 || s.spec.Polling }

// subscribe starts consuming what the consumer does not consume yet, and was not kept from; deliveries may come before it returns.
func (s *consumer) subscribe(ctx context.Context) error {
	o := s.eng.plan.connectOptions(0)
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	s.wanted.Store(true) // before the channel is looked at: see restoreLane
	ch := s.current.Load()
	args := tableOf(s.spec.Arguments)
	for i := range s.queues {
		q := &s.queues[i]
		if !q.state.CompareAndSwap(notYet, subscribed) || s.spec.Polling {
			continue
		}
		name := s.eng.queueName(int(q.queue))
		m := &wire.BasicConsume{Queue: name, ConsumerTag: consumerTag(i), NoAck: s.spec.AutoAck, Arguments: args}
		if _, err := ch.call(ctx, m, wire.BasicConsumeOkID); err != nil {
			q.state.CompareAndSwap(subscribed, notYet)
			return ch.conn.laneError(fmt.Errorf("consumer %d, queue %s: %w", s.index, name, err), o)
		}
	}
	s.begun.CompareAndSwap(0, s.eng.clock.Now())
	if s.spec.Polling {
		ch.conn.poke()
	}
	return nil
}

// streamOffset is the consumer argument that says where in a stream to begin.
const streamOffset = "x-stream-offset"

// tableOf turns arguments into the protocol's form.
func tableOf(args []manifest.Arg) wire.Table {
	var table wire.Table
	for _, a := range args {
		v := a.Value
		switch n := v.(type) {
		case int:
			v = int64(n)
		case float64: // a number read back from a manifest
			v = int64(n)
		case manifest.Timestamp:
			v = wire.Timestamp(n)
		}
		table = append(table, wire.Field{Key: a.Key, Value: v})
	}
	return table
}

// starter begins the consumers whose time comes after the load has begun.
type starter struct {
	waiting []*consumer // in the order of their delays
	stop    chan struct{}
	done    sync.WaitGroup
}

func (r *run) newStarter() *starter {
	st := &starter{stop: make(chan struct{})}
	for _, s := range r.consumers {
		if s.beginsLater() {
			st.waiting = append(st.waiting, s)
		}
	}
	slices.SortStableFunc(st.waiting, func(a, b *consumer) int { return int(min(max(a.spec.StartDelayNS-b.spec.StartDelayNS, -1), 1)) })
	return st
}

// run begins one group of consumers with the same delay after the other.
func (st *starter) run(r *run, barrier int64) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for rest := st.waiting; len(rest) > 0; {
		delay, n := rest[0].spec.StartDelayNS, 1
		for n < len(rest) && rest[n].spec.StartDelayNS == delay {
			n++
		}
		timer.Reset(time.Duration(addClock(barrier, uint64(delay)) - r.clock.Now()))
		select {
		case <-timer.C:
		case <-st.stop:
			return
		}
		forEach(n, askAtOnce, func(i int) error {
			s := rest[i]
			if err := s.subscribe(r.draining); err != nil && !s.current.Load().isGone() { // the end of a channel is reported already
				lane := int(s.index)
				r.failed(manifest.Failure{AtNS: r.clock.Now(), Connection: s.spec.Connection, Consumer: &lane, Text: err.Error()})
				r.consumerEnded(s)
			}
			return nil
		})
		rest = rest[n:]
		r.wakeMain()
	}
}

// end keeps those from beginning that have not begun; it waits for one that is at it.
func (st *starter) end() {
	close(st.stop)
	st.done.Wait()
}
