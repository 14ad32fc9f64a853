package reports

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// groupings prints what was asked for by producer, consumer, queue, size or priority: how evenly the messages are spread over all members, and
// the latencies of the first few.
func (p *page) groupings(r *result.Result) {
	for i := range r.Groupings {
		g := &r.Groupings[i]
		from := intervalOrigin(r)
		messages := map[string]string{"producer": "sent by it", "consumer": "received by it", "queue": "received from it", "size": "of it", "priority": "sent with it"}[g.By]
		p.heading(fmt.Sprintf("By %s (messages %s, %s latency)", p.clean(g.By), messages, from))
		p.membersTable(r, g.By, g.Members[:min(len(g.Members), p.most.members)], from)
		text := fmt.Sprintf("Of %s the least has %s, the median %s, the most %s messages.", result.Plural(int64(g.Total), p.clean(g.By)),
			result.Group(g.LeastMessages), result.Group(g.MedianMessages), result.Group(g.MostMessages))
		if g.Total > p.most.members {
			text += fmt.Sprintf(" The first %d are shown.", min(len(g.Members), p.most.members))
		}
		p.remark(text)
	}
}

func (p *page) membersTable(r *result.Result, by string, members []result.Member, from string) {
	t := &table{keys: 1, columns: []column{{head: p.name(p.clean(by), 28), left: true}, {head: "messages"}}}
	for i := range members {
		t.columns[0].cells = append(t.columns[0].cells, p.name(p.clean(members[i].Name), 28))
		t.columns[1].cells = append(t.columns[1].cells, shortCount(members[i].Messages))
	}
	for _, what := range r.LatencyKinds() {
		t.columns = append(t.columns, p.memberColumns(members, what, from)...)
	}
	p.table(t)
}

// memberColumns are median, 99 % and maximum of one kind of latency; none where no member has any.
func (p *page) memberColumns(members []result.Member, what, from string) []column {
	var typical []float64
	for i := range members {
		if d := members[i].Latency.Pick(what, from); d.Messages() > 0 {
			typical = append(typical, typicalOf(d)...)
		}
	}
	if len(typical) == 0 {
		return nil
	}
	u := unitFor(typical)
	group := what + " (" + u.label(p.ascii) + ")"
	columns := []column{{group: group, head: "50 %", drop: 1}, {group: group, head: "99 %"}, {group: group, head: "max"}}
	for i := range members {
		cells := []string{"-", "-", "-"}
		if d := members[i].Latency.Pick(what, from); d.Messages() > 0 {
			s := side{what: what, from: from, d: d, unit: u}
			cells = []string{percentile(s, 50), percentile(s, 99), maximum(s)}
		}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, strings.ReplaceAll(cells[k], ">= ", ">="))
		}
	}
	return columns
}
