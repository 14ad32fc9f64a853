package reports

import "strings"

// section is a heading with what stands below it. The first one of a page has the verdict and no heading.
type section struct {
	full  string // "Rates over 10.00 s, barrier to publish stop"
	title string // "Rates"
	more  string // "over 10.00 s, barrier to publish stop"
	runs  []run
}

// run is one kind of block, as often as it comes in a row: the lines of one list, or of one list of named values.
type run struct {
	kind   kind
	blocks []block
}

// sections parts the page at its headings.
func (p *page) sections() []section {
	all := []section{{}}
	for _, b := range p.blocks {
		last := &all[len(all)-1]
		switch n := len(last.runs); {
		case b.kind == headingBlock:
			title, more := shortTitle(b.text)
			if b.label != "" { // whoever made the page has parted it
				title, more = b.label, b.text
			}
			all = append(all, section{full: joinWords(b.label, b.text), title: title, more: more})
		case b.kind == gapBlock:
		case n > 0 && together(last.runs[n-1].kind, b.kind):
			last.runs[n-1].blocks = append(last.runs[n-1].blocks, b)
		default:
			last.runs = append(last.runs, run{b.kind, []block{b}})
		}
	}
	return all
}

// together tells whether a block belongs into a run that began with the kind before.
func together(before, b kind) bool {
	switch b {
	case itemBlock, detailBlock:
		return before == listBlock || before == itemBlock
	case fieldBlock, quantityBlock:
		return before == fieldBlock || before == quantityBlock
	case noticeBlock, remarkBlock, figureBlock:
		return before == b
	}
	return false
}

// shortTitle cuts a heading where it begins to go into detail.
func shortTitle(text string) (title, more string) {
	at := len(text)
	for _, cut := range []string{" (", ", ", ": ", " over ", " of ", ". "} {
		if i := strings.Index(text, cut); i > 0 {
			at = min(at, i)
		}
	}
	more = strings.TrimLeft(text[at:], ".,: ")
	if inner, ok := strings.CutSuffix(more, ")"); ok && strings.HasPrefix(inner, "(") && !strings.Contains(inner[1:], "(") {
		more = inner[1:]
	}
	return text[:at], more
}

// anchor is the title as the name of a place in a document: "counts-by-queue".
func anchor(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}), "-")
}

// heads are a table's headings in one line: the group's name before the column's own.
func (t *table) heads() []string {
	var heads []string
	for _, c := range t.columns {
		heads = append(heads, join(": ", c.group, c.title()))
	}
	return heads
}

// title of a column in a document.
func (c *column) title() string {
	if c.head == "" {
		return c.name
	}
	return c.head
}

// lines are a table's rows, each as its cells, and the title that stands above one of them.
func (t *table) lines() [][]string {
	var rows [][]string
	for n := range t.rows() {
		var row []string
		for i := range t.columns {
			row = append(row, strings.TrimSpace(t.columns[i].cells[n]))
		}
		rows = append(rows, row)
	}
	return rows
}
