package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// mostRows is how many members have a row with their name; more are drawn as curves over all of them, in the order of their medians.
const mostRows = 20

// spreadSpec shows how latency differs between the members of a grouping: queues, producers or consumers.
func spreadSpec(r *result.Result, by string) Spec {
	s := Spec{Title: "Latency by " + by, Marks: marks(r)}
	g := groupingBy(r, by)
	what, from := spreadLatency(r, g)
	if g == nil || what == "" {
		s.X, s.Y = valueAxis("latency (milliseconds)", 0, 1), valueAxis(by, 0, 1)
		s.NoData = "latencies by " + by + " were not asked for (--by " + by + ")"
		if g != nil {
			s.NoData = "no " + by + " has a latency"
		}
		return s
	}
	s.Title = title(what) + " latency by " + by
	members := membersWith(g, what, from)
	if len(members) <= mostRows {
		s.rows(members, what, from)
	} else {
		s.ranked(members, by, what, from)
	}
	s.Table = membersTable(g, what, from)
	s.Caption = caption(r, append(spreadNotes(g, by, members, what, from), s.Caption...)...)
	return s
}

func groupingBy(r *result.Result, by string) *result.Grouping {
	for i := range r.Groupings {
		if g := &r.Groupings[i]; g.By == by {
			return g
		}
	}
	return nil
}

// spreadLatency is the latency that members have: of deliveries before that of confirms, response before service.
func spreadLatency(r *result.Result, g *result.Grouping) (what, from string) {
	if g == nil {
		return "", ""
	}
	for _, what := range slices.Backward(r.LatencyKinds()) {
		for _, from := range []string{"response", "service"} {
			if len(membersWith(g, what, from)) > 0 {
				return what, from
			}
		}
	}
	return "", ""
}

// membersWith a median of the latency, or what it is at least, in the order of the grouping.
func membersWith(g *result.Grouping, what, from string) (all []*result.Member) {
	for i := range g.Members {
		if d := g.Members[i].Latency.Pick(what, from); d != nil && d.Count > 0 && leastMedian(d) != nil {
			all = append(all, &g.Members[i])
		}
	}
	return all
}

// leastMedian is the median, or where that lies among messages that were never answered, what it is at least: a member of which most
// were not answered is the last one to be left out.
func leastMedian(d *result.Distribution) *int64 { return d.Percentiles()[0].ValueNS }

// rows draws one row a member, the first at the top.
func (s *Spec) rows(members []*result.Member, what, from string) {
	spread := spreadOfMembers(members, what, from)
	var unit scale
	s.X, unit = latencyAxis(spread, from+" latency")
	s.Y = Axis{Category: true, Min: 0, Max: float64(len(members))}
	s.Rows = &Rows{
		Line: Style{Color: black, Width: 1.2}, Box: Fill{Ink: blue, Coat: "half"},
		LineName: "least to 99 %", BoxName: "median to 95 %", DotName: "maximum",
	}
	for i, m := range members {
		at := float64(len(members)-i) - 0.5
		s.Y.Ticks = append(s.Y.Ticks, Tick{At: at, Label: m.Name})
		place := func(v *int64) *float64 {
			if v == nil || s.X.Log && *v <= 0 {
				return nil
			}
			x := float64(*v) / unit.per
			return &x
		}
		d := m.Latency.Pick(what, from)
		row := Row{At: at, Half: 0.3, From: place(d.MinNS), Low: place(d.P50NS), High: place(d.P95NS), To: place(d.Percentiles()[3].ValueNS), Dot: place(d.MaxNS)}
		if bound := d.MaxBound(); d.Censored > 0 && bound > 0 {
			row.Bound, row.Dot = place(&bound), nil
		}
		if row.From == nil { // at or below 0 on a logarithmic axis
			row.From = row.Low
		}
		if row.From == nil {
			row.From = row.To
		}
		s.Rows.Rows = append(s.Rows.Rows, row)
	}
	slices.SortStableFunc(s.Y.Ticks, func(a, b Tick) int { return cmp.Compare(a.At, b.At) })
}

// spreadOfMembers is the extent of what rows draw.
func spreadOfMembers(members []*result.Member, what, from string) spread {
	l := line{}
	for _, m := range members {
		d := m.Latency.Pick(what, from)
		for _, v := range []*int64{d.MinNS, d.P50NS, d.P95NS, d.P99NS, d.MaxNS} {
			if v != nil {
				l.points = append(l.points, Point{Y: float64(*v)})
			}
		}
		if d.Censored > 0 {
			l.bounds = append(l.bounds, Point{Y: float64(d.MaxBound())})
		}
	}
	return spreadOf([]line{l})
}

// ranked draws many members as curves over all of them, in the order of their medians.
func (s *Spec) ranked(members []*result.Member, by, what, from string) {
	members = slices.Clone(members)
	of := func(m *result.Member) *result.Distribution { return m.Latency.Pick(what, from) }
	slices.SortStableFunc(members, func(a, b *result.Member) int { return cmp.Compare(*leastMedian(of(a)), *leastMedian(of(b))) })
	var lines []line
	for _, q := range quantiles {
		l := line{name: q.name, style: q.style, plain: true}
		for i, m := range members {
			v, atLeast := q.value(of(m))
			p := Point{X: float64(i + 1), Y: v}
			if atLeast {
				l.bounds = append(l.bounds, p)
				p.Y = math.NaN()
			}
			l.points = append(l.points, p)
		}
		lines = append(lines, l)
	}
	spread := spreadOf(lines)
	unit := s.setLatencyAxis(spread, from+" latency")
	s.X = valueAxis(by+"s in the order of their medians", 0, float64(len(members)))
	s.X.Min, s.X.Max = 0.5, float64(len(members))+0.5
	s.X.Ticks = slices.DeleteFunc(s.X.Ticks, func(t Tick) bool { return t.At < 1 || t.At > float64(len(members)) || t.At != math.Round(t.At) })
	if len(s.X.Ticks) == 0 || s.X.Ticks[0].At != 1 {
		s.X.Ticks = append([]Tick{{At: 1, Label: "1"}}, s.X.Ticks...)
	}
	s.Series = toSeries(lines, 1, unit.per, s.Y.Log)
	worst := slices.MaxFunc(members, func(a, b *result.Member) int { return cmp.Compare(of(a).MaxBound(), of(b).MaxBound()) })
	first, last := members[0], members[len(members)-1]
	s.Caption = append(s.Caption, "lowest median: "+first.Name, "highest median: "+last.Name, "highest maximum: "+worst.Name)
	s.Caption = append(s.Caption, s.notes(spread)...)
}

// spreadNotes say how many members there are, and what their messages are.
func spreadNotes(g *result.Grouping, by string, members []*result.Member, what, from string) []string {
	behind, censored := int64(0), int64(0)
	for _, m := range members {
		behind += m.Latency.Pick(what, from).Messages()
		censored += m.Latency.Pick(what, from).Censored
	}
	shown := result.Plural(int64(len(members)), by)
	if len(members) < g.Total {
		shown += " of " + result.Group(int64(g.Total)) + ": those with such a latency among the first " + result.Group(int64(len(g.Members)))
	}
	notes := []string{shown, result.Plural(behind, "message"), meaning(from)}
	if censored > 0 {
		notes = append(notes, result.Group(censored)+" never answered: triangles are at least so much")
	}
	return notes
}

func membersTable(g *result.Grouping, what, from string) *Table {
	names := strings.Fields("min p50 p75 p95 p99 p99_9 p99_99 max")
	t := &Table{Columns: []string{g.By, "messages", "latency_messages", "censored_messages"}}
	for _, n := range names {
		t.Columns = append(t.Columns, what+"_"+from+"_"+n+"_ms")
	}
	t.Rows = func(yield func([]string) bool) {
		for i := range g.Members {
			m := &g.Members[i]
			d := m.Latency.Pick(what, from)
			if d == nil {
				d = &result.Distribution{}
			}
			row := []string{m.Name, strconv.FormatInt(m.Messages, 10), strconv.FormatInt(d.Messages(), 10), strconv.FormatInt(d.Censored, 10)}
			for _, v := range []*int64{d.MinNS, d.P50NS, d.P75NS, d.P95NS, d.P99NS, d.P999NS, d.P9999NS, d.MaxNS} {
				cell := ""
				if v != nil {
					cell = milliseconds(float64(*v))
				}
				row = append(row, cell)
			}
			if !yield(row) {
				return
			}
		}
	}
	return t
}
