package reports

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// Widths are those of cmr10.tfm: ten digits are 50 pt, the letters of "mW" 8.33 and 10.28 pt; >= is one sign of 7.78 pt.
func TestLaTeXWidths(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "0123456789": 50, "mW": 18.61, ">= 1": 7.78 + 3.33 + 5, "ß": 10.28} {
		if got := latexWidth(text); math.Abs(got-want) > 0.2 {
			t.Errorf("%q: %.2f pt, want %.2f", text, got, want)
		}
	}
}

// Twenty columns of ten digits take 50.1 x 0.925 + 8 = 54.3 pt each in 9 pt, and 345 pt hold six of them: the key and five others, which
// makes four tables of the other nineteen. In 10 pt (62.1 pt each) it would be five tables, in 8 pt (48.6 pt each) four as well. 100 rows,
// of which a page holds 38, make three of each.
func TestWideLaTeXTables(t *testing.T) {
	x := &table{keys: 1, title: "drain:", titleRow: 50}
	for range 20 {
		c := column{head: "0123456789"}
		for range 100 {
			c.cells = append(c.cells, "1")
		}
		x.columns = append(x.columns, c)
	}
	x.columns[0].head = "key"
	x.columns[0].cells[99] = "0123456789"
	parts, size := x.latexParts()
	if len(parts) != 12 || size.command != `\small` {
		t.Fatalf("%d parts, %s", len(parts), size.command)
	}
	others, rows := 0, 0
	for i, part := range parts {
		if part.columns[0].head != "key" || part.latexWidth(size) > latexRoom {
			t.Errorf("part %d: %+v is %.0f pt wide", i, part.columns[0], part.latexWidth(size))
		}
		if i%3 == 0 {
			others += len(part.columns) - 1
		}
		if i < 3 {
			rows += part.rows()
		}
		// The title stands above row 50, the 13th of the second part, and above what follows it in the third.
		if want := []string{"", "drain:", "drain:"}[i%3]; part.title != want || want != "" && part.titleRow != []int{0, 12, 0}[i%3] {
			t.Errorf("part %d: title %q at row %d", i, part.title, part.titleRow)
		}
	}
	if others != 19 || rows != 100 || len(parts[0].columns) != 6 || len(parts[9].columns) != 5 {
		t.Errorf("%d other columns, %d rows, %d columns in the last", others, rows, len(parts[9].columns))
	}
}

// A long text is broken within its cell, at dots and slashes, and after half a line where there is neither; a short one is not.
func TestLongLaTeXCells(t *testing.T) {
	size := &latexSizes[0]
	if got := latexCell("orders_1", size, latexText); got != `orders\_1` {
		t.Error(got)
	}
	if got := latexCell("--warmup 1", size, latexText); got != "-{}-warmup 1" { // no dash
		t.Error(got)
	}
	long := latexCell("4.5 a.very.long/name_of-a:queue,of-many "+strings.Repeat("x", 60), size, latexText)
	if !strings.HasPrefix(long, `\parbox[t]{170pt}{\raggedright 4.5 a.\allowbreak{}very.\allowbreak{}long/\allowbreak{}name\_\allowbreak{}of-\allowbreak{}a:\allowbreak{}queue,\allowbreak{}of-\allowbreak{}many xxx`) {
		t.Error(long)
	}
	for _, run := range strings.Split(long, `\allowbreak{}`) {
		if n := strings.Count(run, "x"); n > 18 { // half of 170 pt at 5.28 each is 16
			t.Errorf("%d letters in a run", n)
		}
	}
}

// Labels are each one table's, in reports and in comparisons, whose tables share a heading.
func TestLaTeXLabels(t *testing.T) {
	var b strings.Builder
	if err := ComparisonLaTeX(&b, comparisonSample()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{b.String(), formNamed("latex").of(t, failingSample())} {
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`\\label\{([^}]*)\}`).FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("label %s twice", m[1])
			}
			seen[m[1]] = true
		}
		if len(seen) < 3 {
			t.Errorf("%d labels", len(seen))
		}
	}
}
