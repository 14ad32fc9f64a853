package analyze

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// marks are those of all captures, on the common clock.
func (a *analysis) marks() (all []result.Mark) {
	for _, c := range a.captures {
		for i := range c.marks {
			m := &c.marks[i]
			all = append(all, result.Mark{AtNS: m.AtNS + c.shift, Text: m.Text, Queue: m.Purged, From: m.From})
		}
	}
	slices.SortStableFunc(all, func(x, y result.Mark) int { return cmp.Compare(x.AtNS, y.AtNS) })
	return all
}

// markFacts tells the ledger what marks say about queues.
func (a *analysis) markFacts() {
	f := &a.facts
	for _, c := range a.captures {
		for _, why := range c.markDamage {
			f.MarkDamage = append(f.MarkDamage, filepath.Join(filepath.Base(filepath.Clean(c.dir)), manifest.MarksName)+": "+why)
		}
	}
	for _, m := range a.marks() {
		if m.Queue == "" {
			continue
		}
		if !a.expected.CanBePurged(m.Queue) {
			f.MarkDamage = append(f.MarkDamage, fmt.Sprintf("%q says that %q was purged, which is no queue of the captures, or a stream", m.Text, m.Queue))
			continue
		}
		if f.Purges == nil {
			f.Purges = map[string][]int64{}
		}
		f.Purges[m.Queue] = append(f.Purges[m.Queue], m.AtNS)
	}
}
