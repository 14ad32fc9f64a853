package main

import (
	"fmt"
	"strings"

	"leveret/cmd/internal/suite"
	"leveret/reports/chart"
	"leveret/reports/table"
)

// charts are those that each table asks for, of its runs, by table.
func (c *suiteRun) charts(tables []*table.Table, from suite.Source) (map[string][]*chart.Spec, error) {
	all := map[string][]*chart.Spec{}
	for _, t := range c.suite.Tables {
		if len(t.Charts) == 0 || !drawn(t, tables) {
			continue
		}
		labelled, note, err := c.record.Labelled(t, c.rows, from)
		if err != nil {
			return nil, err
		}
		var runs []chart.Labelled
		for _, l := range labelled {
			runs = append(runs, chart.Labelled{Label: l.Label, Result: l.Result})
		}
		for _, s := range chart.SpecsOfRuns(runs, chart.Options{Names: t.Charts}) {
			if s.NoData != "" {
				fmt.Fprintf(c.err, "no chart: %s of table %s: %s\n", s.Name, t.Name, s.NoData)
				continue
			}
			if note != "" {
				s.Caption = append(s.Caption, note)
			}
			all[t.Name] = append(all[t.Name], s)
		}
	}
	return all, nil
}

// drawCharts draws charts of tables into dir, each with its figures as CSV beside it: TABLE-NAME.svg and so on. A chart by itself has
// the title of its table, too.
func (c *suiteRun) drawCharts(charts map[string][]*chart.Spec, dir string) error {
	var all []*chart.Spec
	for _, t := range c.suite.Tables {
		for _, s := range charts[t.Name] {
			alone := *s
			alone.Name, alone.Title = t.Name+"-"+s.Name, t.Heading()+": "+lowerFirst(s.Title)
			all = append(all, &alone)
		}
	}
	if len(all) == 0 {
		return nil
	}
	files, err := chart.WriteSpecs(dir, all, chart.Options{Formats: c.options.ChartFormat})
	for _, path := range files {
		fmt.Fprintln(c.err, "chart", path)
	}
	return err
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
