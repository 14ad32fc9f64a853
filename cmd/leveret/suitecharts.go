package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leveret/cmd/internal/suite"
	"leveret/reports/chart"
	"leveret/reports/table"
)

// drawCharts draws the charts that each table asks for, of its runs, into dir: TABLE-NAME.svg and so on. It returns their files by
// table.
func (c *suiteRun) drawCharts(tables []*table.Table, dir string, from suite.Source) (files map[string][]string, err error) {
	files = map[string][]string{}
	for _, t := range c.suite.Tables {
		if len(t.Charts) == 0 || !drawn(t, tables) {
			continue
		}
		labelled, loadErr := c.record.Labelled(t, c.rows, from)
		if loadErr != nil {
			return files, loadErr
		}
		var runs []chart.Labelled
		for _, l := range labelled {
			runs = append(runs, chart.Labelled{Label: l.Label, Result: l.Result})
		}
		o := chart.Options{Formats: c.options.ChartFormat, Names: t.Charts}
		for _, s := range chart.SpecsOfRuns(runs, o) {
			if s.NoData != "" {
				fmt.Fprintf(c.err, "no chart: %s of table %s: %s\n", s.Name, t.Name, s.NoData)
				continue
			}
			s.Title = t.Title + ": " + lowerFirst(s.Title)
			for _, format := range c.options.ChartFormat {
				path, drawErr := writeRunChart(dir, t.Name+"-"+s.Name+"."+format, s, format, o)
				if drawErr != nil {
					err = errors.Join(err, fmt.Errorf("draw chart: %w", drawErr))
					continue
				}
				files[t.Name] = append(files[t.Name], path)
				fmt.Fprintln(c.err, "chart", path)
			}
		}
	}
	return files, err
}

func drawn(t *suite.Table, tables []*table.Table) bool {
	for _, x := range tables {
		if x.Name == t.Name {
			return true
		}
	}
	return false
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func writeRunChart(dir, name string, s *chart.Spec, format string, o chart.Options) (string, error) {
	o.Names = nil // those were of charts over several runs
	b, err := chart.Encode(s, format, o)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, b, 0o644))
}
