package table

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// What a page of the class article takes beside each other, 345 pt, in digits of 5 pt at its 10 pt, and of 4.25 pt in \footnotesize. Two
// are the gap between columns; small letters are about as wide on average.
const (
	latexRoom      = 69
	latexSmallRoom = 81
)

// latexWidth is the width of a text in digits: capitals are half as wide again.
func latexWidth(s string) int {
	n := uniseg.StringWidth(s)
	capitals := 0
	for _, c := range s {
		if unicode.IsUpper(c) {
			capitals++
		}
	}
	return n + (capitals+1)/2
}

var latexReplacer = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`)

// latexSafe is a text as LaTeX sets it, its hyphens not joined into dashes.
func latexSafe(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(latexReplacer.Replace(s), "--", "-{}-"), "--", "-{}-")
}

// LaTeX writes the table for a document that uses booktabs. What is wider than a page of the class article is set smaller, and what is
// wider then follows in further tables, beside the columns that name the rows once more.
func LaTeX(w io.Writer, t *Table) error {
	t = t.shown()
	size, parts := "", []*Table{t}
	if room(t.widths(latexWidth)) > latexRoom {
		size, parts = "\\footnotesize\\setlength{\\tabcolsep}{4pt}\n", t.parts(latexSmallRoom, latexWidth)
	}
	var b strings.Builder
	b.WriteString("% In the preamble: \\usepackage{booktabs}\n")
	for i, part := range parts {
		title := t.Title
		if i > 0 {
			title += ", continued"
		}
		fmt.Fprintf(&b, "\\begin{table}\n\\centering\n\\caption{%s}\n%s", latexSafe(printable(title)), size)
		part.tabular(&b)
		if i == len(parts)-1 {
			for _, n := range t.Notes {
				fmt.Fprintf(&b, "\n\\smallskip\\noindent\\footnotesize %s\n", latexSafe(printable(n)))
			}
		}
		b.WriteString("\\end{table}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tabular writes heads and rows.
func (t *Table) tabular(b *strings.Builder) {
	columns := ""
	for _, c := range t.Columns {
		if c.Text {
			columns += "l"
			continue
		}
		columns += "r"
	}
	fmt.Fprintf(b, "\\begin{tabular}{%s}\n\\toprule\n", columns)
	if t.grouped() {
		var parts, rules []string
		t.eachGroup(func(from, to int, group string) {
			parts = append(parts, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", to-from, latexSafe(printable(group))))
			if group != "" {
				rules = append(rules, fmt.Sprintf("\\cmidrule(lr){%d-%d}", from+1, to))
			}
		})
		fmt.Fprintf(b, "%s \\\\\n%s\n", strings.Join(parts, " & "), strings.Join(rules, " "))
	}
	row := func(cells []string) {
		for i := range cells {
			cells[i] = latexSafe(printable(cells[i]))
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
	}
	var heads []string
	for i := range t.Columns {
		heads = append(heads, t.Columns[i].Title())
	}
	row(heads)
	b.WriteString("\\midrule\n")
	for _, cells := range t.texts() {
		row(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}
