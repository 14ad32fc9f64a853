package analyze

import (
	"fmt"
	"slices"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
)

// What a run can be grouped by; Options.By.
const (
	ByQueue    = "queue"
	ByProducer = "producer"
	ByConsumer = "consumer"
)

// MaxGroups is how many groups have a latency of their own: each needs memory, and nobody reads more.
const MaxGroups = 256

// grouping divides the messages by one thing.
type grouping struct {
	by    string
	cells [MaxGroups]*[groups]*cell
	// first is the number that each capture's first producer, or consumer, has among those of all captures.
	first []int
	total int
}

// newGroupings makes what Options.By asks for; producers and consumers are numbered on over the captures.
func (a *analysis) newGroupings() error {
	for i, what := range a.o.By {
		switch {
		case what != ByQueue && what != ByProducer && what != ByConsumer:
			return fmt.Errorf("analyze: a run cannot be grouped by %q: by %s, %s or %s", what, ByQueue, ByProducer, ByConsumer)
		case slices.Contains(a.o.By[:i], what):
			continue
		case slices.ContainsFunc(a.captures, func(c *source) bool { return c.manifest == nil }):
			a.notes = append(a.notes, "analysis: not by "+what+": a capture without a manifest does not say how many there are")
			continue
		}
		g := &grouping{by: what}
		for _, c := range a.captures {
			g.first = append(g.first, g.total)
			switch what {
			case ByProducer:
				g.total += len(c.manifest.Producers)
			case ByConsumer:
				g.total += len(c.manifest.Consumers)
			}
		}
		a.latency.groupings = append(a.latency.groupings, g)
	}
	return nil
}

// key is the number of the group that an answer belongs to; -1: none.
func (g *grouping) key(p integrity.Party) int {
	switch {
	case g.by == ByQueue:
		return p.Queue
	case g.by == ByProducer && p.Producer >= 0:
		return g.first[p.Capture] + p.Producer
	case g.by == ByConsumer && p.Consumer >= 0:
		return g.first[p.ConsumerCapture] + p.Consumer
	}
	return -1
}

// Of implements integrity.Answers.
func (l *latencies) Of(p integrity.Party) {
	l.current = l.current[:0]
	for _, g := range l.groupings {
		if k := g.key(p); uint(k) < MaxGroups {
			if g.cells[k] == nil {
				g.cells[k] = &[groups]*cell{}
			}
			l.current = append(l.current, g.cells[k])
		}
	}
}

func cellOf(g *[groups]*cell, group int) *cell {
	if g[group] == nil {
		g[group] = &cell{}
	}
	return g[group]
}

// addTo adds a value to a group.
func (l *latencies) addTo(g *[groups]*cell, group int, v int64) {
	if !l.selecting {
		c := cellOf(g, group)
		c.hist.Add(v)
		c.moments.Add(v)
	} else if c := g[group]; c != nil && c.open {
		c.selection.Add(v)
	}
}

// eachGroup calls f for every distribution of a group.
func (l *latencies) eachGroup(f func(*cell)) {
	for _, g := range l.groupings {
		for _, cells := range g.cells {
			if cells == nil {
				continue
			}
			for _, c := range cells {
				if c != nil {
					f(c)
				}
			}
		}
	}
}

// describeGroupings puts the groupings into plain values.
func (a *analysis) describeGroupings() (all []result.Grouping) {
	for _, g := range a.latency.groupings {
		names, messages := a.membersOf(g)
		r := result.Grouping{By: g.by, Total: len(messages)}
		if sorted := slices.Sorted(slices.Values(messages)); len(sorted) > 0 {
			r.LeastMessages, r.MedianMessages, r.MostMessages = sorted[0], sorted[(len(sorted)-1)/2], sorted[len(sorted)-1]
		}
		for k := range min(len(messages), MaxGroups) {
			member := result.Member{Name: names(k), Messages: messages[k]}
			if cells := g.cells[k]; cells != nil {
				member.Latency = a.latencyOf(cells)
			}
			r.Members = append(r.Members, member)
		}
		all = append(all, r)
	}
	return all
}

// membersOf names the members of a grouping and counts their messages: sent by a producer, received by a consumer or from a queue.
func (a *analysis) membersOf(g *grouping) (name func(int) string, messages []int64) {
	switch g.by {
	case ByQueue:
		for _, q := range a.judgement.Queues {
			messages = append(messages, q.Counts.Received)
		}
		return func(k int) string { return a.judgement.Queues[k].Queue }, messages
	case ByProducer:
		messages = a.ledger.Sent()
	default:
		messages = a.receivedBy()
	}
	return func(k int) string {
		c, _ := slices.BinarySearch(g.first, k+1) // the last capture whose first member is not behind k
		number := fmt.Sprintf("%s %d", g.by, k-g.first[c-1])
		if len(g.first) > 1 {
			number += " of " + a.captures[c-1].id
		}
		return number
	}, messages
}

// countReceived counts deliveries by consumer; those of one read stand together.
func (a *analysis) countReceived(capture int, consumers []uint16) {
	for len(a.received) <= capture {
		a.received = append(a.received, nil)
	}
	of := a.received[capture]
	for i := 0; i < len(consumers); {
		c, j := consumers[i], i+1
		for j < len(consumers) && consumers[j] == c {
			j++
		}
		for len(of) <= int(c) {
			of = append(of, 0)
		}
		of[c] += int64(j - i)
		i = j
	}
	a.received[capture] = of
}

// receivedBy is the number of deliveries of every consumer of the manifests, in the order of the captures.
func (a *analysis) receivedBy() (all []int64) {
	for i, c := range a.captures {
		if c.manifest == nil {
			continue
		}
		counts := make([]int64, len(c.manifest.Consumers))
		if i < len(a.received) {
			copy(counts, a.received[i])
		}
		all = append(all, counts...)
	}
	return all
}
