package chart

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// place gives a value's position along an axis as a share of its length.
func (a *Axis) place(v float64) float64 {
	if a.Log {
		return (math.Log10(v) - math.Log10(a.Min)) / (math.Log10(a.Max) - math.Log10(a.Min))
	}
	// Halves, so that the distance of the largest numbers does not overflow.
	return (v/2 - a.Min/2) / (a.Max/2 - a.Min/2)
}

func (d *drawing) point(panel draw.Canvas, p Point) vg.Point {
	return vg.Point{X: panel.X(d.s.X.place(p.X)), Y: panel.Y(d.s.Y.place(p.Y))}
}

// drawGrid draws the lines at the ticks without a label, or those at the others, and the axis.
func (d *drawing) drawGrid(panel draw.Canvas, minor bool) {
	style := draw.LineStyle{Color: rgb(d.th.Grid), Width: 0.6 * d.unit}
	if minor {
		style = draw.LineStyle{Color: rgb(d.th.Fainter), Width: 0.5 * d.unit}
	}
	for _, t := range d.s.Y.gridTicks() {
		if (t.Label == "") == minor {
			y := panel.Y(d.s.Y.place(t.At))
			d.c.StrokeLine2(style, panel.Min.X, y, panel.Max.X, y)
		}
	}
	for _, t := range d.s.X.Ticks {
		if (t.Label == "") == minor {
			x := panel.X(d.s.X.place(t.At))
			d.c.StrokeLine2(style, x, panel.Min.Y, x, panel.Max.Y)
		}
	}
	if !minor {
		d.c.StrokeLine2(draw.LineStyle{Color: rgb(d.th.Axis), Width: 0.8 * d.unit}, panel.Min.X, panel.Min.Y, panel.Max.X, panel.Min.Y)
	}
}

// drawTicks sets the labels of both axes and the name of the x axis.
func (d *drawing) drawTicks(panel draw.Canvas) {
	t := d.t.tick
	above := vg.Length(math.Inf(-1))
	for _, tick := range d.s.Y.Ticks {
		if y := panel.Y(d.s.Y.place(tick.At)) - 0.35*t.size(); tick.Label != "" && y >= above { // a low panel has room for some
			t.draw(d.c, panel.Min.X-6*d.unit, y, 1, tick.Label)
			above = y + t.size()
		}
	}
	lowest := d.drawTimeTicks(panel)
	d.t.label.draw(d.c, (panel.Min.X+panel.Max.X)/2, lowest-1.35*d.t.label.size(), 0.5, printable(d.s.X.Label))
}

// drawTimeTicks sets the labels of the x axis and gives the baseline of their lowest line. A label that would touch its
// neighbour is set without its second line, or not at all; the last one always stays.
func (d *drawing) drawTimeTicks(panel draw.Canvas) (lowest vg.Length) {
	t := d.t.tick
	lowest = panel.Min.Y - 4*d.unit - t.size()
	free := vg.Length(math.Inf(-1)) // where the label before ends
	for i, tick := range d.s.X.Ticks {
		x := panel.X(d.s.X.place(tick.At))
		length := 3 * d.unit
		if tick.Label == "" {
			length /= 2
		}
		d.c.StrokeLine2(draw.LineStyle{Color: rgb(d.th.Axis), Width: 0.8 * d.unit}, x, panel.Min.Y, x, panel.Min.Y-length)
		if tick.Label == "" {
			continue
		}
		lines := strings.Split(tick.Label, "\n")
		for len(lines) > 0 {
			half := d.widest(lines) / 2
			if x-half >= free && (i == d.lastLabelled() || !d.touchesLast(panel, x+half)) {
				free = x + half + 4*d.unit
				break
			}
			lines = lines[:len(lines)-1]
		}
		for n, l := range lines {
			y := panel.Min.Y - 4*d.unit - (1+1.2*vg.Length(n))*t.size()
			t.draw(d.c, x, y, 0.5, l)
			lowest = min(lowest, y)
		}
	}
	return lowest
}

// widest of some lines of a tick's label.
func (d *drawing) widest(lines []string) (width vg.Length) {
	for _, l := range lines {
		width = max(width, d.t.tick.width(l))
	}
	return width
}

// lastLabelled is the last tick of the x axis that has a label; 0 where none has.
func (d *drawing) lastLabelled() int {
	for i := len(d.s.X.Ticks) - 1; i > 0; i-- {
		if d.s.X.Ticks[i].Label != "" {
			return i
		}
	}
	return 0
}

// touchesLast: a label that ends at x would run into the label of the axis' last one.
func (d *drawing) touchesLast(panel draw.Canvas, x vg.Length) bool {
	last := d.s.X.Ticks[d.lastLabelled()]
	return x+4*d.unit > panel.X(d.s.X.place(last.At))-d.widest(strings.Split(last.Label, "\n"))/2
}

// dots are drawn at the points of a line that has so few, so that its readings can be told from the lines between.
const dots = 40

func (d *drawing) drawLines(panel draw.Canvas) {
	if d.s.NoData != "" || d.s.empty() {
		text := "no data"
		if d.s.NoData != "" {
			text += ": " + d.s.NoData
		}
		y := (panel.Min.Y + panel.Max.Y) / 2
		for _, l := range d.t.legend.wrap(text, 0.9*(panel.Max.X-panel.Min.X), 3) {
			d.t.legend.draw(d.c, (panel.Min.X+panel.Max.X)/2, y, 0.5, l)
			y -= 1.3 * d.t.legend.size()
		}
		return
	}
	for _, s := range d.s.Series {
		count := 0
		for _, segment := range s.Segments {
			count += len(segment)
		}
		for _, segment := range s.Segments {
			points := make([]vg.Point, len(segment))
			for i, p := range segment {
				points[i] = d.point(panel, p)
			}
			d.stroke(points, s.Style)
			if count <= dots && !s.Plain || len(points) == 1 {
				for _, p := range points {
					d.dot(p, s.Style)
				}
			}
		}
	}
	for _, s := range d.s.Series {
		for _, b := range s.Bounds {
			d.triangle(d.point(panel, b), s.Style)
		}
	}
}

// dashes by their names in a Style, in points.
var dashes = map[string][]vg.Length{"dash": {6, 3}, "dot": {1.6, 2.2}, "dashdot": {7, 2.4, 1.6, 2.4}}

func (d *drawing) stroke(points []vg.Point, s Style) {
	if len(points) < 2 {
		return
	}
	style := draw.LineStyle{Color: d.ink(s.Color), Width: vg.Length(s.Width) * d.unit}
	for _, length := range dashes[s.Dash] {
		style.Dashes = append(style.Dashes, length*d.unit)
	}
	d.c.StrokeLines(style, points)
}

// ink is a colour of the theme by its name in a Spec.
func (d *drawing) ink(name string) color.Color { return rgb(d.th.Inks[name]) }

func (d *drawing) dot(at vg.Point, s Style) {
	radius := max(1.5, 0.75*vg.Length(s.Width)) * d.unit
	var path vg.Path
	path.Move(vg.Point{X: at.X + radius, Y: at.Y})
	path.Arc(at, radius, 0, 2*math.Pi)
	path.Close()
	d.c.SetColor(d.ink(s.Color))
	d.c.Fill(path)
}

// triangle points upwards, from a value that is a lower bound.
func (d *drawing) triangle(at vg.Point, s Style) {
	r := 3.2 * d.unit
	var path vg.Path
	path.Move(vg.Point{X: at.X, Y: at.Y + 1.5*r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Line(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y + 1.5*r}) // pgf does not close paths
	path.Close()
	d.c.SetColor(rgb(d.th.Page))
	d.c.Fill(path)
	d.c.SetLineStyle(draw.LineStyle{Color: d.ink(s.Color), Width: 1.1 * d.unit})
	d.c.Stroke(path)
}
