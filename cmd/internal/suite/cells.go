package suite

import (
	"math"
	"slices"
	"strings"

	"leveret/analyze/assert"
	"leveret/analyze/result"
	"leveret/reports/table"
)

// columns of the table that a column of the suite becomes: what was measured, what was published, and one by the other.
func (c *Column) columns() []table.Column {
	out := table.Column{Group: c.Group, Head: c.Head, Unit: c.Unit, Percent: c.Change, Count: c.isCount(), Text: c.isText(), Verdict: c.Figure == figureVerdict}
	if c.Change {
		out.Unit = "%"
	}
	if c.Published == "" {
		return []table.Column{out}
	}
	all := []table.Column{out, out}
	all[0].Group, all[0].Head, all[1].Group, all[1].Head = c.Head, "measured", c.Head, "published"
	if c.Ratio {
		all = append(all, table.Column{Group: c.Head, Head: "ratio"})
	}
	return all
}

func (c *Column) isText() bool { return c.Figure == figureVerdict || c.Figure == figureKept }

func (c *Column) isCount() bool {
	if slices.Contains(ownFigures, c.Figure) {
		return c.Figure == figureBacklog
	}
	return !strings.ContainsAny(c.Figure, "(") && c.Per == 0
}

// cells of a line. base has, by the number of the column, what changes are counted from.
func (c *Column) cells(l *line, base map[int]float64, number int) []table.Cell {
	cell := c.measured(l)
	if c.Change {
		cell = changed(cell, base, number)
	}
	if c.Published == "" {
		return []table.Cell{cell}
	}
	published := table.Cell{}
	v, known := l.row.Published[c.Published]
	if known {
		published.Value = &v
	}
	if !c.Ratio {
		return []table.Cell{cell, published}
	}
	ratio := table.Cell{}
	if known && v != 0 && cell.Value != nil && !cell.AtLeast {
		ratio = table.Number(*cell.Value / v)
	}
	return []table.Cell{cell, published, ratio}
}

// changed is the cell in percent of the first one of the column, less 100; the first one itself has no change.
func changed(cell table.Cell, base map[int]float64, number int) table.Cell {
	if cell.Value == nil || cell.AtLeast {
		return table.Cell{Text: cell.Text}
	}
	from, known := base[number]
	if !known {
		base[number] = *cell.Value
		return table.Cell{}
	}
	if from == 0 {
		return table.Cell{}
	}
	return table.Number((*cell.Value/from - 1) * 100)
}

// measured is the figure of a line: of several runs the median, with the least and the greatest.
func (c *Column) measured(l *line) table.Cell {
	switch c.Figure {
	case figureVerdict:
		return table.Cell{Text: verdicts(l)}
	case figureKept:
		return table.Cell{Text: kept(l)}
	case figureFraction:
		if len(l.runs) > 0 && l.runs[0].Fraction > 0 {
			return table.Number(l.runs[0].Fraction)
		}
		return table.Cell{}
	}
	var values []float64
	var last assert.Value
	for _, results := range l.results {
		x := results[0]
		if c.Phase > 0 && c.Phase < len(results) {
			x = results[c.Phase]
		}
		last = figureOf(c.Figure, x)
		if last.Is != nil {
			values = append(values, c.shown(*last.Is))
		}
	}
	switch {
	case len(values) == 0 && last.AtLeast != nil:
		v := c.shown(*last.AtLeast)
		return table.Cell{Value: &v, AtLeast: true}
	case len(values) == 0:
		return table.Cell{}
	case len(values) == 1:
		return table.Number(values[0])
	}
	slices.Sort(values)
	cell := table.Number(median(values))
	cell.Low, cell.High = &values[0], &values[len(values)-1]
	return cell
}

// shown is a value in the column's unit.
func (c *Column) shown(v float64) float64 {
	if ns := latencyUnits[c.Unit]; ns > 0 {
		v /= ns
	}
	if c.Per != 0 {
		v /= c.Per
	}
	return v
}

// median of sorted values: the middle one, or the mean of the two in the middle.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// verdicts of the runs of a line, each once.
func verdicts(l *line) string {
	var all []string
	for _, results := range l.results {
		text := string(results[0].Verdict)
		for _, f := range results[0].Findings {
			if f.Severity == result.SeverityFail || f.Severity == result.SeverityInconclusive {
				text += " (" + f.Code + ")"
				break
			}
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return l.standing()
	}
	return strings.Join(all, ", ")
}

// kept says whether a probe kept the bounds.
func kept(l *line) string {
	switch {
	case len(l.results) == 0:
		return l.standing()
	case l.runs[0].Fraction > 0:
		return ""
	case l.runs[0].Reason == "":
		return "yes"
	}
	return "no: " + l.runs[0].Reason
}
