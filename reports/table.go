package reports

import (
	"cmp"
	"slices"
	"strings"
)

// table lays out columns of text. Columns of one group stand under a common heading, which usually carries the unit.
// Numbers are aligned at their decimal point, so that one scale per column can be read down it.
type table struct {
	columns []column
	// keys is how many columns at the left name the rows: where the page is too narrow for all columns, even after some
	// were dropped, the rest follows in further tables that repeat these.
	keys int
	// fixed rows are of different things, and stay in their order.
	fixed bool
	// title stands on a line of its own above row titleRow; "" none.
	title    string
	titleRow int
	// ragged: points do not stand in line, for want of room.
	ragged bool
}

type column struct {
	group string // heading above neighbouring columns of the same group; "" none
	head  string
	name  string // in documents, where head is empty
	// judged cells say better or worse, which documents show in colours.
	judged bool
	left   bool // text, aligned left; otherwise a number
	// drop is the order in which columns give way when the page is too narrow: highest first, equal ones together, 0 never.
	drop  int
	cells []string
	// points is how wide the widest of head and cells is in LaTeX; 0: not measured yet.
	points float64
}

const columnGap = 2

// fit takes away the columns for which a page of this width (0: any) has no room and returns their headings.
func (t *table) fit(width int) (dropped []string) {
	for width > 0 && t.total() > width-2 {
		worst := 0
		if len(t.columns) > 0 {
			worst = slices.MaxFunc(t.columns, func(a, b column) int { return cmp.Compare(a.drop, b.drop) }).drop
		}
		if worst == 0 {
			break
		}
		for _, c := range t.columns {
			if name := strings.TrimSpace(c.group + " " + c.head); c.drop == worst && !slices.Contains(dropped, name) {
				dropped = append(dropped, name)
			}
		}
		t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return c.drop == worst })
	}
	return dropped
}

// table puts the table on the page. A text report leaves out the columns that it has no room for.
func (p *page) table(t *table) { p.add(block{kind: tableBlock, table: t}) }

// write draws the table, indented by two.
func (t *table) write(l *layout) {
	t.fit(l.width)
	for i, piece := range t.pieces(func(x *table) bool { return x.total() <= l.width-2 }) {
		if i > 0 {
			l.line("")
		}
		piece.ragged = piece.total() > l.width-2
		piece.draw(l)
	}
}

// pieces cuts the columns into tables that fit, each with at least one column beside the keys.
func (t *table) pieces(fits func(*table) bool) []*table {
	var all []*table
	for rest := t.columns[t.keys:]; len(rest) > 0; {
		piece := *t
		n := len(rest)
		for ; n > 0; n-- {
			piece.columns = slices.Concat(t.columns[:t.keys], rest[:n])
			if n == 1 || fits(&piece) && (n == len(rest) || rest[n-1].group != rest[n].group || rest[n].group == "") {
				break
			}
		}
		all = append(all, &piece)
		rest = rest[n:]
	}
	return all
}

func (t *table) draw(l *layout) {
	widths, texts := t.layout()
	if groups := t.groupLine(widths); strings.TrimSpace(groups) != "" {
		l.line("  " + l.paint(dim, groups))
	}
	l.line("  " + l.paint(dim, t.row(widths, func(i int) string { return t.columns[i].head })))
	for n := range t.rows() {
		if t.title != "" && n == t.titleRow {
			l.line("  " + l.paint(dim, t.title))
		}
		l.line("  " + t.row(widths, func(i int) string { return texts[i][n] }))
	}
}

func (t *table) rows() int {
	if len(t.columns) == 0 {
		return 0
	}
	return len(t.columns[0].cells)
}

func (t *table) row(widths []int, cell func(i int) string) string {
	parts := make([]string, len(t.columns))
	for i, c := range t.columns {
		if c.left {
			parts[i] = pad(cell(i), widths[i])
		} else {
			parts[i] = padLeft(cell(i), widths[i])
		}
	}
	return strings.TrimRight(strings.Join(parts, strings.Repeat(" ", columnGap)), " ")
}

// layout gives each column's width and its cells, numbers padded on the right so that their points stand in line.
func (t *table) layout() (widths []int, texts [][]string) {
	widths = make([]int, len(t.columns))
	texts = make([][]string, len(t.columns))
	for i, c := range t.columns {
		texts[i] = c.cells
		if !c.left && !t.ragged {
			texts[i] = alignPoints(c.cells)
		}
		widths[i] = cells(c.head)
		for _, s := range texts[i] {
			widths[i] = max(widths[i], cells(s))
		}
	}
	t.eachGroup(func(from, to int) {
		room := columnGap * (to - from - 1)
		for _, w := range widths[from:to] {
			room += w
		}
		widths[from] += max(0, cells(t.columns[from].group)-room)
	})
	return widths, texts
}

func (t *table) total() int {
	widths, _ := t.layout()
	sum := columnGap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// eachGroup calls f for each run of neighbouring columns [from, to) that share a group.
func (t *table) eachGroup(f func(from, to int)) {
	for from := 0; from < len(t.columns); {
		to := from + 1
		for to < len(t.columns) && t.columns[to].group == t.columns[from].group {
			to++
		}
		if t.columns[from].group != "" {
			f(from, to)
		}
		from = to
	}
}

// groupLine is the line above the headings: each group's name flush right over its columns, after a rule that spans them.
func (t *table) groupLine(widths []int) string {
	at := make([]int, len(widths)+1)
	for i, w := range widths {
		at[i+1] = at[i] + w + columnGap
	}
	var b strings.Builder
	used := 0
	t.eachGroup(func(from, to int) {
		name := t.columns[from].group
		b.WriteString(strings.Repeat(" ", at[from]-used))
		room := at[to] - columnGap - at[from]
		fill := max(0, room-cells(name)-1)
		if fill > 0 {
			b.WriteString(strings.Repeat("-", fill) + " ")
		} else {
			b.WriteString(strings.Repeat(" ", max(0, room-cells(name))))
		}
		b.WriteString(name)
		used = at[from] + max(room, cells(name))
	})
	return b.String()
}

// alignPoints pads numbers on the right so that their decimal points stand below each other.
func alignPoints(numbers []string) []string {
	after := func(s string) int {
		if i := strings.LastIndexByte(s, '.'); i >= 0 {
			return len(s) - i
		}
		return 0
	}
	most := 0
	for _, s := range numbers {
		if !strings.Contains(s, "e") {
			most = max(most, after(s))
		}
	}
	out := make([]string, len(numbers))
	for i, s := range numbers {
		out[i] = s
		if s != "" && s != notAvailable && !strings.Contains(s, "e") {
			out[i] = s + strings.Repeat(" ", most-after(s))
		}
	}
	return out
}
