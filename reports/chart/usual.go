package chart

import (
	"slices"
	"strings"

	"leveret/analyze/result"
)

// What says nothing about a run is not drawn unless it is asked for by name.

func hasHistogram(what string) func(*result.Result) bool {
	return func(r *result.Result) bool {
		return slices.ContainsFunc(r.Histograms, func(h result.Histogram) bool { return h.What == what && len(h.Buckets) > 0 })
	}
}

// hasFrames: where every frame confirmed one message there is nothing to see.
func hasFrames(r *result.Result) bool { return r.ConfirmFrames != nil && r.ConfirmFrames.Max > 1 }

// hasMembers: at least two members of the grouping have a latency.
func hasMembers(by string) func(*result.Result) bool {
	return func(r *result.Result) bool {
		g := groupingBy(r, by)
		if what, from := spreadLatency(r, g); what != "" {
			return len(membersWith(g, what, from)) > 1
		}
		return false
	}
}

func hasSelf(figure func(*result.Self) bool) func(*result.Result) bool {
	return func(r *result.Result) bool {
		return slices.ContainsFunc(r.Intervals, func(in result.Interval) bool { return in.Self != nil && figure(in.Self) })
	}
}

func distributionOf(what string) func(*result.Result) Spec {
	return func(r *result.Result) Spec { return distributionSpec(r, what) }
}

func heatOf(what string) func(*result.Result) Spec {
	return func(r *result.Result) Spec { return heatSpec(r, what) }
}

func spreadOver(by string) func(*result.Result) Spec {
	return func(r *result.Result) Spec { return spreadSpec(r, by) }
}

// Groupings are those that an analysis has to be asked for so that the charts with these names have data: queue, producer, consumer.
func Groupings(names []string) (by []string) {
	for _, name := range names {
		if g, ok := strings.CutPrefix(name, "spread-"); ok && !slices.Contains(by, g) {
			by = append(by, g)
		}
	}
	return by
}
