package chart

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"leveret/analyze/result"
)

// CSV writes the figures behind a chart: its Table, or, where it has none, the points that are drawn, one a row, with the
// names of the axes as columns. An empty field is a value that is not there; texts are as result.SheetCell writes them, in UTF-8.
// The error is the writer's.
func CSV(w io.Writer, s *Spec) error {
	t := s.Table
	if t == nil {
		t = s.drawnTable()
	}
	c := csv.NewWriter(w)
	var line []string
	write := func(row []string) error { // the row is its maker's
		line = line[:0]
		for _, cell := range row {
			line = append(line, result.SheetCell(cell))
		}
		return c.Write(line)
	}
	if err := write(t.Columns); err != nil {
		return err
	}
	for row := range t.Rows {
		if err := write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// drawnTable has the points of the lines; at_least is set where a value is a bound from below.
func (s *Spec) drawnTable() *Table {
	return &Table{Columns: []string{"series", columnName(s.X.Label), columnName(s.Y.Label), "at_least"}, Rows: func(yield func([]string) bool) {
		for i := range s.Series {
			l := &s.Series[i]
			for n, segment := range append(l.Segments[:len(l.Segments):len(l.Segments)], l.Bounds) {
				for _, p := range segment {
					if !yield([]string{l.Name, number(p.X), number(p.Y), strconv.FormatBool(n == len(l.Segments))}) {
						return
					}
				}
			}
		}
	}}
}

// columnName makes "response_latency_ms" of "response latency (ms)".
func columnName(label string) string {
	words := strings.FieldsFunc(strings.ReplaceAll(label, "µ", "u"), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.ToLower(strings.Join(words, "_"))
}

// number writes v as shortly as it reads back the same; what is no number is empty.
func number(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// column of a table over time.
type column struct {
	name  string // with its unit
	value func(*result.Interval) string
}

// tableOverTime has a row an interval: from when to when, in seconds after the start, its phase, and the columns.
func (t timeline) tableOverTime(r *result.Result, columns []column) *Table {
	table := &Table{Columns: []string{"from_s", "to_s", "phase"}}
	for _, c := range columns {
		table.Columns = append(table.Columns, c.name)
	}
	table.Rows = func(yield func([]string) bool) {
		row := make([]string, len(table.Columns))
		for i := range r.Intervals {
			in := &r.Intervals[i]
			row[0], row[1], row[2] = number(t.at(in.StartNS)/1e9), number(t.at(in.EndNS)/1e9), in.Phase
			for k, c := range columns {
				row[3+k] = c.value(in)
			}
			if !yield(row) {
				return
			}
		}
	}
	return table
}

// milliseconds of a value in ns, exact; "" for nil and for what is no number.
func milliseconds(ns float64) string {
	if math.Abs(ns) > 1<<53 {
		return number(ns / 1e6)
	}
	return number(math.Round(ns) / 1e6)
}
