package chart

import (
	"math"
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
	th   *Theme
	t    typesets
	unit vg.Length // a point at the default page width; what has no text scales with it

	left, right, top, bottom vg.Length // what is still free

	names []timeName // those that have their places above the panel
}

// scaledTo is how large type and lines are on a page, 1 on the default one. Smaller pages are held closer to the eye, but not so
// much as they are smaller.
func scaledTo(w, h vg.Length) float64 {
	share := min(float64(w/(defaultWidth*vg.Inch)), float64(h/(defaultHeight*vg.Inch)))
	if share < 1 {
		return math.Pow(share, 0.4)
	}
	return min(share, 4)
}

// render draws the spec onto the whole canvas and returns where the panel with the data is; the options are checked.
func render(s *Spec, canvas vg.CanvasSizer, o Options) (panel vg.Rectangle, err error) {
	if o.NoCaption {
		bare := *s
		bare.Title, bare.Caption = "", nil
		s = &bare
	}
	c, theme := draw.New(canvas), ThemeOf(o.Style)
	scaled := scaledTo(c.Max.X, c.Max.Y)
	t, err := newTypesets(scaled, theme, o.Font)
	if err != nil {
		return panel, err
	}
	if _, ok := canvas.(latex); ok {
		if t, err = newTypesets(scaled, theme, "sans"); err != nil {
			return panel, err
		}
		t.forTeX()
	}
	unit := vg.Length(scaled) * vg.Points(1)
	d := &drawing{c: c, s: s, th: theme, t: t, unit: unit, left: 14 * unit, right: c.Max.X - 16*unit, top: c.Max.Y - 10*unit, bottom: 9 * unit}
	d.fillBox(c.Min.X, c.Max.X, c.Min.Y, c.Max.Y, theme.Page)
	d.title()
	d.caption()
	return d.body(), nil
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

// captionLines breaks the paragraphs into at most so many lines. The first, on what was run, yields to those on what is drawn.
func (d *drawing) captionLines(most int) (lines []string) {
	room := d.right - d.left
	later := 0
	for _, paragraph := range d.s.Caption[min(1, len(d.s.Caption)):] {
		later += len(d.t.caption.wrap(paragraph, room, most))
	}
	for i, paragraph := range d.s.Caption {
		free := most - len(lines)
		if i == 0 {
			free = max(1, most-later)
		}
		if free > 0 {
			lines = append(lines, d.t.caption.wrap(paragraph, room, free)...)
		}
	}
	return lines
}

// caption sets the paragraphs below the chart; they may take three tenths of the page.
func (d *drawing) caption() {
	height := 1.3 * d.t.caption.size()
	lines := d.captionLines(max(2, int((d.top-d.bottom)*3/10/height)))
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
func (d *drawing) body() vg.Rectangle {
	d.fitNames()
	p := d.panel()
	rows, unnamed := d.nameTimes(&p)
	entries := append(d.lineEntries(), unnamed...)
	d.head(entries)
	d.top -= vg.Length(rows)*1.25*d.t.span.size() + 5*d.unit
	if rows == 0 {
		d.top -= 4 * d.unit // the uppermost tick's label keeps off the axis' name
	}
	p.Max.Y = d.top
	d.drawSpans(p, false)
	d.drawGrid(p, true) // below the bands, where many lines would be a hatching
	d.drawBands(p)
	d.drawGrid(p, false)
	d.drawCells(p)
	d.drawSpans(p, true) // above bands and cells, which would hide a short one
	d.drawBars(p)
	d.drawRows(p)
	d.drawEvents(p)
	d.drawTimeNames(p)
	d.drawLines(p)
	d.drawDots(p)
	d.drawTicks(p)
	return p.Rectangle
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

// entry of the legend: a sample of a line or a layer, the shade of a kind of span, or the colour of a kind of event, and its name.
type entry struct {
	name  string
	style *Style
	span  string // kind
	event string // kind
	// sample of a layer, drawn into a box.
	sample func(from, to, bottom, top vg.Length)
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
		if name := d.s.Series[i].Name; name != "" {
			entries = append(entries, entry{name: printable(name), style: &d.s.Series[i].Style})
		}
	}
	return append(entries, d.layerEntries()...)
}

// head sets the name of the y axis and, in the same line if there is room, the legend, flush right.
func (d *drawing) head(entries []entry) {
	for i := range entries {
		entries[i].name = d.t.legend.elide(entries[i].name, d.right-d.left-(sampleWidth+4)*d.unit)
	}
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
		bottom, top := d.top-0.5*d.unit, d.top+0.75*d.t.legend.size()
		switch {
		case e.style != nil:
			d.stroke([]vg.Point{{X: from, Y: middle}, {X: to, Y: middle}}, *e.style)
		case e.sample != nil:
			e.sample(from, to, bottom, top)
		case e.event != "":
			d.c.StrokeLine2(d.eventStyle(e.event), from, middle, to, middle) // upright, its dashes would be a stump
		default:
			d.fillShade(from, to, bottom, top, d.th.Shades[shadeName(e.span)])
			d.boxEdges(from, to, bottom, top, e.span)
		}
		d.t.legend.draw(d.c, to+4*d.unit, d.top, 0, e.name)
		x += d.entryWidth(e)
	}
}
