package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"leveret/analyze/result"
)

// printable makes a text safe to print on one line.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, s)
}

// Markdown writes a table as GitHub reads it.
func Markdown(w io.Writer, t *Table) error {
	t = t.shown()
	var b strings.Builder
	safe := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`").Replace
	fmt.Fprintf(&b, "## %s\n\n|", safe(printable(t.Title)))
	for c := range t.Columns {
		fmt.Fprintf(&b, " %s |", safe(printable(t.Columns[c].full())))
	}
	b.WriteString("\n|")
	for _, c := range t.Columns {
		if c.Text {
			b.WriteString(" :-- |")
			continue
		}
		b.WriteString(" --: |")
	}
	b.WriteString("\n")
	for _, row := range t.texts() {
		b.WriteString("|")
		for _, cell := range row {
			fmt.Fprintf(&b, " %s |", safe(printable(cell)))
		}
		b.WriteString("\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\n%s\n", safe(printable(n)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// CSV writes the table for programs: all digits, no thousands separators, empty where there is no number. The table's notes are
// not in it. What is a bound from below has ">=" in front.
func CSV(w io.Writer, t *Table) error {
	c := csv.NewWriter(w)
	spans := make([]bool, len(t.Columns))
	head := []string{}
	for i := range t.Columns {
		for _, row := range t.Rows {
			spans[i] = spans[i] || row[i].Low != nil
		}
		head = append(head, t.Columns[i].full())
		if spans[i] {
			head = append(head, t.Columns[i].full()+", least", t.Columns[i].full()+", most")
		}
	}
	for i := range head {
		head[i] = result.SheetCell(head[i])
	}
	c.Write(head)
	for _, row := range t.Rows {
		var line []string
		for i := range row {
			line = append(line, csvCell(&row[i], &t.Columns[i]))
			if spans[i] {
				line = append(line, digits(row[i].Low), digits(row[i].High))
			}
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

func csvCell(cell *Cell, c *Column) string {
	switch {
	case cell.Value == nil:
		return result.SheetCell(cell.Text)
	case cell.AtLeast:
		return ">=" + digits(cell.Value)
	}
	return digits(cell.Value)
}

func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
