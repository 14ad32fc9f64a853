package reports

import (
	"fmt"
	"math"

	"leveret/analyze/result"
)

// waiting prints Little's law beside the measured latency.
func (p *page) waiting(r *result.Result) {
	w := r.Waiting
	if w == nil || !isFinite(w.MeanBacklog) || !isFinite(w.MsgsPerS) || !isFinite(w.WaitNS) || !isFinite(w.MeanLatencyNS) || math.Abs(w.MeanBacklog) > 1e18 {
		return
	}
	p.field("wait", fieldColumn, "mean backlog of "+result.Plural(int64(math.Round(w.MeanBacklog)), "message")+" / "+rate(w.MsgsPerS)+" received per second = "+
		duration(w.WaitNS, p.ascii)+" in the queue (Little's law); mean delivery latency since sent "+duration(w.MeanLatencyNS, p.ascii))
}

// steadiness prints when rates and latency had settled.
func (p *page) steadiness(r *result.Result) {
	s := r.Steadiness
	if s == nil {
		return
	}
	latest := int64(0)
	say := func(name string, x *result.Settling) string {
		switch {
		case x == nil:
			return ""
		case !x.Settled || x.AfterNS == nil:
			return name + " had not settled by the middle of the window"
		case x.FromStart:
			return name + " from the window's start on"
		}
		latest = max(latest, *x.AfterNS)
		return name + " from " + duration(float64(*x.AfterNS), p.ascii) + " after the start on"
	}
	text := join("; ", say("rate", s.Rate), say("latency", s.Latency))
	if text == "" && s.LeftOutNS > 0 {
		text = "too few intervals are left to tell"
	}
	if text == "" {
		return
	}
	if latest > 0 {
		text += fmt.Sprintf(" (--warmup %s leaves out what was before)", significant(float64(latest)/1e9, 3))
	}
	if s.LeftOutNS > 0 {
		text += "; without " + duration(float64(s.LeftOutNS), p.ascii) + " in which connections were lost"
		if r.Disruption != nil && r.Disruption.CaughtUpNS != nil {
			text += " or the schedule was caught up with"
		}
	}
	p.field("steady", fieldColumn, text)
}

// fairness prints how evenly the messages fell on the members.
func (p *page) fairness(r *result.Result) {
	for i := range r.Fairness {
		f := &r.Fairness[i]
		if !isFinite(f.Variation) || !isFinite(f.Jain) {
			continue
		}
		p.field("fairness", fieldColumn, result.Plural(int64(f.Members), p.clean(f.By))+": "+result.Group(f.LeastMessages)+" to "+result.Group(f.MostMessages)+" messages, median "+
			result.Group(f.MedianMessages)+fmt.Sprintf("; coefficient of variation %.3f, Jain's index %.3f", f.Variation, f.Jain))
	}
}
