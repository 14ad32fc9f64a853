package analyze

import (
	"cmp"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// episodes put the losses together that belong together: those that overlap, and those before whose effects on the schedule were
// over. down are the times in which at least one lasted.
func (a *analysis) episodes(down []result.Span) (all []result.Episode) {
	for i, s := range down {
		next := a.window.end + 1
		if i+1 < len(down) {
			next = down[i+1].FromNS
		}
		late := a.course.movement.caughtUp(s.FromNS, s.ToNS, next)
		if n := len(all); n > 0 && all[n-1].CaughtUpNS != nil && s.FromNS-*all[n-1].CaughtUpNS < result.CatchUpNS {
			all[n-1].LastNS, all[n-1].CaughtUpNS = s.ToNS, known(late)
			continue
		}
		all = append(all, result.Episode{FirstNS: s.FromNS, LastNS: s.ToNS, CaughtUpNS: known(late)})
	}
	for i := range all {
		e := &all[i]
		e.RecoveredAll, e.FirstEffectNS, e.LastEffectNS = true, e.FirstNS, e.LastNS
	}
	for i := range a.course.outages {
		x := &a.course.outages[i]
		n, _ := slices.BinarySearchFunc(all, x.LostNS, func(e result.Episode, at int64) int { return cmp.Compare(e.LastNS, at) })
		if n < len(all) && all[n].FirstNS <= x.LostNS { // there may be as many episodes as losses
			takeIn(&all[n], x)
		}
	}
	for i := range all {
		a.describeEpisode(&all[i])
	}
	return all
}

// takeIn takes a loss into its episode.
func takeIn(e *result.Episode, x *result.Outage) {
	e.Losses++
	e.RecoveredAll = e.RecoveredAll && x.RecoveredNS != nil
	if e.Text == "" {
		e.Text = x.Text
	}
	if x.LastEffectNS != nil {
		e.LastEffectNS = max(e.LastEffectNS, *x.LastEffectNS)
	}
}

// caughtUp is when the run had caught up with its schedule after the last of some losses after which it was late; event.None: it
// never was. down are the times in which at least one lasted.
func (a *analysis) caughtUp(down []result.Span) (last int64) {
	last = event.None
	for i, s := range down {
		next := a.window.end + 1
		if i+1 < len(down) {
			next = down[i+1].FromNS
		}
		last = max(last, a.course.movement.caughtUp(s.FromNS, s.ToNS, next))
	}
	return last
}

func (a *analysis) describeEpisode(e *result.Episode) {
	e.RecoverNS = e.LastNS - e.FirstNS
	if m := a.course.movement; m != nil {
		if from, ns, ok := m.standstill([]result.Span{{FromNS: e.FirstNS, ToNS: e.LastNS}}); ok {
			e.StandstillFromNS, e.StandstillNS = &from, &ns
			e.FirstEffectNS = min(e.FirstEffectNS, from)
			e.LastEffectNS = max(e.LastEffectNS, from+ns)
		}
	}
	if e.CaughtUpNS != nil {
		after := max(*e.CaughtUpNS-e.LastNS, 0)
		e.CatchUpNS = &after
		e.LastEffectNS = max(e.LastEffectNS, *e.CaughtUpNS)
	}
}
