package table

import (
	"strings"
	"testing"
)

// A page takes 69 digits beside each other at the usual size, and 81 in the smaller one: what is wider follows in further tables, each
// with the column that names the rows, and the notes stand once, below the last.
func TestLaTeXIsNoWiderThanAPage(t *testing.T) {
	for _, c := range []struct {
		digits []int // of the columns beside the one that names the rows, of four
		tables int
		size   bool // smaller
	}{
		{[]int{63}, 1, false}, {[]int{64}, 1, true}, {[]int{75}, 1, true}, {[]int{40, 34}, 2, true}, {[]int{40, 40, 40}, 3, true},
	} {
		x := &Table{Title: "wide", Keys: 1, Notes: []string{"a note"}, Columns: []Column{{Head: "rows", Text: true}}, Rows: [][]Cell{{{Text: "row"}}}}
		for _, n := range c.digits {
			x.Columns = append(x.Columns, Column{Head: "x"})
			x.Rows[0] = append(x.Rows[0], Cell{Text: strings.Repeat("1", n)})
		}
		got := written(t, func(b *strings.Builder) error { return LaTeX(b, x) })
		for text, n := range map[string]int{
			`\begin{table}`: c.tables, `\end{tabular}`: c.tables, `\caption{wide}`: 1, `\caption{wide, continued}`: c.tables - 1, "\nrow & ": c.tables,
			" a note\n": 1,
		} {
			if strings.Count(got, text) != n {
				t.Errorf("columns of %v: %d times %q, want %d, in\n%s", c.digits, strings.Count(got, text), text, n, got)
			}
		}
		for _, n := range c.digits {
			if !strings.Contains(got, "& "+strings.Repeat("1", n)+` \\`) {
				t.Errorf("columns of %v: the one of %d is not there:\n%s", c.digits, n, got)
			}
		}
		if smaller := strings.Contains(got, "\\footnotesize\\setlength"); smaller != c.size {
			t.Errorf("columns of %v: smaller: %v", c.digits, smaller)
		}
	}
	if got := latexWidth("PASS"); got != 6 { // a capital is 7 pt wide or more, a digit 5
		t.Errorf("PASS is as wide as %d digits", got)
	}
}

// TeX would join hyphens into a dash, and nobody could copy the option from the page.
func TestLaTeXKeepsHyphens(t *testing.T) {
	for text, want := range map[string]string{"2 s (--time)": "2 s (-{}-time)", "a---b": "a-{}-{}-b", "a-b": "a-b"} {
		if got := latexSafe(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
