package reports

import (
	"bytes"
	"strings"
)

// layout writes the blocks of a page as lines. Widths are counted in terminal cells, before colours are added.
type layout struct {
	b     bytes.Buffer
	width int
	color bool
}

// text lays the page out.
func (p *page) text(color bool) []byte {
	l := &layout{width: p.width, color: color}
	for i := range p.blocks {
		l.block(&p.blocks[i])
	}
	return l.b.Bytes()
}

func (l *layout) block(b *block) {
	switch b.kind {
	case verdictBlock:
		l.line("Verdict: " + l.paint(b.style, elide(b.text, 40)))
	case noticeBlock:
		head, indent := "", 0
		if b.label != "" {
			head, indent = l.paint(b.style, b.label+":")+" ", cells(b.label)+2
		}
		l.hanging(head, indent, b.text)
	case listBlock:
		l.line(b.text)
	case itemBlock:
		head, indent := "  ", 2
		if b.column > 0 {
			label := elide(b.label, b.column)
			head, indent = "  "+l.paint(b.style, label)+pad("", b.column-cells(label))+"  ", b.column+4
		}
		l.hanging(head, indent, b.text)
	case detailBlock:
		l.hanging(strings.Repeat(" ", b.column+4)+"- ", b.column+6, b.text)
	case headingBlock:
		l.line("")
		for _, t := range wrap(b.text, l.width) {
			l.line(l.paint(bold, t))
		}
	case fieldBlock:
		l.hanging("  "+pad(b.label, b.column)+"  ", b.column+4, b.text)
	case quantityBlock:
		l.hanging("  "+pad(b.label, b.column)+"  "+padLeft(b.value, b.number)+" ", b.column+b.number+5, b.text)
	case remarkBlock:
		for _, t := range wrap(b.text, l.width-2) {
			l.line("  " + l.paint(dim, t))
		}
	case gapBlock:
		l.line("")
	case countsBlock:
		l.counts(b.counts)
	case tableBlock:
		b.table.write(l)
	}
}

func (l *layout) paint(s style, text string) string {
	if !l.color || s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line ends one line; trailing blanks are dropped.
func (l *layout) line(text string) {
	l.b.WriteString(strings.TrimRight(text, " "))
	l.b.WriteByte('\n')
}

// hanging writes text behind head, which takes indent cells; further lines are indented as far.
func (l *layout) hanging(head string, indent int, text string) {
	for i, t := range wrap(text, l.width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		l.line(head + t)
	}
}
