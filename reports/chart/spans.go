package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// drain is the kind of the span after publishing has stopped.
const drain = "drain"

// closest is the share of the axis below which two spans of one kind become one: they could not be told apart.
const closest = 0.004

// spans are what happened during the run, in the order of their kinds, after window and drain. Times outside the axis are cut.
func spans(r *result.Result, t timeline) []Span {
	var all []Span
	for _, find := range []func(*result.Result, timeline) (Span, bool){windowSpan, drainSpan} {
		if s, ok := find(r, t); ok {
			all = append(all, s)
		}
	}
	byKind := map[string][]Span{}
	var kinds []string
	for _, s := range r.Spans {
		from, to := t.at(s.FromNS), t.at(s.ToNS)
		if to < from || to < 0 || from > t.end {
			continue
		}
		if byKind[s.Kind] == nil {
			kinds = append(kinds, s.Kind)
		}
		byKind[s.Kind] = append(byKind[s.Kind], Span{From: math.Max(from, 0) / t.unit.per, To: math.Min(to, t.end) / t.unit.per, Kind: s.Kind, Count: 1})
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		all = append(all, merge(byKind[k], closest*t.end/t.unit.per)...)
	}
	for i := range all {
		if all[i].Label == "" {
			all[i].Label = spanLabel(all[i])
		}
	}
	return all
}

// window is the kind of the span that rates and latencies of the report are of, where that is a part of the run.
const window = "window"

func windowSpan(r *result.Result, t timeline) (Span, bool) {
	p := r.Window.Part
	if p == nil || p.ToNS <= p.FromNS {
		return Span{}, false
	}
	from, to := math.Max(0, float64(p.FromNS)), math.Min(t.end, float64(p.ToNS))
	s := Span{From: from / t.unit.per, To: to / t.unit.per, Kind: window, Count: 1}
	s.Label = "measured: " + significant(s.From) + " to " + significant(s.To) + " " + t.unit.name
	return s, to > from
}

// drainSpan begins where the first interval of the drain does.
func drainSpan(r *result.Result, t timeline) (Span, bool) {
	for i := range r.Intervals {
		if r.Intervals[i].Phase == drain {
			from := math.Max(0, t.at(r.Intervals[i].StartNS))
			long := t.end-from > closest*t.end // a shorter one would be a line on the frame
			return Span{From: from / t.unit.per, To: t.end / t.unit.per, Kind: drain, Count: 1}, long
		}
	}
	return Span{}, false
}

// merge joins spans that overlap or nearly touch.
func merge(spans []Span, gap float64) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To+gap {
			out[n-1].To = math.Max(out[n-1].To, s.To)
			out[n-1].Count += s.Count
			continue
		}
		out = append(out, s)
	}
	return out
}

func spanLabel(s Span) string {
	label := strings.ReplaceAll(s.Kind, "_", " ")
	switch label {
	case "":
		label = "marked"
	case "lost": // a connection, not messages
		label = "connection lost"
	}
	if s.Count > 1 {
		label += " (" + result.Group(int64(s.Count)) + ")"
	}
	return label
}
