package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"leveret/reports"
	"leveret/reports/chart"
)

// pageCharts draws charts of a run for a page, wide and narrow; the page has its own colours for the dark theme.
func pageCharts(specs []*chart.Spec) ([]reports.Chart, error) {
	var charts []reports.Chart
	for _, s := range specs {
		c, err := pageChart(s)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", s.Name, err)
		}
		charts = append(charts, c)
	}
	return charts, nil
}

// darkColors are what the colours of a light drawing are in a dark one.
func darkColors() map[string]string {
	colors := map[string]string{}
	dark := chart.ThemeOf("dark").Roles()
	for i, role := range chart.ThemeOf("light").Roles() {
		colors[role.Color] = dark[i].Color
	}
	return colors
}

// Sizes of the drawings in inches, for a page and for a telephone.
const (
	wideWidth, wideHeight     = 8.0, 4.3
	narrowWidth, narrowHeight = 3.2, 3.0
)

func pageChart(s *chart.Spec) (reports.Chart, error) {
	c := reports.Chart{Name: s.Name, Title: strings.Join(append([]string{s.Title}, s.Marks...), ", "), NoData: s.NoData}
	if s.NoData != "" {
		return c, nil
	}
	drawn := *s
	drawn.Title, drawn.Marks, drawn.Caption = "", nil, nil // the page has all of it as text
	if len(s.Caption) > 1 {                                // the first paragraph says what was run, as the page does
		c.About = strings.Join(s.Caption[1:], " · ")
	}
	var err error
	if c.Wide, err = chart.Encode(&drawn, "svg", chart.Options{WidthIn: wideWidth, HeightIn: wideHeight}); err != nil {
		return c, err
	}
	c.Narrow, err = chart.Encode(&drawn, "svg", chart.Options{WidthIn: narrowWidth, HeightIn: narrowHeight})
	c.Plot = plotOf(s)
	return c, err
}

// plotOf is what the page shows of a chart where the pointer is; nil for charts that have no values to show.
func plotOf(s *chart.Spec) *reports.Plot {
	p := &reports.Plot{X: plotAxis(s.X), Y: plotAxis(s.Y), Lines: linesOf(s), Heat: heatOf(s.Cells)}
	if p.Heat != nil {
		return p
	}
	if len(p.Lines) == 0 {
		p.Lines = sidewaysOf(s)
		p.Sideways = true
		for _, t := range s.Y.Ticks {
			if t.Label != "" {
				p.Names = append(p.Names, reports.PlotName{At: short(t.At), Text: t.Label})
			}
		}
	}
	if len(p.Lines) == 0 {
		return nil
	}
	for _, l := range p.Lines {
		slices.SortStableFunc(l.Points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	}
	return p
}

// linesOf are lines, shares of a stack, bars and dots whose values are along y.
func linesOf(s *chart.Spec) (lines []reports.PlotLine) {
	for _, series := range s.Series {
		l := reports.PlotLine{Name: series.Name}
		for _, segment := range append(slices.Clone(series.Segments), series.Bounds) {
			for _, at := range segment {
				l.Points = append(l.Points, [2]float64{short(at.X), short(at.Y)})
			}
		}
		lines = append(lines, l)
	}
	for _, b := range s.Bands {
		if b.Name == "" { // lies between lines that are there already
			continue
		}
		l := reports.PlotLine{Name: b.Name}
		for _, segment := range b.Segments {
			for _, at := range segment {
				l.Points = append(l.Points, [2]float64{short(at.X), short(at.High - at.Low)}) // a share of the stack
			}
		}
		lines = append(lines, l)
	}
	for _, bars := range s.Bars {
		l := reports.PlotLine{Name: bars.Name}
		for _, b := range bars.Bars {
			if !bars.Sideways {
				l.Points = append(l.Points, [2]float64{short(b.From/2 + b.To/2), short(b.Value)})
			}
		}
		lines = append(lines, l)
	}
	for _, dots := range s.Dots {
		l := reports.PlotLine{Name: dots.Name}
		for _, d := range dots.Dots {
			if !dots.Sideways {
				l.Points = append(l.Points, [2]float64{short(d.X), short(d.Y)})
			}
		}
		lines = append(lines, l)
	}
	return slices.DeleteFunc(lines, func(l reports.PlotLine) bool { return len(l.Points) == 0 })
}

// sidewaysOf are bars and dots whose values are along x, by their places on the y axis.
func sidewaysOf(s *chart.Spec) (lines []reports.PlotLine) {
	for _, bars := range s.Bars {
		l := reports.PlotLine{Name: bars.Name}
		for _, b := range bars.Bars {
			l.Points = append(l.Points, [2]float64{short(b.From/2 + b.To/2), short(b.Value)})
		}
		lines = append(lines, l)
	}
	for _, dots := range s.Dots {
		l := reports.PlotLine{Name: dots.Name}
		for _, d := range dots.Dots {
			l.Points = append(l.Points, [2]float64{short(d.Y), short(d.X)})
		}
		lines = append(lines, l)
	}
	return slices.DeleteFunc(lines, func(l reports.PlotLine) bool { return len(l.Points) == 0 })
}

// mostCells bounds what a heat map's counts add to a page: an analysis makes 200 columns, a chart 48 rows of them.
const mostCells = 20_000

// heatOf are the counts of a heat map; nil where there is none, or one that is larger than any is made.
func heatOf(c *chart.Cells) *reports.PlotHeat {
	if c == nil {
		return nil
	}
	h := &reports.PlotHeat{Name: c.Name}
	for _, column := range c.Counted {
		for _, cell := range column.Cells {
			h.Edges = append(h.Edges, short(cell.Y0), short(cell.Y1))
		}
	}
	slices.Sort(h.Edges)
	h.Edges = slices.Compact(h.Edges)
	if len(h.Edges)*len(c.Counted) > mostCells || len(c.Counted) == 0 {
		return nil
	}
	for _, column := range c.Counted {
		row := func(cell chart.CountedCell) int { at, _ := slices.BinarySearch(h.Edges, short(cell.Y0)); return at }
		first, last := row(column.Cells[0]), row(column.Cells[len(column.Cells)-1])
		x := reports.PlotColumn{From: short(column.X0), To: short(column.X1), First: first, Counts: make([]int64, last-first+1)}
		for _, cell := range column.Cells {
			x.Counts[row(cell)-first] += cell.Count
		}
		h.Columns = append(h.Columns, x)
	}
	return h
}

func plotAxis(a chart.Axis) reports.PlotAxis {
	x := reports.PlotAxis{Label: a.Label, Min: a.Min, Max: a.Max}
	switch {
	case a.Log:
		x.Scale = "log"
	case strings.HasPrefix(a.Label, "percentile (%)"):
		x.Scale = "nines"
	}
	return x
}

// short rounds to six significant digits: more are not seen, and every digit is a byte of the page.
func short(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*unit) / unit; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r
	}
	return v
}
