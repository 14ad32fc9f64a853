package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// mayHaveLost tells whether connections may have been lost.
func (c *source) mayHaveLost() bool {
	if c.manifest == nil || c.manifest.Outcome == nil {
		return true
	}
	o := c.manifest.Outcome
	return len(o.Failures)+len(o.Recoveries) > 0
}

// resent finds rows of messages that are sent again, in one reading: a message was due once and is sent once, and its copies are
// counted apart. The rows of a producer come in the order in which they were recorded, and new messages have rising sequences.
type resent struct {
	next      map[consumerKey]uint64 // by producer
	due, sent []int64
	again     []int64 // when copies of the last rows were sent
}

// newResent is nil where nothing can have been sent again.
func (a *analysis) newResent() *resent {
	if !a.expected.MayRepublish() {
		return nil
	}
	return &resent{next: map[consumerKey]uint64{}}
}

// leaveOut takes the times of copies out of the rows, and returns when they were sent.
func (x *resent) leaveOut(s *integrity.SendRows) (again []int64) {
	if x == nil {
		return nil
	}
	x.again = x.again[:0]
	for i, seq := range s.Seq {
		k := consumerKey{s.Capture, s.Producer[i]}
		if next := x.next[k]; seq >= next {
			x.next[k] = seq + 1
			continue
		}
		if len(x.again) == 0 {
			x.due, x.sent = append(x.due[:0], s.Due...), append(x.sent[:0], s.Sent...)
			s.Due, s.Sent = x.due, x.sent
		}
		x.again = append(x.again, s.Sent[i])
		s.Due[i], s.Sent[i] = event.None, event.None
	}
	return x.again
}

// site is a connection, or a lane of it.
type site struct {
	capture            int
	connection         uint32
	producer, consumer uint32
}

func (c *change) site() site { return site{c.capture, c.connection, c.producer, c.consumer} }

// whole reports whether it is a connection, and no lane.
func (p site) whole() bool { return p.producer == event.NoLane && p.consumer == event.NoLane }

// outages are the losses of a run, from the changes in order of time.
type outages struct {
	a     *analysis
	open  map[site]int          // in list
	lanes map[connection][]site // those of open, and perhaps others, by their connection
	at    []site                // of list
	gone  [][2]int              // of list: the consumers that were away with it, from and to in the facts
	list  []result.Outage
	// consumers by their connection, as the manifests say. As many connections as there are may be lost.
	consumers map[connection][]int
}

// connection is one of a capture.
type connection struct {
	capture int
	number  uint32
}

func (p site) on() connection { return connection{p.capture, p.connection} }

func (a *analysis) newOutages() *outages {
	o := &outages{a: a, open: map[site]int{}, lanes: map[connection][]site{}, consumers: map[connection][]int{}}
	for i, c := range a.captures {
		if c.manifest == nil {
			continue
		}
		for n := range c.manifest.Consumers {
			k := connection{i, uint32(c.manifest.Consumers[n].Connection)}
			o.consumers[k] = append(o.consumers[k], n)
		}
	}
	return o
}

// begins reports whether the change is a loss.
func (c *change) begins() bool {
	return c.state == event.Lost || c.state == event.ChannelClosed || c.state == event.ConsumerCancelled
}

// findOutages makes a list of the losses, and tells the facts of them. It returns the indexes of the changes that began one which was
// never recovered.
func (a *analysis) findOutages() (forGood map[int]bool) {
	o := a.newOutages()
	began := map[site]int{} // index of the change
	forGood = map[int]bool{}
	for i := range a.course.changes {
		c := &a.course.changes[i]
		p := c.site()
		at, open := o.open[p]
		switch {
		case c.begins() && !a.over(*c) && !open:
			o.begin(c)
			began[p], forGood[i] = i, true
			if c.state == event.Lost {
				a.facts.ConnectionsLost++
			}
		case open && c.state == event.Connecting:
			o.list[at].Attempts++
		case c.state == event.Recovered:
			for _, q := range o.recovered(p) {
				if n, ok := o.open[q]; ok {
					o.end(q, n, c)
					delete(forGood, began[q])
				}
			}
		}
	}
	o.finish()
	return forGood
}

// recovered are the places that work again with one of them: a lane may be recovered with its connection.
func (o *outages) recovered(p site) []site {
	if !p.whole() {
		return []site{p}
	}
	all := append(o.lanes[p.on()], p)
	delete(o.lanes, p.on())
	return all
}

func (o *outages) begin(c *change) {
	x := result.Outage{Capture: c.capture, Connection: int(c.connection), LostNS: c.at, Code: int(c.code), Text: c.text}
	for _, lane := range []struct {
		number uint32
		to     **int
	}{{c.producer, &x.Producer}, {c.consumer, &x.Consumer}} {
		if lane.number != event.NoLane {
			n := int(lane.number)
			*lane.to = &n
		}
	}
	p := c.site()
	if o.open[p] = len(o.list); !p.whole() {
		o.lanes[p.on()] = append(o.lanes[p.on()], p)
	}
	o.list, o.at = append(o.list, x), append(o.at, p)
	from := len(o.a.facts.Away)
	o.away(c)
	o.gone = append(o.gone, [2]int{from, len(o.a.facts.Away)})
}

// away notes which consumers are not there.
func (o *outages) away(c *change) {
	f := &o.a.facts
	switch p := c.site(); {
	case c.consumer != event.NoLane:
		f.Away = append(f.Away, integrity.Away{Capture: c.capture, Consumer: int(c.consumer), UntilNS: math.MaxInt64})
	case p.whole():
		for _, n := range o.consumers[p.on()] {
			f.Away = append(f.Away, integrity.Away{Capture: c.capture, Consumer: n, UntilNS: math.MaxInt64})
		}
	}
}

func (o *outages) end(p site, n int, c *change) {
	x := &o.list[n]
	at := c.at
	x.RecoveredNS, x.DurationNS, x.Recovery = &at, at-x.LostNS, c.text
	x.Attempts = max(x.Attempts, 1)
	delete(o.open, p)
	for i := o.gone[n][0]; i < o.gone[n][1]; i++ {
		o.a.facts.Away[i].UntilNS = at
	}
}

// finish ends what was never recovered at the end of the run, and hands everything over.
func (o *outages) finish() {
	f := &o.a.facts
	f.LossesEndNS = event.None
	for _, n := range o.open {
		o.list[n].DurationNS = max(o.a.window.end-o.list[n].LostNS, 0)
		f.LossesEndNS = math.MaxInt64
	}
	for i := range o.list {
		o.a.course.effects.of(o.at[i], &o.list[i])
	}
	inOrder(o.list)
	for i := range o.list {
		x := &o.list[i]
		if x.RecoveredNS == nil {
			continue
		}
		f.Recovered++
		f.LossesEndNS = max(f.LossesEndNS, *x.RecoveredNS)
		f.LongestOutageNS = max(f.LongestOutageNS, x.DurationNS)
		if len(f.Recoveries) < 4 {
			f.Recoveries = append(f.Recoveries, fmt.Sprintf("%s, lost %s after the start for %s%s", x.Where(), seconds(x.LostNS-o.a.window.runStart), seconds(x.DurationNS), because(x.Text)))
		} else {
			f.Recoveries = append(f.Recoveries, x.Where())
		}
	}
	o.a.course.outages = o.list
	f.Spans = append(f.Spans, o.spans()...)
}

// inOrder sorts losses, which come in order of time: what one failure of the broker takes away goes within 10 ms, in no order that
// would mean something, and is told in the order of connections.
func inOrder(list []result.Outage) {
	const together = 10_000_000
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(x result.Outage) bool { return x.LostNS-list[0].LostNS > together })
		if n < 0 {
			n = len(list)
		}
		slices.SortStableFunc(list[:n], func(x, y result.Outage) int {
			return cmp.Or(cmp.Compare(x.Capture, y.Capture), cmp.Compare(x.Connection, y.Connection))
		})
		list = list[n:]
	}
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// mostSpans is how many losses are marked one by one; more are marked together.
const mostSpans = 8

// spans are the times that charts mark.
func (o *outages) spans() (spans []result.Span) {
	for i := range o.list {
		x := &o.list[i]
		if x.RecoveredNS == nil && x.Producer != x.Consumer { // a lane that has ended
			continue
		}
		s := result.Span{FromNS: x.LostNS, ToNS: x.LostNS + x.DurationNS, Kind: "lost", Text: x.Where() + because(x.Text)}
		if n := len(spans); len(o.list) > mostSpans && n > 0 && s.FromNS <= spans[n-1].ToNS {
			spans[n-1].FromNS, spans[n-1].ToNS = min(spans[n-1].FromNS, s.FromNS), max(spans[n-1].ToNS, s.ToNS)
			spans[n-1].Text = "connections" + because(x.Text)
			continue
		}
		spans = append(spans, s)
	}
	return spans
}

// disruption is what losses did to the run; nil where there were none.
func (a *analysis) disruption() *result.Disruption {
	list := a.course.outages
	if len(list) == 0 {
		return nil
	}
	down := downtimes(list)
	d := &result.Disruption{Losses: int64(len(list)), FirstNS: down[0].FromNS, Doubt: a.judgement.Doubt, Outages: list[:min(len(list), result.MostOutages)]}
	for i := range list {
		x := &list[i]
		d.LastNS = max(d.LastNS, x.LostNS+x.DurationNS)
		d.Attempts += int64(x.Attempts)
		if x.RecoveredNS != nil {
			d.Recovered++
		}
	}
	for _, s := range down {
		d.DownNS += s.ToNS - s.FromNS
	}
	if m := a.course.movement; m != nil {
		if from, ns, ok := m.standstill(down); ok {
			d.StandstillFromNS, d.StandstillNS = &from, &ns
		}
		d.CaughtUpNS = known(a.caughtUp(down))
	}
	all := a.episodes(down)
	d.EpisodesTotal, d.Episodes = len(all), all[:min(len(all), result.MostOutages)]
	d.FirstEffectNS, d.LastEffectNS = d.FirstNS, d.LastNS
	for i := range all {
		d.FirstEffectNS, d.LastEffectNS = min(d.FirstEffectNS, all[i].FirstEffectNS), max(d.LastEffectNS, all[i].LastEffectNS)
	}
	return d
}

// downtimes are the times in which at least one of the losses lasted.
func downtimes(list []result.Outage) []result.Span {
	var all []result.Span
	for i := range list {
		all = append(all, result.Span{FromNS: list[i].LostNS, ToNS: list[i].LostNS + list[i].DurationNS})
	}
	slices.SortFunc(all, func(x, y result.Span) int { return cmp.Compare(x.FromNS, y.FromNS) })
	return union(all)
}

// union joins spans, which come in the order of their beginnings, where they touch.
func union(spans []result.Span) (all []result.Span) {
	for _, s := range spans {
		if n := len(all); n > 0 && s.FromNS <= all[n-1].ToNS {
			all[n-1].ToNS = max(all[n-1].ToNS, s.ToNS)
			continue
		}
		all = append(all, s)
	}
	return all
}
