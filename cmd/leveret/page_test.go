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
