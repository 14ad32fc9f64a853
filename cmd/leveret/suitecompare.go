package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"leveret/analyze/compare"
	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
	"leveret/reports/chart"
)

// suiteRow is a row of several suites' directories, with the runs of each.
type suiteRow struct {
	id, title string
	sources   []source
}

// suiteRows are the rows that the suites of all directories have run. The order is the first one's.
func suiteRows(dirs []string) (rows []*suiteRow, err error) {
	byName := map[string]*suiteRow{}
	for i, dir := range dirs {
		r, _, err := suite.Load(dir)
		if err != nil {
			return nil, err
		}
		for _, run := range r.Runs {
			if run.State != suite.Done {
				continue
			}
			for _, id := range run.Rows {
				name, x := id, suiteRow{id: id, title: run.Title}
				switch { // the same number of a search is not the same value in another one
				case run.Fraction > 0:
					name, x.id = fmt.Sprintf("%s %g", id, run.Fraction), run.ID
					x.title += fmt.Sprintf(", %g of what each has found", run.Fraction)
				case run.Probe != nil:
					name, x.id = fmt.Sprintf("%s at %g", id, *run.Probe), run.ID
				}
				row := byName[name]
				if row == nil && i > 0 {
					continue
				}
				if row == nil {
					row = &x
					byName[name], rows = row, append(rows, row)
				}
				row.add(i, dir, run.Captures(dir))
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(x *suiteRow) bool { return len(x.sources) < len(dirs) })
	if len(rows) == 0 {
		return nil, fmt.Errorf("no row was run by all of these suites: nothing can be compared")
	}
	return rows, nil
}

// add takes in a run of the i-th directory; what an earlier one has not run is nothing to compare with.
func (x *suiteRow) add(i int, dir string, captures []string) {
	switch len(x.sources) {
	case i:
		path := filepath.Clean(dir)
		x.sources = append(x.sources, source{label: filepath.Base(path), path: path})
	case i + 1:
	default:
		return
	}
	x.sources[i].runs = append(x.sources[i].runs, captures)
}

// rowsOfSuite are the rows of one suite, each a group: its repeats.
func rowsOfSuite(dir string) (all []source, err error) {
	rows, err := suiteRows([]string{dir})
	for _, x := range rows {
		all = append(all, source{label: x.id, runs: x.sources[0].runs})
	}
	return all, err
}

// compareSuites compares suites row by row, the first one being the base of each.
func compareSuites(ctx context.Context, dirs []string, l *loader, o *options.Compare, s streams) (int, error) {
	rows, err := suiteRows(dirs)
	if err != nil {
		return 0, &options.UsageError{Command: "compare", Err: err}
	}
	var all []*result.Comparison
	var groups [][]compare.Group
	var runs []chart.Labelled
	code := exitOK
	for _, row := range rows {
		distinguish(row.sources)
		g, err := l.load(ctx, row.sources)
		if err != nil {
			return exitCodeOf(ctx.Err() != nil, exitFailed), fmt.Errorf("%s: %w", row.id, err)
		}
		c, err := compare.Run(g, l.compare)
		if err != nil {
			return exitFailed, fmt.Errorf("%s: %w", row.id, err)
		}
		all, groups = append(all, c), append(groups, g)
		for _, x := range labelled(g) {
			runs = append(runs, chart.Labelled{Label: row.id + ", " + x.Label, Result: x.Result})
		}
		code = max(code, judgeComparison(c, o.Report.Strict, s.err))
	}
	err = putDocument(o.Report.Output, s, func(w io.Writer) error {
		for i, c := range all {
			if o.Report.Format == "text" {
				fmt.Fprintf(w, "==== %s [%s]\n", rows[i].title, rows[i].id)
			}
			if err := writeComparison(w, c, groups[i], &o.Report); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && o.Report.Charts != "" {
		err = writeRunCharts(runs, &o.Report.ChartOptions, s)
	}
	return code, err
}
