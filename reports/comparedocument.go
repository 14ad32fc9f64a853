package reports

import (
	"bytes"
	"io"
	"strings"

	"leveret/analyze/result"
)

// comparisonPage is a comparison for a form that is as wide as it likes.
func comparisonPage(c *result.Comparison, ascii bool) (*page, error) {
	if c == nil || len(c.Groups) == 0 {
		return nil, errNoResult
	}
	p := &page{ascii: ascii, most: most{name: 80}}
	p.comparison(c)
	return p, nil
}

// comparisonTitle names the candidates and the base.
func (p *page) comparisonTitle(c *result.Comparison) string {
	var candidates []string
	for i := range c.Groups[1:] {
		candidates = append(candidates, p.clean(elide(c.Groups[i+1].Label, 60)))
	}
	return strings.Join(candidates, ", ") + " against " + p.clean(elide(c.Groups[0].Label, 60))
}

// ComparisonHTML writes a comparison as HTML does a report: one file, which asks nothing of the network, under 3 MB.
func ComparisonHTML(w io.Writer, c *result.Comparison, o DocumentOptions) error {
	p, err := comparisonPage(c, false)
	if err != nil {
		return err
	}
	p.figures, p.colors = o.Charts, o.DarkColors
	p.charts()
	var runs []string
	for _, g := range c.Groups {
		for _, r := range g.Runs {
			runs = append(runs, strings.Join(r.Captures, "+"))
		}
	}
	return p.html(w, document{
		Title: "Comparison: " + p.comparisonTitle(c), Lead: "Comparison",
		Subtitle: result.Plural(int64(len(runs)), "run") + " in " + result.Plural(int64(len(c.Groups)), "group"),
		Footer:   p.clean("Made by leveret; " + strings.Join(runs, ", ")),
	})
}

// ComparisonMarkdown writes a comparison as Markdown does a report.
func ComparisonMarkdown(w io.Writer, c *result.Comparison) error {
	p, err := comparisonPage(c, false)
	if err != nil {
		return err
	}
	return p.markdown(w, "leveret: "+p.comparisonTitle(c))
}

// ComparisonLaTeX writes a comparison's tables as LaTeX does a report's.
func ComparisonLaTeX(w io.Writer, c *result.Comparison) error {
	p, err := comparisonPage(c, true)
	if err != nil {
		return err
	}
	return p.latex(w, "")
}

// ComparisonCSV writes a comparison's figures as CSV does a result's.
func ComparisonCSV(w io.Writer, c *result.Comparison) error {
	var b bytes.Buffer
	if err := ComparisonJSON(&b, c); err != nil {
		return err
	}
	return flatCSV(w, b.Bytes())
}
