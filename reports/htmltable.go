package reports

import (
	"strings"

	"leveret/analyze/result"
)

// documentTable is a table as the page's template takes it.
type documentTable struct {
	Label    string
	Tall     string // said below a table that scrolls; "": it does not
	Short    bool   // not parted between pages
	Sortable bool
	Groups   []columnGroup // above the heads; none where no column has one
	Heads    []cell
	Bodies   []tableBody
}

type columnGroup struct {
	Name string
	Span int
}

type tableBody struct {
	Title string
	Rows  [][]cell
}

type cell struct {
	Text, Class string
	Head        bool
}

// judgement is the class of what a comparison says of a figure, and of the first word of a row's verdict.
var judgement = map[string]string{
	"better": "judged pass", "worse": "judged fail", "changed": "judged warn",
	string(result.Pass): "judged pass", string(result.Fail): "judged fail", string(result.Inconclusive): "judged warn", "failed": "judged fail",
}

// tallFrom is how many rows a table may have before it gets bars to scroll by.
const tallFrom = 40

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// shortTo is how many rows a table may have that stands on one page.
const shortTo = 15

// longFrom is how many cells a text may take in one line.
const longFrom = 32

func documentTableOf(t *table, label string) *documentTable {
	x := &documentTable{Label: label, Sortable: !t.fixed && t.rows() > 1}
	x.Short = t.rows() <= shortTo
	if n := t.rows(); n > tallFrom {
		x.Tall = result.Group(int64(n)) + " rows; the table scrolls."
	}
	t.eachGroup(func(from, to int) {
		if n := from - spanned(x.Groups); n > 0 {
			x.Groups = append(x.Groups, columnGroup{"", n})
		}
		x.Groups = append(x.Groups, columnGroup{t.columns[from].group, to - from})
	})
	if n := len(t.columns) - spanned(x.Groups); len(x.Groups) > 0 && n > 0 {
		x.Groups = append(x.Groups, columnGroup{"", n})
	}
	for i := range t.columns {
		x.Heads = append(x.Heads, cell{Text: t.columns[i].title(), Class: t.class(i)})
	}
	x.Bodies = []tableBody{{}}
	_, texts := t.layout()
	for n := range t.rows() {
		if t.title != "" && n == t.titleRow {
			x.Bodies = append(x.Bodies, tableBody{Title: strings.TrimSuffix(t.title, ":")})
		}
		var cells []cell
		for i := range t.columns {
			c := cell{Text: aligned(texts[i][n]), Class: t.class(i), Head: i < t.keys}
			if t.columns[i].judged {
				c.Class = strings.TrimSpace(c.Class + " " + judgement[firstWord(c.Text)])
			}
			cells = append(cells, c)
		}
		last := &x.Bodies[len(x.Bodies)-1]
		last.Rows = append(last.Rows, cells)
	}
	return x
}

// aligned keeps the blanks that bring decimal points into line: the first is as wide as a point, the others as a digit.
func aligned(text string) string {
	number := strings.TrimRight(text, " ")
	blanks := len(text) - len(number)
	if blanks == 0 {
		return text
	}
	if strings.Contains(number, ".") {
		return number + strings.Repeat("\u2007", blanks)
	}
	return number + "\u2008" + strings.Repeat("\u2007", blanks-1)
}

func spanned(groups []columnGroup) (n int) {
	for _, g := range groups {
		n += g.Span
	}
	return n
}

// class of a column's cells: text is on the left, and broken where it is long.
func (t *table) class(i int) string {
	c := &t.columns[i]
	if !c.left {
		return ""
	}
	for _, s := range c.cells {
		if cells(s) > longFrom {
			return "left long"
		}
	}
	return "left"
}
