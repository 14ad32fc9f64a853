package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// ComparisonText writes a comparison for people: conditions and marks first, then what else differs between the runs, then the
// figures of each candidate beside those of the base, and what so many runs could find. No line is wider than o.Width.
func ComparisonText(w io.Writer, c *result.Comparison, o TextOptions) error {
	if c == nil || len(c.Groups) == 0 {
		return errNoResult
	}
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	p := &page{width: max(o.Width, leastWidth), ascii: o.ASCII}
	p.comparison(c)
	if _, err := w.Write(p.text(o.Color)); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// comparison fills the page with all that there is to say about one.
func (p *page) comparison(c *result.Comparison) {
	p.comparedGroups(c)
	p.failConditions(c)
	p.configDifferences(c)
	said := map[string]bool{}
	for k := range c.Groups[1:] {
		p.changes(c, k, said)
	}
	p.heading("How to read it")
	remarks := c.Remarks
	if c.Method == result.ByBlocks && len(remarks) > 0 {
		remarks = remarks[1:] // stands at the top
	}
	for _, remark := range remarks {
		p.remark(p.clean(remark))
	}
	few, unknown := false, false
	for k := range c.Groups[1:] {
		few = few || tooFew(c, k)
		unknown = unknown || slices.ContainsFunc(c.Metrics, func(m result.ComparedMetric) bool { return m.Changes[k].Verdict == result.ChangeUnknown })
	}
	switch {
	case few:
		p.remark("? is too few runs to tell.")
	case unknown:
		p.remark("? cannot be told; the lines below the tables say why.")
	}
}

// ComparisonJSON writes a comparison as it is, in the manner of JSON.
func ComparisonJSON(w io.Writer, c *result.Comparison) error {
	if c == nil {
		return errNoResult
	}
	return encodeJSON(w, c)
}

// labelShown bounds a label where it heads a column.
const labelShown = 14

// comparedGroups says what is compared, and what must not be overlooked of it.
func (p *page) comparedGroups(c *result.Comparison) {
	p.list("Comparison with " + p.clean(elide(c.Groups[0].Label, 60)) + ":")
	width := 0
	for i := range c.Groups {
		width = max(width, min(cells(p.clean(c.Groups[i].Label)), 40))
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		text := result.Plural(int64(len(g.Runs)), "run") + brokers(g)
		if limits := limitsOf(g); limits != "" {
			text += ", limited by " + limits
		}
		color := style("")
		if marks := slices.DeleteFunc(slices.Clone(g.Marks), func(mark string) bool { return mark == "embedded broker" }); len(marks) > 0 {
			text += "; " + strings.Join(marks, ", ") // that all went through the embedded broker stands there already
			color = yellow
		}
		if slices.ContainsFunc(g.Runs, func(r result.ComparedRun) bool { return r.Verdict == result.Fail }) {
			color = red
		}
		p.item(p.clean(g.Label), color, width, p.clean(text))
	}
	if c.Method == result.ByBlocks && len(c.Remarks) > 0 {
		p.notice("Note", yellow, p.clean(c.Remarks[0]))
	}
}

// brokers: ", RabbitMQ 3.10.8".
func brokers(g *result.ComparedGroup) string {
	var names []string
	for _, r := range g.Runs {
		if !slices.Contains(names, r.Broker) {
			names = append(names, r.Broker)
		}
	}
	return ", " + strings.Join(names, " and ")
}

// limitNames are what can limit a run, in words.
var limitNames = map[result.Limit]string{
	result.LimitSchedule: "the rate asked for", result.LimitWindow: "waiting for confirms or commits", result.LimitBroker: "the broker",
	result.LimitClientCPU: "the client's CPU", result.LimitRecorder: "the recorder",
}

// limitsOf: what limited the runs of a group.
func limitsOf(g *result.ComparedGroup) string {
	var names []string
	for _, r := range g.Runs {
		if name := limitNames[r.LimitedBy]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

func (p *page) failConditions(c *result.Comparison) {
	if len(c.FailIf) == 0 {
		return
	}
	p.list("Conditions:")
	for _, f := range c.FailIf {
		word, color := "ok", green
		if f.Fails {
			word, color = "FAIL", red
		}
		text := f.Text + ": " + f.Why
		if len(c.Groups) > 2 {
			text = f.Candidate + ": " + text
		}
		p.item(word, color, 4, p.clean(text))
	}
}

// configDifferences lists what was not the same in all runs.
func (p *page) configDifferences(c *result.Comparison) {
	if len(c.Differences) == 0 {
		p.list("Differences: none in configuration, hosts and broker")
		return
	}
	p.list("Differences:")
	width := 0
	for _, d := range c.Differences {
		width = max(width, cells(d.What))
	}
	for _, d := range c.Differences {
		var values, labels []string // of groups that have the same value
		for i, v := range d.Values {
			label := elide(c.Groups[i].Label, 40)
			if at := slices.Index(values, v); at >= 0 {
				labels[at] += ", " + label
				continue
			}
			values, labels = append(values, v), append(labels, label)
		}
		for i := range values {
			values[i] = labels[i] + ": " + elide(values[i], 200)
		}
		p.item(d.What, "", width, p.clean(strings.Join(values, " | ")))
	}
}

// changes are the tables of one candidate: each kind of figure has a scale of its own. What was said of a candidate before is not said
// again.
func (p *page) changes(c *result.Comparison, k int, said map[string]bool) {
	base, candidate := c.Groups[0].Label, c.Groups[k+1].Label
	p.heading(elide(p.clean(candidate), 40) + " against " + elide(p.clean(base), 40))
	p.conclusion(c, k)
	first := true
	for _, u := range []result.Unit{result.UnitRate, result.UnitTime, result.UnitMessages} {
		var rows []*result.ComparedMetric
		for i := range c.Metrics {
			if c.Metrics[i].Unit == u {
				rows = append(rows, &c.Metrics[i])
			}
		}
		if len(rows) == 0 {
			continue
		}
		if !first {
			p.gap()
		}
		first = false
		p.changeTable(c, k, u, rows)
	}
	if first {
		p.remark("No figure that could be compared.")
	}
	tables := len(p.blocks)
	p.changeNotes(c, k, said)
	if k < len(c.Repeats) && !said[c.Repeats[k].Text] {
		said[c.Repeats[k].Text] = true
		p.field("repeats", 7, p.clean(c.Repeats[k].Text)+".")
	}
	if len(p.blocks) > tables {
		p.blocks = slices.Insert(p.blocks, tables, block{kind: gapBlock})
	}
}

// tooFew: no change of this candidate, however large, can be told from noise by so many runs.
func tooFew(c *result.Comparison, k int) bool {
	return c.Method == result.ByRanks && k < len(c.Repeats) && c.Repeats[k].LeastAdjusted != nil && *c.Repeats[k].LeastAdjusted > c.ErrorRate
}

// conclusion is what the tables below come to, in one sentence. Of one run each there is none.
func (p *page) conclusion(c *result.Comparison, k int) {
	if c.Method != result.ByRanks || len(c.Metrics) == 0 {
		return
	}
	told := map[result.ChangeVerdict]int{}
	for i := range c.Metrics {
		told[c.Metrics[i].Changes[k].Verdict]++
	}
	var words []string
	all := 0
	for _, v := range []result.ChangeVerdict{result.ChangeBetter, result.ChangeWorse, result.ChangeChanged} {
		if n := told[v]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
			all += n
		}
	}
	switch {
	case tooFew(c, k):
		r := &c.Repeats[k]
		runs, needed := result.Plural(int64(r.Runs), "run")+" each are", strconv.Itoa(r.Needed)
		if r.Runs != r.Base {
			runs, needed = fmt.Sprintf("%s against %d are", result.Plural(int64(r.Runs), "run"), r.Base), needed+" each"
		}
		if all > 0 {
			p.remark(fmt.Sprintf("Only changes from or to zero can be told: %s too few for others (%s needed).", runs, needed))
			return
		}
		p.remark(fmt.Sprintf("No change can be told: %s too few (%s needed).", runs, needed))
	case all == 0:
		p.remark("No change is told from noise.")
	default:
		p.remark(fmt.Sprintf("Changes of %d of %d figures are told from noise: %s.", all, len(c.Metrics), strings.Join(words, ", ")))
	}
}

func (p *page) changeTable(c *result.Comparison, k int, u result.Unit, rows []*result.ComparedMetric) {
	scale := scaleOf(u, rows, k)
	name, inPercent := scale.name(p.ascii), u != result.UnitMessages
	of := "change, %"
	if !inPercent {
		of = "change, messages"
	}
	t := &table{keys: 1, columns: []column{
		{name: "figure", left: true}, {group: name, head: p.clean(p.name(c.Groups[0].Label, labelShown))}, {group: name, head: p.clean(p.name(c.Groups[k+1].Label, labelShown))},
		{group: of, head: "estimate"}, {group: of, head: "from", drop: 1}, {group: of, head: "to", drop: 1}, {head: "p", drop: 2}, {head: "verdict", judged: true, left: true},
	}}
	if t.columns[1].head == t.columns[2].head {
		t.columns[1].head, t.columns[2].head = "base", "candidate"
	}
	for _, m := range rows {
		x := &m.Changes[k]
		estimate, low, high := x.Delta, x.DeltaLow, x.DeltaHigh
		if !inPercent {
			estimate, low, high = x.Difference, x.DifferenceLow, x.DifferenceHigh
		}
		cell := func(v *float64) string { return signed(v, inPercent) }
		change := cell(estimate)
		if estimate == nil && x.Zero != "" {
			change = x.Zero
		} else if estimate == nil && x.Verdict == result.ChangeNoise && m.Values[0].Centre != nil && *m.Values[0].Centre == *m.Values[k+1].Centre {
			change = "0"
		}
		for i, text := range []string{
			m.Name, scale.value(&m.Values[0]), scale.value(&m.Values[k+1]), change, cell(low), cell(high), pText(x.Adjusted), verdictText(c, k, x),
		} {
			t.columns[i].cells = append(t.columns[i].cells, text)
		}
	}
	p.table(t)
}

// verdictText: with one run each it is told which way the two runs differ, and not what that is worth.
func verdictText(c *result.Comparison, k int, x *result.ComparedChange) string {
	switch {
	case x.Verdict == result.ChangeUnknown, x.Verdict == result.ChangeNoise && tooFew(c, k):
		return "?"
	case x.Verdict == result.ChangeNoise || c.Method == result.ByRanks:
		return string(x.Verdict)
	case x.DeltaSign() > 0:
		return "higher"
	case x.DeltaSign() < 0:
		return "lower"
	}
	return string(result.ChangeChanged)
}

// scale is how the values of one kind of figure are written.
type scale struct {
	unit result.Unit
	time unit
}

func scaleOf(u result.Unit, rows []*result.ComparedMetric, k int) scale {
	var typical []float64
	for _, m := range rows {
		for _, v := range []*result.ComparedValue{&m.Values[0], &m.Values[k+1]} {
			if v.Centre != nil {
				typical = append(typical, *v.Centre)
			}
		}
	}
	return scale{u, unitFor(typical)}
}

func (s scale) name(ascii bool) string {
	switch s.unit {
	case result.UnitRate:
		return "msg/s"
	case result.UnitTime:
		return s.time.label(ascii)
	}
	return "messages"
}

func (s scale) value(v *result.ComparedValue) string {
	x, bound := v.Centre, ""
	if x == nil && v.AtLeast != nil {
		x, bound = v.AtLeast, ">= "
	}
	switch {
	case x == nil:
		return notAvailable
	case s.unit == result.UnitTime:
		return bound + s.time.format(*x)
	case s.unit == result.UnitMessages:
		return bound + wholeOr(*x, 1)
	}
	return bound + significant(*x, 4)
}

// signed writes a change: four significant digits, in percent two decimals at most unless they would say that it is nothing.
func signed(v *float64, inPercent bool) string {
	switch {
	case v == nil || !isFinite(*v):
		return notAvailable
	case *v == 0:
		return "0"
	}
	x, text := *v, wholeOr(*v, 1)
	if inPercent {
		decimals := 2
		if x *= 100; math.Abs(x) < 0.01 {
			decimals = 6
		}
		text = significant(x, decimals)
	}
	if x > 0 {
		text = "+" + text
	}
	return text
}

// pText is a p-value.
func pText(p *float64) string {
	switch {
	case p == nil:
		return notAvailable
	case *p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// changeNotes say what of one candidate the tables cannot.
func (p *page) changeNotes(c *result.Comparison, k int, said map[string]bool) {
	told := map[string]bool{}
	least := c.Level
	for i := range c.Metrics {
		x := &c.Metrics[i].Changes[k]
		if x.Level > 0 {
			least = min(least, x.Level)
		}
		if x.Note == "" || told[x.Note] {
			continue
		}
		told[x.Note] = true
		var names []string
		for j := range c.Metrics {
			if c.Metrics[j].Changes[k].Note == x.Note {
				names = append(names, c.Metrics[j].Name)
			}
		}
		p.remark(p.clean(strings.Join(names, ", ") + ": " + x.Note + "."))
	}
	if text := fmt.Sprintf("Intervals are of %.3g %%: so few runs have no surer ones.", 100*least); least < c.Level && !said[text] {
		said[text] = true
		p.remark(text)
	}
}
