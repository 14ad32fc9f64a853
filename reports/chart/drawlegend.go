package chart

import (
	"strings"

	"gonum.org/v1/plot/vg"

	"leveret/analyze/result"
)

// layerEntries are those of the layers that have a name. Each draws its sample into a box.
func (d *drawing) layerEntries() []entry {
	var entries []entry
	add := func(name string, sample func(from, to, bottom, top vg.Length)) {
		if name != "" {
			entries = append(entries, entry{name: printable(name), sample: sample})
		}
	}
	for _, b := range d.s.Bands {
		add(b.Name, d.fillSample(b.Fill))
	}
	for _, b := range d.s.Bars {
		add(b.Name, d.fillSample(b.Fill))
	}
	for _, l := range d.s.Dots {
		add(l.Name, func(from, to, bottom, top vg.Length) {
			middle := (bottom + top) / 2
			if l.Joined {
				d.stroke([]vg.Point{{X: from, Y: middle}, {X: to, Y: middle}}, l.Style)
			}
			d.mark(vg.Point{X: (from + to) / 2, Y: middle}, l.Shape, l.Style)
		})
	}
	if rows := d.s.Rows; rows != nil {
		add(rows.LineName, func(from, to, bottom, top vg.Length) {
			d.stroke([]vg.Point{{X: from, Y: (bottom + top) / 2}, {X: to, Y: (bottom + top) / 2}}, rows.Line)
		})
		add(rows.BoxName, d.rowBox)
		add(rows.DotName, func(from, to, bottom, top vg.Length) {
			d.dot(vg.Point{X: (from + to) / 2, Y: (bottom + top) / 2}, Style{Color: rows.Line.Color, Width: 2.6})
		})
	}
	if cells := d.s.Cells; cells != nil && len(cells.From) > 0 {
		last := "1"
		if n := len(cells.From); n > 1 {
			last = "1 to " + result.Group(int64(cells.From[n-1])) + " and more"
		}
		add(cells.Name+": "+last, func(from, to, bottom, top vg.Length) {
			n := len(cells.From)
			for i := range n {
				width := (to - from) / vg.Length(n)
				d.fillBox(from+vg.Length(i)*width, from+vg.Length(i+1)*width, bottom, top, d.heat(i))
			}
		})
	}
	return entries
}

func (d *drawing) fillSample(f Fill) func(from, to, bottom, top vg.Length) {
	return func(from, to, bottom, top vg.Length) {
		if f.Coat == "" {
			d.fillArea(from, to, bottom, top, f.Ink)
		} else {
			d.fillBox(from, to, bottom, top, d.coat(f))
		}
	}
}

// widestName is the share of the page's width that the names of categories may take.
const widestName = 0.3

// fitNames shortens the names of categories to the room that they have. The spec stays as it is.
func (d *drawing) fitNames() {
	if !d.s.Y.Category {
		return
	}
	s := *d.s
	s.Y.Ticks = nil
	for _, t := range d.s.Y.Ticks {
		t.Label = d.t.tick.elide(printable(strings.TrimSpace(t.Label)), widestName*(d.right-d.left))
		s.Y.Ticks = append(s.Y.Ticks, t)
	}
	d.s = &s
}
