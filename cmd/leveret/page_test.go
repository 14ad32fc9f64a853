package main

import (
	"reflect"
	"testing"

	"leveret/reports"
	"leveret/reports/chart"
)

// At the pointer a stack shows the height of each of its parts; a band without a name lies between lines, and is left out.
func TestPointerValues(t *testing.T) {
	flat := func(low, high float64) [][]chart.Range {
		return [][]chart.Range{{{X: 0, Low: low, High: high}, {X: 2, Low: low, High: high}}}
	}
	p := plotOf(&chart.Spec{
		Bands:  []chart.Band{{Name: "work", Segments: flat(0, 6.25)}, {Name: "wait: socket", Segments: flat(6.25, 100)}, {Segments: flat(1, 2)}},
		Series: []chart.Series{{Name: "sent", Segments: [][]chart.Point{{{X: 1, Y: 3}}}}},
	})
	want := []reports.PlotLine{
		{Name: "sent", Points: [][2]float64{{1, 3}}}, {Name: "work", Points: [][2]float64{{0, 6.25}, {2, 6.25}}}, {Name: "wait: socket", Points: [][2]float64{{0, 93.75}, {2, 93.75}}},
	}
	if !reflect.DeepEqual(p.Lines, want) {
		t.Errorf("%+v, want %+v", p.Lines, want)
	}
}

// At the pointer a heat map shows what its cells hold: the counts of a column stand from its first row on, and rows between that hold
// nothing, here or anywhere, are 0. One larger than any analysis makes has none, so that the page stays small.
func TestPointerValuesOfAHeatMap(t *testing.T) {
	cells := &chart.Cells{Name: "messages in a cell", Counted: []chart.CountedColumn{
		{X0: 0, X1: 0.5, Cells: []chart.CountedCell{{Y0: 1, Y1: 2, Count: 7}, {Y0: 4, Y1: 8, Count: 1}}},
		{X0: 1, X1: 1.5, Cells: []chart.CountedCell{{Y0: 4, Y1: 8, Count: 1_000_000}}},
	}}
	p := plotOf(&chart.Spec{Cells: cells})
	want := &reports.PlotHeat{Name: "messages in a cell", Edges: []float64{1, 2, 4, 8}, Columns: []reports.PlotColumn{
		{From: 0, To: 0.5, First: 0, Counts: []int64{7, 0, 1}}, {From: 1, To: 1.5, First: 2, Counts: []int64{1_000_000}},
	}}
	if !reflect.DeepEqual(p.Heat, want) {
		t.Errorf("%+v, want %+v", p.Heat, want)
	}
	for i := range mostCells {
		x := float64(i)
		cells.Counted = append(cells.Counted, chart.CountedColumn{X0: x, X1: x + 1, Cells: []chart.CountedCell{{Y0: 1, Y1: 2, Count: 1}}})
	}
	if p := plotOf(&chart.Spec{Cells: cells}); p != nil {
		t.Errorf("%+v", p)
	}
}
