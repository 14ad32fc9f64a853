package analyze

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// course is what the rows tell of the run besides its messages.
type course struct {
	lastDue lastDue
	changes []change
	sizes   sizes
	// outages are the losses in order of time; movement is nil where there can be none, effects where none is known.
	outages  []result.Outage
	movement *movement
	effects  *effects
	// lostShare is how much of their time connections that publish were lost; nil where none was, or a part of the run was asked for.
	lostShare *float64
}

// change is one row of connections.
type change struct {
	capture            int
	at                 int64
	connection         uint32
	state              event.ConnectionState
	producer, consumer uint32
	code               uint16
	text               string
}

// sizes are the body sizes that were sent; of very many the least, the greatest, and those that came first.
type sizes struct {
	first       []int64
	least, most int64          // once there are any
	small       [1 << 7]uint64 // a bit for each size below 8192 that was seen, so that most are not searched for
}

const mostSizes = 64

func (s *sizes) add(col []uint32) {
	last := int64(-1)
	for _, n := range col {
		if int64(n) == last {
			continue
		}
		last = int64(n)
		if w := n >> 6; w < uint32(len(s.small)) {
			if s.small[w]>>(n&63)&1 != 0 {
				continue
			}
			s.small[w] |= 1 << (n & 63)
		}
		s.addOne(last)
	}
}

func (s *sizes) addOne(n int64) {
	if len(s.first) == 0 {
		s.least, s.most = n, n
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
	if len(s.first) < mostSizes && !slices.Contains(s.first, n) {
		s.first = append(s.first, n)
	}
}

// list is sorted, the least and the greatest included.
func (s *sizes) list() []int64 {
	if len(s.first) == 0 {
		return nil
	}
	all := append(slices.Clone(s.first), s.least, s.most)
	slices.Sort(all)
	return slices.Compact(all)
}

func (v *visitor) connections(r *rows) {
	at, conn, state := i64(r.rec, schema.ConnectionsAt), u32(r.rec, schema.ConnectionsConnection), u8(r.rec, schema.ConnectionsState)
	producer, consumer := u32(r.rec, schema.ConnectionsProducer), u32(r.rec, schema.ConnectionsConsumer)
	code, text := u16(r.rec, schema.ConnectionsCode), r.rec.Column(schema.ConnectionsText).(*array.String)
	for i := range at {
		v.a.course.changes = append(v.a.course.changes, change{
			capture: r.batch.capture.index, at: at[i], connection: conn[i], state: event.ConnectionState(state[i]),
			producer: producer[i], consumer: consumer[i], code: code[i], text: string([]byte(text.Value(i))), // the batch's buffer is used again
		})
	}
}

// connectionsTo counts the connections that were opened to each endpoint; nil where there are none. A row of an open connection
// names its endpoint where the run had several.
func (c *course) connectionsTo(endpoints []string) []int {
	if len(endpoints) == 0 {
		return nil
	}
	counts := make([]int, len(endpoints))
	for _, row := range c.changes {
		if i := slices.Index(endpoints, row.text); row.state == event.Open && i >= 0 {
			counts[i]++
		}
	}
	return counts
}

// findFacts gathers what the ledger needs to finish, and most of what the judgement needs beside it.
func (a *analysis) findFacts() {
	f := &a.facts
	f.StartNS = a.window.runStart
	f.PublishStopNS, f.WindowNS = a.window.publishStop, a.window.runStop-a.window.runStart
	a.arrivals(f)
	f.ClocksDiffer, _ = a.clocks.describe()
	f.ClockErrorNS = a.clocks.error()
	if accuracy := a.clocks.accuracy(); accuracy != "" {
		f.ClocksDiffer = append(f.ClocksDiffer, accuracy)
	}
	f.DeliveriesWhole, f.SendsWhole = len(f.NotOneRun) == 0, true
	for _, c := range a.captures {
		f.DeliveriesWhole = f.DeliveriesWhole && c.whole(schema.Deliveries)
		f.SendsWhole = f.SendsWhole && c.whole(schema.Sends)
		c.checkRows()
		for _, name := range c.strangers {
			f.Strangers = append(f.Strangers, filepath.Join(c.dir, name))
		}
		for _, r := range c.reasons {
			if len(a.captures) > 1 {
				r = c.dir + ": " + r
			}
			f.Incomplete = append(f.Incomplete, r)
		}
		if len(c.reasons) == 0 && len(c.manifest.Recording.Lost) == 0 {
			a.compareCounters(c)
		}
		a.manifestFacts(c)
	}
	a.markFacts()
	a.stoodStill()
	a.followConnections()
	a.latency.negatives(f)
}

// whole tells whether every row of a kind was read: the manifest says how many there are.
func (c *source) whole(k schema.Kind) bool {
	return c.final && c.rows[k] == c.manifest.Recording.Rows[k.String()]
}

// checkRows holds the rows that were read against the manifest.
func (c *source) checkRows() {
	if !c.final {
		return
	}
	for _, k := range schema.Kinds {
		if want := c.manifest.Recording.Rows[k.String()]; c.rows[k] != want {
			c.reason("%s: %d of %d rows", k, c.rows[k], want)
		}
	}
}

// compareCounters holds the rows of a whole capture against the engine's own counters.
func (a *analysis) compareCounters(c *source) {
	o, n := c.manifest.Outcome, &c.counts
	for _, x := range []struct {
		name         string
		engine, rows int64
	}{
		{"sent", o.Sent + o.Republished, n.sent}, {"confirmed", o.Confirmed, n.acks}, {"committed", o.Committed, n.commits}, {"nacked", o.Nacked, n.nacks},
		{"returned", o.Returned, n.returns}, {"received", o.Received, c.rows[schema.Deliveries]}, {"acked", o.Acked, n.acked},
		{"not sent", o.NotSent, n.notSent}, {"in doubt", o.InDoubt, n.inDoubt},
	} {
		if x.engine == x.rows || x.name == "acked" && x.engine < x.rows && c.ackTransactions() {
			continue
		}
		a.mismatch(x.name, x.engine, x.rows)
		if x.name == "received" {
			a.facts.DeliveriesWhole = false
		}
		if x.name == "sent" {
			a.facts.SendsWhole = false
		}
	}
	a.compareChurn(c, a.mismatch)
}

// mismatch notes a counter that the rows do not agree with, if they do not.
func (a *analysis) mismatch(name string, engine, rows int64) {
	if engine != rows {
		a.facts.Mismatch = append(a.facts.Mismatch, fmt.Sprintf("%s %d, rows say %d", name, engine, rows))
		a.facts.MismatchRows += max(engine-rows, rows-engine)
	}
}

// ackTransactions tells whether consumers ack in transactions: then the engine counts the acks that were committed, and the
// rows tell of all that were sent.
func (c *source) ackTransactions() bool {
	return slices.ContainsFunc(c.manifest.Consumers, func(x manifest.Consumer) bool { return x.TxSize > 0 })
}

func (a *analysis) manifestFacts(c *source) {
	f := &a.facts
	if c.manifest == nil {
		return
	}
	if r := c.manifest.Recording; r != nil {
		f.StallNS += r.StallNS
		f.Stalls += int64(len(r.Stalls))
		for _, k := range schema.Kinds {
			if n := r.Lost[k.String()]; n > 0 {
				f.LostRows += n
				f.Lost = append(f.Lost, fmt.Sprintf("%d rows of %s", n, k))
				f.DeliveriesWhole = f.DeliveriesWhole && k != schema.Deliveries
				f.SendsWhole = f.SendsWhole && k != schema.Sends
			}
		}
		who := "publishing"
		if c.churns() {
			who = "operations"
		}
		for _, s := range r.Stalls {
			f.Spans = append(f.Spans, result.Span{FromNS: s.FromNS, ToNS: s.ToNS, Kind: "recorder_stall", Text: who + " waited for the recorder"})
		}
	}
	o := c.manifest.Outcome
	if o == nil {
		return
	}
	f.ContradictoryConfirms += o.ContradictoryConfirms
	f.UnattributedReturns += o.UnattributedReturns
	for _, x := range o.Failures {
		f.Ended = append(f.Ended, ended(c.index, x))
	}
}

func ended(capture int, x manifest.Failure) integrity.Ended {
	e := integrity.Ended{AtNS: x.AtNS, Capture: capture, Consumer: -1, Text: fmt.Sprintf("connection %d", x.Connection)}
	if x.Producer != nil {
		e.Text += fmt.Sprintf(", producer %d", *x.Producer)
	}
	if x.Consumer != nil {
		e.Consumer = *x.Consumer
		e.Text += fmt.Sprintf(", consumer %d", *x.Consumer)
	}
	e.Text += ": " + x.Text
	return e
}

// followConnections makes spans of the states of each connection.
func (a *analysis) followConnections() {
	slices.SortStableFunc(a.course.changes, func(x, y change) int {
		return cmp.Compare(x.at, y.at)
	})
	spans := len(a.facts.Spans)
	forGood := a.findOutages()
	since := map[connection]change{}
	for i, c := range a.course.changes {
		k := c.site().on()
		if c.state == event.ConsumerCancelled {
			a.facts.Cancelled = append(a.facts.Cancelled, integrity.Cancelled{AtNS: c.at - a.window.runStart, Capture: c.capture, Consumer: int(c.consumer), Text: c.text})
		}
		if c.site().whole() {
			if before, ok := since[k]; ok {
				a.endBlocked(before, c.at)
				delete(since, k)
			}
		}
		switch {
		case c.state == event.Blocked:
			a.facts.Blocked++
			if !slices.Contains(a.facts.BlockedFor, c.text) && c.text != "" {
				a.facts.BlockedFor = append(a.facts.BlockedFor, c.text)
			}
			since[k] = c
		case forGood[i]:
			a.endedEarly(c)
		}
	}
	for _, c := range a.course.changes { // in order of time, not of the map
		k := c.site().on()
		if before, ok := since[k]; ok {
			a.endBlocked(before, max(a.window.end, before.at))
			delete(since, k)
		}
	}
	slices.SortStableFunc(a.facts.Spans[spans:], func(x, y result.Span) int { return cmp.Compare(x.FromNS, y.FromNS) })
	a.facts.Spans = append(a.facts.Spans[:spans], joinBlocked(a.facts.Spans[spans:])...)
}

const blockedKind = "blocked"

// joinBlocked makes one span of those that overlap, where they are many: an alarm of the broker blocks all connections that publish.
// Spans come, and are returned, in the order of their beginnings.
func joinBlocked(spans []result.Span) (joined []result.Span) {
	blocked := 0
	for i := range spans {
		if spans[i].Kind == blockedKind {
			blocked++
		}
	}
	if blocked <= mostSpans {
		return spans
	}
	last := -1
	for _, s := range spans {
		switch {
		case s.Kind != blockedKind:
			joined = append(joined, s)
		case last >= 0 && s.FromNS <= joined[last].ToNS:
			joined[last].ToNS = max(joined[last].ToNS, s.ToNS)
			_, why, _ := strings.Cut(joined[last].Text, ": ")
			joined[last].Text = "connections" + because(why)
		default:
			last = len(joined)
			joined = append(joined, s)
		}
	}
	return joined
}

// endBlocked ends the span of a connection that was blocked.
func (a *analysis) endBlocked(from change, to int64) {
	a.facts.BlockedNS += to - from.at
	s := result.Span{FromNS: from.at, ToNS: to, Kind: blockedKind, Text: fmt.Sprintf("connection %d", from.connection)}
	s.Text += because(from.text)
	a.facts.Spans = append(a.facts.Spans, s)
}

// over: the drain had ended, and a connection that was then not closed in time has missed nothing.
func (a *analysis) over(c change) bool {
	m := a.captures[c.capture].manifest
	return m != nil && m.Outcome != nil && m.Outcome.DrainEndNS != event.None && c.at >= m.Outcome.DrainEndNS
}

// endedEarly takes over what the rows tell of an early end, unless the manifest, which has one line for it, does.
func (a *analysis) endedEarly(c change) {
	if m := a.captures[c.capture].manifest; m != nil && m.Outcome != nil && len(m.Outcome.Failures) > 0 {
		return
	}
	e := integrity.Ended{AtNS: c.at, Capture: c.capture, Consumer: -1, Text: fmt.Sprintf("connection %d: %s", c.connection, c.state)}
	if c.consumer != event.NoLane {
		e.Consumer, e.Text = int(c.consumer), fmt.Sprintf("consumer %d: %s", c.consumer, c.state)
	} else if c.producer != event.NoLane {
		e.Text = fmt.Sprintf("producer %d: %s", c.producer, c.state)
	}
	if c.code != 0 {
		e.Text += fmt.Sprintf(" %d", c.code)
	}
	if c.text != "" {
		e.Text += " " + c.text
	}
	a.facts.Ended = append(a.facts.Ended, e)
}
