package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// thinnest is the width to which a span that is shorter is widened, so that it can be seen.
const thinnest = 1.6

// drawSpans fills the spans, or draws their edges.
func (d *drawing) drawSpans(panel draw.Canvas, edges bool) {
	for _, s := range d.s.Spans {
		from, to := panel.X(d.s.X.place(s.From)), panel.X(d.s.X.place(s.To))
		shade := d.th.Shades[shadeName(s.Kind)]
		instant := to-from < thinnest*d.unit
		if instant {
			to = min(from+thinnest*d.unit, d.c.Max.X)
			shade = Shade{Fill: shade.Edge, Edge: shade.Edge}
		}
		if !edges || instant { // an instant is all edge
			d.fillShade(from, to, panel.Min.Y, panel.Max.Y, shade)
		}
		if !edges {
			continue
		}
		// A bar along the upper edge ties the span to its name.
		d.fillBox(from, to, panel.Max.Y, panel.Max.Y+1.8*d.unit, shade.Edge)
		if !instant {
			d.boxEdges(from, to, panel.Min.Y, panel.Max.Y, s.Kind)
		}
	}
}

// drawEvents draws a line from top to bottom for each event, up to the name that stands beside it; of those without a name that
// would touch, one.
func (d *drawing) drawEvents(panel draw.Canvas) {
	for _, n := range d.names {
		if n.event {
			d.eventLine(n.kind, n.x, panel.Min.Y, d.nameBase(panel, n.row)+0.75*d.t.span.size())
		}
	}
	last := map[string]vg.Length{}
	for _, e := range d.s.Events {
		x := panel.X(d.s.X.place(e.At))
		if before, ok := last[e.Kind]; ok && x-before < d.unit || d.isNamed(e.Kind, x) {
			continue
		}
		last[e.Kind] = x
		d.eventLine(e.Kind, x, panel.Min.Y, panel.Max.Y+3*d.unit)
	}
}

// isNamed tells whether a line with a name is where one of the same kind would be drawn.
func (d *drawing) isNamed(kind string, x vg.Length) bool {
	return slices.ContainsFunc(d.names, func(n timeName) bool { return n.event && n.kind == kind && n.x < x+d.unit && n.x > x-d.unit })
}

// eventStyle is that of the lines of a kind of event.
func (d *drawing) eventStyle(kind string) draw.LineStyle {
	return draw.LineStyle{Color: rgb(d.th.Shades[shadeName(kind)].Edge), Width: 0.9 * d.unit, Dashes: []vg.Length{4 * d.unit, 1.5 * d.unit, d.unit, 1.5 * d.unit}}
}

func (d *drawing) eventLine(kind string, x, bottom, top vg.Length) {
	d.c.StrokeLine2(d.eventStyle(kind), x, bottom, x, top)
}

func (d *drawing) fillBox(from, to, bottom, top vg.Length, hex string) {
	d.c.SetColor(rgb(hex))
	d.c.Fill((&vg.Rectangle{Min: vg.Point{X: from, Y: bottom}, Max: vg.Point{X: to, Y: top}}).Path())
}

// fillShade fills a box and draws its pattern.
func (d *drawing) fillShade(from, to, bottom, top vg.Length, s Shade) {
	d.fillBox(from, to, bottom, top, s.Fill)
	box := vg.Rectangle{Min: vg.Point{X: from, Y: bottom}, Max: vg.Point{X: to, Y: top}}
	if path := hatch(box, s.Hatch, 5*d.unit); len(path) > 0 {
		d.c.SetLineStyle(draw.LineStyle{Color: rgb(s.Edge), Width: 0.35 * d.unit})
		d.c.Stroke(path)
	}
}

// fillArea draws a bar in an ink: filled and, where the theme says so, hatched and outlined.
func (d *drawing) fillArea(from, to, bottom, top vg.Length, ink string) {
	s := d.th.area(ink)
	d.fillShade(from, to, bottom, top, s)
	if s.Edge == s.Fill {
		return
	}
	d.c.SetLineStyle(draw.LineStyle{Color: rgb(s.Edge), Width: 0.6 * d.unit})
	d.c.Stroke(outlineOf(from, to, bottom, top))
}

// outlineOf a box, closed with a line of its own: pgf does not close paths.
func outlineOf(from, to, bottom, top vg.Length) (path vg.Path) {
	path.Move(vg.Point{X: from, Y: bottom})
	for _, p := range []vg.Point{{X: to, Y: bottom}, {X: to, Y: top}, {X: from, Y: top}, {X: from, Y: bottom}} {
		path.Line(p)
	}
	return path
}

// boxEdges draws the upright edges of a span. Of some kinds only the beginning matters.
func (d *drawing) boxEdges(from, to, bottom, top vg.Length, kind string) {
	edge := draw.LineStyle{Color: rgb(d.th.Shades[shadeName(kind)].Edge), Width: 0.7 * d.unit}
	firstOnly := kind == drain || kind == "few"
	if firstOnly {
		edge.Dashes = []vg.Length{3 * d.unit, 2 * d.unit}
		edge.Width = 0.9 * d.unit
	}
	d.c.StrokeLine2(edge, from, bottom, from, top)
	if !firstOnly {
		d.c.StrokeLine2(edge, to, bottom, to, top)
	}
}

// hatch makes the lines of a pattern within a box, so far apart; of "" none. There are at most a thousand of a direction.
func hatch(box vg.Rectangle, pattern string, apart vg.Length) (path vg.Path) {
	w, h := box.Size().X, box.Size().Y
	apart = max(apart, (w+h)/1000)
	if !(w > 0 && h > 0 && apart > 0) {
		return nil
	}
	line := func(x0, y0, x1, y1 vg.Length) {
		path.Move(vg.Point{X: box.Min.X + x0, Y: box.Min.Y + y0})
		path.Line(vg.Point{X: box.Min.X + x1, Y: box.Min.Y + y1})
	}
	if pattern == "rising" || pattern == "crossed" {
		for c := apart/2 - h; c < w; c += apart { // y = x - c
			line(max(0, c), max(0, -c), min(w, h+c), min(h, w-c))
		}
	}
	if pattern == "falling" || pattern == "crossed" {
		for c := apart / 2; c < w+h; c += apart { // y = c - x
			line(max(0, c-h), min(h, c), min(w, c), max(0, c-w))
		}
	}
	for x := apart / 2; pattern == "upright" && x < w; x += apart {
		line(x, 0, x, h)
	}
	for y := apart / 2; pattern == "level" && y < h; y += apart {
		line(0, y, w, y)
	}
	return path
}
