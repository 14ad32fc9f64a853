package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// page is what a report says, block by block, apart from how it is laid out: the text report, Markdown, LaTeX and HTML are
// made of the same blocks, so that none of them says what another leaves out.
type page struct {
	blocks []block
	ascii  bool
	// width of a text report in terminal cells; 0: the form has no such bound, and no table gives columns up.
	width   int
	most    most
	figures []Chart // for the forms that show them
	colors  map[string]string
}

// most is how many of everything a form has room for; the JSON form has all.
type most struct {
	queues, members, spans, intervals int // lines of tables and lists; intervals negative: all
	messages                          int // of each finding
	name                              int // cells of a name in a table
}

// kind of a block.
type kind int

const (
	verdictBlock  kind = iota // text is the word
	noticeBlock               // a sentence right below the verdict: label, text
	listBlock                 // the name of a list of items
	itemBlock                 // of a list: label, text
	detailBlock               // of the item above: text
	headingBlock              // begins a section: text; or label, with text that goes on below it
	fieldBlock                // label, text
	quantityBlock             // label, value (a number), text (its unit, and more)
	remarkBlock
	gapBlock // something else follows in the section
	countsBlock
	tableBlock
	figureBlock // a drawing; forms without drawings leave it out
)

// block is one thing that a report says. Which fields are used is the kind's.
type block struct {
	kind   kind
	label  string
	style  style // of the label, else of the text
	value  string
	text   string
	column int // cells that a text report gives the label
	number int // cells of the widest value beside it
	counts [][]count
	table  *table
	figure *figure
}

// style says how something is meant; the text report's is the parameter of an ANSI "select graphic rendition" sequence
// (ECMA-48, 8.3.117).
type style string

const (
	bold   style = "1"
	red    style = "1;31"
	green  style = "1;32"
	yellow style = "1;33"
	dim    style = "2"
)

func (p *page) add(b block) { p.blocks = append(p.blocks, b) }

// heading starts a section.
func (p *page) heading(text string) { p.add(block{kind: headingBlock, text: text}) }

// notice is a sentence that belongs to the verdict; the label may be empty.
func (p *page) notice(label string, s style, text string) {
	p.add(block{kind: noticeBlock, label: label, style: s, text: text})
}

// list names the items that follow.
func (p *page) list(text string) { p.add(block{kind: listBlock, text: text}) }

// item of a list, behind a label in a column of its own; a list without labels has a column of 0.
func (p *page) item(label string, s style, column int, text string) {
	p.add(block{kind: itemBlock, label: label, style: s, column: column, text: text})
}

// detail stands below an item.
func (p *page) detail(column int, text string) {
	p.add(block{kind: detailBlock, column: column, text: text})
}

// field writes a named line: the name in a column of its own, the text wrapped beside it.
func (p *page) field(name string, column int, text string) {
	p.add(block{kind: fieldBlock, label: name, column: column, text: text})
}

// quantity is a field that begins with a number, aligned with those around it in number cells.
func (p *page) quantity(name string, column int, value string, number int, text string) {
	p.add(block{kind: quantityBlock, label: name, column: column, value: value, number: number, text: text})
}

// remark is a sentence on what stands above it.
func (p *page) remark(text string) { p.add(block{kind: remarkBlock, text: text}) }

// gap parts what follows from what stands above.
func (p *page) gap() { p.add(block{kind: gapBlock}) }

// name shortens one for a table's cell, where the form is narrow.
func (p *page) name(s string, width int) string {
	if p.width == 0 {
		width = p.most.name
	}
	return elide(s, width)
}

// clean makes a string of the result safe to print: what is not printable is escaped, in ASCII mode whatever lies outside it.
func (p *page) clean(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\xef\xbf\xbd"): // not UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case c == '\n' || c == '\t':
			b.WriteByte(' ')
		case c < utf8.RuneSelf && unicode.IsPrint(c), c >= utf8.RuneSelf && unicode.IsPrint(c) && !p.ascii:
			b.WriteRune(c)
		case c > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, c)
		case c < 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
