package reports

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"leveret/analyze/result"
)

// HTML writes the report as one file that opens from disk and asks nothing of the network: styles, script and drawings are in it, and
// its content security policy refuses everything else. It is under 3 MB: where charts take more, those for narrow screens and then
// the last ones are left out, and the page says so. Everything that comes from brokers and command lines is escaped.
func HTML(w io.Writer, r *result.Result, o DocumentOptions) error {
	if r == nil {
		return errNoResult
	}
	p := &page{most: most{queues: 500, members: 64, spans: 200, intervals: 300, messages: orThree(o.Messages), name: 200}}
	p.figures, p.colors = o.Charts, o.DarkColors
	p.report(r)
	p.describe(r)
	title := "Load test " + r.ID
	switch {
	case r.OnlyChurn():
		title = strings.TrimSpace(upperFirst(orText(r.Churn[0].What, "operation")) + " churn " + r.ID)
	case r.ID == "":
		title = "Load test"
	}
	return p.html(w, document{
		Lead:     "Verdict and findings",
		Title:    p.clean(title),
		Subtitle: p.clean(join("; ", r.Broker.Describe(), r.DescribeLoad(), r.Config.DescribeStart())),
		Footer:   p.clean(join("; ", "Made by "+orLeveret(r.Config.Tool), strings.Join(r.Captures, ", "))),
		Tiles:    p.tiles(r),
	})
}

func orLeveret(tool string) string {
	if tool == "" {
		return "leveret"
	}
	return tool
}

//go:embed assets/page.html
var pageTemplate string

//go:embed assets/page.css
var pageStyle string

//go:embed assets/dark.css
var darkStyle string

//go:embed assets/page.js
var pageScript string

var pageForm = template.Must(template.New("page").Parse(pageTemplate))

// document is what the template is filled with.
type document struct {
	Title, Subtitle, Footer, Policy string
	Lead                            string // names the first section
	Style                           template.CSS
	Script                          template.JS
	Tiles                           []PageTile
	Sections                        []documentSection
}

type documentSection struct {
	ID, Title, More string
	Runs            []documentRun
}

type documentRun struct {
	Kind, Class, Text string
	Items             []documentItem
	Counts            [][]documentItem
	Table             *documentTable
	Figures           []documentFigure
}

type documentItem struct {
	Label, Class, Value, Text, Name string
	Bad                             bool
	Details                         []string
}

const mostHTML = 3_000_000 // bytes

// html fits the figures into the page's size and writes it.
func (p *page) html(w io.Writer, d document) error {
	charts := p.figures
	for narrow := true; ; narrow = false {
		b, err := p.htmlWith(d, narrow)
		if err != nil {
			return fmt.Errorf("write HTML report: %w", err)
		}
		if len(b) < mostHTML || len(p.figures) == 0 {
			if _, err = w.Write(b); err != nil {
				return fmt.Errorf("write HTML report: %w", err)
			}
			return nil
		}
		if !narrow {
			p.dropFigure(charts)
		}
	}
}

// dropFigure leaves the last chart out, and says so.
func (p *page) dropFigure(all []Chart) {
	p.figures = p.figures[:len(p.figures)-1]
	for i := range p.blocks {
		if b := &p.blocks[i]; b.kind == figureBlock && b.figure.chart == &all[len(p.figures)] {
			*b = block{kind: remarkBlock, text: all[len(p.figures)].Title + ": left out, the page would be larger than 3 MB."}
		}
	}
}

func (p *page) htmlWith(d document, narrow bool) ([]byte, error) {
	colors := palette{dark: p.colors}
	taken := map[string]bool{}
	for _, s := range p.sections() {
		x := documentSection{ID: unique(anchor(s.title), taken), Title: s.title, More: upperFirst(s.more)}
		for _, r := range s.runs {
			x.Runs = append(x.Runs, documentOf(r, s.title, narrow, &colors))
		}
		d.Sections = append(d.Sections, x)
	}
	d.Style = template.CSS(pageStyle + themes(&colors))
	d.Script = template.JS(pageScript)
	hash := sha256.Sum256([]byte(pageScript))
	d.Policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	var b bytes.Buffer
	err := pageForm.Execute(&b, d)
	return b.Bytes(), err
}

// themes are the colours: light ones, dark ones where the system or the reader wants them, and light ones on paper.
func themes(colors *palette) string {
	light, night := colors.css(false), darkStyle+colors.css(true)
	return ":root{" + light + "}\n" +
		"@media screen and (prefers-color-scheme: dark){:root:not([data-theme=light]){" + night + "}}\n" +
		"@media screen{:root[data-theme=dark]{" + night + "}}\n"
}

// unique makes a name that the page has not yet.
func unique(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	taken[free] = true
	return free
}

var styleClass = map[style]string{red: "fail", yellow: "warn", green: "pass"}

func documentOf(r run, title string, narrow bool, colors *palette) documentRun {
	first := &r.blocks[0]
	switch r.kind {
	case verdictBlock:
		return documentRun{Kind: "verdict", Class: styleClass[first.style], Text: first.text}
	case noticeBlock:
		return documentRun{Kind: "notices", Items: itemsOf(r.blocks)}
	case listBlock:
		return documentRun{Kind: "items", Text: strings.TrimSuffix(first.text, ":"), Items: itemsOf(r.blocks[1:])}
	case itemBlock, detailBlock:
		return documentRun{Kind: "items", Items: itemsOf(r.blocks)}
	case fieldBlock, quantityBlock:
		return documentRun{Kind: "fields", Items: itemsOf(r.blocks)}
	case remarkBlock:
		return documentRun{Kind: "remarks", Items: itemsOf(r.blocks)}
	case countsBlock:
		x := documentRun{Kind: "counts"}
		for _, g := range first.counts {
			var group []documentItem
			for _, c := range g {
				group = append(group, documentItem{Name: c.name, Text: result.Group(c.n), Bad: c.bad && c.n != 0})
			}
			x.Counts = append(x.Counts, group)
		}
		return x
	case tableBlock:
		return documentRun{Kind: "table", Table: documentTableOf(first.table, title)}
	case figureBlock:
		x := documentRun{Kind: "figures"}
		for _, b := range r.blocks {
			x.Figures = append(x.Figures, documentFigureOf(b.figure, narrow, colors))
		}
		return x
	}
	return documentRun{}
}

func itemsOf(blocks []block) []documentItem {
	var items []documentItem
	for _, b := range blocks {
		if n := len(items); b.kind == detailBlock && n > 0 {
			items[n-1].Details = append(items[n-1].Details, b.text)
			continue
		}
		items = append(items, documentItem{Label: b.label, Class: styleClass[b.style], Value: b.value, Text: b.text})
	}
	return items
}
