package analyze

import (
	"cmp"
	"math"
	"slices"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// steadiness tells when rates and latency settled, from the intervals of the window in which nothing was lost and the schedule kept
// up with; nil where there are too few, unless some were left out.
func (a *analysis) steadiness(r *result.Result) *result.Steadiness {
	var inside []*result.Interval
	s := &result.Steadiness{}
	apart := a.disturbed(r.Disruption)
	for i := range r.Intervals {
		x := &r.Intervals[i]
		if x.Phase != phaseRun || 2*(x.EndNS-x.StartNS) < r.IntervalNS { // a shorter one is no rate
			continue
		}
		if slices.ContainsFunc(apart, func(d result.Span) bool { return x.StartNS <= d.ToNS && d.FromNS < x.EndNS }) {
			s.LeftOutNS += x.EndNS - x.StartNS
			continue
		}
		inside = append(inside, x)
	}
	if len(inside) < quantile.LeastToSettle {
		if s.LeftOutNS > 0 {
			return s
		}
		return nil
	}
	rate, count := "received", func(x *result.Interval) int64 { return x.Received }
	if r.Rates.Received == nil {
		rate, count = "sent", func(x *result.Interval) int64 { return x.Sent }
	}
	var rates []float64
	for _, x := range inside {
		rates = append(rates, float64(count(x))/float64(x.EndNS-x.StartNS))
	}
	s.Rate = a.settling(rate, rates, inside)
	for _, what := range []string{"delivery", "confirm", "commit"} {
		for _, from := range []string{"response", "service"} {
			means, spans := meansOf(inside, what, from)
			if s.Latency == nil && len(means) >= quantile.LeastToSettle {
				s.Latency = a.settling(what+"."+from, means, spans)
			}
		}
	}
	return s
}

// disturbed are the times in which connections were lost, and until the run had caught up with its schedule.
func (a *analysis) disturbed(d *result.Disruption) []result.Span {
	if d == nil {
		return nil
	}
	times := downtimes(a.course.outages)
	for i := range d.Episodes {
		if e := &d.Episodes[i]; e.CaughtUpNS != nil {
			times = append(times, result.Span{FromNS: e.FirstNS, ToNS: max(e.LastNS, *e.CaughtUpNS)})
		}
	}
	slices.SortFunc(times, func(x, y result.Span) int { return cmp.Compare(x.FromNS, y.FromNS) })
	return union(times)
}

// meansOf are the mean latencies of the intervals that have one.
func meansOf(inside []*result.Interval, what, from string) (means []float64, spans []*result.Interval) {
	for _, x := range inside {
		if d := x.Latency.Pick(what, from); d != nil && d.MeanNS != nil {
			means, spans = append(means, *d.MeanNS), append(spans, x)
		}
	}
	return means, spans
}

func (a *analysis) settling(of string, values []float64, spans []*result.Interval) *result.Settling {
	s := &result.Settling{Of: of}
	if from, ok := quantile.Settled(values); ok {
		at := spans[from].StartNS - a.window.runStart
		s.Settled, s.AfterNS, s.FromStart = true, &at, from == 0
	}
	return s
}

// fairness tells how evenly the messages fell on producers, queues and consumers, of which there are two at least.
func (a *analysis) fairness() (all []result.Fairness) {
	add := func(by string, messages []int64) {
		if len(messages) < 2 || slices.Max(messages) <= 0 {
			return
		}
		sorted := slices.Sorted(slices.Values(messages))
		n, sum, squares := float64(len(sorted)), 0.0, 0.0
		for _, m := range sorted {
			sum += float64(m)
			squares += float64(m) * float64(m)
		}
		mean := sum / n
		deviation := math.Sqrt(math.Max(0, squares/n-mean*mean))
		all = append(all, result.Fairness{
			By: by, Members: len(sorted), LeastMessages: sorted[0], MedianMessages: sorted[(len(sorted)-1)/2], MostMessages: sorted[len(sorted)-1],
			Variation: deviation / mean, Jain: sum * sum / (n * squares),
		})
	}
	if slices.ContainsFunc(a.captures, (*source).publishes) {
		add("producer", a.ledger.Sent())
	}
	if slices.ContainsFunc(a.captures, (*source).consumes) {
		var queues []int64
		for _, q := range a.judgement.Queues {
			queues = append(queues, q.Counts.Received)
		}
		add("queue", queues)
		add("consumer", a.receivedBy())
	}
	return all
}

// waiting holds Little's law (J. D. C. Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961,
// 383-387) against the measured latency: mean backlog over rate is the mean time in the queue. It is told where a backlog is
// worth a finding: then the latency of delivery is that wait, and no property of the broker. Nil elsewhere.
func (a *analysis) waiting(r *result.Result) *result.Waiting {
	d := r.Latency.Delivery.Service
	if d == nil || d.MeanNS == nil || r.Rates.Received == nil || *r.Rates.Received <= 0 ||
		!slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Code == "backlog" }) {
		return nil
	}
	area, length, last := 0.0, 0.0, int64(0)
	for i := range r.Intervals {
		x := &r.Intervals[i]
		if x.BacklogEnd == nil {
			return nil
		}
		if x.Phase == phaseRun { // the backlog goes from end to end in a straight line
			area += float64(last+*x.BacklogEnd) / 2 * float64(x.EndNS-x.StartNS)
			length += float64(x.EndNS - x.StartNS)
		}
		last = *x.BacklogEnd
	}
	if length <= 0 {
		return nil
	}
	w := &result.Waiting{MeanBacklog: area / length, MsgsPerS: *r.Rates.Received, MeanLatencyNS: *d.MeanNS}
	w.WaitNS = w.MeanBacklog / w.MsgsPerS * 1e9
	return w
}
