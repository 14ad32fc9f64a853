package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"leveret/analyze/result"
)

// DocumentOptions of the forms that are read in a browser, in a pull request or in print.
type DocumentOptions struct {
	// Charts of the run, in their order; none: the document has none.
	Charts []Chart
	// DarkColors are what the colours of the charts are in the dark theme, both as #RRGGBB; others stay as they are.
	DarkColors map[string]string
	// Messages is how many messages of each finding are named; 0: 3.
	Messages int
}

// Markdown writes the report as GitHub Flavored Markdown: the text report's content, for pull requests and articles. Charts
// are not part of it. Names from brokers and command lines are escaped: none of them makes a link, a picture or HTML.
func Markdown(w io.Writer, r *result.Result, o DocumentOptions) error {
	if r == nil {
		return errNoResult
	}
	p := &page{most: most{queues: 50, members: 64, spans: 50, intervals: defaultIntervals, messages: orThree(o.Messages), name: 80}}
	p.report(r)
	return p.markdown(w, "leveret: "+p.clean(string(r.Verdict)))
}

func orThree(messages int) int {
	if messages <= 0 {
		return messagesShown
	}
	return messages
}

// longHeading is the length, in cells, beyond which a heading's details become a sentence below it.
const longHeading = 60

// markdown lays the page out below a title.
func (p *page) markdown(w io.Writer, title string) error {
	m := &markdown{}
	m.line("# " + escapeMarkdown(title))
	for _, s := range p.sections() {
		switch {
		case s.title == "":
		case cells(s.full) <= longHeading:
			m.line("", "## "+escapeMarkdown(s.full))
		default:
			m.line("", "## "+escapeMarkdown(s.title), "", escapeMarkdown(upperFirst(s.more)))
		}
		for _, r := range s.runs {
			m.run(r)
		}
	}
	if _, err := w.Write(m.b.Bytes()); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

type markdown struct{ b bytes.Buffer }

func (m *markdown) line(lines ...string) {
	for _, l := range lines {
		m.b.WriteString(l)
		m.b.WriteByte('\n')
	}
}

func (m *markdown) run(r run) {
	switch r.kind {
	case verdictBlock:
		m.line("", "**Verdict: "+escapeMarkdown(r.blocks[0].text)+"**")
	case noticeBlock, fieldBlock, quantityBlock, itemBlock, listBlock:
		m.line("")
		m.list(r)
	case remarkBlock:
		for _, b := range r.blocks {
			m.line("", "_"+escapeMarkdown(b.text)+"_")
		}
	case countsBlock:
		m.line("")
		m.counts(r.blocks[0].counts)
	case tableBlock:
		m.line("")
		m.table(r.blocks[0].table)
	}
}

func (m *markdown) list(r run) {
	if r.kind == listBlock {
		m.line(escapeMarkdown(r.blocks[0].text))
		if r.blocks = r.blocks[1:]; len(r.blocks) > 0 {
			m.line("")
		}
	}
	for _, b := range r.blocks {
		text := escapeMarkdown(joinWords(b.value, b.text))
		switch {
		case b.kind == detailBlock:
			m.line("  - " + text)
		case b.label == "":
			m.line("- " + text)
		default:
			m.line("- **" + escapeMarkdown(b.label) + "**: " + text)
		}
	}
}

func joinWords(parts ...string) string { return join(" ", parts...) }

// counts are one table, with the groups side by side.
func (m *markdown) counts(groups [][]count) {
	rows := 0
	head, rule := "|", "|"
	for _, g := range groups {
		rows = max(rows, len(g))
		head += " | messages |"
		rule += "---|---:|"
	}
	m.line(head, rule)
	for i := range rows {
		l := "|"
		for _, g := range groups {
			if i >= len(g) {
				l += " | |"
				continue
			}
			name, n := g[i].name, result.Group(g[i].n)
			if g[i].bad && g[i].n != 0 {
				name, n = "**"+name+"**", "**"+n+"**"
			}
			l += " " + name + " | " + n + " |"
		}
		m.line(l)
	}
}

func (m *markdown) table(t *table) {
	rule := "|"
	for _, c := range t.columns {
		if c.left {
			rule += "---|"
		} else {
			rule += "---:|"
		}
	}
	m.line(markdownRow(t.heads()), rule)
	for n, row := range t.lines() {
		if t.title != "" && n == t.titleRow {
			m.line("| _" + escapeMarkdown(strings.TrimSuffix(t.title, ":")) + "_ |" + strings.Repeat(" |", len(t.columns)-1))
		}
		m.line(markdownRow(row))
	}
}

func markdownRow(cells []string) string {
	l := "|"
	for _, c := range cells {
		l += " " + escapeMarkdown(c) + " |"
	}
	return l
}

// escapeMarkdown takes their meaning from the characters that have one, so that what a broker calls a queue stays text. A
// host name with a dot, or an address, is not made a link: GitHub would link what begins with www. or a scheme.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~', '!':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@': // the mention of somebody
			b.WriteString("&#64;")
		case ':':
			if strings.HasPrefix(s[i:], "://") { // an address that is to be read, not followed
				b.WriteString("&#58;")
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return strings.ReplaceAll(b.String(), "www.", "www&#46;")
}

func upperFirst(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
