package chart

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shade of a span: a pale fill that leaves grid and lines readable, and an edge that still shows in print.
type shade struct {
	fill, edge string
	// firstEdge only: the span has no end that matters (drain, few).
	firstEdge bool
}

func shadeOf(kind string) shade {
	switch {
	case kind == drain:
		return shade{"#F1F1F1", "#777777", true}
	case kind == "few":
		return shade{"#F4F4F4", "#AAAAAA", true}
	case strings.Contains(kind, "lost"), strings.Contains(kind, "fail"):
		return shade{"#F9DFCF", vermillion, false}
	case strings.Contains(kind, "stall"):
		return shade{"#F3E1EB", reddishPurple, false}
	case strings.Contains(kind, "reconnect"):
		return shade{"#DCEFFA", skyBlue, false}
	}
	return shade{"#FBEBC8", orange, false}
}

// namedSpans is how many spans of a kind get names beside them; more would be a row of the same word.
const namedSpans = 4

// name of a span, placed above the panel in a row counted from the panel upwards.
type spanName struct {
	label string
	x     vg.Length // middle
	row   int
}

// nameSpans chooses which spans are named above the panel and which in the legend, and how many rows of names there are.
func (d *drawing) nameSpans(panel *draw.Canvas) (rows int, inLegend []entry) {
	names, unnamed := d.placeSpanNames(*panel)
	for _, n := range names {
		rows = max(rows, n.row+1)
	}
	for _, kind := range unnamed {
		total := 0
		for _, s := range d.s.Spans {
			if s.Kind == kind {
				total += s.Count
			}
		}
		sh := shadeOf(kind)
		inLegend = append(inLegend, entry{name: printable(spanLabel(Span{Kind: kind, Count: total})), shade: &sh})
	}
	return rows, inLegend
}

const nameRows = 2

// placeSpanNames sets each name over the middle of its span where it does not run into another; the kinds of those that
// found no place, or are too many, come back.
func (d *drawing) placeSpanNames(panel draw.Canvas) (names []spanName, unnamed []string) {
	perKind := map[string]int{}
	for _, s := range d.s.Spans {
		perKind[s.Kind]++
	}
	ordered := slices.SortedStableFunc(slices.Values(d.s.Spans), func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var taken [nameRows]vg.Length // right end of the last name in each row
	for i := range taken {
		taken[i] = d.left - 8*d.unit
	}
	for _, s := range ordered {
		label := d.t.span.elide(printable(s.Label), (panel.Max.X-panel.Min.X)/3)
		half := d.t.span.width(label) / 2
		middle := panel.X(d.s.X.place(s.From/2 + s.To/2))
		middle = max(d.left+half, min(middle, d.right-half))
		row := slices.IndexFunc(taken[:], func(end vg.Length) bool { return middle-half >= end+8*d.unit })
		if row < 0 || perKind[s.Kind] > namedSpans {
			if !slices.Contains(unnamed, s.Kind) {
				unnamed = append(unnamed, s.Kind)
			}
			continue
		}
		taken[row] = middle + half
		names = append(names, spanName{label: label, x: middle, row: row})
	}
	return names, unnamed
}

func (d *drawing) drawSpanNames(panel draw.Canvas) {
	names, _ := d.placeSpanNames(panel)
	for _, n := range names {
		d.t.span.draw(d.c, n.x, panel.Max.Y+(0.55+1.25*vg.Length(n.row))*d.t.span.size(), 0.5, n.label)
	}
}

// thinnest is the width to which a span that is shorter is widened, so that it can be seen.
const thinnest = 1.6

// drawSpans fills the spans and, once all are filled, draws their edges.
func (d *drawing) drawSpans(panel draw.Canvas) {
	for _, edges := range []bool{false, true} {
		for _, s := range d.s.Spans {
			from, to := panel.X(d.s.X.place(s.From)), panel.X(d.s.X.place(s.To))
			sh := shadeOf(s.Kind)
			if to-from < thinnest*d.unit { // an instant
				to = min(from+thinnest*d.unit, d.c.Max.X)
				sh.fill = sh.edge
			}
			switch {
			case !edges:
				d.fillBox(from, to, panel.Min.Y, panel.Max.Y, sh.fill)
			default:
				// A bar along the upper edge ties the span to its name.
				d.fillBox(from, to, panel.Max.Y, panel.Max.Y+1.8*d.unit, sh.edge)
				if sh.fill != sh.edge {
					d.boxEdges(from, to, panel.Min.Y, panel.Max.Y, sh)
				}
			}
		}
	}
}

func (d *drawing) fillBox(from, to, bottom, top vg.Length, hex string) {
	d.c.SetColor(rgb(hex))
	d.c.Fill((&vg.Rectangle{Min: vg.Point{X: from, Y: bottom}, Max: vg.Point{X: to, Y: top}}).Path())
}

func (d *drawing) boxEdges(from, to, bottom, top vg.Length, sh shade) {
	edge := draw.LineStyle{Color: rgb(sh.edge), Width: 0.7 * d.unit}
	if sh.firstEdge {
		edge.Dashes = []vg.Length{3 * d.unit, 2 * d.unit}
		edge.Width = 0.9 * d.unit
	}
	d.c.StrokeLine2(edge, from, bottom, from, top)
	if !sh.firstEdge {
		d.c.StrokeLine2(edge, to, bottom, to, top)
	}
}
