package table

import (
	"strings"
	"testing"
)

func number(v float64) *float64 { return &v }

// sample has of everything one: text that means something in each form, a span, a bound, a share, nothing.
func sample() *Table {
	return &Table{
		Name: "a", Title: "Rates <of> 100 %", Keys: 1, Notes: []string{"measured: a_b & c"},
		Columns: []Column{
			{Head: "Row", Text: true}, {Group: "Rate", Head: "measured"}, {Group: "Rate", Head: "published"},
			{Head: "Change", Unit: "%", Percent: true}, {Head: "Lost", Count: true}, {Head: "p99", Unit: "ms"},
		},
		Rows: [][]Cell{
			{{Text: "=one|two"}, {Value: number(25219.4), Low: number(20000), High: number(1e6)}, Number(30000), {}, Number(0), Number(1.23456)},
			{{Text: "three"}, {Text: "failed"}, {}, Number(12.34), Number(12345), {Value: number(100), AtLeast: true}},
		},
	}
}

func written(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Digits are the column's: three of its least value's, so that it can be read down.
func TestText(t *testing.T) {
	got := written(t, func(b *strings.Builder) error { return Text(b, sample()) })
	for _, line := range []string{
		"=one|two  25,219 (20,000 to 1,000,000)     30,000           -       0       1.23\n",
		"three                           failed          -       +12.3  12,345  >= 100.00\n",
		"measured  published  Change (%)    Lost   p99 (ms)\n", "Rates <of> 100 %\n", "  measured: a_b & c\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

func TestCSVHasAllDigits(t *testing.T) {
	const want = `Row,"Rate, measured","Rate, measured, least","Rate, measured, most","Rate, published",Change (%),Lost,p99 (ms)
'=one|two,25219.4,20000,1000000,30000,,0,1.23456
three,failed,,,,12.34,12345,>=100
`
	if got := written(t, func(b *strings.Builder) error { return CSV(b, sample()) }); got != want {
		t.Errorf("%s", got)
	}
}

func TestMarkupIsEscaped(t *testing.T) {
	markdown := written(t, func(b *strings.Builder) error { return Markdown(b, sample()) })
	for _, want := range []string{"## Rates &lt;of> 100 %\n", `| =one\|two | 25,219 (20,000 to 1,000,000) | 30,000 | - | 0 | 1.23 |`, `measured: a\_b & c`} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in\n%s", want, markdown)
		}
	}
	latex := written(t, func(b *strings.Builder) error { return LaTeX(b, sample()) })
	for _, want := range []string{`\caption{Rates \textless{}of\textgreater{} 100 \%}`, `\multicolumn{2}{c}{Rate}`, `\cmidrule(lr){2-3}`, `three & failed & - & +12.3 & 12,345 & \textgreater{}= 100.00 \\`, `a\_b \& c`} {
		if !strings.Contains(latex, want) {
			t.Errorf("no %q in\n%s", want, latex)
		}
	}
}

// A block has a line for each figure, and what was published beside what was measured.
func TestBlock(t *testing.T) {
	b := sample()
	b.Block, b.Rows = true, b.Rows[1:]
	got := written(t, func(w *strings.Builder) error { return Text(w, b) })
	for _, want := range []string{"          three\n", "measured  published\n", "Rate          failed          -\n", "Change (%)     +12.3          -\n", "Lost          12,345          -\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// At 40 columns the first group has room with the rows' names alone, and what follows it stands below, with the names once more; the
// group that is wider than a line is divided.
func TestTextOfANarrowTerminal(t *testing.T) {
	s := sample()
	s.Notes = []string{"measured: on a machine of which this is said in many words"}
	got := written(t, func(b *strings.Builder) error { return TextWithin(b, s, 40) })
	const want = `Rates <of> 100 %
                                    Rate
  Row                           measured
  --------  ----------------------------
  =one|two  25,219 (20,000 to 1,000,000)
  three                           failed

                 Rate
  Row       published  Change (%)
  --------  ---------  ----------
  =one|two     30,000           -
  three             -       +12.3

  Row         Lost   p99 (ms)
  --------  ------  ---------
  =one|two       0       1.23
  three     12,345  >= 100.00
  measured: on a machine of which this
    is said in many words
`
	if got != want {
		t.Errorf("%s", got)
	}
	for width := range 45 { // whatever is asked for, nothing is left out
		for _, cell := range []string{"1,000,000", "12,345", ">= 100.00", "published"} {
			if got := written(t, func(b *strings.Builder) error { return TextWithin(b, s, width) }); !strings.Contains(got, cell) {
				t.Errorf("no %s at a width of %d", cell, width)
			}
		}
	}
}
