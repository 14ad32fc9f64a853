package analyze

import (
	"slices"

	"leveret/capture/manifest"
)

// inFlight gives, shown the counts of one interval after the other, how many messages wait for the broker's answer at its end:
// nil where some producers await none, and where not every send and answer is in the record.
func (a *analysis) inFlight() func(*intervalCounts) *int64 {
	waits := func(of func(p *manifest.Producer) bool) bool {
		producers := 0
		for _, c := range a.captures {
			if c.manifest == nil {
				return false
			}
			producers += len(c.manifest.Producers)
			if slices.ContainsFunc(c.manifest.Producers, func(p manifest.Producer) bool { return !of(&p) }) {
				return false
			}
		}
		return producers > 0
	}
	answered := func(n *intervalCounts) int64 { return n.confirmed + n.nacked }
	switch {
	case waits(func(p *manifest.Producer) bool { return p.TxSize > 0 }):
		answered = func(n *intervalCounts) int64 { return n.committed }
	case !waits(func(p *manifest.Producer) bool { return p.Confirm > 0 && p.TxSize == 0 }):
		return func(*intervalCounts) *int64 { return nil }
	}
	open := int64(0)
	return func(n *intervalCounts) *int64 {
		open += n.sent + n.republished - answered(n) - n.inDoubt // what is in doubt is awaited no more, unless it is sent again
		now := open
		return &now
	}
}
