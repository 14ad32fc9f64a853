package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// form is one of the forms of a report that are documents.
type form struct {
	name, ending string
	write        func(io.Writer, *result.Result) error
}

var forms = []form{
	{"markdown", "md", func(w io.Writer, r *result.Result) error { return Markdown(w, r, DocumentOptions{}) }},
	{"html", "html", func(w io.Writer, r *result.Result) error { return HTML(w, r, DocumentOptions{}) }},
	{"latex", "tex", func(w io.Writer, r *result.Result) error { return LaTeX(w, r, DocumentOptions{}) }},
	{"csv", "csv", CSV},
}

func (f form) of(t testing.TB, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func formNamed(name string) form {
	return forms[slices.IndexFunc(forms, func(f form) bool { return f.name == name })]
}

var svgElements = regexp.MustCompile(`(?s)<svg.*?</svg>|<style>.*?</style>|<script>.*?</script>`)

// Golden files hold what a page says; its drawings, style and script are looked at in a browser.
func TestDocumentsGolden(t *testing.T) {
	for _, s := range samples() {
		for _, f := range forms {
			if s.name == "overload" || f.name == "csv" && s.name != "tiny" { // thousands of lines
				continue
			}
			t.Run(s.name+" "+f.name, func(t *testing.T) {
				golden(t, s.name+"."+f.ending, []byte(svgElements.ReplaceAllString(f.of(t, s.r), "")))
			})
		}
	}
}

// C013: a run of consumers alone has no latency in any form, with the reason, and never 0; and its chart is a sentence.
func TestC013ConsumersOnlyInEveryForm(t *testing.T) {
	r := consumersSample()
	const why = "the messages carry no send time of this run"
	for _, f := range forms {
		text := f.of(t, r)
		if f.name != "latex" && !strings.Contains(text, why) {
			t.Errorf("%s: no reason why there is no latency", f.name)
		}
		if f.name != "csv" && regexp.MustCompile(`(?i)50 %|\b0(\.0+)? ?(ms|us|µs)`).MatchString(svgElements.ReplaceAllString(text, "")) {
			t.Errorf("%s: a percentile of nothing", f.name)
		}
	}
	for _, row := range figures(t, r) {
		if row[0] == "latency" && row[3] != "" {
			t.Errorf("csv: %v", row)
		}
	}
	var b bytes.Buffer
	if err := HTML(&b, r, DocumentOptions{Charts: []Chart{{Name: "latency-delivery", Title: "Delivery latency over time", NoData: why}}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Delivery latency over time: not drawn ("+why+").") || strings.Contains(b.String(), "<figure") {
		t.Error("a chart of nothing is drawn, or not spoken of")
	}
	if !strings.Contains(b.String(), "<dt>delivery latency</dt><dd>n/a") {
		t.Error("the figures at the top have no n/a for the latency")
	}
}

// C029: a rate is over the interval's own length in every form: 5 messages in 10.1 s are 0.495 a second, 500 in half a second 1,000.
func TestC029OddIntervalsInEveryForm(t *testing.T) {
	r := baseResult()
	r.IntervalNS = second
	r.Intervals = []result.Interval{
		{StartNS: start, EndNS: start + second, Sent: 1000, Received: 1000, Phase: "run"},
		{StartNS: start + second, EndNS: start + second + 500e6, Sent: 500, Received: 500, Phase: "run"},
		{StartNS: start + 1500e6, EndNS: start + 11600e6, Sent: 5, Received: 5, Phase: "run"},
	}
	for name, want := range map[string][]string{
		"markdown": {"| 1.0 | 1.5 | 1,000 | 0 | 1,000 |", "| 1.5 | 11.6 | 0.495 | 0 | 0.495 |"},
		"latex":    {`1.0 & 1.5 & 1,000 & 0 & 1,000 \\`, `1.5 & 11.6 & 0.495 & 0 & 0.495 \\`},
		"html": {`<th scope="row">1.0</th><td>1.5</td><td>1,000</td><td>0</td><td>1,000</td>`,
			`<th scope="row">1.5</th><td>11.6</td><td>0.495</td><td>0</td><td>0.495</td>`},
	} {
		text := strings.NewReplacer("\u2007", "", "\u2008", "").Replace(formNamed(name).of(t, r)) // without what aligns the points
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q", name, w)
			}
		}
	}
	// CSV has the counts and both ends, which do not lie.
	rows := figures(t, r)
	for _, want := range [][]string{{"intervals", "3", "sent", "5"}, {"intervals", "3", "start_ns", "1785409201500000000"}, {"intervals", "3", "end_ns", "1785409211600000000"}} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("csv: no %v", want)
		}
	}
}

// figures are the lines of the CSV form.
func figures(t *testing.T, r *result.Result) [][]string {
	t.Helper()
	c := csv.NewReader(strings.NewReader(formNamed("csv").of(t, r)))
	c.FieldsPerRecord = 4
	rows, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// The verdict and the findings stand before any number, and what every report prints is in every form that people read.
func TestDocumentsSayWhatEveryReportSays(t *testing.T) {
	r := failingSample()
	for _, f := range forms {
		if f.name == "csv" {
			continue
		}
		text := strings.NewReplacer(`\_`, "_", "&#43;", "+", "&#39;", "'", `\%`, "%", "&#58;", ":", "&#64;", "@").Replace(f.of(t, r))
		lost := strings.Index(text, "lost: 7 messages were confirmed by the broker and never delivered")
		counts := strings.Index(text, "5,895")
		if lost < 0 || counts < lost {
			t.Errorf("%s: the finding is at %d, a count at %d", f.name, lost, counts)
		}
		for _, want := range []string{
			"FAIL", "client and broker on the same host", "0 messages ready in the queues at the start",
			"durable queues; persistent messages; confirm window 100; acks manual, single; prefetch 200",
			"open loop, 200.0 messages per second due in all", "client CPU time 7.500 s (0.19 cores busy)",
			"the broker: producers waited 62 % of the time until it took more", "the recording did not end properly",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", f.name, want)
			}
		}
	}
	for _, f := range forms[:3] {
		text := f.of(t, closedSample())
		if !strings.Contains(text, "this run measures leveret, not RabbitMQ") {
			t.Errorf("%s: does not say that the broker is embedded", f.name)
		}
	}
}

// Names come from brokers and command lines: in no form are they anything but text.
func TestNamesAreOnlyText(t *testing.T) {
	evil := "<script>alert(1)</script>|[x](http://h/)\\input{x}\x1b]0;t\x07\u202e=cmd"
	r := extremeResult()
	for _, p := range []*string{&r.StopReason, &r.ID, &r.Broker.Product, &r.Broker.URI, &r.Host.Name, &r.Config.AckMode, &r.LimitedBy, &r.LatencyNote, &r.Window.Text,
		&r.Findings[0].Code, &r.Findings[0].Text, &r.Findings[0].First[0].Queue, &r.Queues[0].Queue, &r.Queues[0].Type, &r.Spans[0].Kind, &r.Spans[0].Text, &r.Captures[0], &r.Notes[0]} {
		*p = evil
	}
	r.Verdict = result.Verdict(evil)
	r.Topology = &result.Topology{Queues: []result.QueueNode{{Name: evil, Type: evil}}, QueuesTotal: 1, Exchanges: []result.Exchange{{Name: evil, Type: evil}},
		Producers: []result.Publishers{{Count: 1, Exchange: evil, RoutingKey: evil, Keys: 1}}, ProducersTotal: 1,
		Bindings: []result.Binding{{Exchange: evil, RoutingKey: evil}}, BindingsTotal: 1}
	r.Config.Command, r.Config.Options = []string{evil}, []result.Option{{Name: evil, Value: evil}}
	for _, f := range forms {
		text := f.of(t, r)
		for _, never := range map[string][]string{
			"html": {"<script>alert"}, "markdown": {"<script", "|[x](", "\\input{x}|"}, "latex": {"\n\\input", "{x}\x1b"}, "csv": {"\n=cmd"},
		}[f.name] {
			if strings.Contains(text, never) {
				t.Errorf("%s: holds %q", f.name, never)
			}
		}
		for _, c := range text {
			if c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 || c == '\u202e' {
				t.Fatalf("%s: character %U", f.name, c)
			}
		}
	}
	if bad := regexp.MustCompile(`(?m)^[^%]*[^\\$](\\input|\$[^\\])`).FindString(strings.ReplaceAll(formNamed("latex").of(t, r), `$\geq$`, "")); bad != "" {
		t.Errorf("latex: %q", bad)
	}
}

// CSV and LaTeX are ASCII whatever the names are (C088), and a spreadsheet takes no name for a formula.
func TestMachineFormsAreASCII(t *testing.T) {
	r := failingSample()
	r.StopReason, r.Queues[0].Queue = "größer \U0001F407", "=1+1"
	for _, name := range []string{"csv", "latex"} {
		text := formNamed(name).of(t, r)
		if i := strings.IndexFunc(text, func(c rune) bool { return c >= 0x80 }); i >= 0 {
			t.Errorf("%s: not ASCII at %d: %q", name, i, text[max(0, i-20):i])
		}
	}
	if rows := figures(t, r); !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, []string{"queues", "1", "queue", "'=1+1"}) }) {
		t.Error("csv: the name of the queue is a formula, or not there")
	}
}

// What a CSV file holds can be read back: whatever the names are, no two of them are written alike.
func TestCSVIsReadBack(t *testing.T) {
	names := []string{`\u00e9`, "\u00e9", `C:\new "x"\`, "a\nb\tc\rd", "'quoted'", "-x", "=1", "-5", "\x7f\x00", "\U0001F407", `\\"`, `\"`, ""}
	r := failingSample()
	r.Queues = make([]result.QueueCounts, len(names))
	for i, name := range names {
		r.Queues[i].Queue = name
	}
	read := 0
	for _, row := range figures(t, r) {
		if row[0] != "queues" || row[2] != "queue" {
			continue
		}
		var back string
		err := json.Unmarshal([]byte(`"`+strings.ReplaceAll(strings.TrimPrefix(row[3], "'"), `"`, `\"`)+`"`), &back)
		if err != nil || back != names[read] {
			t.Errorf("%q is written as %s, and read as %q (%v)", names[read], row[3], back, err)
		}
		read++
	}
	if read != len(names) {
		t.Errorf("%d of %d names", read, len(names))
	}
}

// The tables of Markdown and LaTeX have as many cells in each row as headings (C087).
func TestTablesAreRectangles(t *testing.T) {
	for _, s := range samples() {
		width := 0
		for l := range strings.Lines(formNamed("markdown").of(t, s.r)) {
			bars := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|")
			if bars > 0 && width > 0 && bars != width {
				t.Errorf("%s: markdown: %d cells after %d: %s", s.name, bars, width, l)
			}
			width = bars
		}
		text := formNamed("latex").of(t, s.r)
		for _, table := range regexp.MustCompile(`(?s)\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}`).FindAllStringSubmatch(text, -1) {
			for _, row := range strings.Split(table[2], "\n") {
				if !strings.HasSuffix(row, `\\`) || strings.Contains(row, "multicolumn") {
					continue
				}
				if n := strings.Count(strings.ReplaceAll(row, `\&`, ""), "&") + 1; n != len(table[1]) {
					t.Errorf("%s: latex: %d cells for %d columns: %s", s.name, n, len(table[1]), row)
				}
			}
		}
	}
}

func TestDocumentErrors(t *testing.T) {
	for _, f := range forms {
		if err := f.write(failingWriter{}, baseResult()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f.name, err)
		}
		if err := f.write(io.Discard, nil); err == nil {
			t.Errorf("%s of nothing: no error", f.name)
		}
	}
}
