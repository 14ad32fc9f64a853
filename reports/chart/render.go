package chart

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The renderer places everything itself on gonum's canvases. The Plot type of gonum would place axes, but drops a tick
// label whose place is rounded beyond the end of its axis, panics on a value at or below 0 on a logarithmic one, and has
// no room outside the data for a legend or the names of spans.

// drawing is one chart being drawn, from the top and the bottom towards the panel in the middle. Lengths are points.
type drawing struct {
	c    draw.Canvas
	s    *Spec
	t    typesets
	unit vg.Length // a point at the default page width; what has no text scales with it

	left, right, top, bottom vg.Length // what is still free
}

// defaultWidth of a page, in inches; type and lines are made for it and for a paper's column half as wide.
const (
	defaultWidth  = 8.0
	defaultHeight = 4.5
)

// render draws the spec onto the whole canvas.
func render(s *Spec, canvas vg.CanvasSizer) error {
	c := draw.New(canvas)
	scaled := min(float64(c.Max.X/(defaultWidth*vg.Inch)), float64(c.Max.Y/(defaultHeight*vg.Inch)))
	scaled = max(0.6, min(scaled, 4))
	t, err := newTypesets(scaled)
	if err != nil {
		return err
	}
	unit := vg.Length(scaled) * vg.Points(1)
	d := &drawing{c: c, s: s, t: t, unit: unit, left: 14 * unit, right: c.Max.X - 16*unit, top: c.Max.Y - 10*unit, bottom: 9 * unit}
	d.title()
	d.caption()
	d.body()
	return nil
}

// title sets the title and what marks the run, in one line if they fit.
func (d *drawing) title() {
	marks := strings.Join(d.s.Marks, separator)
	room := d.right - d.left
	title := d.t.title.wrap(d.s.Title, room, 2)
	for i, l := range title {
		d.top -= d.t.title.size()
		d.t.title.draw(d.c, d.left, d.top, 0, l)
		if last := i == len(title)-1; last && marks != "" {
			if used := d.t.title.width(l) + 10*d.unit; used+d.t.mark.width(marks) <= room {
				d.t.mark.draw(d.c, d.left+used, d.top, 0, marks)
				marks = ""
			}
		}
		d.top -= 0.3 * d.t.title.size()
	}
	for _, l := range d.t.mark.wrap(marks, room, 2) {
		d.top -= d.t.mark.size()
		d.t.mark.draw(d.c, d.left, d.top, 0, l)
		d.top -= 0.3 * d.t.mark.size()
	}
	d.top -= 0.25 * d.t.title.size()
}

// caption sets the paragraphs below the chart; they may take a quarter of the page.
func (d *drawing) caption() {
	height := 1.3 * d.t.caption.size()
	most := max(1, int((d.top-d.bottom)/4/height))
	var lines []string
	for _, paragraph := range d.s.Caption {
		if most > len(lines) && paragraph != "" {
			lines = append(lines, d.t.caption.wrap(paragraph, d.right-d.left, most-len(lines))...)
		}
	}
	d.bottom += height * vg.Length(len(lines))
	for i, l := range lines {
		d.t.caption.draw(d.c, d.left, d.bottom-height*vg.Length(i+1)+0.3*d.t.caption.size(), 0, l)
	}
	if len(lines) > 0 {
		d.bottom += 5 * d.unit
	}
}

// body draws what lies between title and caption: the name of the y axis and the legend above the panel, the panel
// with its ticks, the name of the x axis below it.
func (d *drawing) body() {
	p := d.panel()
	rows, unnamed := d.nameSpans(&p)
	entries := append(d.lineEntries(), unnamed...)
	d.head(entries)
	d.top -= vg.Length(rows)*1.25*d.t.span.size() + 5*d.unit
	if rows == 0 {
		d.top -= 4 * d.unit // the uppermost tick's label keeps off the axis' name
	}
	p.Max.Y = d.top
	d.drawSpans(p)
	d.drawGrid(p)
	d.drawSpanNames(p)
	d.drawLines(p)
	d.drawTicks(p)
}

// panel leaves room for the ticks' labels and the x axis' name. Its upper end is not yet known.
func (d *drawing) panel() draw.Canvas {
	var widest vg.Length
	for _, t := range d.s.Y.Ticks {
		widest = max(widest, d.t.tick.width(t.Label))
	}
	lines, last := 1, vg.Length(0)
	for i, t := range d.s.X.Ticks {
		parts := strings.Split(t.Label, "\n")
		lines = max(lines, len(parts))
		if i == len(d.s.X.Ticks)-1 {
			for _, p := range parts {
				last = max(last, d.t.tick.width(p))
			}
		}
	}
	p := d.c
	p.Min.X = d.left + widest + 6*d.unit
	p.Max.X = d.right - max(0, last/2-6*d.unit)
	p.Min.Y = d.bottom + 1.5*d.t.label.size() + vg.Length(lines)*1.2*d.t.tick.size() + 5*d.unit
	return p
}

// entry of the legend: a line's sample or a span's shade, and its name.
type entry struct {
	name  string
	style *Style
	shade *shade
}

const (
	sampleWidth = 24 // of a line in the legend
	entryGap    = 14
)

func (d *drawing) entryWidth(e entry) vg.Length {
	return (sampleWidth+4+entryGap)*d.unit + d.t.legend.width(e.name)
}

func (d *drawing) lineEntries() []entry {
	var entries []entry
	for i := range d.s.Series {
		entries = append(entries, entry{name: printable(d.s.Series[i].Name), style: &d.s.Series[i].Style})
	}
	return entries
}

// head sets the name of the y axis and, in the same line if there is room, the legend, flush right.
func (d *drawing) head(entries []entry) {
	d.top -= d.t.label.size()
	name := d.t.label.elide(printable(d.s.Y.Label), d.right-d.left)
	d.t.label.draw(d.c, d.left, d.top, 0, name)
	free := d.right - d.left - d.t.label.width(name) - 10*d.unit
	rows := d.legendRows(entries, free)
	if len(rows) > 1 { // not beside the axis name: below it, over the whole width
		rows = d.legendRows(entries, d.right-d.left)
		d.top -= 1.5 * d.t.legend.size()
	}
	for i, row := range rows {
		if i > 0 {
			d.top -= 1.4 * d.t.legend.size()
		}
		d.legendRow(row)
	}
	d.top -= 2 * d.unit
}

// legendRows puts the entries into rows of the given width; a single entry may be wider.
func (d *drawing) legendRows(entries []entry, width vg.Length) [][]entry {
	var rows [][]entry
	used := vg.Length(0)
	for _, e := range entries {
		w := d.entryWidth(e)
		if len(rows) == 0 || used+w-entryGap*d.unit > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	if len(rows) == 1 && used-entryGap*d.unit > width {
		return append(rows, nil) // one entry that has no room here
	}
	return rows
}

func (d *drawing) legendRow(row []entry) {
	x := d.right + entryGap*d.unit
	for _, e := range row {
		x -= d.entryWidth(e)
	}
	x = max(x, d.left)
	middle := d.top + 0.34*d.t.legend.size()
	for _, e := range row {
		from, to := x, x+sampleWidth*d.unit
		if e.style != nil {
			d.stroke([]vg.Point{{X: from, Y: middle}, {X: to, Y: middle}}, *e.style)
		} else {
			bottom, top := d.top-0.5*d.unit, d.top+0.75*d.t.legend.size()
			d.fillBox(from, to, bottom, top, e.shade.fill)
			d.boxEdges(from, to, bottom, top, *e.shade)
		}
		d.t.legend.draw(d.c, to+4*d.unit, d.top, 0, e.name)
		x += d.entryWidth(e)
	}
}
