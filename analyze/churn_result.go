package analyze

import (
	"leveret/analyze/result"
	"leveret/capture/event"
)

// churn describes the operations of each capture that has some.
func (a *analysis) churn() (all []result.Churn) {
	bounded := len(a.facts.Incomplete) == 0
	for _, x := range a.latency.churned {
		all = append(all, x.result(bounded))
	}
	return all
}

func (x *churned) result(bounded bool) result.Churn {
	n := &x.counts
	c := result.Churn{
		Capture: x.source.dir, RowsMissing: x.rowsMissing(), Made: n.made, Failed: n.failed, NotBegun: n.notBegun, Undone: n.undone, UndoFailed: n.undoFailed,
		Make:  result.Latency{Service: x.make.service.distribution(bounded), Response: x.make.response.distribution(bounded)},
		Undo:  result.Latency{Service: x.undo.service.distribution(bounded)},
		Steps: []result.ChurnStep{}, Failures: []result.ChurnFailure{},
	}
	if m := x.spec; m != nil {
		c.What, c.Description, c.OpenLoop = m.What, m.Describe(), m.Timed()
		if c.OpenLoop {
			rate := m.Schedule().MeanRate()
			c.TargetPerS = &rate
		}
	} else {
		c.OpenLoop = c.Make.Response != nil
	}
	if o := x.source.outcome(); o != nil && o.Churn != nil {
		e := o.Churn
		c.CleanedUp, c.Left, c.MostAlive = &e.CleanedUp, &e.LeftCount, &e.MostAlive
	}
	for i := range x.steps {
		s, step := &x.steps[i], event.ChurnStep(i)
		if s.done+s.failed > 0 {
			c.Steps = append(c.Steps, result.ChurnStep{Step: step.String(), Undoes: step.Undoes(), Done: s.done, Failed: s.failed, Service: s.cell.distribution(bounded)})
		}
	}
	for _, f := range x.sortedFailures() {
		c.Failures = append(c.Failures, result.ChurnFailure{Step: f.step.String(), Outcome: f.outcome.String(), Code: int(f.code), Text: f.text, Count: x.failures[f]})
	}
	if x.otherTexts > 0 {
		c.Failures = append(c.Failures, result.ChurnFailure{Step: "various", Outcome: "various", Text: "other texts", Count: x.otherTexts})
	}
	x.describeIntervals(&c, bounded)
	return c
}

// describeIntervals adds the course in time, and the rates.
func (x *churned) describeIntervals(c *result.Churn, bounded bool) {
	for _, i := range x.t.ordered() {
		in := &x.intervals[i]
		from, to := x.t.bounds(i)
		c.Intervals = append(c.Intervals, result.ChurnInterval{StartNS: from, EndNS: to, Phase: x.t.phase(i),
			Due: in.due, Made: in.made, Failed: in.failed, Undone: in.undone, UndoFailed: in.undoFailed, Latency: in.cell.distribution(bounded)})
	}
	c.StartNS, c.EndNS = x.from, max(x.from, x.to)
	if span := c.EndNS - c.StartNS; span > 0 {
		perSecond := func(n int64) *float64 {
			v := float64(n) / (float64(span) / 1e9)
			return &v
		}
		c.MadePerS, c.UndonePerS = perSecond(x.inMade), perSecond(x.inUndone)
	}
}
