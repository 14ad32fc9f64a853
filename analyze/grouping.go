package analyze

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
)

// What a run can be grouped by; Options.By.
const (
	ByQueue    = "queue"
	ByProducer = "producer"
	ByConsumer = "consumer"
	BySize     = "size"     // of the body
	ByPriority = "priority" // that a producer gives its messages
)

var groupedBy = []string{ByQueue, ByProducer, ByConsumer, BySize, ByPriority}

// MaxGroups is how many groups have a latency of their own: each needs memory, and nobody reads more.
const MaxGroups = 256

// grouping divides the messages by one thing.
type grouping struct {
	by    string
	cells [MaxGroups]*[groups]*cell
	// first is the number that each capture's first producer, or consumer, has among those of all captures.
	first []int
	total int

	sizes      *messageSizes // of BySize; else nil
	priorities []int         // of ByPriority, rising
	keys       [][]int16     // of ByPriority: place in priorities, by capture and producer
}

// newGroupings makes what Options.By asks for; producers and consumers are numbered on over the captures.
func (a *analysis) newGroupings() error {
	for i, what := range a.o.By {
		switch {
		case !slices.Contains(groupedBy, what):
			return fmt.Errorf("analyze: a run cannot be grouped by %q: by %s", what, strings.Join(groupedBy, ", "))
		case slices.Contains(a.o.By[:i], what):
			continue
		case slices.ContainsFunc(a.captures, func(c *source) bool { return c.manifest == nil }):
			a.notes = append(a.notes, "analysis: not by "+what+": a capture without a manifest does not say how many there are")
			continue
		case what == ByPriority && !slices.ContainsFunc(a.captures, (*source).publishes):
			a.notes = append(a.notes, "analysis: not by priority: no producers were recorded, and consumers do not record it")
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
		switch what {
		case BySize:
			g.sizes = newMessageSizes(a.captures)
			a.latency.bySize = g
		case ByPriority:
			g.findPriorities(a.captures)
		}
		a.latency.groupings = append(a.latency.groupings, g)
	}
	a.latency.current = make([]*[groups]*cell, 0, len(a.latency.groupings))
	return nil
}

// noPriority is that of messages without one.
const noPriority = -1

// findPriorities looks up the priority that each producer gives its messages.
func (g *grouping) findPriorities(captures []*source) {
	of := func(c *source, producer int) int {
		if p := c.manifest.Producers[producer].Properties; p != nil && p.Priority != nil {
			return int(*p.Priority)
		}
		return noPriority
	}
	for _, c := range captures {
		for i := range c.manifest.Producers {
			g.priorities = append(g.priorities, of(c, i))
		}
	}
	slices.Sort(g.priorities)
	g.priorities = slices.Compact(g.priorities)
	for _, c := range captures {
		var keys []int16
		for i := range c.manifest.Producers {
			keys = append(keys, int16(slices.Index(g.priorities, of(c, i))))
		}
		g.keys = append(g.keys, keys)
	}
}

// key is the number of the group that all messages of an answer belong to; -1: none, or not the same.
func (g *grouping) key(p integrity.Party) int {
	switch {
	case g.by == ByQueue:
		return p.Queue
	case g.by == ByProducer && p.Producer >= 0:
		return g.first[p.Capture] + p.Producer
	case g.by == ByConsumer && p.Consumer >= 0:
		return g.first[p.ConsumerCapture] + p.Consumer
	case g.by == ByPriority && p.Producer >= 0 && p.Producer < len(g.keys[p.Capture]):
		return int(g.keys[p.Capture][p.Producer])
	}
	return -1
}

// Of implements integrity.Answers.
func (l *latencies) Of(p integrity.Party) {
	l.current = l.current[:0]
	for _, g := range l.groupings {
		if g.sizes != nil {
			g.sizes.begin(p)
		} else if cells := g.group(g.key(p)); cells != nil {
			l.current = append(l.current, cells)
		}
	}
}

// group is one of a grouping; nil where it has none of that number, or shows none.
func (g *grouping) group(key int) *[groups]*cell {
	if uint(key) >= MaxGroups {
		return nil
	}
	if g.cells[key] == nil {
		g.cells[key] = &[groups]*cell{}
	}
	return g.cells[key]
}

// groupsAt are the groups of the i-th message of an answer; valid until the next call.
func (l *latencies) groupsAt(i int) []*[groups]*cell {
	if l.bySize != nil {
		if cells := l.bySize.group(l.bySize.sizes.key(i)); cells != nil {
			return append(l.current, cells)
		}
	}
	return l.current
}

func (l *latencies) cellOf(g *[groups]*cell, group int) *cell {
	if g[group] == nil {
		g[group] = &cell{}
		if len(l.asked) > 0 && l.followed < mostFollowed {
			l.followed++
			g[group].followed = newFollowed(l.t.start, l.t.stop)
		}
	}
	return g[group]
}

// addToGroups adds a value to the groups of the messages i to j-1 of an answer. from is when they were due, else sent.
func (l *latencies) addToGroups(i, j, group int, from, v int64) {
	for ; i < j; i++ {
		for _, g := range l.groupsAt(i) {
			if !l.selecting {
				l.cellOf(g, group).count(from, v)
			} else if c := g[group]; c != nil {
				c.look(from, v, l.following)
			}
		}
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

// member is one group of a grouping.
type member struct {
	key      int
	name     string
	messages int64
}

// describeGroupings puts the groupings into plain values.
func (a *analysis) describeGroupings() (all []result.Grouping) {
	for _, g := range a.latency.groupings {
		members := a.membersOf(g)
		r := result.Grouping{By: g.by, Total: len(members)}
		var messages []int64
		for _, m := range members {
			messages = append(messages, m.messages)
		}
		if slices.Sort(messages); len(messages) > 0 {
			r.LeastMessages, r.MedianMessages, r.MostMessages = messages[0], messages[(len(messages)-1)/2], messages[len(messages)-1]
		}
		for _, m := range members[:min(len(members), MaxGroups)] {
			x := result.Member{Name: m.name, Messages: m.messages}
			if m.key < MaxGroups && g.cells[m.key] != nil {
				x.Latency = a.latencyOf(g.cells[m.key])
			}
			r.Members = append(r.Members, x)
		}
		all = append(all, r)
	}
	return all
}

// membersOf names the members of a grouping and counts their messages: sent by a producer, with a size or a priority, received
// by a consumer or from a queue.
func (a *analysis) membersOf(g *grouping) (all []member) {
	switch g.by {
	case ByQueue:
		for k, q := range a.judgement.Queues {
			all = append(all, member{k, q.Queue, q.Counts.Received})
		}
	case BySize:
		return g.sizes.members()
	case ByPriority:
		return g.byPriority(a.ledger.Sent())
	case ByProducer:
		for k, n := range a.ledger.Sent() {
			all = append(all, member{k, a.numbered(g, k), n})
		}
	default:
		for k, n := range a.receivedBy() {
			all = append(all, member{k, a.numbered(g, k), n})
		}
	}
	return all
}

// numbered names the k-th producer or consumer.
func (a *analysis) numbered(g *grouping, k int) string {
	c, _ := slices.BinarySearch(g.first, k+1) // the last capture whose first member is not behind k
	number := fmt.Sprintf("%s %d", g.by, k-g.first[c-1])
	if len(g.first) > 1 {
		number += " of " + a.captures[c-1].id
	}
	return number
}

// byPriority adds up what the producers sent.
func (g *grouping) byPriority(sent []int64) (all []member) {
	for k, p := range g.priorities {
		name := fmt.Sprintf("priority %d", p)
		if p == noPriority {
			name = "no priority"
		}
		all = append(all, member{k, name, 0})
	}
	for _, keys := range g.keys {
		for i, k := range keys {
			if i < len(sent) {
				all[k].messages += sent[i]
			}
		}
		sent = sent[min(len(keys), len(sent)):]
	}
	return all
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
