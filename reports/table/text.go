package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

const (
	indent = 2 // of every line below the title, in columns of a terminal
	gap    = 2 // between two columns
)

// Text writes the table for people, as wide as it is.
func Text(w io.Writer, t *Table) error { return TextWithin(w, t, 0) }

// TextWithin writes it for a terminal of so many columns: what has no room beside the columns that name the rows stands below, beside
// these once more, and notes go over several lines. 0: as Text does.
func TextWithin(w io.Writer, t *Table, width int) error {
	t = t.shown()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", printable(t.Title))
	for i, part := range t.parts(width-indent, uniseg.StringWidth) {
		if i > 0 {
			b.WriteString("\n")
		}
		part.lines(&b)
	}
	for _, n := range t.Notes {
		for i, line := range wrapped(printable(n), width-indent) {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", indent*(1+min(i, 1))), line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines writes heads and rows.
func (t *Table) lines(b *strings.Builder) {
	texts, widths := t.texts(), t.widths(uniseg.StringWidth)
	t.eachGroup(func(from, to int, group string) {
		widths[to-1] += max(0, uniseg.StringWidth(printable(group))-room(widths[from:to]))
	})
	if t.grouped() {
		b.WriteString(strings.TrimRight(t.groupLine(widths), " ") + "\n")
	}
	line := func(cell func(c int) string) {
		var parts []string
		for c := range t.Columns {
			parts = append(parts, padded(cell(c), widths[c], t.Columns[c].Text))
		}
		b.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+strings.Join(parts, strings.Repeat(" ", gap)), " ") + "\n")
	}
	line(func(c int) string { return printable(t.Columns[c].Title()) })
	line(func(c int) string { return strings.Repeat("-", widths[c]) })
	for r := range texts {
		line(func(c int) string { return printable(texts[r][c]) })
	}
}

// widths are those of the columns by their cells and heads, as measure has them.
func (t *Table) widths(measure func(string) int) []int {
	texts := t.texts()
	widths := make([]int, len(t.Columns))
	for c := range t.Columns {
		widths[c] = measure(printable(t.Columns[c].Title()))
		for r := range texts {
			widths[c] = max(widths[c], measure(printable(texts[r][c])))
		}
	}
	return widths
}

// room is what columns of these widths take together.
func room(widths []int) (n int) {
	for _, x := range widths {
		n += x + gap
	}
	return max(n-gap, 0)
}

// parts are tables that fit, with the key columns in each; columns of a group stay together where they can. Without a width all fits.
func (t *Table) parts(width int, measure func(string) int) []*Table {
	widths := t.widths(measure)
	if width <= 0 || room(widths) <= width {
		return []*Table{t}
	}
	keys := make([]int, min(t.Keys, len(t.Columns)))
	for i := range keys {
		keys[i] = i
	}
	fits := func(columns []int) bool {
		n := 0
		for _, c := range columns {
			n += widths[c] + gap
		}
		return n-gap <= width
	}
	var parts []*Table
	current := slices.Clone(keys)
	end := func() {
		if len(current) > len(keys) {
			parts, current = append(parts, t.only(current)), slices.Clone(keys)
		}
	}
	add := func(columns ...int) {
		if !fits(slices.Concat(current, columns)) {
			end()
		}
		current = append(current, columns...)
	}
	t.eachGroup(func(from, to int, _ string) {
		var group []int
		for c := max(from, len(keys)); c < to; c++ {
			group = append(group, c)
		}
		if fits(slices.Concat(keys, group)) {
			add(group...)
			return
		}
		for _, c := range group {
			add(c)
		}
	})
	end()
	return parts
}

// only is the table with some of its columns.
func (t *Table) only(columns []int) *Table {
	out := &Table{Keys: t.Keys, Rows: make([][]Cell, len(t.Rows))}
	for _, c := range columns {
		out.Columns = append(out.Columns, t.Columns[c])
		for r := range t.Rows {
			out.Rows[r] = append(out.Rows[r], t.Rows[r][c])
		}
	}
	return out
}

func (t *Table) groupLine(widths []int) string {
	var parts []string
	t.eachGroup(func(from, to int, group string) {
		parts = append(parts, padded(printable(group), room(widths[from:to]), false))
	})
	return strings.Repeat(" ", indent) + strings.Join(parts, strings.Repeat(" ", gap))
}

func padded(s string, width int, left bool) string {
	fill := strings.Repeat(" ", max(0, width-uniseg.StringWidth(s)))
	if left {
		return s + fill
	}
	return fill + s
}

// wrapped breaks a text between words, lines after the first shorter by the indent; a word that is longer stays whole. A width of 0 or
// less breaks nothing.
func wrapped(text string, width int) (lines []string) {
	if width <= 0 {
		return []string{text}
	}
	current := ""
	for word := range strings.FieldsSeq(text) {
		allowed := width
		if len(lines) > 0 {
			allowed -= indent
		}
		if current != "" && uniseg.StringWidth(current)+1+uniseg.StringWidth(word) > allowed {
			lines, current = append(lines, current), word
			continue
		}
		current = strings.TrimPrefix(current+" "+word, " ")
	}
	return append(lines, current)
}
