package loadcore

import (
	"context"
	"fmt"
	"slices"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Rule 1 of draining: what was published has arrived.

// confirmNotes says whose confirms are missing.
func (r *run) confirmNotes() (notes []string) {
	for _, p := range r.producers {
		if n := p.unsettled(); n > 0 {
			what := "unconfirmed"
			if p.tx != nil {
				what = "uncommitted"
			}
			notes = append(notes, fmt.Sprintf("producer %d: %s %s", p.index, messages(n), what))
		}
	}
	return notes
}

// proveArrived is rule 1.
func (r *run) proveArrived(ctx context.Context) error {
	return forEach(len(r.producers), askAtOnce, func(i int) error {
		p := r.producers[i]
		if p.win != nil || p.tx != nil || p.seq == 0 { // confirms and commits say so themselves
			return nil
		}
		for _, q := range r.routeQueues(p) {
			if err := r.askOnPublishingChannel(ctx, p, q); err != nil && ctx.Err() != nil {
				return fmt.Errorf("producer %d: it could not be proved in time that its messages have arrived: they have no confirms, and the broker has not yet answered what was asked behind them", i)
			} else if err != nil {
				return fmt.Errorf("producer %d: it could not be proved that its messages have arrived: %w", i, err)
			}
		}
		return nil
	})
}

// askOnPublishingChannel makes a round trip behind everything that the producer has published: through the queue, or, where
// the queue may be gone with its last consumer, or is another connection's, and asking for it would cost the channel, through
// the broker's channel only.
func (r *run) askOnPublishingChannel(ctx context.Context, p *producer, queue int) error {
	q := &r.plan.Topology.Queues[queue]
	leaves := len(r.plan.Consumers) == 0 || // those of other processes, whenever they like
		slices.ContainsFunc(r.plan.Consumers, func(c manifest.Consumer) bool { return c.Limit > 0 || c.ExitWhen != "" })
	if owner := r.ownerOf(q, queue); q.AutoDelete && leaves || owner != nil && owner != p.current.Load().conn {
		_, err := p.current.Load().call(ctx, &wire.ExchangeDeclare{Exchange: "amq.direct", Type: "direct", Passive: true}, wire.ExchangeDeclareOkID)
		return err
	}
	_, err := p.current.Load().call(ctx, &wire.QueueDeclare{Queue: r.queueName(queue), Passive: true}, wire.QueueDeclareOkID)
	return err
}

// routeQueues are the queues that a producer's messages reach; where that is unknown, all that the run knows.
func (r *run) routeQueues(p *producer) []int {
	var reached []int
	for _, route := range r.routesOf(p) {
		if !route.Known {
			all := make([]int, len(r.plan.Topology.Queues))
			for i := range all {
				all[i] = i
			}
			return all
		}
		for _, q := range route.Queues {
			if !slices.Contains(reached, q) {
				reached = append(reached, q)
			}
		}
	}
	return reached
}

func (r *run) routesOf(p *producer) []manifest.Route {
	return r.plan.Topology.Routes[p.spec.Route : p.spec.Route+max(p.spec.Routes, 1)]
}
