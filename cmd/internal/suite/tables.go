package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/assert"
	"leveret/analyze/result"
	"leveret/reports/table"
)

// Source gives the results of a run that is Done: of all its parts together, and then of each, where there are several.
type Source func(run *Run) ([]*result.Result, error)

// Kept is the source of the results that were made when the runs ended.
func (r *Record) Kept(dir string) Source {
	return func(run *Run) ([]*result.Result, error) { return resultOf(dir, run) }
}

// line is one line of a table: a row and its runs, which are repetitions, or one probe of it.
type line struct {
	row     *Row
	runs    []*Run
	results [][]*result.Result // of those that are Done
}

// Tables makes the tables of the rows. Attach has been called.
func (r *Record) Tables(rows []*Row, from Source) ([]*table.Table, error) {
	var all []*table.Table
	for _, set := range byTable(rows) {
		lines, err := r.lines(set, from)
		if err != nil {
			return nil, err
		}
		all = append(all, r.table(set[0].Table, lines))
	}
	return all, nil
}

// byTable cuts rows, which stand in the order of their tables.
func byTable(rows []*Row) (sets [][]*Row) {
	for i, row := range rows {
		if i == 0 || rows[i-1].Table != row.Table {
			sets = append(sets, nil)
		}
		sets[len(sets)-1] = append(sets[len(sets)-1], row)
	}
	return sets
}

// lines of one table. Where a value was searched for, each probe is a line, by rising value.
func (r *Record) lines(rows []*Row, from Source) ([]*line, error) {
	runs := map[string][]*Run{}
	for _, run := range r.Runs {
		for _, id := range run.Rows {
			runs[id] = append(runs[id], run)
		}
	}
	var all []*line
	for _, row := range rows {
		var of []*line
		for _, run := range runs[row.ID] {
			if len(of) == 0 || run.Probe != nil {
				of = append(of, &line{row: row})
			}
			l := of[len(of)-1]
			l.runs = append(l.runs, run)
			if run.State == Done {
				results, err := from(run)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", run.ID, err)
				}
				if len(results) > 0 {
					l.results = append(l.results, results)
				}
			}
		}
		if len(of) == 0 {
			of = []*line{{row: row}}
		}
		slices.SortStableFunc(of, func(a, b *line) int { return cmp.Compare(a.probe(), b.probe()) })
		all = append(all, of...)
	}
	return all, nil
}

func (l *line) probe() float64 {
	if len(l.runs) == 0 || l.runs[0].Probe == nil {
		return 0
	}
	return *l.runs[0].Probe
}

func (r *Record) table(t *Table, lines []*line) *table.Table {
	out := &table.Table{Name: t.Name, Title: t.Heading(), Block: t.Block}
	named := len(t.Axes) == 0
	for i := range t.Rows {
		named = named || t.Rows[i].Name != ""
	}
	keys := r.keyColumns(t, named && !t.adaptive(), out)
	base := map[int]float64{} // of the first line that has one, by column
	for _, l := range lines {
		cells := keys(l)
		for i := range t.Columns {
			cells = append(cells, t.Columns[i].cells(l, base, i)...)
		}
		if len(l.results) == 0 && len(cells) > out.Keys {
			cells[out.Keys] = table.Cell{Text: l.standing()}
		}
		out.Rows = append(out.Rows, cells)
	}
	for i := range t.Columns {
		out.Columns = append(out.Columns, t.Columns[i].columns()...)
	}
	out.Notes = append(out.Notes, r.notes(t, lines)...)
	if t.Verdict != "" {
		var text string
		out.Verdict, text = tableVerdict(t, lines)
		out.Notes = append(out.Notes, text)
	}
	return out
}

// Heading is the table's title, or "Table" with its name where the file gives none.
func (t *Table) Heading() string {
	if t.Title == "" {
		return "Table " + t.Name
	}
	return t.Title
}

// keyColumns are those that name the rows: their names, and the axes.
func (r *Record) keyColumns(t *Table, named bool, out *table.Table) func(*line) []table.Cell {
	if named {
		out.Columns = append(out.Columns, table.Column{Head: "Row", Text: true})
	}
	for _, a := range t.Axes {
		if !a.Hidden {
			out.Columns = append(out.Columns, table.Column{Head: a.Name, Text: !numericAxis(&a)})
		}
	}
	out.Keys = len(out.Columns)
	return func(l *line) (cells []table.Cell) {
		if named {
			cells = append(cells, table.Cell{Text: l.row.Name})
		}
		for i, a := range t.Axes {
			if !a.Hidden {
				cells = append(cells, table.Cell{Text: l.row.Labels[i]})
			}
		}
		return cells
	}
}

// numericAxis: labels are numbers, and stand as such.
func numericAxis(a *Axis) bool {
	for _, v := range a.Values {
		if _, err := fmt.Sscan(v.Label, new(float64)); err != nil {
			return false
		}
	}
	return true
}

// standing is a word for a line without results.
func (l *line) standing() string {
	for _, run := range l.runs {
		switch run.State {
		case Failed:
			return "failed"
		case LeftOut:
			return "left out"
		}
	}
	return "not run"
}

// notes say where the published figures come from, against what was measured, and what went wrong.
func (r *Record) notes(t *Table, lines []*line) []string {
	notes := slices.Clone(t.Notes)
	switch {
	case t.Source == "":
	case slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Published != "" }):
		notes = append(notes, "published: "+t.Source)
	default:
		notes = append(notes, "after "+t.Source)
	}
	seen := map[string]bool{}
	once := func(text string) {
		if !seen[text] {
			seen[text] = true
			notes = append(notes, text)
		}
	}
	for _, l := range lines {
		if b, ok := r.Brokers[l.row.Target]; ok && b.Describe != "" {
			once("measured: " + b.Describe)
		}
	}
	if len(lines) > 0 && len(lines[0].runs) > 1 && lines[0].runs[0].Probe == nil {
		fewer := ""
		if slices.ContainsFunc(lines, func(l *line) bool { return len(l.results) > 0 && len(l.results) < len(l.runs) }) {
			fewer = ", of as many as have a result,"
		}
		notes = append(notes, fmt.Sprintf("each row: median of %d runs%s with the least and the greatest", len(lines[0].runs), cmp.Or(fewer, ",")))
	}
	for _, n := range t.latencyNotes() {
		once(n)
	}
	for _, n := range sameNotes(lines) {
		once(n)
	}
	for _, l := range lines {
		for _, n := range l.row.Notes {
			if !seen[n] {
				once(l.row.Title() + ": " + n)
			}
		}
	}
	for _, n := range reasons(lines) {
		once(n)
	}
	if t.Search != nil {
		notes = append(notes, searchNotes(t, lines)...)
	}
	return notes
}

// latencyNotes say from when the latencies of the columns count, which their heads need not tell.
func (t *Table) latencyNotes() (notes []string) {
	for _, x := range []struct{ from, note string }{
		{".service)", "service latency, from when a message was sent"}, {".response)", "response latency, from when a message was due"},
	} {
		var heads []string
		for i := range t.Columns {
			if c := &t.Columns[i]; strings.HasSuffix(c.Figure, x.from) {
				if head := cmp.Or(c.Group, c.Head); !slices.Contains(heads, head) {
					heads = append(heads, head)
				}
			}
		}
		if len(heads) > 0 {
			notes = append(notes, strings.Join(heads, ", ")+": "+x.note)
		}
	}
	return notes
}

// reasons say why runs failed or were left out, and which assertions were not met; what is the same of several runs once.
func reasons(lines []*line) (notes []string) {
	var all []string
	of := map[string][]string{} // titles
	add := func(title, why string) {
		if len(of[why]) == 0 {
			all = append(all, why)
		}
		if !slices.Contains(of[why], title) {
			of[why] = append(of[why], title)
		}
	}
	for _, l := range lines {
		for _, run := range l.runs {
			switch run.State {
			case Failed:
				add(run.Title, "failed: "+run.Reason)
			case LeftOut:
				add(run.Title, "left out: "+run.Reason)
			}
		}
		for _, results := range l.results {
			for _, f := range results[0].Findings {
				if f.Code == assert.Code {
					add(l.row.Title(), "not met: "+f.Text)
				}
			}
		}
	}
	for _, why := range all {
		titles := of[why]
		named := strings.Join(titles[:min(len(titles), 3)], "; ")
		if more := len(titles) - 3; more > 0 {
			named += fmt.Sprintf("; and %d more", more)
		}
		notes = append(notes, named+": "+why)
	}
	return notes
}

// sameNotes are those that all rows have.
func sameNotes(lines []*line) (notes []string) {
	if len(lines) == 0 {
		return nil
	}
	for _, n := range lines[0].row.Notes {
		if !slices.ContainsFunc(lines, func(l *line) bool { return !slices.Contains(l.row.Notes, n) }) {
			notes = append(notes, n)
		}
	}
	return notes
}

// searchNotes say what was found, of each row that was searched for, and where a search has not come to its end.
func searchNotes(t *Table, lines []*line) (notes []string) {
	before, rows := map[*Row][]tried{}, []*Row{}
	for _, l := range lines {
		if n := len(rows); n == 0 || rows[n-1] != l.row { // lines of a row follow each other
			rows = append(rows, l.row)
		}
		for _, run := range l.runs {
			if run.Probe != nil && run.Fraction == 0 && run.State == Done {
				before[l.row] = append(before[l.row], tried{*run.Probe, run.Reason == ""})
			}
		}
	}
	for _, row := range rows {
		text := "none kept the bounds"
		if v := best(before[row]); v > 0 {
			text = plain(v)
		}
		_, done := t.Search.next(before[row])
		switch {
		case len(before[row]) == 0:
			text = "not known, nothing was tried"
		case !done:
			text += " so far, the search is not finished"
		}
		notes = append(notes, fmt.Sprintf("%s: highest %s that kept the bounds: %s", row.Title(), t.Search.Option, text))
	}
	return notes
}
