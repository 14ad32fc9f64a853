package reports

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"leveret/analyze/result"
)

// LaTeX writes the report's tables for papers: one table environment each, with caption and label, to be taken in with \input.
// They need the package booktabs, and none is wider than 345 pt, the text of the class article at 10 pt: what is wider is set smaller,
// or follows in a further table. What was run, and the verdict, stand in comments and in the captions' note.
func LaTeX(w io.Writer, r *result.Result, o DocumentOptions) error {
	if r == nil {
		return errNoResult
	}
	p := &page{ascii: true, most: most{queues: 50, members: 64, spans: 50, intervals: defaultIntervals, messages: orThree(o.Messages), name: 40}}
	p.report(r)
	about := "Verdict " + string(r.Verdict) + "; " + r.Broker.Describe() + "; " + r.DescribeLoad()
	return p.latex(w, p.clean(about))
}

// latex lays the page's tables out; about is said of each of them.
func (p *page) latex(w io.Writer, about string) error {
	l := &latex{labels: map[string]bool{}}
	if about != "" {
		l.about = " " + escapeLaTeX(about) + "."
	}
	l.line(`% Tables of a leveret report. In the preamble: \usepackage{booktabs}`,
		fmt.Sprintf(`%% They are at most %d pt wide; where columns are narrower, table* sets them over two.`, latexRoom))
	for _, s := range p.sections() {
		for _, r := range s.runs {
			switch r.kind {
			case verdictBlock, noticeBlock, fieldBlock, itemBlock, listBlock, detailBlock, remarkBlock:
				for _, b := range r.blocks {
					l.line("% " + join(": ", b.label, joinWords(b.value, b.text)))
				}
			case quantityBlock:
				l.quantities(s, r.blocks)
			case countsBlock:
				l.counts(s, r.blocks[0].counts)
			case tableBlock:
				l.table(s, r.blocks[0].table)
			}
		}
	}
	if _, err := w.Write(l.b.Bytes()); err != nil {
		return fmt.Errorf("write LaTeX report: %w", err)
	}
	return nil
}

type latex struct {
	b      bytes.Buffer
	about  string
	labels map[string]bool // taken ones
}

func (l *latex) line(lines ...string) {
	for _, s := range lines {
		l.b.WriteString(s)
		l.b.WriteByte('\n')
	}
}

// begin a table; one that goes on has no more than that in its caption.
func (l *latex) begin(s section, columns string, size *latexSize, goesOn bool) {
	caption := escapeLaTeX(strings.TrimSuffix(s.full, ".")) + "." + l.about
	if goesOn {
		caption = escapeLaTeX(s.title) + ", continued."
	}
	l.line("", `\begin{table}`, `\centering`, `\caption{`+caption+`}`, `\label{tab:`+unique(anchor(s.title), l.labels)+`}`)
	if size.command != "" {
		l.line(size.command, fmt.Sprintf(`\setlength{\tabcolsep}{%gpt}`, size.gap))
	}
	l.line(`\begin{tabular}{`+columns+`}`, `\toprule`)
}

func (l *latex) end() { l.line(`\bottomrule`, `\end{tabular}`, `\end{table}`) }

func (l *latex) row(size *latexSize, cells ...string) {
	for i := range cells {
		cells[i] = latexCell(cells[i], size, latexText)
	}
	l.line(strings.Join(cells, " & ") + ` \\`)
}

// quantities are named numbers with their units, such as the rates.
func (l *latex) quantities(s section, blocks []block) {
	size := &latexSizes[0]
	names, values := 0.0, 0.0
	for _, b := range blocks {
		names, values = math.Max(names, latexWidth(b.label)), math.Max(values, latexWidth(b.value))
	}
	room := latexRoom - names - values - 6*size.gap
	l.begin(s, "lrl", size, false)
	for _, b := range blocks {
		l.line(escapeLaTeX(b.label) + " & " + escapeLaTeX(b.value) + " & " + latexCell(b.text, size, room) + ` \\`)
	}
	l.end()
}

func (l *latex) counts(s section, groups [][]count) {
	size := &latexSizes[0]
	l.begin(s, "lr", size, false)
	l.row(size, "count", "messages")
	for _, g := range groups {
		l.line(`\midrule`)
		for _, c := range g {
			l.row(size, c.name, result.Group(c.n))
		}
	}
	l.end()
}

func (l *latex) table(s section, t *table) {
	parts, size := t.latexParts()
	for i, part := range parts {
		l.tabular(s, part, size, i > 0)
	}
}

func (l *latex) tabular(s section, t *table, size *latexSize, goesOn bool) {
	columns := ""
	for _, c := range t.columns {
		if c.left {
			columns += "l"
		} else {
			columns += "r"
		}
	}
	l.begin(s, columns, size, goesOn)
	l.groups(t)
	var heads []string
	for _, c := range t.columns {
		heads = append(heads, c.title())
	}
	l.row(size, heads...)
	l.line(`\midrule`)
	for n, row := range t.lines() {
		if t.title != "" && n == t.titleRow {
			if n > 0 {
				l.line(`\midrule`)
			}
			l.line(fmt.Sprintf(`\multicolumn{%d}{l}{\emph{%s}} \\`, len(t.columns), escapeLaTeX(strings.TrimSuffix(t.title, ":"))))
		}
		l.row(size, row...)
	}
	l.end()
}

// groups are the headings over several columns, with a rule below each.
func (l *latex) groups(t *table) {
	var cells, rules []string
	at := 0
	t.eachGroup(func(from, to int) {
		for ; at < from; at++ {
			cells = append(cells, "")
		}
		cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, to-from, escapeLaTeX(t.columns[from].group)))
		rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, from+1, to))
		at = to
	})
	if len(cells) == 0 {
		return
	}
	for ; at < len(t.columns); at++ {
		cells = append(cells, "")
	}
	l.line(strings.Join(cells, " & ")+` \\`, strings.Join(rules, " "))
}

var latexCharacters = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `_`, `\_`, `%`, `\%`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`, `"`, `''`)

// escapeLaTeX writes text that is ASCII as LaTeX sets it; >= becomes a sign, and hyphens are not joined into dashes.
func escapeLaTeX(s string) string {
	s = strings.ReplaceAll(latexCharacters.Replace(s), `\textgreater{}=`, `$\geq$`)
	return strings.ReplaceAll(strings.ReplaceAll(s, "--", "-{}-"), "--", "-{}-")
}
