package reports

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// describe adds what a document has room for, and a terminal has not: what messages went through, how the run was set up, where it
// ran, and what the words and figures mean.
func (p *page) describe(r *result.Result) {
	p.topology(r)
	p.configuration(&r.Config)
	p.environment(r)
	p.definitions(r)
}

// configuration is the command line and all options as they were resolved.
func (p *page) configuration(c *result.Config) {
	if len(c.Command)+len(c.Options) == 0 {
		return
	}
	p.heading("Configuration")
	if len(c.Command) > 0 {
		p.field("command line", fieldColumn, p.clean(strings.Join(c.Command, " ")))
	}
	if len(c.Options) == 0 {
		return
	}
	t := &table{keys: 1, columns: []column{{head: "option", left: true}, {head: "value", left: true}}}
	empty := 0
	for _, o := range c.Options {
		if o.Value == "" {
			empty++
			continue
		}
		t.columns[0].cells = append(t.columns[0].cells, p.clean(o.Name))
		t.columns[1].cells = append(t.columns[1].cells, p.clean(o.Value))
	}
	p.table(t)
	if empty > 0 {
		p.remark(result.Plural(int64(empty), "option") + " without a value not shown.")
	}
}

// environment says where the run took place.
func (p *page) environment(r *result.Result) {
	p.heading("Environment")
	add := func(name, text string) {
		if text != "" {
			p.field(name, fieldColumn, p.clean(text))
		}
	}
	add("broker", join(" at ", r.Broker.Describe(), r.Broker.URI))
	add("hosts", r.Broker.DescribeHosts())
	h := &r.Host
	cpus := ""
	if h.CPUs > 0 {
		cpus = result.Plural(int64(h.CPUs), "CPU")
	}
	add("client", join(", ", h.Name, strings.Trim(h.OS+"/"+h.Arch, "/"), cpus, h.CPUModel))
	add("transport", orText(tls(&r.Config), "plain TCP"))
	add("tool", r.Config.Tool)
	add("captures", strings.Join(r.Captures, ", "))
	for _, c := range r.Clocks {
		add("clock", clockLine(&c))
	}
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// clockLine says how far the clock of another host was off.
func clockLine(c *result.Clock) string {
	of := "of " + strings.Join(c.Captures, ", ") + ": "
	if c.AheadNS == nil {
		return of + "not known how far ahead of the first host's; no latencies between the two"
	}
	text := of + duration(float64(*c.AheadNS), false) + " ahead of the first host's"
	if c.ErrorNS != nil {
		text += ", wrong by at most " + duration(float64(*c.ErrorNS), false)
	}
	return join("; ", text, c.By)
}

// definition of a word that the report uses.
type definition struct{ term, text string }

// definitions say how the numbers of this report are defined: those that it has.
func (p *page) definitions(r *result.Result) {
	p.heading("How the numbers are defined")
	if len(r.Churn) > 0 {
		p.field("churn", fieldColumn, churnWords)
	}
	for _, d := range verdictWords {
		p.field(d.term, fieldColumn, d.text)
	}
	for _, d := range countWords {
		p.field(d.term, fieldColumn, d.text)
	}
	if !r.Config.OpenLoop && r.Config.Producers > 0 {
		p.field("closed loop", fieldColumn, "no rate was set: a message is sent when the one before it allows, so that a slow broker is sent less, and there is no response latency")
	}
	for _, d := range figureWords {
		p.field(d.term, fieldColumn, d.text)
	}
	if r.IntervalNS > 0 {
		p.field("intervals", fieldColumn, fmt.Sprintf("of %s: rates count each event at its own time; latency belongs to the interval in which the message was due, else sent",
			duration(float64(r.IntervalNS), p.ascii)))
	}
}

var verdictWords = []definition{
	{"PASS", "every message that was sent reached every queue it should have, intact, once and in order, and the record proves it"},
	{"FAIL", "messages were lost though confirmed, duplicated, corrupted, out of order, or returned where a queue was expected; or an assertion is not met"},
	{"INCONCLUSIVE", "it can't be judged from this record, for the reasons among the findings"},
}

const churnWords = "operations that make something at the broker and undo it: PASS if all that was begun was made and undone, FAIL if one was not, or something may still be there"

var countWords = []definition{
	{"missing", "sent, not refused, the queue drained, and never received intact; takes in lost, removed by rule and missing unconfirmed"},
	{"lost", "missing though confirmed, and no rule of the queue allows it"},
	{"removed by rule", "missing where a rule of the queue (time to live, length limit, delivery limit, purge, ...) may have removed them"},
	{"unconfirmed", "never answered by the broker, where confirms are on"},
	{"duplicates", "received again without a cause for a redelivery; redelivered are those with the flag of the broker, which are legal"},
	{"corrupt", "received with a checksum that does not hold"},
	{"out of order", "received for the first time after a later one of the same producer, queue and consumer"},
	{"foreign", "not of this run"},
	{"at stop", "queued, unacked or discarded when the run ended: not missing"},
}

var figureWords = []definition{
	{"rates", "sent and received are counted over the same window; what was received after publishing stopped has a rate of its own, the drain's. Without confirms a message is sent once it is written to the socket: arrived is what was sent over the time until the broker was proved to have taken all of it"},
	{"service", "latency from when a message was sent (the clock read just before the write that carries its first byte)"},
	{"response", "latency from when the schedule wanted the message sent, whether or not it could be: a stall of the broker shows in it"},
	{"percentiles", "exact: the value at rank ceil(p N / 100) of all N messages of the window, answered or not; nothing is sampled or averaged"},
	{"censored", "messages without an answer: a percentile that falls among them is known from below only and printed as >="},
	{"n/a", "not measured, with the reason beside it; never 0"},
}

// tiles are the figures that stand out at the top of a page.
func (p *page) tiles(r *result.Result) (tiles []PageTile) {
	if r.OnlyChurn() {
		return p.churnTiles(r)
	}
	for _, l := range rateLines(r) {
		if (l.name == "sent" || l.name == "received") && l.value != nil && isFinite(*l.value) {
			tiles = append(tiles, PageTile{Name: l.name, Value: rate(*l.value), Unit: "messages/s"})
		}
	}
	for _, what := range r.LatencyKinds() {
		shown, _ := latencySides(r, what)
		if len(shown) == 0 {
			if what == "delivery" {
				tiles = append(tiles, PageTile{Name: "delivery latency", Value: notAvailable, Unit: p.clean(r.WhyNoLatency(what, "service"))})
			}
			continue
		}
		s := shown[len(shown)-1] // response where there is one
		tiles = append(tiles, PageTile{Name: what + " " + s.from + ", 50\u00a0%", Value: percentile(s, 50), Unit: s.unit.label(p.ascii)},
			PageTile{Name: what + " " + s.from + ", 99\u00a0%", Value: percentile(s, 99), Unit: s.unit.label(p.ascii)})
	}
	c := &r.Counts
	if r.Config.Producers > 0 {
		tiles = append(tiles, PageTile{Name: "lost", Value: result.Group(c.Lost), Unit: messagesUnit(c.Lost) + unproved(r), Bad: c.Lost != 0},
			PageTile{Name: "missing", Value: result.Group(c.Missing), Unit: messagesUnit(c.Missing), Bad: c.Missing != 0})
	}
	return append(tiles, p.churnTiles(r)...)
}

// unproved says that a zero is no proof.
func unproved(r *result.Result) string {
	if r.Verdict == result.Inconclusive && r.Counts.Lost == 0 {
		return ", but not proved"
	}
	return ""
}

func messagesUnit(n int64) string {
	if n == 1 {
		return "message"
	}
	return "messages"
}
