package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"leveret/analyze/result"
)

// The most spans of a kind, and the most events, that get names beside them; more would be a row of the same word.
const (
	namedSpans  = 4
	namedEvents = 6
)

// timeName is the name of a span or an event, placed above the panel in a row counted from the panel upwards.
type timeName struct {
	label string
	kind  string
	at    float64 // on the x axis
	few   bool    // its kind has so few that each is named
	event bool

	x         vg.Length // of at, on the page
	left, end vg.Length // of the label
	row       int       // -1: not placed
}

// nameRows is the most rows of names, and nameShare the most of the height between title and caption that they may take.
const (
	nameRows  = 6
	nameShare = 0.2
)

// nameTimes chooses which spans and events are named above the panel and which in the legend, and how many rows of names there
// are.
func (d *drawing) nameTimes(panel *draw.Canvas) (rows int, inLegend []entry) {
	var unnamed []timeName
	d.names, unnamed = d.placeTimeNames(*panel)
	for _, n := range d.names {
		rows = max(rows, n.row+1)
	}
	for _, u := range unnamed {
		total := 0
		for _, s := range d.s.Spans {
			if !u.event && s.Kind == u.kind {
				total += s.Count
			}
		}
		if !u.event {
			inLegend = append(inLegend, entry{name: printable(spanLabel(Span{Kind: u.kind, Count: total})), span: u.kind})
			continue
		}
		for _, e := range d.s.Events {
			if e.Kind == u.kind {
				total++
			}
		}
		noun := u.kind
		if u.kind == "lost" {
			noun = "finding"
		}
		inLegend = append(inLegend, entry{name: result.Plural(int64(total), noun), event: u.kind})
	}
	return rows, inLegend
}

// timeNames are all names that are wanted, in the order of time.
func (d *drawing) timeNames() (names []timeName) {
	spans, events := map[string]int{}, map[string]int{}
	for _, s := range d.s.Spans {
		spans[s.Kind]++
	}
	for _, e := range d.s.Events {
		events[e.Kind]++
	}
	for _, s := range d.s.Spans {
		names = append(names, timeName{label: s.Label, kind: s.Kind, at: s.From/2 + s.To/2, few: spans[s.Kind] <= namedSpans})
	}
	for _, e := range d.s.Events {
		names = append(names, timeName{label: e.Label, kind: e.Kind, at: e.At, few: events[e.Kind] <= namedEvents, event: true})
	}
	slices.SortStableFunc(names, func(a, b timeName) int { return cmp.Compare(a.at, b.at) })
	return names
}

// placeTimeNames sets the name of each span over its middle, and that of each event beside its line, where it neither runs into
// another nor is crossed by the line of an event; of the kinds of those that found no place, or are too many, one each comes back.
func (d *drawing) placeTimeNames(panel draw.Canvas) (names, unnamed []timeName) {
	all := d.timeNames()
	for i := range all {
		n := &all[i]
		n.label = d.t.span.elide(printable(n.label), (panel.Max.X-panel.Min.X)/2)
		n.x = panel.X(d.s.X.place(n.at))
		n.row = -1
	}
	rows := max(2, min(nameRows, int(nameShare*(d.top-d.bottom)/(1.25*d.t.span.size()))))
	placed := d.placeEvents(panel, all, rows)
	for i := range placed {
		if n := &placed[i]; !n.event && n.few {
			d.placeName(panel, placed, i, min(rows, 2), 0.5)
		}
	}
	for _, n := range placed {
		if n.row >= 0 {
			names = append(names, n)
		} else if !slices.ContainsFunc(unnamed, func(u timeName) bool { return u.kind == n.kind && u.event == n.event }) {
			unnamed = append(unnamed, n)
		}
	}
	return names, unnamed
}

// placeEvents names as many events as have room, in as few rows as that takes. Those before some event stand to the left of their
// lines where they can, from the first on, the others to the right, from the last on: however close lines are, labels then form
// steps that no line crosses.
func (d *drawing) placeEvents(panel draw.Canvas, all []timeName, rows int) []timeName {
	var events []int
	for i, n := range all {
		if n.event && n.few {
			events = append(events, i)
		}
	}
	best, most, lowest := all, -1, 0
	for split := range len(events) + 1 {
		try := slices.Clone(all)
		for _, i := range events[:split] {
			d.placeName(panel, try, i, rows, 1, 0)
		}
		for _, i := range slices.Backward(events[split:]) {
			d.placeName(panel, try, i, rows, 0, 1)
		}
		named, height := 0, 0
		for _, i := range events {
			if try[i].row >= 0 {
				named, height = named+1, height+try[i].row
			}
		}
		if named > most || named == most && height < lowest {
			best, most, lowest = try, named, height
		}
	}
	return best
}

// placeName puts a name into the lowest row in which it has room. Each of aligns is where its x lies in it: 0 its left end, 0.5 its
// middle, 1 its right end; the first that has room is taken.
func (d *drawing) placeName(panel draw.Canvas, all []timeName, i, rows int, aligns ...vg.Length) {
	n := all[i]
	width := d.t.span.width(n.label)
	for n.row = range rows {
		leftmost := d.left
		if n.row == 0 { // beside the uppermost tick's label
			leftmost = panel.Min.X
		}
		for _, align := range aligns {
			n.left = n.x - align*width + (1-2*align)*besideLine*d.unit
			if !n.event { // of a span near the edge not all is over its middle
				n.left = max(leftmost, min(n.left, d.right-width))
			}
			n.end = n.left + width
			if n.left >= leftmost && n.end <= d.right && !d.isInTheWay(all, i, &n) {
				all[i] = n
				return
			}
		}
	}
}

// Room around a name, in points: to the line that it stands beside, to a line of another, and to another name.
const (
	besideLine  = 3
	besideOther = 2
	besideName  = 8
)

// isInTheWay tells whether name i, placed as n, would run into another, be crossed by the line of an event, or have a line that
// crosses another name. Where an event is not yet placed, its line may become as high as any.
func (d *drawing) isInTheWay(all []timeName, i int, n *timeName) bool {
	crosses := func(line, name *timeName) bool {
		return line.event && (line.row < 0 || line.row >= name.row) && line.x > name.left-besideOther*d.unit && line.x < name.end+besideOther*d.unit
	}
	for k := range all {
		o := &all[k]
		if k == i {
			continue
		}
		if crosses(o, n) || o.row >= 0 && (crosses(n, o) || o.row == n.row && n.left < o.end+besideName*d.unit && o.left < n.end+besideName*d.unit) {
			return true
		}
	}
	return false
}

func (d *drawing) drawTimeNames(panel draw.Canvas) {
	for _, n := range d.names {
		align := 0.0
		x := n.left
		if n.event && n.x > n.left {
			align, x = 1, n.end
		}
		d.t.span.draw(d.c, x, d.nameBase(panel, n.row), align, n.label)
	}
}

// nameBase is the baseline of a row of names.
func (d *drawing) nameBase(panel draw.Canvas, row int) vg.Length {
	return panel.Max.Y + (0.55+1.25*vg.Length(row))*d.t.span.size()
}
