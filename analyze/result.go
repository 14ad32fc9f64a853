package analyze

import (
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// result puts everything that was found into plain values.
func (a *analysis) result() *result.Result {
	j := a.judgement
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Verdict:       j.Verdict, Findings: j.Findings, Counts: j.Counts, Queues: j.Queues,
		Complete:   len(a.facts.Incomplete) == 0,
		Window:     a.describeWindow(),
		IntervalNS: a.time.step,
		Spans:      a.facts.Spans,
		Marks:      a.marks(),
		Notes:      a.notes,
	}
	for _, c := range a.captures {
		r.Captures = append(r.Captures, c.dir)
		r.Growing = r.Growing || c.growing
		for _, n := range c.rows {
			r.Rows += n
		}
		describeCapture(r, c)
	}
	if a.facts.SeveralBrokers {
		r.Broker = result.Broker{Product: severalBrokers(a.captures)}
	}
	r.Config = a.config()
	r.Topology = a.topology()
	if len(a.facts.NotOneRun) == 0 { // there is no rate of several runs
		r.Rates = a.rates()
	}
	r.Intervals = a.intervals()
	r.Series = a.latency.series
	r.Latency = a.latencyOf(&a.latency.whole)
	r.AckLatency = a.latency.ack.distribution(a.answersUntil() != event.None)
	r.ConfirmFrames = a.observed.frames.result()
	_, r.Clocks = a.clocks.describe()
	r.LatencyNote = a.latencyNote(r)
	r.LatencyRemarks = a.latencyRemarks()
	r.Groupings = a.describeGroupings()
	r.Disruption = a.disruption()
	r.Churn = a.churn()
	r.Steadiness, r.Fairness, r.Waiting = a.steadiness(r), a.fairness(), a.waiting(r)
	for g, name := range groupNames {
		if c, ok := a.latency.whole[g].curve(name[0], name[1]); ok {
			r.Curves = append(r.Curves, c)
		}
	}
	r.Histograms, r.HeatMaps = a.latency.histograms(), a.latency.heatMaps()
	if a.clocks.refused {
		a.clocks.withhold(r)
	}
	r.BrokerSide = a.describeBrokerSide(&r.Counts)
	r.LimitedBy, r.Generator = a.facts.LimitedBy, a.generator()
	return r
}

var groupNames = [groups][2]string{
	confirmService: {"confirm", "service"}, confirmResponse: {"confirm", "response"},
	deliveryService: {"delivery", "service"}, deliveryResponse: {"delivery", "response"},
	commitService: {"commit", "service"}, commitResponse: {"commit", "response"},
}

// describeCapture takes over what the first manifest that tells it says of run, broker and host.
func describeCapture(r *result.Result, c *source) {
	if r.ID == "" {
		r.ID = c.id
	}
	m := c.manifest
	if m == nil {
		return
	}
	if r.Broker == (result.Broker{}) {
		b := &m.Broker
		r.Broker = result.Broker{Embedded: b.Embedded, Product: b.Product, Version: b.Version, URI: b.URI, SameHost: b.SameHost}
		r.Host = result.Host{Name: m.Host.Name, OS: m.Host.OS, Arch: m.Host.Arch, CPUs: m.Host.CPUs, CPUModel: m.Host.CPUModel}
	}
	r.Broker.Embedded = r.Broker.Embedded || m.Broker.Embedded
	for _, n := range m.Notes {
		if !slices.Contains(r.Notes, n) {
			r.Notes = append(r.Notes, n)
		}
	}
	if o := m.Outcome; o != nil {
		if r.StopReason == "" || len(m.Producers) > 0 {
			r.StopReason = o.StopReason
		}
		for why, n := range o.Ends {
			if r.Ends == nil {
				r.Ends = map[string]int{}
			}
			r.Ends[why] += n
		}
		if o.CPUNS > 0 {
			cpu := o.CPUNS
			if r.ClientCPUNS != nil {
				cpu += *r.ClientCPUNS
			}
			r.ClientCPUNS = &cpu
		}
	}
	if r.StopReason == "" && c.growing {
		r.StopReason = "not yet: the recording goes on"
	}
	if r.StopReason == "" {
		r.StopReason = "unknown: the recording was not closed"
	}
}

// latencyOf makes the distributions of one cell of each group.
func (a *analysis) latencyOf(cells *[groups]*cell) result.Latencies {
	bounded := a.answersUntil() != event.None
	of := func(g int) *result.Distribution { return cells[g].distribution(bounded) }
	return result.Latencies{
		Confirm:  result.Latency{Service: of(confirmService), Response: of(confirmResponse)},
		Delivery: result.Latency{Service: of(deliveryService), Response: of(deliveryResponse)},
		Commit:   result.Latency{Service: of(commitService), Response: of(commitResponse)},
	}
}

// answersUntil is how long answers would have been recorded: a message without one took at least until then. Where the
// record is not whole, nothing is known of that.
func (a *analysis) answersUntil() int64 {
	if len(a.facts.Incomplete) > 0 {
		return event.None
	}
	return max(a.window.end, a.window.drainEnd)
}

func (a *analysis) intervals() []result.Interval {
	out := make([]result.Interval, 0, len(a.time.counts))
	backlog, known := int64(0), a.backlogKnown()
	flight := a.inFlight()
	for _, i := range a.time.ordered() {
		n := &a.time.counts[i]
		from, to := a.time.bounds(i)
		x := result.Interval{
			StartNS: from, EndNS: to, Phase: a.time.phase(i),
			Due: n.due, Sent: n.sent, Republished: n.republished, InDoubt: n.inDoubt, Confirmed: n.confirmed, Committed: n.committed, Nacked: n.nacked, Returned: n.returned, Received: n.received,
		}
		if i < a.time.run {
			var cells [groups]*cell
			for g := range cells {
				cells[g] = a.latency.cells[g][i]
			}
			x.Latency = a.latencyOf(&cells)
		}
		backlog += n.arrivals
		x.Self = a.observed.interval(i)
		if known {
			b := backlog
			x.BacklogEnd = &b
		}
		x.InFlightEnd = flight(n)
		out = append(out, x)
	}
	return out
}

// generator is nil where nothing tells of it.
func (a *analysis) generator() *result.Generator {
	g := &result.Generator{
		Limit: a.facts.Limit, Batches: a.observed.batches.result(), Lateness: a.latency.late.distribution(a.answersUntil() != event.None),
		Self: a.observed.during(func(i int) bool { return i < a.time.run }, len(a.captures)), LostShare: a.course.lostShare,
	}
	if *g == (result.Generator{}) {
		return nil
	}
	return g
}

// backlogKnown: something was sent, the queues it reaches are known, and somebody consumes.
func (a *analysis) backlogKnown() bool {
	return a.judgement.Counts.Sent > 0 && a.ledger.RoutesKnown() && slices.ContainsFunc(a.captures, (*source).consumes)
}

// latencyNote says why a latency that could be expected is not there.
func (a *analysis) latencyNote(r *result.Result) string {
	publishes := slices.ContainsFunc(a.captures, (*source).publishes)
	consumes := slices.ContainsFunc(a.captures, (*source).consumes)
	note := ""
	add := func(text string) {
		if note != "" {
			note += "; "
		}
		note += text
	}
	if r.Latency.Confirm.Service == nil {
		switch {
		case !publishes:
			add("no confirm latency: no producers were recorded")
		case r.Config.Confirm == 0 && r.Config.PublishTxSize > 0: // has commit latency instead
		case r.Config.Confirm == 0:
			add("no confirm latency: confirms were off")
		default:
			add("no confirm latency: no message was sent in the window with confirms on")
		}
	}
	d := r.Latency.Delivery
	switch {
	case !consumes:
		add("no delivery latency: no consumers were recorded")
	case a.window.stamped && d.Response != nil:
		add("delivery latency from the due times in the messages' stamps: their producers were not recorded, nor their clock")
	case a.window.stamped:
		add("no delivery latency: the producers were not recorded, and no message carries a due time")
	case a.clocks.refused:
		add("no delivery latency: the clocks of senders and receivers differ by an unknown time; have messages go both ways between the hosts, or keep their clocks synchronized (chrony, ntpd) so that their systems know how far off they may be")
	case d.Service == nil:
		add("no delivery latency: no message of the window was received")
	}
	if r.Config.PublishTxSize > 0 && r.Latency.Commit.Service == nil {
		add("no commit latency: no message was sent in the window in a transaction")
	}
	if publishes && r.Latency.Confirm.Response == nil && r.Latency.Commit.Response == nil && d.Response == nil &&
		(r.Latency.Confirm.Service != nil || r.Latency.Commit.Service != nil || d.Service != nil) {
		add("no response latency: closed loop, no message had a due time")
	}
	return note
}
