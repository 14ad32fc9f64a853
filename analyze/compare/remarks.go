package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// remarks say how to read the comparison, the most important one first.
func (c *comparison) remarks() (all []string) {
	if c.Method == result.ByBlocks {
		all = append(all, "One run each: how much runs of the same configuration differ from each other is unknown, so that no change seen here is known to come "+
			"from what was changed. The intervals (block bootstrap within each run) tell only how well a run knows its own figures. Record repeats: leveret run --repeat.")
	}
	all = append(all, c.brokerRemarks()...)
	for _, d := range c.Differences {
		if d.Within {
			all = append(all, "Runs of one group differ in "+d.What+": they are no repeats of each other, and what that does looks like noise.")
		}
	}
	if c.Method == result.ByRanks {
		all = append(all, c.orderRemarks()...)
		all = append(all, fmt.Sprintf("The run is the unit of sampling. Values are medians of runs, changes the median over all pairs of a candidate's and a base's run, with the %s interval of "+
			"Hodges and Lehmann, each by itself. p is of the rank sum test, adjusted by Holm: of comparisons in which nothing changed at most %g %% claim any change.", c.levels(), 100*errorRate))
	} else {
		all = append(all, fmt.Sprintf("Intervals are %g %%, each by itself; p is adjusted by Holm. higher and lower say which way the two runs differ.", 100*level))
	}
	return append(all, "~ is noise: a change that large may be seen where nothing changed. A count that goes from 0 to something, or to 0, is judged by how many runs had it.")
}

// levels that the intervals have: the wanted one, or less where so few runs allow no more.
func (c *comparison) levels() string {
	least, most := level, 0.0
	for i := range c.Metrics {
		for k := range c.Metrics[i].Changes {
			if l := c.Metrics[i].Changes[k].Level; l > 0 {
				least, most = min(least, l), max(most, min(l, level))
			}
		}
	}
	if least < most {
		return fmt.Sprintf("%.3g to %.3g %%", 100*least, 100*most)
	}
	return fmt.Sprintf("%.3g %%", 100*least)
}

// brokerRemarks: what an embedded broker, a failed or an incomplete run does to the figures.
func (c *comparison) brokerRemarks() (all []string) {
	embedded, other, failed := 0, 0, 0
	for _, g := range c.Groups {
		for _, r := range g.Runs {
			if r.Embedded {
				embedded++
			} else {
				other++
			}
			if r.Verdict == result.Fail || !r.Complete {
				failed++
			}
		}
	}
	switch {
	case embedded > 0 && other > 0:
		all = append(all, "Some runs went through the embedded broker, and measure leveret, not RabbitMQ; others did not. Their figures are not of the same thing.")
	case embedded > 0:
		all = append(all, "Embedded broker: these runs measure leveret, not RabbitMQ.")
	}
	if failed > 0 {
		all = append(all, result.Plural(int64(failed), "run")+" failed or left an incomplete recording: their figures stand for what was recorded, and may be of another thing than the others'.")
	}
	return all
}

// orderRemarks: groups that were recorded one after the other share whatever went on then.
func (c *comparison) orderRemarks() (all []string) {
	span := func(g *result.ComparedGroup) (first, last int64) {
		first, last = math.MaxInt64, math.MinInt64
		for _, r := range g.Runs {
			first, last = min(first, r.StartedNS), max(last, r.StartedNS)
		}
		return first, last
	}
	var apart, shared []string
	baseFirst, baseLast := span(&c.Groups[0])
	for i := range c.Groups[1:] {
		g := &c.Groups[i+1]
		if first, last := span(g); (first > baseLast || last < baseFirst) && len(g.Runs)+len(c.Groups[0].Runs) > 2 {
			apart = append(apart, g.Label)
		}
		if slices.ContainsFunc(g.Runs, func(r result.ComparedRun) bool {
			return slices.ContainsFunc(c.Groups[0].Runs, func(b result.ComparedRun) bool { return slices.Equal(b.Captures, r.Captures) && len(r.Captures) > 0 })
		}) {
			shared = append(shared, g.Label)
		}
	}
	if len(shared) > 0 {
		all = append(all, "Base and "+strings.Join(shared, ", ")+" have runs in common.")
	}
	if len(apart) > 0 && len(shared) == 0 {
		all = append(all, "All runs of the base were made before or after those of "+strings.Join(apart, ", ")+": what went on on the machines meanwhile looks like a change. "+
			"leveret run --repeat with --variant makes them in turn.")
	}
	return all
}
