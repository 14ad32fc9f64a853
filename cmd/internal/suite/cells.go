package suite

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	var values, bounds []float64
	for _, results := range l.results {
		x := c.of(results)
		if x == nil {
			continue
		}
		switch v := figureOf(c.Figure, x); {
		case v.Is != nil:
			values = append(values, c.shown(*v.Is))
		case v.AtLeast != nil:
			bounds = append(bounds, c.shown(*v.AtLeast))
		}
	}
	return middle(values, bounds)
}

// of is the result that the column is of: of all parts, or of one; nil where the run has no such part.
func (c *Column) of(results []*result.Result) *result.Result {
	switch {
	case c.Phase == 0 || c.Phase == 1 && len(results) == 1: // a run of one part has no result but its own
		return results[0]
	case c.Phase < len(results):
		return results[c.Phase]
	}
	return nil
}

// middle is the median of repeated runs, with the least and the greatest. Where a run told only what its figure is not below, the greatest
// is not known, and the median is known only if that run is above it whatever its figure is.
func middle(values, bounds []float64) table.Cell {
	all := slices.Sorted(slices.Values(slices.Concat(values, bounds)))
	if len(all) == 0 {
		return table.Cell{}
	}
	cell := table.Number(median(all))
	if len(bounds) > 0 {
		top := all[len(all)/2] // the upper one of those in the middle
		below := 0
		for _, v := range values {
			if v <= top {
				below++
			}
		}
		cell.AtLeast = below <= len(all)/2 || slices.Min(bounds) < top
		return cell
	}
	if len(all) > 1 {
		cell.Low, cell.High = &all[0], &all[len(all)-1]
	}
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

// verdicts of the runs of a line, each once, the worst first, and before them that some could not be run.
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
	slices.SortStableFunc(all, func(a, b string) int { return severity(b) - severity(a) })
	failed := 0
	for _, run := range l.runs {
		if run.State == Failed {
			failed++
		}
	}
	if failed > 0 {
		all = slices.Insert(all, 0, fmt.Sprintf("failed (%d of %d runs)", failed, len(l.runs)))
	}
	return strings.Join(all, ", ")
}

// severity of the verdict that a text begins with.
func severity(text string) int {
	switch {
	case strings.HasPrefix(text, string(result.Fail)):
		return 2
	case strings.HasPrefix(text, string(result.Inconclusive)):
		return 1
	}
	return 0
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
