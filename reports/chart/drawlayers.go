package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colour of a fill in the theme.
func (d *drawing) coat(f Fill) string {
	switch f.Coat {
	case "tint":
		return d.th.tint(f.Ink)
	case "half":
		return d.th.half(f.Ink)
	}
	return d.th.area(f.Ink).Fill
}

// drawCells draws all cells of a level as one path: a heat map has thousands.
func (d *drawing) drawCells(panel draw.Canvas) {
	if d.s.Cells == nil {
		return
	}
	const overlap = 0.3 // points: or the page would shine through between neighbours
	paths := make([]vg.Path, len(d.s.Cells.From))
	for _, c := range d.s.Cells.Cells {
		from, to := panel.X(d.s.X.place(c.X0)), panel.X(d.s.X.place(c.X1))+overlap*d.unit
		bottom, top := panel.Y(d.s.Y.place(c.Y0)), panel.Y(d.s.Y.place(c.Y1))+overlap*d.unit
		box := vg.Rectangle{Min: vg.Point{X: from, Y: bottom}, Max: vg.Point{X: to, Y: top}}
		paths[c.Level] = append(paths[c.Level], box.Path()...)
	}
	for level, path := range paths {
		if len(path) > 0 {
			d.c.SetColor(rgb(d.heat(level)))
			d.c.Fill(path)
		}
	}
}

// heat is the colour of a level of the cells. The theme's palest would be lost on the page.
func (d *drawing) heat(level int) string {
	palest := 2.0 / float64(len(d.th.Heat))
	if len(d.s.Cells.From) < 2 {
		return d.th.heat((1 + palest) / 2)
	}
	return d.th.heat(palest + (1-palest)*float64(level)/float64(len(d.s.Cells.From)-1))
}

func (d *drawing) drawBands(panel draw.Canvas) {
	for _, b := range d.s.Bands {
		for _, segment := range b.Segments {
			d.fillRibbon(panel, segment, b.Fill)
		}
	}
}

// fillRibbon fills the area between two lines. What the theme draws with a pattern is filled box by box, as its patterns are those of
// boxes.
func (d *drawing) fillRibbon(panel draw.Canvas, ranges []Range, f Fill) {
	if len(ranges) < 2 {
		return
	}
	at := func(x, y float64) vg.Point { return d.point(panel, Point{X: x, Y: y}) }
	var path vg.Path
	path.Move(at(ranges[0].X, ranges[0].High))
	for _, p := range ranges[1:] {
		path.Line(at(p.X, p.High))
	}
	for i := len(ranges) - 1; i >= 0; i-- {
		path.Line(at(ranges[i].X, ranges[i].Low))
	}
	path.Line(at(ranges[0].X, ranges[0].High)) // pgf does not close paths
	path.Close()
	d.c.SetColor(rgb(d.coat(f)))
	d.c.Fill(path)
	shade := d.th.area(f.Ink)
	if f.Coat != "" || shade.Edge == shade.Fill {
		return
	}
	upper := make([]vg.Point, len(ranges))
	for i, p := range ranges {
		upper[i] = at(p.X, p.High)
	}
	d.c.StrokeLines(draw.LineStyle{Color: rgb(shade.Edge), Width: 0.6 * d.unit}, upper)
	if shade.Hatch == "" {
		return
	}
	d.c.SetLineStyle(draw.LineStyle{Color: rgb(shade.Edge), Width: 0.35 * d.unit})
	for i := 1; i < len(ranges); i++ {
		a, b := ranges[i-1], ranges[i]
		low, high := at(a.X, math.Max(a.Low, b.Low)), at(b.X, math.Min(a.High, b.High))
		if lines := hatch(vg.Rectangle{Min: low, Max: high}, shade.Hatch, 5*d.unit); len(lines) > 0 {
			d.c.Stroke(lines)
		}
	}
}

func (d *drawing) drawBars(panel draw.Canvas) {
	for _, b := range d.s.Bars {
		for _, bar := range b.Bars {
			d.bar(panel, &b, bar)
		}
	}
	for _, b := range d.s.Bars { // above all bars
		for _, bar := range b.Bars {
			if bar.Low != nil && bar.High != nil {
				middle := bar.From/2 + bar.To/2
				d.whisker(panel, middle, *bar.Low, *bar.High, b.Sideways, black)
			}
		}
	}
}

func (d *drawing) bar(panel draw.Canvas, b *Bars, bar Bar) {
	across, along := &d.s.X, &d.s.Y
	if b.Sideways {
		across, along = along, across
	}
	base := 0.0
	if along.Log || along.Min > 0 {
		base = along.Min
	}
	from, to := along.place(math.Min(base, bar.Value)), along.place(math.Max(base, bar.Value))
	left, right := across.place(bar.From), across.place(bar.To)
	x0, x1, y0, y1 := panel.X(left), panel.X(right), panel.Y(from), panel.Y(to)
	if b.Sideways {
		x0, x1, y0, y1 = panel.X(from), panel.X(to), panel.Y(left), panel.Y(right)
	}
	if b.Fill.Coat == "" {
		d.fillArea(x0, x1, y0, y1, b.Fill.Ink)
	} else {
		d.fillBox(x0, x1, y0, y1, d.coat(b.Fill))
	}
}

// whisker draws an interval at a place across it, with short ends.
func (d *drawing) whisker(panel draw.Canvas, across, low, high float64, sideways bool, ink string) {
	style := draw.LineStyle{Color: d.ink(ink), Width: 0.9 * d.unit}
	end := 2.2 * d.unit
	a, b := d.point(panel, Point{X: across, Y: low}), d.point(panel, Point{X: across, Y: high})
	dx, dy := end, vg.Length(0)
	if sideways {
		a, b = d.point(panel, Point{X: low, Y: across}), d.point(panel, Point{X: high, Y: across})
		dx, dy = 0, end
	}
	d.c.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
	for _, p := range []vg.Point{a, b} {
		d.c.StrokeLine2(style, p.X-dx, p.Y-dy, p.X+dx, p.Y+dy)
	}
}

func (d *drawing) drawRows(panel draw.Canvas) {
	if d.s.Rows == nil {
		return
	}
	style := d.s.Rows.Line
	for _, r := range d.s.Rows.Rows {
		x := func(v float64) vg.Length { return panel.X(d.s.X.place(v)) }
		y, half := panel.Y(d.s.Y.place(r.At)), panel.Y(d.s.Y.place(r.At+r.Half))-panel.Y(d.s.Y.place(r.At))
		if r.From != nil && r.To != nil {
			d.stroke([]vg.Point{{X: x(*r.From), Y: y}, {X: x(*r.To), Y: y}}, style)
		}
		if r.Low != nil && r.High != nil {
			from := x(*r.Low)
			d.rowBox(from, max(x(*r.High), from+d.unit), y-half, y+half)
		} else if r.Low != nil {
			d.c.StrokeLine2(draw.LineStyle{Color: d.ink(style.Color), Width: 1.4 * d.unit}, x(*r.Low), y-half, x(*r.Low), y+half)
		}
		if r.Dot != nil {
			d.dot(vg.Point{X: x(*r.Dot), Y: y}, Style{Color: style.Color, Width: 2.6})
		}
		if r.Bound != nil {
			d.pointer(vg.Point{X: x(*r.Bound), Y: y}, style, true)
		}
	}
}

// rowBox has a strong left edge: it is the median.
func (d *drawing) rowBox(from, to, bottom, top vg.Length) {
	d.fillBox(from, to, bottom, top, d.coat(d.s.Rows.Box))
	d.c.SetLineStyle(draw.LineStyle{Color: d.ink(d.s.Rows.Line.Color), Width: 0.6 * d.unit})
	d.c.Stroke(outlineOf(from, to, bottom, top))
	d.c.StrokeLine2(draw.LineStyle{Color: d.ink(d.s.Rows.Line.Color), Width: 2 * d.unit}, from, bottom, from, top)
}

func (d *drawing) drawDots(panel draw.Canvas) {
	for _, l := range d.s.Dots {
		d.joinDots(panel, &l)
		for _, p := range l.Dots {
			across := p.X
			if l.Sideways {
				across = p.Y
			}
			if p.Low != nil && p.High != nil {
				d.whisker(panel, across, *p.Low, *p.High, l.Sideways, l.Style.Color)
			}
			if at := d.point(panel, Point{X: p.X, Y: p.Y}); p.Bound {
				d.pointer(at, l.Style, l.Sideways)
			} else {
				d.mark(at, l.Shape, l.Style)
			}
		}
	}
}

func (d *drawing) joinDots(panel draw.Canvas, l *Dots) {
	if !l.Joined {
		return
	}
	var points []vg.Point
	for _, p := range l.Dots {
		if !p.Apart {
			points = append(points, d.point(panel, Point{X: p.X, Y: p.Y}))
		}
	}
	if len(points) > 1 {
		d.stroke(points, l.Style)
	}
}

// mark of a shape around a point.
func (d *drawing) mark(at vg.Point, shape string, s Style) {
	r := (1.2 + 0.8*vg.Length(s.Width)) * d.unit
	var corners []vg.Point
	switch shape {
	case "square":
		corners = []vg.Point{{X: -r, Y: -r}, {X: r, Y: -r}, {X: r, Y: r}, {X: -r, Y: r}}
	case "diamond":
		corners = []vg.Point{{X: 0, Y: -1.35 * r}, {X: 1.35 * r, Y: 0}, {X: 0, Y: 1.35 * r}, {X: -1.35 * r, Y: 0}}
	case "cross":
		style := draw.LineStyle{Color: d.ink(s.Color), Width: 1.6 * d.unit}
		d.c.StrokeLine2(style, at.X-r, at.Y-r, at.X+r, at.Y+r)
		d.c.StrokeLine2(style, at.X-r, at.Y+r, at.X+r, at.Y-r)
		return
	default:
		d.dot(at, Style{Color: s.Color, Width: float64(r / d.unit / 0.75)})
		return
	}
	d.c.SetColor(d.ink(s.Color))
	d.c.Fill(polygon(at, corners))
}

// polygon around a point, closed with a line of its own: pgf does not close paths.
func polygon(at vg.Point, corners []vg.Point) (path vg.Path) {
	for i, c := range append(corners[:len(corners):len(corners)], corners[0]) {
		p := vg.Point{X: at.X + c.X, Y: at.Y + c.Y}
		if i == 0 {
			path.Move(p)
		} else {
			path.Line(p)
		}
	}
	path.Close()
	return path
}

// pointer is a triangle that points to where a value known from below may lie: upwards, or to the right.
func (d *drawing) pointer(at vg.Point, s Style, sideways bool) {
	if !sideways {
		d.triangle(at, s)
		return
	}
	r := 3.2 * d.unit
	path := polygon(at, []vg.Point{{X: 1.5 * r}, {Y: r}, {Y: -r}})
	d.c.SetColor(rgb(d.th.Page))
	d.c.Fill(path)
	d.c.SetLineStyle(draw.LineStyle{Color: d.ink(s.Color), Width: 1.1 * d.unit})
	d.c.Stroke(path)
}
