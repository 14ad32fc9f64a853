package chart

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// kind is a chart that results can have.
type kind struct {
	name string
	// usual says whether it is one of those that are drawn where none is asked for by name.
	usual func(*result.Result) bool
	build func(*result.Result) Spec
}

// kinds in the order in which they are drawn.
var kinds = []kind{
	{"rates", hasMessages, ratesSpec},
	{"backlog", hasBacklog, backlogSpec},
	{"in-flight", hasInFlight, inFlightSpec},
	{"latency-confirm", hasLatency("confirm"), latencyOf("confirm")},
	{"latency-commit", hasLatency("commit"), latencyOf("commit")},
	{"latency-delivery", hasLatency("delivery"), latencyOf("delivery")},
	{"percentiles", hasMessages, percentilesSpec},
	{"distribution-confirm", hasHistogram("confirm"), distributionOf("confirm")},
	{"distribution-commit", hasHistogram("commit"), distributionOf("commit")},
	{"distribution-delivery", hasHistogram("delivery"), distributionOf("delivery")},
	{"heat-confirm", hasHeat("confirm"), heatOf("confirm")},
	{"heat-commit", hasHeat("commit"), heatOf("commit")},
	{"heat-delivery", hasHeat("delivery"), heatOf("delivery")},
	{"confirm-sizes", hasFrames, confirmSizesSpec},
	{"spread-queue", hasMembers("queue"), spreadOver("queue")},
	{"spread-producer", hasMembers("producer"), spreadOver("producer")},
	{"spread-consumer", hasMembers("consumer"), spreadOver("consumer")},
	{"spread-size", hasMembers("size"), spreadOver("size")},
	{"spread-priority", hasMembers("priority"), spreadOver("priority")},
	{"lateness", hasSelf(func(s *result.Self) bool { return s.LateMaxNS != nil }), latenessSpec},
	{"waiting", hasSelf(func(s *result.Self) bool { return s.WorkShare != nil }), waitingSpec},
	{"client-cpu", hasSelf(func(s *result.Self) bool { return s.CPUCores != nil }), cpuSpec},
	{"churn-rates", hasChurn, churnRatesSpec},
	{"churn-latency", hasChurn, churnLatencySpec},
	{"broker-rates", hasBrokerSide, brokerRatesSpec},
	{"broker-depth", hasBrokerSide, brokerDepthSpec},
}

// hasLatency: with transactions, commit latency takes the place of confirm latency.
func hasLatency(what string) func(*result.Result) bool {
	return func(r *result.Result) bool { return hasMessages(r) && slices.Contains(r.LatencyKinds(), what) }
}

func latencyOf(what string) func(*result.Result) Spec {
	return func(r *result.Result) Spec { return latencySpec(r, what) }
}

// Names are those of all charts that there are, in the order in which they are drawn.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// CheckNames says which of the names is not that of a chart, and what there is.
func CheckNames(names []string) error {
	var errs []error
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			errs = append(errs, fmt.Errorf("%q is no chart: there are %s", name, strings.Join(Names(), ", ")))
		}
	}
	return errors.Join(errs...)
}

// Specs builds the charts that the options name, in the order of the names; without names those that a run of this sort has,
// always the same ones in the same order. Those without data say why in NoData. Names that no chart has are left out.
func Specs(r *result.Result, o Options) []*Spec {
	if r == nil {
		return nil
	}
	var chosen []kind
	for _, name := range o.Names {
		if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
			chosen = append(chosen, kinds[i])
		}
	}
	if len(o.Names) == 0 {
		for _, k := range kinds {
			if k.usual(r) {
				chosen = append(chosen, k)
			}
		}
	}
	var specs []*Spec
	for _, k := range chosen {
		s := k.build(r)
		s.Name = k.name
		specs = append(specs, &s)
	}
	return specs
}

// Skipped names the charts that Write does not draw, each with the reason.
func Skipped(r *result.Result, o Options) []string {
	var notes []string
	for _, s := range Specs(r, o) {
		if s.NoData != "" {
			notes = append(notes, s.Name+": not drawn: "+s.NoData)
		}
	}
	return notes
}
