package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// stretch is one line of the interval table: one interval, or several neighbours of one phase put together. Rates are
// means over the stretch, with the lowest single interval beside them; latencies are the highest of any interval in it,
// because percentiles cannot be averaged and a tail must not vanish.
type stretch struct {
	from, to                       int64
	phase                          string
	intervals                      int
	due, sent, confirmed, received int64
	committed, republished         int64
	dueNS                          int64 // in which messages could be due
	lowSent, lowReceived           float64
	confirm, commit, delivery      highest
	backlog                        *int64
}

// isShort: a stretch of less than a tenth of an interval, such as a short drain, whose few messages are no rate.
func (s *stretch) isShort(r *result.Result) bool {
	return len(r.Intervals) > 2 && float64(span(s.from, s.to)) < 0.1*float64(r.IntervalNS)
}

// highest latencies seen, in ns; nil where no message was measured. atLeast: some were known from below only.
type highest struct {
	p50, p99, max bound
}

type bound struct {
	ns      *int64
	atLeast bool
}

// intervals prints the run over time.
func (p *page) intervals(r *result.Result) {
	if len(r.Intervals) == 0 {
		return
	}
	from := intervalOrigin(r)
	size := groupSize(r.Intervals, p.most.intervals)
	stretches := stretchesOf(r, from, size)
	t := p.intervalTable(r, stretches, size > 1)
	dropped := t.fit(p.width)
	hasLow := slices.ContainsFunc(t.columns, func(c column) bool { return c.head == lowest })
	p.heading(p.intervalHeading(r, from, size, hasLow))
	p.table(t)
	if slices.ContainsFunc(t.columns, func(c column) bool { return slices.Contains(c.cells, "-") }) {
		p.remark("-: no messages, or an interval too short for a rate.")
	}
	if r.Window.Part != nil {
		p.remark("Lines outside of the window have no latency.")
	}
	p.lastInterval(r)
	if len(dropped) > 0 {
		p.remark("A wider page (a wider terminal; COLUMNS=160 for a file or a pipe) also shows: " + strings.Join(dropped, ", ") + ".")
	}
}

// lastInterval says where the window's last interval is not as long as the others: publishing ended when it ended.
func (p *page) lastInterval(r *result.Result) {
	var last *result.Interval
	for i := range r.Intervals {
		if r.Intervals[i].Phase == "run" {
			last = &r.Intervals[i]
		}
	}
	if last == nil || last == &r.Intervals[0] || r.Window.Part != nil {
		return
	}
	length := span(last.StartNS, last.EndNS)
	if math.Abs(float64(length-r.IntervalNS)) < 0.01*float64(r.IntervalNS) {
		return
	}
	text := "The last interval before publishing stopped is " + duration(float64(length), p.ascii) + " long; its rates are over that."
	if end := r.Window.ScheduleEndNS; end != nil && *end < r.Window.EndNS {
		text += " Nothing was due after " + duration(float64(span(r.Window.StartNS, *end)), p.ascii) + ", when the schedule ended."
	}
	p.remark(text)
}

// intervalOrigin is "response" where the run has due times, else "service", for confirm and delivery alike.
func intervalOrigin(r *result.Result) string {
	for _, what := range r.LatencyKinds() {
		if r.Latency.Pick(what, "response") != nil {
			return "response"
		}
	}
	return "service"
}

// lowest heads the rate of the slowest interval of a line.
const lowest = "low"

func (p *page) intervalHeading(r *result.Result, from string, size int, hasLow bool) string {
	head := "Intervals"
	if r.IntervalNS > 0 {
		head += " of " + duration(float64(r.IntervalNS), p.ascii)
	}
	head += ", " + from + " latency"
	if size > 1 {
		head += fmt.Sprintf(". A line puts up to %d of %s intervals together: rates are means", size, result.Group(int64(len(r.Intervals))))
		if hasLow {
			head += ", \"" + lowest + "\" is the lowest interval"
		}
		head += ", latency and backlog are the highest of any"
	}
	return head
}

// groupSize is how many intervals go into a line so that at most limit lines are needed: 1, 2, 3, 5 and their tenfolds,
// which give lines of round length.
func groupSize(intervals []result.Interval, limit int) int {
	if limit < 0 {
		return 1
	}
	limit = max(limit, countStretches(intervals, len(intervals)+1), 1) // each phase has a line
	for tens := 1; ; tens *= 10 {
		for _, n := range []int{1, 2, 3, 5} {
			if countStretches(intervals, n*tens) <= limit || n*tens > len(intervals) {
				return n * tens
			}
		}
	}
}

// stretchesOf puts up to size intervals together; no stretch spans the end of publishing, nor one of the window.
func stretchesOf(r *result.Result, from string, size int) []stretch {
	var all []stretch
	for i := range r.Intervals {
		in := &r.Intervals[i]
		last := len(all) - 1
		if last < 0 || all[last].intervals == size || all[last].phase != in.Phase {
			all = append(all, stretch{from: in.StartNS, phase: in.Phase, lowSent: math.Inf(1), lowReceived: math.Inf(1)})
			last++
		}
		all[last].add(r, in, from)
	}
	return all
}

// countStretches is how many lines a group size makes.
func countStretches(intervals []result.Interval, size int) int {
	n, inGroup := 0, 0
	for i := range intervals {
		if i == 0 || inGroup == size || intervals[i].Phase != intervals[i-1].Phase {
			n, inGroup = n+1, 0
		}
		inGroup++
	}
	return n
}

func (s *stretch) add(r *result.Result, in *result.Interval, from string) {
	s.to = in.EndNS
	s.intervals++
	s.due += in.Due
	s.dueNS += max(0, span(in.StartNS, r.DueUntil(in)))
	s.sent += in.Sent
	s.confirmed += in.Confirmed
	s.committed += in.Committed
	s.republished += in.Republished
	s.received += in.Received
	if 2*span(in.StartNS, in.EndNS) >= r.IntervalNS { // of a shorter one the rate may be anything
		s.lowSent = math.Min(s.lowSent, orInf(perSecond(in.Sent, in.StartNS, in.EndNS)))
		s.lowReceived = math.Min(s.lowReceived, orInf(perSecond(in.Received, in.StartNS, in.EndNS)))
	}
	s.confirm.add(in.Latency.Pick("confirm", from))
	s.commit.add(in.Latency.Pick("commit", from))
	s.delivery.add(in.Latency.Pick("delivery", from))
	if in.BacklogEnd != nil && (s.backlog == nil || *in.BacklogEnd > *s.backlog) {
		s.backlog = in.BacklogEnd
	}
}

func orInf(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

func (h *highest) add(d *result.Distribution) {
	if d.Messages() <= 0 {
		return
	}
	ps := d.Percentiles()
	h.p50.raise(ps[0].ValueNS, ps[0].AtLeast)
	h.p99.raise(ps[3].ValueNS, ps[3].AtLeast)
	h.max.raise(d.MaxNS, false)
	if d.Censored > 0 && d.AtLeastNS != nil {
		most := d.MaxBound()
		h.max.raise(&most, true)
	}
}

func (b *bound) raise(ns *int64, atLeast bool) {
	if ns == nil {
		return
	}
	b.atLeast = b.atLeast || atLeast
	if b.ns == nil || *ns > *b.ns {
		b.ns = ns
	}
}

// intervalTable has the columns that this run has figures for.
func (p *page) intervalTable(r *result.Result, stretches []stretch, merged bool) *table {
	t := &table{keys: 1}
	start := r.Config.StartedNS
	if start == 0 {
		start = r.Intervals[0].StartNS
	}
	decimals := offsetDecimals(r, stretches)
	t.add(stretches, column{head: "from s"}, func(s *stretch) string { return offset(start, s.from, decimals) })
	t.add(stretches, column{head: "to s", drop: 6}, func(s *stretch) string { return offset(start, s.to, decimals) })
	addRateColumns(t, r, stretches, merged)
	p.addLatencyColumns(t, r, stretches, "confirm", func(s *stretch) *highest { return &s.confirm })
	p.addLatencyColumns(t, r, stretches, "commit", func(s *stretch) *highest { return &s.commit })
	p.addLatencyColumns(t, r, stretches, "delivery", func(s *stretch) *highest { return &s.delivery })
	if slices.ContainsFunc(stretches, func(s stretch) bool { return s.backlog != nil }) {
		t.add(stretches, column{head: "backlog", drop: 4}, func(s *stretch) string {
			if s.backlog == nil {
				return "-"
			}
			return shortCount(*s.backlog)
		})
	}
	if t.titleRow = slices.IndexFunc(stretches, func(s stretch) bool { return s.phase == "drain" }); t.titleRow >= 0 {
		t.title = "drain:"
	}
	return t
}

// add appends a column with a cell for each stretch.
func (t *table) add(stretches []stretch, c column, cell func(*stretch) string) {
	for i := range stretches {
		c.cells = append(c.cells, cell(&stretches[i]))
	}
	t.columns = append(t.columns, c)
}

func addRateColumns(t *table, r *result.Result, stretches []stretch, merged bool) {
	group, scale := "messages per second", 1.0
	for _, s := range stretches {
		if perSecond(max(s.due, s.sent, s.confirmed, s.received), s.from, s.to) >= 999950 {
			group, scale = "thousand messages per second", 1000
		}
	}
	add := func(want bool, head string, drop int, n func(*stretch) float64) {
		if want && !r.SeveralRuns() {
			t.add(stretches, column{group: group, head: head, drop: drop}, func(s *stretch) string {
				if s.isShort(r) {
					return "-"
				}
				v := n(s)
				if !isFinite(v) {
					return "-"
				}
				return wholeOr(v/scale, 3)
			})
		}
	}
	mean := func(n func(*stretch) int64) func(*stretch) float64 {
		return func(s *stretch) float64 { return perSecond(n(s), s.from, s.to) }
	}
	sent, received := r.Config.Producers > 0 || r.Counts.Sent > 0, r.Config.Consumers > 0 || r.Counts.Received > 0
	add(r.Config.OpenLoop, "due", 3, func(s *stretch) float64 { return perSecond(s.due, 0, s.dueNS) })
	add(sent, "sent", 0, mean(func(s *stretch) int64 { return s.sent }))
	add(sent && merged, lowest, 1, func(s *stretch) float64 { return s.lowSent })
	add(r.Rates.Republished != nil, "republished", 4, mean(func(s *stretch) int64 { return s.republished }))
	add(r.Config.Confirm > 0 || r.Counts.Confirmed > 0, "confirmed", 2, mean(func(s *stretch) int64 { return s.confirmed }))
	add(r.Config.PublishTxSize > 0 || r.Counts.Committed > 0, "committed", 2, mean(func(s *stretch) int64 { return s.committed }))
	add(received, "received", 0, mean(func(s *stretch) int64 { return s.received }))
	add(received && merged, lowest, 1, func(s *stretch) float64 { return s.lowReceived })
}

// wholeOr writes a whole number without digits after the point: rates over a second mostly are.
func wholeOr(v float64, decimals int) string {
	if v == math.Trunc(v) && math.Abs(v) < 1000 {
		return significant(v, 0)
	}
	return significant(v, decimals)
}

func (p *page) addLatencyColumns(t *table, r *result.Result, stretches []stretch, what string, of func(*stretch) *highest) {
	var typical []float64
	for i := range stretches {
		if b := of(&stretches[i]).p99; b.ns != nil {
			typical = append(typical, float64(*b.ns))
		}
	}
	if len(typical) == 0 {
		return
	}
	u := unitFor(typical)
	if sides, _ := latencySides(r, what); len(sides) > 0 && sides[0].unit.serves(append(typical, greatest(stretches, of))) {
		u = sides[0].unit // as in the table above
	}
	u.decimals = min(u.decimals, 3) // a line has many columns; the table above has all four digits
	for _, c := range []struct {
		head string
		drop int
		of   func(*highest) bound
	}{
		{"50 %", 5, func(h *highest) bound { return h.p50 }},
		{"99 %", 0, func(h *highest) bound { return h.p99 }},
		{"max", 0, func(h *highest) bound { return h.max }},
	} {
		col := column{group: what + " (" + u.label(p.ascii) + ")", head: c.head, drop: c.drop}
		for i := range stretches {
			col.cells = append(col.cells, boundText(c.of(of(&stretches[i])), u))
		}
		t.columns = append(t.columns, col)
	}
}

// greatest of all maxima.
func greatest(stretches []stretch, of func(*stretch) *highest) (most float64) {
	for i := range stretches {
		if b := of(&stretches[i]).max; b.ns != nil {
			most = math.Max(most, float64(*b.ns))
		}
	}
	return most
}

func boundText(b bound, u unit) string {
	switch {
	case b.ns == nil:
		return "-"
	case b.atLeast:
		return ">=" + u.format(float64(*b.ns))
	}
	return u.format(float64(*b.ns))
}

// offset is a time in seconds after the start.
func offset(start, at int64, decimals int) string {
	s := float64(span(start, at)) / 1e9
	if math.Abs(s) >= 1e7 {
		return significant(s, 1)
	}
	return strconv.FormatFloat(s, 'f', decimals, 64)
}

// offsetDecimals is how many digits after the point tell the ends of every stretch apart, but for those that are much
// shorter than the others.
func offsetDecimals(r *result.Result, stretches []stretch) int {
	shortest := int64(1e8)
	for i := range stretches {
		if d := span(stretches[i].from, stretches[i].to); d > 0 && !stretches[i].isShort(r) {
			shortest = min(shortest, d)
		}
	}
	decimals := 1
	for step := int64(1e8); step > shortest && decimals < 6; step /= 10 {
		decimals++
	}
	return decimals
}
