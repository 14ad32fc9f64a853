package loadcore

// feed is what the run's producers bring to a queue.
type feed struct {
	// expected counts the deliveries of a queue that began empty and whose producers are all known; -1 where that cannot be counted.
	expected int64
	// unconfirmed: a producer without confirms publishes to it, or may.
	unconfirmed bool
}

// feeds are those of all queues, in one pass over the producers: there may be as many of either as file descriptors.
func (r *run) feeds() []feed {
	all := make([]feed, len(r.plan.Topology.Queues))
	for i := range all {
		// A cut: what was in doubt may have come or not.
		if ready := r.plan.Topology.Queues[i].ReadyAtStart; ready == nil || *ready != 0 || r.cut.Load() {
			all[i].expected = -1
		}
	}
	unknown, unknownUnconfirmed := false, false
	for _, p := range r.producers {
		unconfirmed, n := p.win == nil && p.tx == nil, p.arriving()
		reached, known := r.reach(p)
		if !known {
			unknown, unknownUnconfirmed = true, unknownUnconfirmed || unconfirmed
		}
		for queue, routes := range reached {
			f := &all[queue]
			f.unconfirmed = f.unconfirmed || unconfirmed
			switch {
			case f.expected < 0:
			case routes < max(p.spec.Routes, 1):
				f.expected = -1
			default:
				f.expected += n
			}
		}
	}
	for i := range all {
		if unknown {
			all[i].expected = -1
		}
		all[i].unconfirmed = all[i].unconfirmed || unknownUnconfirmed
	}
	return all
}

// arriving is how many messages of the producer each of its queues is to get.
func (p *producer) arriving() int64 {
	switch {
	case p.win != nil:
		return p.count.confirmed.Load() - p.count.returned.Load()
	case p.tx != nil:
		return p.count.committed.Load() - p.count.returned.Load()
	}
	return p.count.sent.Load()
}

// reach counts by queue how many of the producer's routes lead there. Where one of them is not known it is not all of them.
func (r *run) reach(p *producer) (routes map[int]int, known bool) {
	routes, known = make(map[int]int, 1), true
	for _, route := range r.routesOf(p) {
		known = known && route.Known
		for _, queue := range route.Queues {
			routes[queue]++
		}
	}
	return routes, known
}
