package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"leveret/analyze/result"
)

// LaTeX writes the report's tables for papers: one table environment each, with caption and label, to be taken in with \input.
// They need the package booktabs. What was run, and the verdict, stand in comments and in the captions' note.
func LaTeX(w io.Writer, r *result.Result, o DocumentOptions) error {
	if r == nil {
		return errNoResult
	}
	p := &page{ascii: true, most: most{queues: 50, members: 64, spans: 50, intervals: defaultIntervals, messages: orThree(o.Messages), name: 40}}
	p.report(r)
	about := "Verdict " + string(r.Verdict) + "; " + r.Broker.Describe() + "; " + r.Config.DescribeTopology()
	return p.latex(w, p.clean(about))
}

// latex lays the page's tables out; about is said of each of them.
func (p *page) latex(w io.Writer, about string) error {
	l := &latex{}
	if about != "" {
		l.about = " " + escapeLaTeX(about) + "."
	}
	l.line(`% Tables of a leveret report. In the preamble: \usepackage{booktabs}`)
	for _, s := range p.sections() {
		for _, r := range s.runs {
			switch r.kind {
			case verdictBlock, noticeBlock, fieldBlock, itemBlock, listBlock, detailBlock:
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
	b     bytes.Buffer
	about string
}

func (l *latex) line(lines ...string) {
	for _, s := range lines {
		l.b.WriteString(s)
		l.b.WriteByte('\n')
	}
}

func (l *latex) begin(s section, columns string) {
	l.line("", `\begin{table}`, `\centering`, `\caption{`+escapeLaTeX(strings.TrimSuffix(s.full, "."))+`.`+l.about+`}`,
		`\label{tab:`+anchor(s.title)+`}`, `\begin{tabular}{`+columns+`}`, `\toprule`)
}

func (l *latex) end() { l.line(`\bottomrule`, `\end{tabular}`, `\end{table}`) }

func (l *latex) row(cells ...string) {
	for i := range cells {
		cells[i] = escapeLaTeX(cells[i])
	}
	l.line(strings.Join(cells, " & ") + ` \\`)
}

// quantities are named numbers with their units, such as the rates.
func (l *latex) quantities(s section, blocks []block) {
	l.begin(s, "lrl")
	for _, b := range blocks {
		l.row(b.label, b.value, b.text)
	}
	l.end()
}

func (l *latex) counts(s section, groups [][]count) {
	l.begin(s, "lr")
	l.row("count", "messages")
	for _, g := range groups {
		l.line(`\midrule`)
		for _, c := range g {
			l.row(c.name, result.Group(c.n))
		}
	}
	l.end()
}

func (l *latex) table(s section, t *table) {
	columns := ""
	for _, c := range t.columns {
		if c.left {
			columns += "l"
		} else {
			columns += "r"
		}
	}
	l.begin(s, columns)
	l.groups(t)
	var heads []string
	for _, c := range t.columns {
		heads = append(heads, c.title())
	}
	l.row(heads...)
	l.line(`\midrule`)
	for n, row := range t.lines() {
		if t.title != "" && n == t.titleRow {
			l.line(`\midrule`)
			l.line(fmt.Sprintf(`\multicolumn{%d}{l}{\emph{%s}} \\`, len(t.columns), escapeLaTeX(strings.TrimSuffix(t.title, ":"))))
		}
		l.row(row...)
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
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`, `"`, `\textquotedbl{}`)

// escapeLaTeX writes text that is ASCII as LaTeX sets it; >= becomes a sign.
func escapeLaTeX(s string) string {
	return strings.ReplaceAll(latexCharacters.Replace(s), `\textgreater{}=`, `$\geq$`)
}
