package reports

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// churnFailuresShown is how many different failures are told one by one; JSON has all.
const churnFailuresShown = 10

// churn prints the operations that made and undid things at the broker.
func (p *page) churn(r *result.Result) {
	for i := range r.Churn {
		c := &r.Churn[i]
		p.heading(upperFirst(p.clean(orText(c.What, "unknown"))) + " churn")
		add := func(name, text string) { p.field(name, fieldColumn, p.clean(text)) }
		if len(r.Churn) > 1 || !r.OnlyChurn() {
			add("capture", c.Capture)
		}
		add("operations", c.Description)
		add("made", churnCounts(c))
		if c.RowsMissing {
			add("missing", "rows of operations are missing in the record, or may be: counts, rates and latencies are of what can be read")
		}
		add("rates", churnRates(r, c))
		p.churnSteps(r, c)
		p.churnFailures(c)
		p.churnIntervals(r, c)
	}
}

// churnCounts: "6,000 made, 3 failed, 2 not begun; 6,000 undone, 0 failed; at most 12 at the same time; 0 left at the broker".
func churnCounts(c *result.Churn) string {
	text := fmt.Sprintf("%s, %s failed", result.Group(c.Made), result.Group(c.Failed))
	if c.NotBegun > 0 {
		text += fmt.Sprintf(", %s due and not begun", result.Group(c.NotBegun))
	}
	text += fmt.Sprintf("; %s undone, %s failed", result.Group(c.Undone), result.Group(c.UndoFailed))
	if c.MostAlive != nil {
		text += fmt.Sprintf("; at most %s there at the same time", result.Group(*c.MostAlive))
	}
	if c.CleanedUp != nil && *c.CleanedUp > 0 {
		text += fmt.Sprintf("; %s removed at the end only", result.Group(*c.CleanedUp))
	}
	if c.Left != nil {
		text += fmt.Sprintf("; %s left at the broker", result.Group(*c.Left))
	}
	return text
}

func churnRates(r *result.Result, c *result.Churn) string {
	text := rateOr(c.MadePerS) + " made and " + rateOr(c.UndonePerS) + " undone per second"
	if c.TargetPerS != nil && isFinite(*c.TargetPerS) {
		text += ", " + rate(*c.TargetPerS) + " due"
	}
	text += ", over " + duration(float64(span(c.StartNS, c.EndNS)), true)
	if r.OnlyChurn() {
		return text + ", " + r.Window.Text
	}
	return text + " of the window in which they were offered"
}

// churnRow is a line of the table of steps.
type churnRow struct {
	name         string
	count        int64
	failed       *int64
	distribution *result.Distribution
}

// churnSteps prints latency of the whole, and of each step.
func (p *page) churnSteps(r *result.Result, c *result.Churn) {
	var rows []churnRow
	whole := func(name string, d *result.Distribution, failed int64) {
		if d.Messages() > 0 {
			rows = append(rows, churnRow{name, d.Messages(), &failed, d})
		}
	}
	whole("made, response", c.Make.Response, c.Failed+c.NotBegun)
	whole("made, service", c.Make.Service, c.Failed)
	steps := func(undoes bool) {
		for i := range c.Steps {
			if s := &c.Steps[i]; s.Undoes == undoes {
				rows = append(rows, churnRow{"  " + p.clean(p.name(s.Step, 24)), s.Service.Messages(), &s.Failed, s.Service})
			}
		}
	}
	steps(false)
	whole("undone, service", c.Undo.Service, c.UndoFailed)
	steps(true)
	if len(rows) == 0 {
		if c.RowsMissing {
			p.remark("No operation of the window is in what can be read of the record: no latency.")
			return
		}
		p.remark("No operation of the window was made: no latency.")
		return
	}
	var typical []float64
	for _, row := range rows {
		if row.distribution != nil {
			typical = append(typical, typicalOf(row.distribution)...)
		}
	}
	unit := unitFor(typical)
	t := &table{keys: 1, fixed: true, columns: []column{{head: "", name: "step", left: true}, {head: "count"}, {head: "failed"}}}
	group := "latency (" + unit.label(p.ascii) + ")"
	percents := []float64{50, 95, 99, 99.9}
	for _, head := range []string{"min", "50 %", "95 %", "99 %", "99.9 %", "max"} {
		drop := 0
		if head == "min" || head == "95 %" {
			drop = 1
		}
		t.columns = append(t.columns, column{group: group, head: head, drop: drop})
	}
	for _, row := range rows {
		cells := []string{row.name, shortCount(row.count), shortCount(*row.failed)}
		s := side{d: row.distribution, unit: unit}
		if s.d == nil {
			s.d = &result.Distribution{}
		}
		cells = append(cells, measured(s, s.d.MinNS))
		for _, x := range percents {
			cells = append(cells, percentile(s, x))
		}
		cells = append(cells, maximum(s))
		for i := range cells {
			t.columns[i].cells = append(t.columns[i].cells, cells[i])
		}
	}
	p.table(t)
	p.remark(churnAbove(c))
	if r.Window.Part != nil {
		p.remark("Count and latency are of the window, failed is of the whole run.")
	}
	p.remark("Response latency counts from when the schedule wanted the operation, service latency from when it, or the step, began. Percentiles are exact, at the nearest rank " +
		"over all operations due (else begun) in the window; what was still there was undone after it, and counts. Without an answer: >= the time until it was given up; refused by the broker: not in the latency.")
}

// churnAbove says how many operations lie above the percentiles of the tail, as the table of a run has it: above none is the maximum.
func churnAbove(c *result.Churn) string {
	made, _ := c.Latency()
	text := ""
	for _, x := range []float64{99, 99.9} {
		var of []string
		for _, side := range []struct {
			d    *result.Distribution
			what string
		}{{made, " to make"}, {c.Undo.Service, " to undo"}} {
			if n := side.d.Messages(); n > 0 {
				of = append(of, above(side.d, x)+" of "+result.Group(n)+side.what)
			}
		}
		text = join("; ", text, "above "+percentText(x)+" %: "+strings.Join(of, ", "))
	}
	return upperFirst(text) + ". A percentile with none above it is the maximum."
}

// churnFailures lists why steps failed.
func (p *page) churnFailures(c *result.Churn) {
	if len(c.Failures) == 0 {
		return
	}
	p.gap()
	p.list("Failures:")
	column := 0
	for i := range c.Failures[:min(len(c.Failures), churnFailuresShown)] {
		column = max(column, len(result.Group(c.Failures[i].Count)))
	}
	for i := range c.Failures {
		if i == churnFailuresShown {
			p.item("", "", column, fmt.Sprintf("and %d more", len(c.Failures)-i))
			break
		}
		f := &c.Failures[i]
		became, why := result.DescribeFailure(f.Step, f.Outcome)
		text := join(", ", f.Step+" "+became, why) + ": " + f.Text
		if f.Code != 0 {
			text += fmt.Sprintf(" (%d)", f.Code)
		}
		p.item(result.Group(f.Count), red, column, p.clean(text))
	}
}

// churnStretch is a line of the table over time: neighbouring intervals of one phase put together.
type churnStretch struct {
	from, to                  int64
	phase                     string
	due, made, failed, undone int64
	undoFailed                int64 // of failed
	latency                   highest
}

// churnIntervals prints the operations over time.
func (p *page) churnIntervals(r *result.Result, c *result.Churn) {
	stretches, size := churnStretches(c, p.most.intervals)
	if len(stretches) == 0 {
		return
	}
	var values []float64
	for i := range stretches {
		if v := stretches[i].latency.p50.ns; v != nil {
			values = append(values, float64(*v))
		}
	}
	unit := unitFor(values)
	_, from := c.Latency()
	group := from + " latency (" + unit.label(p.ascii) + ")"
	t := &table{keys: 2, columns: []column{
		{group: "seconds", head: "from"}, {group: "seconds", head: "to"},
		{group: "per second", head: "due", drop: 1}, {group: "per second", head: "made"}, {group: "per second", head: "undone"}, {group: "failed", head: "make"}, {group: "failed", head: "undo"},
		{group: group, head: "50 %"}, {group: group, head: "99 %"}, {group: group, head: "max"},
	}}
	var spans []stretch
	for i := range stretches {
		spans = append(spans, stretch{from: stretches[i].from, to: stretches[i].to})
	}
	decimals := offsetDecimals(r, spans)
	for i := range stretches {
		s := &stretches[i]
		unknown := c.RowsMissing && s.due+s.made+s.failed+s.undone == 0
		from, to := offset(r.Config.StartedNS, s.from, decimals), offset(r.Config.StartedNS, s.to, decimals)
		if from == to {
			continue // too short to be told
		}
		perS := func(n int64) string {
			v := perSecond(n, s.from, s.to)
			if unknown || spans[i].isShort(r) || !isFinite(v) {
				return "-"
			}
			return rate(v)
		}
		failed, undoFailed := shortCount(s.failed-s.undoFailed), shortCount(s.undoFailed)
		if unknown {
			failed, undoFailed = "-", "-"
		}
		for k, text := range []string{
			from, to, perS(s.due), perS(s.made), perS(s.undone), failed, undoFailed,
			boundText(s.latency.p50, unit), boundText(s.latency.p99, unit), boundText(s.latency.max, unit),
		} {
			t.columns[k].cells = append(t.columns[k].cells, text)
		}
	}
	p.gap()
	if size > 1 {
		p.remark(fmt.Sprintf("A line puts up to %d intervals together: rates are means, latencies the highest of any.", size))
	}
	p.table(t)
	if slices.ContainsFunc(t.columns, func(c column) bool { return slices.Contains(c.cells, "-") }) {
		if c.RowsMissing {
			p.remark("-: nothing in what can be read of the record, from which rows are missing; or an interval too short for a rate.")
			return
		}
		p.remark("-: nothing was due, or an interval too short for a rate.")
	}
}

// churnStretches puts so many intervals together that there are no more lines than most; negative: each has one.
func churnStretches(c *result.Churn, most int) (stretches []churnStretch, size int) {
	size = 1
	if most > 0 {
		size = (len(c.Intervals) + most - 1) / most
	}
	size = max(size, 1)
	in := 0
	for i := range c.Intervals {
		x := &c.Intervals[i]
		if !c.Tells(x) {
			continue
		}
		n := len(stretches)
		if n == 0 || in == size || stretches[n-1].phase != x.Phase {
			stretches, in = append(stretches, churnStretch{from: x.StartNS, phase: x.Phase}), 0
			n++
		}
		s := &stretches[n-1]
		in++
		s.to = x.EndNS
		s.due, s.made, s.failed, s.undone = s.due+x.Due, s.made+x.Made, s.failed+x.Failed, s.undone+x.Undone
		s.undoFailed += x.UndoFailed
		s.latency.add(x.Latency)
	}
	return stretches, size
}

// churnTiles are the figures of operations that stand out at the top of a page.
func (p *page) churnTiles(r *result.Result) (tiles []PageTile) {
	for i := range r.Churn {
		c := &r.Churn[i]
		what := p.clean(orText(c.What, "operation")) + "s"
		if c.MadePerS != nil && isFinite(*c.MadePerS) {
			tiles = append(tiles, PageTile{Name: what + " made", Value: rate(*c.MadePerS), Unit: "per second"})
		}
		if d, from := c.Latency(); d.Messages() > 0 {
			s := side{d: d, from: from, unit: unitFor(typicalOf(d))}
			tiles = append(tiles, PageTile{Name: what + " " + from + ", 99\u00a0%", Value: percentile(s, 99), Unit: s.unit.label(p.ascii)})
		}
		tiles = append(tiles, PageTile{Name: what + " failed", Value: result.Group(c.Failed + c.UndoFailed), Unit: "operations", Bad: c.Failed+c.UndoFailed > 0})
	}
	return tiles
}

// plainChurn is a copy that JSON can hold.
func plainChurn(all []result.Churn) []result.Churn {
	all = slices.Clone(all)
	for i := range all {
		c := &all[i]
		c.TargetPerS, c.MadePerS, c.UndonePerS = finite(c.TargetPerS), finite(c.MadePerS), finite(c.UndonePerS)
		for _, d := range []**result.Distribution{&c.Make.Service, &c.Make.Response, &c.Undo.Service, &c.Undo.Response} {
			plainDistribution(d)
		}
		c.Steps, c.Failures, c.Intervals = slices.Clone(listed(c.Steps)), listed(c.Failures), slices.Clone(listed(c.Intervals))
		for k := range c.Steps {
			plainDistribution(&c.Steps[k].Service)
		}
		for k := range c.Intervals {
			plainDistribution(&c.Intervals[k].Latency)
		}
	}
	return all
}
