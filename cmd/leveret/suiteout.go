package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/cmd/internal/panel"
	"leveret/cmd/internal/suite"
	"leveret/reports/chart"
	"leveret/reports/table"
)

// listSuites names the suites inside the program.
func listSuites(w io.Writer) error {
	for _, name := range suite.Scenarios() {
		s, err := suite.Scenario(name)
		if err != nil {
			return err
		}
		rows, err := s.Plan(suite.Changes{})
		if err != nil {
			return err
		}
		r := s.NewRecord(rows, suite.Changes{}, nil, "")
		fmt.Fprintf(w, "%-16s %s\n%-16s %s", name, s.Title, "", extent(rows, len(r.Runs)))
		fmt.Fprintf(w, "; some %s\n", suite.Span(s.Estimate(r, rows)))
		if s.Source != "" {
			fmt.Fprintf(w, "%-16s figures: %s\n", "", s.Source)
		}
	}
	fmt.Fprintln(w, "--time SECONDS makes the runs of each shorter; --dry-run says how long it takes then")
	return nil
}

// extent says how many rows and runs a suite has before it begins.
func extent(rows []*suite.Row, runs int) string {
	chosen := 0
	for _, row := range rows {
		if row.Adaptive() {
			chosen++
		}
	}
	text := result.Plural(int64(len(rows)), "row")
	switch {
	case chosen > 0 && chosen == len(rows):
		whose := "their"
		if chosen == 1 {
			whose = "its"
		}
		return text + ", " + whose + " runs chosen as it goes"
	case chosen > 0:
		return text + ", " + result.Plural(int64(runs), "run") + " and those that are chosen as it goes"
	}
	text += ", " + result.Plural(int64(runs), "run")
	if runs < len(rows) {
		text += " (rows share runs)"
	}
	return text
}

// listRows names the rows of one suite, with the words that --only takes.
func (c *suiteRun) listRows() error {
	s := c.suite
	fmt.Fprintln(c.out, strings.TrimSuffix(s.Name+": "+s.Title, ": "))
	for line := range strings.Lines(s.About) {
		fmt.Fprintf(c.out, "  %s\n", strings.TrimSpace(line))
	}
	for _, t := range s.Targets {
		fmt.Fprintln(c.out, strings.TrimRight(fmt.Sprintf("  target %-10s %s", t.Name, t.About), " "))
	}
	var last *suite.Table
	for _, row := range c.rows {
		if row.Table != last {
			last = row.Table
			fmt.Fprintln(c.out, strings.TrimSuffix("table "+last.Name+": "+last.Title, ": "))
			if last.Source != "" {
				fmt.Fprintf(c.out, "  published: %s\n", last.Source)
			}
		}
		fmt.Fprintf(c.out, "  %-40s %s\n", row.ID, row.Title())
	}
	return nil
}

// dryRun says what would be run, in its order, and how long it would take.
func (c *suiteRun) dryRun() error {
	r := c.record
	if r == nil {
		r = c.suite.NewRecord(c.rows, c.changes, nil, "")
	}
	r.Attach(c.rows)
	for i, run := range r.Runs {
		state := ""
		if run.State != suite.Planned {
			state = " (" + string(run.State) + ")"
		}
		length := "as long as it takes"
		if run.Expected > 0 {
			length = suite.Span(time.Duration(run.Expected * float64(time.Second)))
		}
		fmt.Fprintf(c.out, "%d of %d  %s [%s], target %s: %s%s\n", i+1, len(r.Runs), run.Title, run.ID, c.aims.told(run.Target), length, state)
		for _, p := range run.Parts {
			fmt.Fprintf(c.out, "    leveret run %s\n", strings.Join(p.Args, " "))
		}
		if len(run.Asserts) > 0 {
			fmt.Fprintf(c.out, "    has to hold: %s\n", strings.Join(run.Asserts, "; "))
		}
		for _, text := range run.Notes() {
			fmt.Fprintf(c.out, "    %s\n", text)
		}
	}
	for _, row := range c.rows {
		if row.Adaptive() {
			fmt.Fprintf(c.out, "then    %s [%s], target %s: %s\n    leveret run %s\n", row.Title(), row.ID, c.aims.told(row.Target), row.Adapts(), strings.Join(row.Options.Args(), " "))
		}
	}
	fmt.Fprintf(c.out, "some %s in all\n", suite.Span(c.suite.Estimate(r, c.rows)))
	return nil
}

// tableForms are the forms that tables are written in, by the endings of their files.
var tableForms = []struct {
	name, ending string
	write        func(io.Writer, *table.Table) error
}{
	{"text", "txt", table.Text}, {"markdown", "md", table.Markdown}, {"csv", "csv", table.CSV}, {"latex", "tex", table.LaTeX}, {"html", "html", nil},
}

// output prints the tables, and writes them in every form, and the charts, into the suite's directory.
func (c *suiteRun) output(tables []*table.Table) error {
	charts, err := c.charts(tables, c.record.Kept(c.dir))
	err = errors.Join(err, c.drawCharts(charts, filepath.Join(c.dir, "charts")))
	var endings []string
	for _, form := range tableForms {
		text, formErr := c.formed(form.name, tables, charts)
		err = errors.Join(err, formErr)
		if form.name == c.options.Format {
			if printErr := c.print(c.out, form.name, tables, charts); printErr != nil {
				return fmt.Errorf("print the tables: %w", printErr)
			}
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(c.dir, "tables."+form.ending), text, 0o644))
		endings = append(endings, form.ending)
	}
	if err == nil {
		fmt.Fprintf(c.err, "tables %s.{%s}\n", filepath.Join(c.dir, "tables"), strings.Join(endings, ","))
	}
	return err
}

// print writes the tables in one form. What is text is folded to the terminal that w is; in a file it is as wide as it is.
func (c *suiteRun) print(w io.Writer, form string, tables []*table.Table, charts map[string][]*chart.Spec) error {
	width := panel.Width(w)
	if form != "text" || width == 0 {
		text, err := c.formed(form, tables, charts)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	var b bytes.Buffer
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := table.TextWithin(&b, t, width); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// formed is all tables in one form; the page has the charts.
func (c *suiteRun) formed(form string, tables []*table.Table, charts map[string][]*chart.Spec) ([]byte, error) {
	var b bytes.Buffer
	if form == "html" {
		err := c.page(&b, tables, charts)
		return b.Bytes(), err
	}
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, f := range tableForms {
			if f.name != form {
				continue
			}
			if form == "csv" && len(tables) > 1 {
				fmt.Fprintf(&b, "# %s\n", printable(oneLine(t.Title)))
			}
			if err := f.write(&b, t); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}
