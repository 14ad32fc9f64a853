package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// events are the marks that people and programs set, and where each finding that fails the run begins, in the order of time.
// What lies outside the axis is left out.
func events(r *result.Result, t timeline) []Event {
	var all []Event
	add := func(ns int64, kind, label string) {
		if at := t.at(ns); at >= 0 && at <= t.end {
			all = append(all, Event{At: at / t.unit.per, Kind: kind, Label: label})
		}
	}
	for _, m := range r.Marks {
		add(m.AtNS, "mark", markLabel(m))
	}
	for _, f := range r.Findings {
		if at, ok := firstOf(f); ok && f.Severity == result.SeverityFail {
			label := strings.ReplaceAll(f.Code, "_", " ")
			if f.Count > 1 {
				label = "first of " + result.Group(f.Count) + " " + label
			}
			add(at, "lost", label)
		}
	}
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return all
}

func markLabel(m result.Mark) string {
	switch text := strings.TrimSpace(m.Text); {
	case text != "":
		return text
	case m.Queue != "":
		return "purged " + m.Queue
	}
	return "mark"
}

// firstOf is when the first of the messages of a finding was sent, or else received or due; ok is false where none of them has
// a time.
func firstOf(f result.Finding) (ns int64, ok bool) {
	ns = math.MaxInt64
	for _, m := range f.First {
		for _, at := range []*int64{m.SentNS, m.ReceivedNS, m.DueNS} {
			if at != nil {
				ns, ok = min(ns, *at), true
				break
			}
		}
	}
	return ns, ok
}
