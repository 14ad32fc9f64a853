// Package table lays out figures of many runs: as text, Markdown, CSV and LaTeX.
//
// A Table is plain values, each with what is known of it: a number, a bound from below, the span over repeated runs, or nothing
// and a word for why. How many digits a column shows is decided for the column as a whole, so that it can be read down; CSV has all
// of them. The same table gives the same bytes.
package table

import (
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// Table is a heading, columns, rows and remarks.
type Table struct {
	Name    string // of a file
	Title   string
	Columns []Column
	Rows    [][]Cell // as many cells as columns
	Notes   []string
	// Verdict is what the rows come to, "" where the table has none; the last note says it in a sentence.
	Verdict result.Verdict
	// Keys is how many columns at the left name the rows.
	Keys int
	// Block: people read it with a line for each figure, and a column for each row. CSV stays as it is.
	Block bool
}

// Column of a table.
type Column struct {
	Group string // heading over neighbouring columns that share it; ""
	Head  string
	Unit  string // behind the head; ""
	// Text columns are aligned at the left; the others hold numbers.
	Text bool
	// Percent: numbers are shares in percent, with their sign.
	Percent bool
	// Count: numbers are whole.
	Count bool
	// Verdict: cells are verdicts of runs, each with its reason behind it.
	Verdict bool
}

// Cell is one value.
type Cell struct {
	Text  string // of a text column; of another one where there is no number: why, in a word
	Value *float64
	// AtLeast: Value is a bound from below.
	AtLeast bool
	// Low and High are the least and the greatest of repeated runs, of which Value is the median; nil where there was one.
	Low, High *float64
}

// Number is a cell with a known value.
func Number(v float64) Cell { return Cell{Value: &v} }

// none stands where there is nothing.
const none = "-"

// Title is the head with its unit.
func (c *Column) Title() string {
	if c.Unit == "" {
		return c.Head
	}
	return c.Head + " (" + c.Unit + ")"
}

// full names the column where groups have no line of their own.
func (c *Column) full() string {
	if c.Group == "" || c.Group == c.Head {
		return c.Title()
	}
	return c.Group + ", " + c.Title()
}

// decimals of a column: so many that its least value has three significant digits, at most three, and none from 100 up.
func (t *Table) decimals(column int) int {
	c := &t.Columns[column]
	if c.Percent {
		return 1
	}
	if c.Count {
		return 0
	}
	least := math.Inf(1)
	for _, row := range t.Rows {
		if v := row[column].Value; v != nil && *v != 0 && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
			least = math.Min(least, math.Abs(*v))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return min(max(2-int(math.Floor(math.Log10(least))), 0), 3)
}

// text is a cell as it is shown.
func (t *Table) text(row, column, decimals int) string {
	cell, c := &t.Rows[row][column], &t.Columns[column]
	if cell.Value == nil {
		if cell.Text == "" {
			return none
		}
		return cell.Text
	}
	s := c.number(*cell.Value, decimals)
	if cell.AtLeast {
		s = ">= " + s
	}
	if cell.Low != nil && cell.High != nil {
		s += " (" + c.number(*cell.Low, decimals) + " to " + c.number(*cell.High, decimals) + ")"
	}
	return s
}

func (c *Column) number(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, point := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n != 0 {
		whole = result.Group(n)
	}
	if point {
		whole += "." + rest
	}
	if c.Percent && v > 0 && strings.Trim(s, "0.") != "" {
		whole = "+" + whole
	}
	return whole
}

// texts are all cells as they are shown, by row.
func (t *Table) texts() [][]string {
	all := make([][]string, len(t.Rows))
	for i := range all {
		all[i] = make([]string, len(t.Columns))
	}
	for c := range t.Columns {
		d := t.decimals(c)
		for r := range t.Rows {
			all[r][c] = t.text(r, c, d)
		}
	}
	return all
}

// grouped: some column has a group.
func (t *Table) grouped() bool {
	for _, c := range t.Columns {
		if c.Group != "" {
			return true
		}
	}
	return false
}

// eachGroup calls f for each run of neighbouring columns [from, to) that share a group, also those without one.
func (t *Table) eachGroup(f func(from, to int, group string)) {
	for from := 0; from < len(t.Columns); {
		to := from + 1
		for to < len(t.Columns) && t.Columns[to].Group == t.Columns[from].Group && t.Columns[from].Group != "" {
			to++
		}
		f(from, to, t.Columns[from].Group)
		from = to
	}
}

// Shown is the table as people read it, and its cells as texts, by row: a Block has a line for each figure.
func (t *Table) Shown() (shown *Table, texts [][]string) {
	t = t.shown()
	return t, t.texts()
}

// shown is the table as people read it: a block has its columns as lines, and those that share a group on one line.
func (t *Table) shown() *Table {
	if !t.Block {
		return t
	}
	out := &Table{Name: t.Name, Title: t.Title, Notes: t.Notes, Keys: 1, Columns: []Column{{Text: true}}}
	heads := []string{}
	t.eachGroup(func(from, to int, group string) {
		for _, c := range t.Columns[from:to] {
			if group != "" && !contains(heads, c.Head) {
				heads = append(heads, c.Head)
			}
		}
	})
	if len(heads) == 0 {
		heads = []string{""}
	}
	for r := range t.Rows {
		var names []string
		for c := range t.Keys {
			names = append(names, t.Rows[r][c].Text)
		}
		for _, h := range heads {
			out.Columns = append(out.Columns, Column{Group: strings.Join(names, " "), Head: h, Text: true})
		}
	}
	t.eachGroup(func(from, to int, group string) {
		if from < t.Keys {
			return
		}
		name := group
		if name == "" {
			name = t.Columns[from].Head
		}
		if u := t.Columns[from].Unit; u != "" {
			name += " (" + u + ")"
		}
		line := []Cell{{Text: name}}
		for r := range t.Rows {
			cells := make([]Cell, len(heads))
			for c := from; c < to; c++ {
				at := max(index(heads, t.Columns[c].Head), 0)
				cells[at] = Cell{Text: t.text(r, c, t.decimals(c)), Value: nil}
			}
			line = append(line, cells...)
		}
		out.Rows = append(out.Rows, line)
	})
	for i := range out.Columns[1:] {
		out.Columns[i+1].Text = false
	}
	return out
}

func contains(all []string, s string) bool { return index(all, s) >= 0 }

func index(all []string, s string) int {
	for i, x := range all {
		if x == s {
			return i
		}
	}
	return -1
}
