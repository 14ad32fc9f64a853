package main

import (
	"cmp"
	"io"
	"strings"

	"leveret/analyze/result"
	"leveret/reports"
	"leveret/reports/chart"
	"leveret/reports/table"
)

// page writes the tables with their charts as one page.
func (c *suiteRun) page(w io.Writer, tables []*table.Table, charts map[string][]*chart.Spec) error {
	x := &reports.Page{
		Title: cmp.Or(c.suite.Title, c.suite.Name), Subtitle: "Begun " + c.record.Started.UTC().Format("2006-01-02 15:04:05") + " UTC",
		Footer: "Made by " + c.record.Tool + "; " + c.dir, Lead: "What was run", DarkColors: darkColors(), Tiles: verdictTiles(tables),
	}
	if c.suite.Source != "" {
		x.Subtitle += "; after " + c.suite.Source
	}
	if about := strings.Join(strings.Fields(c.suite.About), " "); about != "" {
		x.Sections = append(x.Sections, reports.PageSection{Text: []string{about}})
	}
	verdict, conclusions := pageVerdict(tables)
	if x.Verdict = verdict; verdict != "" {
		x.Sections = append([]reports.PageSection{{Text: conclusions}}, x.Sections...)
	}
	for _, t := range tables {
		drawn, err := pageCharts(charts[t.Name])
		if err != nil {
			return err
		}
		for i := range drawn {
			drawn[i].Name = t.Name + "-" + drawn[i].Name
		}
		x.Sections = append(x.Sections, reports.PageSection{Title: t.Title, Tables: []reports.PageTable{pageTable(t)}, Charts: drawn})
	}
	return reports.WritePage(w, x)
}

// pageVerdict is the worst of the tables' verdicts, with a sentence of each; "" where no table has one.
func pageVerdict(tables []*table.Table) (v result.Verdict, sentences []string) {
	for _, t := range tables {
		if t.Verdict == "" {
			continue
		}
		sentences = append(sentences, t.Title+": "+t.Notes[len(t.Notes)-1])
		if v == "" || v == result.Pass || t.Verdict == result.Fail {
			v = t.Verdict
		}
	}
	return v, sentences
}

// pageTable is a table over many runs as pages take it.
func pageTable(t *table.Table) reports.PageTable {
	shown, texts := t.Shown()
	x := reports.PageTable{Rows: texts, Keys: shown.Keys, Fixed: t.Block, Notes: t.Notes}
	for _, c := range shown.Columns {
		x.Columns = append(x.Columns, reports.PageColumn{Group: c.Group, Head: cmp.Or(c.Title(), "figure"), Left: c.Text, Judged: c.Verdict})
	}
	return x
}

// verdictTiles say how many rows have passed, and how many have not, each by the worst of its runs; of tables without verdicts nothing.
func verdictTiles(tables []*table.Table) (tiles []reports.PageTile) {
	counts, rest := map[string]int64{}, int64(0)
	for _, t := range tables {
		for i := range t.Columns {
			if !t.Columns[i].Verdict {
				continue
			}
			for _, row := range t.Rows {
				word, _, _ := strings.Cut(row[i].Text, " ") // the worst stands first
				counts[word]++
				rest++
			}
		}
	}
	for _, v := range []result.Verdict{result.Pass, result.Inconclusive, result.Fail} {
		if n := counts[string(v)]; n > 0 {
			tiles = append(tiles, reports.PageTile{Name: "rows with verdict " + string(v), Value: result.Group(n), Bad: v == result.Fail})
			rest -= n
		}
	}
	if n := counts["failed"]; n > 0 {
		tiles = append(tiles, reports.PageTile{Name: "rows with a run that failed", Value: result.Group(n), Bad: true})
		rest -= n
	}
	if rest > 0 {
		tiles = append(tiles, reports.PageTile{Name: "rows without a result", Value: result.Group(rest), Bad: true})
	}
	return tiles
}
