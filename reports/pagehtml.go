package reports

import (
	"io"

	"leveret/analyze/result"
)

// Page is a page of its maker's own content in the look of all reports: the same styles, themes, sortable tables, values at the
// pointer, and form on paper. All texts are plain; what is markup in them is shown as it is written.
type Page struct {
	Title, Subtitle, Footer string
	// Lead is the name that those who hear the page are told for what stands first: "Verdict and findings".
	Lead     string
	Verdict  result.Verdict // "": the page has none
	Tiles    []PageTile     // below what stands first
	Sections []PageSection
	// DarkColors are what the colours of the charts are in the dark theme, as in DocumentOptions.
	DarkColors map[string]string
}

// PageTile is a figure that stands out at the top.
type PageTile struct {
	Name, Value, Unit string
	Bad               bool
}

// PageSection is a heading with what stands below it, in the order of the fields. Sections without a title come first, and stand
// under the verdict without a heading.
type PageSection struct {
	Title  string
	More   string      // a sentence below the heading
	Text   []string    // paragraphs
	Items  []PageItem  // a list
	Fields []PageField // names with what they are
	Tables []PageTable
	Notes  []string // small print
	Charts []Chart  // of names that no other section's have
}

// PageItem is a line of a list.
type PageItem struct {
	Label string
	// Verdict colours the label: PASS green, FAIL red, INCONCLUSIVE as a warning, "" not at all.
	Verdict result.Verdict
	Text    string
	Details []string // lines below it
}

// PageField is a named text.
type PageField struct{ Name, Text string }

// PageTable is a table of texts. Numbers are written as people read them, with as many decimals in each row of a column; the page
// sorts by them, also behind a ">=", and by the first one where others follow in parentheses.
type PageTable struct {
	Columns []PageColumn
	Rows    [][]string // as many cells as columns
	// Keys is how many columns at the left name the rows.
	Keys  int
	Fixed bool     // the rows are of different things, and stay in their order
	Notes []string // small print below the table
}

// PageColumn of a table.
type PageColumn struct {
	Group string // heading over neighbouring columns that share it; ""
	Head  string // with the unit
	Left  bool   // text; otherwise numbers
	// Judged cells say better, worse or changed, or begin with a verdict, which is shown in colours, too.
	Judged bool
}

// WritePage writes the page as HTML does a report: one file, which asks nothing of the network, under 3 MB.
func WritePage(w io.Writer, x *Page) error {
	p := &page{most: most{name: 200}, colors: x.DarkColors}
	if x.Verdict != "" {
		p.add(block{kind: verdictBlock, style: verdictStyle[x.Verdict], text: p.clean(string(x.Verdict))})
	}
	for i := range x.Sections {
		p.figures = append(p.figures, x.Sections[i].Charts...)
	}
	drawn := 0
	for i := range x.Sections {
		s := &x.Sections[i]
		p.section(s)
		for range s.Charts {
			p.figure(drawn)
			drawn++
		}
	}
	d := document{Title: p.clean(x.Title), Subtitle: p.clean(x.Subtitle), Lead: p.clean(x.Lead), Footer: p.clean(x.Footer)}
	for _, t := range x.Tiles {
		d.Tiles = append(d.Tiles, PageTile{Name: p.clean(t.Name), Value: p.clean(t.Value), Unit: p.clean(t.Unit), Bad: t.Bad})
	}
	return p.html(w, d)
}

// section is all of one but its charts.
func (p *page) section(s *PageSection) {
	if s.Title != "" {
		p.add(block{kind: headingBlock, label: p.clean(s.Title), text: p.clean(s.More)})
	}
	for _, text := range s.Text {
		p.notice("", "", p.clean(text))
	}
	for _, x := range s.Items {
		p.item(p.clean(x.Label), verdictStyle[x.Verdict], 0, p.clean(x.Text))
		for _, detail := range x.Details {
			p.detail(0, p.clean(detail))
		}
	}
	for _, f := range s.Fields {
		p.field(p.clean(f.Name), 0, p.clean(f.Text))
	}
	for i := range s.Tables {
		p.gap()
		p.pageTable(&s.Tables[i])
	}
	for _, note := range s.Notes {
		p.remark(p.clean(note))
	}
}

// pageTable leaves cells out that no column is for; a row that has too few has empty ones.
func (p *page) pageTable(x *PageTable) {
	t := &table{keys: x.Keys, fixed: x.Fixed}
	for i, c := range x.Columns {
		head := column{group: p.clean(c.Group), head: p.clean(c.Head), left: c.Left, judged: c.Judged}
		for _, row := range x.Rows {
			text := ""
			if i < len(row) {
				text = p.clean(row[i])
			}
			head.cells = append(head.cells, text)
		}
		t.columns = append(t.columns, head)
	}
	p.table(t)
	for _, note := range x.Notes {
		p.remark(p.clean(note))
	}
}
