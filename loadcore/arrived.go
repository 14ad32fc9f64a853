package loadcore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Rule 1 of draining: what was published has arrived.

// confirmNotes says whose confirms are missing.
func (r *run) confirmNotes() []string {
	var notes sayings
	for _, p := range r.producers {
		if n := p.unsettled(); n > 0 {
			what := "unconfirmed"
			if p.tx != nil {
				what = "uncommitted"
			}
			notes.add("producer", int(p.index), messages(n)+" "+what)
		}
	}
	return notes.list()
}

// proveArrived is rule 1: confirms and commits say so themselves, and what was published without is asked for. The notes say what
// could not be proved.
func (r *run) proveArrived(ctx context.Context, queues []*drainQueue) []string {
	asked := slices.DeleteFunc(slices.Clone(r.producers), func(p *producer) bool { return p.win != nil || p.tx != nil || p.seq == 0 })
	var mu sync.Mutex // guards notes
	var notes sayings
	leaves := len(r.plan.Consumers) == 0 || // those of other processes, whenever they like
		slices.ContainsFunc(r.consumers, func(s *consumer) bool { return s.spec.Limit > 0 || s.spec.ExitWhen != "" })
	forEach(len(asked), askAtOnce, func(i int) error {
		for _, q := range r.routeQueues(asked[i]) {
			if err := r.askOnPublishingChannel(ctx, asked[i], queues[q], leaves); err != nil {
				text := "it could not be proved that its messages have arrived: " + strings.ReplaceAll(err.Error(), "\n", "; ")
				if ctx.Err() != nil {
					text = "it could not be proved in time that its messages have arrived: they have no confirms, and the broker has not yet answered what was asked behind them"
				}
				mu.Lock()
				notes.add("producer", int(asked[i].index), text)
				mu.Unlock()
				return nil
			}
		}
		return nil
	})
	if len(asked) > 0 && len(notes.all) == 0 {
		now := r.clock.Now()
		r.outcome.ArrivedNS = &now
	}
	return notes.list()
}

// askOnPublishingChannel makes a round trip behind everything that the producer has published: through the queue, which tells what
// it holds, or, where the queue may be gone with its last consumer, or is another connection's, and asking for it would cost the
// channel, through the broker's channel only. leaves: consumers may leave by themselves.
func (r *run) askOnPublishingChannel(ctx context.Context, p *producer, q *drainQueue, leaves bool) error {
	ch := p.current.Load()
	if q.spec.AutoDelete && leaves || q.owner != nil && q.owner != ch.conn {
		_, err := ch.call(ctx, &wire.ExchangeDeclare{Exchange: "amq.direct", Type: "direct", Passive: true}, wire.ExchangeDeclareOkID)
		return err
	}
	ready, _, err := askQueue(ctx, ch, r.queueName(q.index))
	if err == nil {
		q.ready.Store(ready)
	}
	return err
}

// routeQueues are the queues that a producer's messages reach; where that is unknown, all that the run knows.
func (r *run) routeQueues(p *producer) []int {
	reached, known := r.reach(p)
	if !known {
		all := make([]int, len(r.plan.Topology.Queues))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return slices.Sorted(maps.Keys(reached))
}

func (r *run) routesOf(p *producer) []manifest.Route {
	return r.plan.Topology.Routes[p.spec.Route : p.spec.Route+max(p.spec.Routes, 1)]
}
