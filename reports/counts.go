package reports

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// count is one named number of messages.
type count struct {
	name string
	n    int64
	bad  bool // more than none of them is printed in red
}

// countGroups puts the counts together by the question they answer. Every count of the result is there, those of
// transactions where there are any.
func countGroups(c *result.Counts) [][]count {
	published := []count{
		{"sent", c.Sent, false}, {"confirmed", c.Confirmed, false}, {"nacked", c.Nacked, true}, {"returned", c.Returned, true},
		{"unroutable", c.Unroutable, true}, {"unconfirmed", c.Unconfirmed, true}, {"not sent", c.NotSent, true},
	}
	if c.Committed != 0 || c.Uncommitted != 0 {
		published = slices.Insert(published, 2, count{"committed", c.Committed, false}, count{"uncommitted", c.Uncommitted, true})
	}
	return [][]count{
		published,
		{
			{"received", c.Received, false}, {"received unique", c.ReceivedUnique, false}, {"redelivered", c.Redelivered, false},
			{"foreign", c.Foreign, false}, {"queued at stop", c.QueuedAtStop, false}, {"unacked at stop", c.UnackedAtStop, false},
			{"discarded at stop", c.DiscardedAtStop, false},
		},
		{
			{"lost", c.Lost, true}, {"missing", c.Missing, true}, {"missing unconfirmed", c.MissingUnconfirmed, true},
			{"removed by rule", c.RemovedByRule, true}, {"duplicates", c.Duplicates, true}, {"corrupt", c.Corrupt, true},
			{"corrupt unattributed", c.CorruptUnattributed, true}, {"out of order", c.OutOfOrder, true},
		},
	}
}

func (p *page) counts(r *result.Result) {
	p.heading("Counts (messages)")
	p.add(block{kind: countsBlock, counts: countGroups(&r.Counts)})
	if r.Counts.Confirmed+r.Counts.Committed > 0 && (r.Counts.Unroutable > 0 || r.Counts.Returned > 0) {
		p.remark("Confirmed does not mean routed: a broker confirms messages that reach no queue, too.")
	}
}

// counts puts as many groups side by side as the page is wide: numbers as long as int64 allows still fit one below the other.
func (l *layout) counts(groups [][]count) {
	for len(groups) > 0 {
		n := len(groups)
		for n > 1 && groupsWidth(groups[:n]) > l.width {
			n--
		}
		l.countRows(groups[:n])
		groups = groups[n:]
	}
}

const groupGap = 4

func groupWidths(group []count) (name, number int) {
	for _, c := range group {
		name, number = max(name, cells(c.name)), max(number, len(result.Group(c.n)))
	}
	return name, number
}

func groupsWidth(groups [][]count) int {
	sum := 2 - groupGap
	for _, g := range groups {
		name, number := groupWidths(g)
		sum += name + 2 + number + groupGap
	}
	return sum
}

func (l *layout) countRows(groups [][]count) {
	lines := 0
	for _, g := range groups {
		lines = max(lines, len(g))
	}
	for i := range lines {
		var b strings.Builder
		b.WriteString("  ")
		for g, group := range groups {
			name, number := groupWidths(group)
			if g > 0 {
				b.WriteString(strings.Repeat(" ", groupGap))
			}
			if i >= len(group) {
				b.WriteString(strings.Repeat(" ", name+2+number))
				continue
			}
			text := pad(group[i].name, name) + "  " + padLeft(result.Group(group[i].n), number)
			if group[i].bad && group[i].n != 0 {
				text = l.paint(yellow, text)
			}
			b.WriteString(text)
		}
		l.line(b.String())
	}
}

// queues prints counts by queue where there is more than one. With many queues those with something wrong come first
// into the table; the order of the topology is kept.
func (p *page) queues(r *result.Result) {
	if len(r.Queues) < 2 {
		return
	}
	shown, quiet := chooseQueues(r.Queues, p.most.queues)
	p.heading("Counts by queue (messages)")
	t := &table{keys: 1, columns: []column{
		{head: "queue", left: true}, {head: "type", left: true, drop: 3}, {head: "received"}, {head: "lost"}, {head: "missing"},
		{head: "duplicates"}, {head: "corrupt"}, {head: "out of order", drop: 1}, {head: "at stop", drop: 2},
	}}
	for _, q := range shown {
		c := &q.Counts
		row := []string{p.clean(p.name(q.Queue, 24)), p.clean(p.name(q.Type, 8))}
		for _, n := range []int64{c.Received, c.Lost, c.Missing, c.Duplicates, c.Corrupt, c.OutOfOrder, c.QueuedAtStop} {
			row = append(row, shortCount(n))
		}
		for i := range row {
			t.columns[i].cells = append(t.columns[i].cells, row[i])
		}
	}
	p.table(t)
	if quiet > 0 {
		p.remark(fmt.Sprintf("and %s more", result.Plural(int64(quiet), "queue")))
	}
}

func chooseQueues(all []result.QueueCounts, most int) (shown []result.QueueCounts, left int) {
	if len(all) <= most {
		return all, 0
	}
	keep := make([]bool, len(all))
	kept := 0
	for _, wanted := range []func(*result.Counts) bool{isTroubled, func(*result.Counts) bool { return true }} {
		for i := range all {
			if !keep[i] && kept < most && wanted(&all[i].Counts) {
				keep[i] = true
				kept++
			}
		}
	}
	for i := range all {
		if keep[i] {
			shown = append(shown, all[i])
		}
	}
	return shown, len(all) - kept
}

func isTroubled(c *result.Counts) bool {
	return c.Lost != 0 || c.Missing != 0 || c.Duplicates != 0 || c.Corrupt != 0 || c.OutOfOrder != 0
}

// shortCount is exact up to twelve digits; what is longer is no count of messages and must not push a table apart.
func shortCount(n int64) string {
	if n > -1e12 && n < 1e12 {
		return result.Group(n)
	}
	return significant(float64(n), 0)
}
