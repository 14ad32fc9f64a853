package reports

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// The drawing of the topology has four columns: producers, exchanges, queues, consumers; an arrow is a binding, or who publishes to
// what and who consumes from it. Of long columns the last ones stand together in one box, so that 200 queues fit as well as two.
const (
	boxesShown = 14 // of a column
	boxWidth   = 190
	boxHeight  = 38
	boxStep    = 50
	columnStep = 290
	drawingTop = 34
	boxText    = 23 // characters that fit in a line of a box
	boxBelow   = 27 // and in the smaller one below it
)

// box of the drawing.
type box struct {
	text, below string // below in a smaller type; "" none
	full        string // the whole name, where text is shortened
}

// nodes is one column; what is beyond the shown ones is in the last box.
type nodes struct {
	head  string
	boxes []box
	last  int // index of the box that stands for the rest; -1 none
}

func (n *nodes) at(i int) int {
	if n.last >= 0 {
		return min(i, n.last)
	}
	return i
}

// edge between neighbouring columns, by places of boxes.
type edge struct {
	column, from, to int
	unknown          bool
}

// columnOf takes the first of total boxes and one for the rest.
func columnOf(head string, total int, more string, make func(i int) box, have int) nodes {
	n := nodes{head: head, last: -1}
	shown := min(total, have)
	if total > boxesShown {
		shown = min(shown, boxesShown-1)
	}
	for i := range shown {
		n.boxes = append(n.boxes, make(i))
	}
	if total > shown {
		n.last = shown
		n.boxes = append(n.boxes, box{text: "and " + result.Group(int64(total-shown)) + " more", below: more})
	}
	return n
}

// topologyColumns are the boxes of the four columns.
func (p *page) topologyColumns(t *result.Topology) [4]nodes {
	short := func(name, none string) (string, string) {
		if name == "" {
			return none, none
		}
		name = p.clean(name)
		return name, name
	}
	return [4]nodes{
		columnOf("Producers", t.ProducersTotal, "groups of producers", func(i int) box {
			g := &t.Producers[i]
			b := box{text: result.Plural(int64(g.Count), "producer"), below: "no routing key"}
			if g.RoutingKey != "" {
				key := p.clean(g.RoutingKey)
				b.full, b.below = key, "key "+elide(key, 21)
			}
			if g.Keys > 1 {
				b.below += fmt.Sprintf(" and %d more", g.Keys-1)
			}
			return b
		}, len(t.Producers)),
		columnOf("Exchanges", len(t.Exchanges), "exchanges", func(i int) box {
			b := box{below: p.clean(t.Exchanges[i].Type)}
			b.text, b.full = short(t.Exchanges[i].Name, "default exchange")
			return b
		}, len(t.Exchanges)),
		columnOf("Queues", t.QueuesTotal, "queues", func(i int) box {
			b := box{below: join(", ", p.clean(t.Queues[i].Type), p.boundWith(t, i))}
			b.text, b.full = short(t.Queues[i].Name, "named by the broker")
			return b
		}, len(t.Queues)),
		columnOf("Consumers", t.ConsumersTotal, "groups of consumers", func(i int) box {
			g := &t.Consumers[i]
			b := box{text: result.Plural(int64(g.Count), "consumer")}
			if g.QueuesTotal > 1 {
				b.below = "of " + result.Plural(int64(g.QueuesTotal), "queue")
			}
			return b
		}, len(t.Consumers)),
	}
}

// boundWith says with which keys a queue is bound, where these are not its name.
func (p *page) boundWith(t *result.Topology, queue int) string {
	first, more := "", 0
	for _, b := range t.Bindings {
		switch {
		case b.Queue != queue || b.RoutingKey == "" || b.RoutingKey == t.Queues[queue].Name:
		case first == "":
			first = b.RoutingKey
		default:
			more++
		}
	}
	switch {
	case first == "":
		return ""
	case more > 0:
		return fmt.Sprintf("key %s and %d more", elide(p.clean(first), 8), more)
	}
	return "key " + elide(p.clean(first), 13)
}

// topologyEdges joins the boxes, each pair once. An exchange whose routes are not known is joined to a queue by a dashed line.
func topologyEdges(t *result.Topology, columns *[4]nodes) []edge {
	var edges []edge
	add := func(e edge) {
		if !slices.Contains(edges, e) {
			edges = append(edges, e)
		}
	}
	exchange := func(name string) int {
		return slices.IndexFunc(t.Exchanges, func(x result.Exchange) bool { return x.Name == name })
	}
	for i := range t.Producers {
		if x := exchange(t.Producers[i].Exchange); x >= 0 {
			add(edge{0, columns[0].at(i), columns[1].at(x), t.Producers[i].Unknown})
		}
	}
	for _, b := range t.Bindings {
		if x := exchange(b.Exchange); x >= 0 && b.Queue >= 0 {
			add(edge{1, columns[1].at(x), columns[2].at(b.Queue), false})
		}
	}
	for i := range t.Consumers {
		for _, q := range t.Consumers[i].Queues {
			if q >= 0 {
				add(edge{2, columns[2].at(q), columns[3].at(i), false})
			}
		}
		if g := &t.Consumers[i]; g.QueuesTotal > len(g.Queues) && columns[2].last >= 0 {
			add(edge{2, columns[2].last, columns[3].at(i), false})
		}
	}
	return slices.DeleteFunc(edges, func(e edge) bool {
		return e.from >= len(columns[e.column].boxes) || e.to >= len(columns[e.column+1].boxes)
	})
}

// topology draws what messages went through; it says so in words, too.
func (p *page) topology(r *result.Result) {
	if r.Topology == nil {
		return
	}
	columns := p.topologyColumns(r.Topology)
	edges := topologyEdges(r.Topology, &columns)
	most := 1
	for _, c := range columns {
		most = max(most, len(c.boxes))
	}
	height := drawingTop + most*boxStep
	label := p.clean("Topology: " + join("; ", r.Config.DescribeTopology(), r.Config.DescribeRouting()))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, 3*columnStep+boxWidth+4, height, template.HTMLEscapeString(label))
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>`)
	middle := func(column, i int) int { // of a box, from the top; short columns stand in the middle
		return drawingTop + (most-len(columns[column].boxes))*boxStep/2 + i*boxStep + boxHeight/2
	}
	for _, e := range edges {
		x1, x2 := e.column*columnStep+boxWidth+2, (e.column+1)*columnStep+2
		y1, y2 := middle(e.column, e.from), middle(e.column+1, e.to)
		class := ""
		if e.unknown {
			class = ` class="unknown"`
		}
		fmt.Fprintf(&b, `<path%s marker-end="url(#arrow)" d="M%d %dC%d %d %d %d %d %d"/>`, class, x1, y1, x1+50, y1, x2-50, y2, x2-1, y2)
	}
	for i, c := range columns {
		fmt.Fprintf(&b, `<text class="head" x="%d" y="16">%s</text>`, i*columnStep+2, c.head)
		for n := range c.boxes {
			c.boxes[n].draw(&b, i*columnStep+2, middle(i, n)-boxHeight/2)
		}
	}
	b.WriteString(`</svg>`)
	p.heading("Topology")
	p.add(block{kind: figureBlock, figure: &figure{id: "topology-drawing", drawn: template.HTML(b.String()),
		chart: &Chart{Title: "Producers, exchanges, queues and consumers", About: label + "."}}})
	if slices.ContainsFunc(r.Topology.Producers, func(g result.Publishers) bool { return g.Unknown }) {
		p.remark("Dashed: it is not known which queues these messages reach.")
	}
	if c := r.Config.DescribeDeclared(); c != "" {
		p.remark("The run " + c + ": there may be more bindings than are drawn.")
	}
}

func (x *box) draw(b *strings.Builder, left, top int) {
	b.WriteString("<g>")
	if x.full != "" {
		fmt.Fprintf(b, "<title>%s</title>", template.HTMLEscapeString(x.full))
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`, left, top, boxWidth, boxHeight)
	y := top + 24
	if x.below != "" {
		y = top + 16
		fmt.Fprintf(b, `<text class="sub" x="%d" y="%d">%s</text>`, left+9, top+31, template.HTMLEscapeString(elide(x.below, boxBelow)))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text></g>`, left+9, y, template.HTMLEscapeString(elide(x.text, boxText)))
}
