package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// side is one column of the latency table.
type side struct {
	what, from string
	d          *result.Distribution
	unit       unit
}

// latencies prints confirm and delivery latency, each counted from sent (service) and from due (response). The two of
// one kind share a scale, so that they can be compared by eye.
func (p *page) latencies(r *result.Result) {
	p.heading("Latency")
	var shown []side
	var reasons []string
	for _, what := range r.LatencyKinds() {
		kind, why := latencySides(r, what)
		shown = append(shown, kind...)
		reasons = append(reasons, why...)
	}
	if d := r.AckLatency; d.Messages() > 0 {
		shown = append(shown, side{what: "ack", from: "received", d: d, unit: unitFor(typicalOf(d))})
	}
	if len(shown) > 0 {
		p.latencyTable(shown)
		p.confidence(shown)
	}
	for _, why := range reasons {
		p.remark(p.clean(why))
	}
	if len(shown) > 0 {
		p.latencyRemarks(r, shown)
	}
}

// latencySides gives the columns of one kind and, for what has no messages, the reasons.
func latencySides(r *result.Result, what string) (shown []side, reasons []string) {
	var typical []float64
	for _, from := range []string{"service", "response"} {
		d := r.Latency.Pick(what, from)
		if d.Messages() <= 0 {
			reasons = append(reasons, what+" "+from+": "+notAvailable+" ("+r.WhyNoLatency(what, from)+")")
			continue
		}
		shown = append(shown, side{what: what, from: from, d: d})
		typical = append(typical, typicalOf(d)...)
	}
	for i := range shown {
		shown[i].unit = unitFor(typical)
	}
	if len(shown) == 0 { // nothing of the kind: one reason says it all
		reasons = []string{what + ": " + notAvailable + " (" + r.WhyNoLatency(what, "service") + ")"}
	}
	return shown, reasons
}

func typicalOf(d *result.Distribution) []float64 {
	for _, v := range []*int64{d.P50NS, d.AtLeastNS, d.MaxNS} {
		if v != nil {
			return []float64{float64(*v)}
		}
	}
	return nil
}

// latencyRow is one line of the table: a time, or a count.
type latencyRow struct {
	head string
	cell func(side) string
}

func (p *page) latencyTable(shown []side) {
	rows := []latencyRow{{"min", func(s side) string { return measured(s, s.d.MinNS) }}}
	percents := percentsOf(shown)
	for _, x := range percents {
		rows = append(rows, latencyRow{percentText(x) + " %", func(s side) string { return percentile(s, x) }})
	}
	rows = append(rows, latencyRow{"max", maximum}, latencyRow{"mean", func(s side) string { return average(s, s.d.MeanNS) }})
	if slices.ContainsFunc(shown, func(s side) bool { return s.d.StdDevNS != nil }) {
		rows = append(rows, latencyRow{"std deviation", func(s side) string { return average(s, s.d.StdDevNS) }})
	}
	counts := []latencyRow{
		{"messages", func(s side) string { return shortCount(s.d.Messages()) }},
		{"censored", func(s side) string { return shortCount(s.d.Censored) }},
		{"due, never sent", func(s side) string { return shortCount(s.d.NeverSent) }},
	}
	if !slices.ContainsFunc(shown, func(s side) bool { return s.d.NeverSent != 0 }) {
		counts = slices.Delete(counts, 2, 3)
	}
	counts = append(counts, aboveRows(shown)...)
	t := &table{keys: 1, fixed: true, columns: []column{{name: "figure", left: true}}}
	for _, s := range shown {
		t.columns = append(t.columns, column{group: s.what + " (" + s.unit.label(p.ascii) + ")", head: s.from})
	}
	for _, row := range append(rows, counts...) {
		t.columns[0].cells = append(t.columns[0].cells, row.head)
	}
	for i, s := range shown {
		c := &t.columns[i+1]
		var times, numbers []string
		for _, row := range rows {
			times = append(times, row.cell(s))
		}
		for _, row := range counts {
			numbers = append(numbers, row.cell(s))
		}
		c.cells = append(times, numbers...)
	}
	p.table(t)
}

func measured(s side, ns *int64) string {
	if ns == nil {
		return notAvailable
	}
	return s.unit.format(float64(*ns))
}

// maximum of all messages: with censored ones it is known from below only.
func maximum(s side) string {
	if s.d.Censored <= 0 || s.d.AtLeastNS == nil {
		return measured(s, s.d.MaxNS)
	}
	return ">= " + s.unit.format(float64(s.d.MaxBound()))
}

func average(s side, ns *float64) string {
	if ns == nil || math.IsNaN(*ns) {
		return notAvailable
	}
	return s.unit.format(*ns)
}

// latencyRemarks explains only what this table shows.
func (p *page) latencyRemarks(r *result.Result, shown []side) {
	var service, response, censored, unsent, negative bool
	for _, s := range shown {
		service = service || s.from == "service"
		response = response || s.from == "response"
		censored = censored || s.d.Censored > s.d.NeverSent
		unsent = unsent || s.d.NeverSent > 0
		negative = negative || s.d.Negative > 0
	}
	var counts []string
	if service {
		counts = append(counts, "service latency counts from sent")
	}
	if response {
		counts = append(counts, "response latency from due")
	}
	if r.AckLatency.Messages() > 0 {
		counts = append(counts, "ack latency from received to the consumer's ack")
	}
	parts := []string{upperFirst(strings.Join(counts, ", ")) + "."}
	parts = append(parts, "Percentiles are exact, at the nearest rank over all messages of the window.")
	if censored {
		parts = append(parts, "Censored: sent and never answered; a percentile among them is known from below only (>=).")
	}
	if censored || unsent {
		parts = append(parts, "Mean and standard deviation are of the answered messages.")
	}
	if unsent {
		parts = append(parts, result.Group(r.Counts.NotSent)+" due but never sent: in the response latency they are censored, known to be at least the time "+
			"from due to the stop of publishing (>=); in the service latency they are not.")
	}
	if negative {
		parts = append(parts, "Negative latencies: the clocks of sender and receiver disagree.")
	}
	p.remark(strings.Join(parts, " "))
	if bound := r.Config.CoalesceNS; bound > 0 {
		us := "µs"
		if p.ascii {
			us = "us"
		}
		p.remark(fmt.Sprintf("Reads coalesced for at most %g %s.", float64(bound)/1e3, us))
	}
	for _, text := range r.LatencyRemarks {
		p.remark(p.clean(text))
	}
	if note := p.clean(r.Remarks()); note != "" {
		p.remark(note)
	}
}
