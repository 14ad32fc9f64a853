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
	label  string
	kind   string
	at     float64 // on the x axis
	few    bool    // its kind has so few that each is named
	event  bool
	middle vg.Length
	row    int
}

const nameRows = 2

// nameTimes chooses which spans and events are named above the panel and which in the legend, and how many rows of names there
// are.
func (d *drawing) nameTimes(panel *draw.Canvas) (rows int, inLegend []entry) {
	names, unnamed := d.placeTimeNames(*panel)
	for _, n := range names {
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

// placeTimeNames sets each name over the middle of its span, or over its event, where it does not run into another; of the kinds
// of those that found no place, or are too many, one each comes back.
func (d *drawing) placeTimeNames(panel draw.Canvas) (names, unnamed []timeName) {
	var taken [nameRows]vg.Length // right end of the last name in each row
	for i := range taken {
		taken[i] = d.left - 8*d.unit
	}
	for _, n := range d.timeNames() {
		n.label = d.t.span.elide(printable(n.label), (panel.Max.X-panel.Min.X)/2)
		half := d.t.span.width(n.label) / 2
		n.middle = max(d.left+half, min(panel.X(d.s.X.place(n.at)), d.right-half))
		n.row = slices.IndexFunc(taken[:], func(end vg.Length) bool { return n.middle-half >= end+8*d.unit })
		if n.row < 0 || !n.few {
			if !slices.ContainsFunc(unnamed, func(u timeName) bool { return u.kind == n.kind && u.event == n.event }) {
				unnamed = append(unnamed, n)
			}
			continue
		}
		taken[n.row] = n.middle + half
		names = append(names, n)
	}
	return names, unnamed
}

func (d *drawing) drawTimeNames(panel draw.Canvas) {
	names, _ := d.placeTimeNames(panel)
	for _, n := range names {
		d.t.span.draw(d.c, n.middle, panel.Max.Y+(0.55+1.25*vg.Length(n.row))*d.t.span.size(), 0.5, n.label)
	}
}
