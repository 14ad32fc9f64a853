package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// samplePage has of everything one, with markup in every text.
func samplePage() *Page {
	return &Page{
		Title: "Queues <and> sizes", Subtitle: "two of them", Footer: "Made by leveret", Lead: "Verdict & findings", Verdict: result.Fail,
		Tiles: []PageTile{{Name: "most", Value: "25,219", Unit: "messages/s"}, {Name: "lost", Value: "3", Bad: true}},
		Sections: []PageSection{
			{Text: []string{"What this is."}, Items: []PageItem{{Label: "fail", Verdict: result.Fail, Text: "row <b>: lost", Details: []string{"3 messages"}}}},
			{Title: "Rates, of 2 queues (both)", More: "Published: somewhere.", Fields: []PageField{{"target", "main"}},
				Tables: []PageTable{{Keys: 1, Notes: []string{"measured here"}, Columns: []PageColumn{{Head: "queue", Left: true}, {Group: "rate", Head: "measured"}, {Group: "rate", Head: "published"}},
					Rows: [][]string{{"<a>", "25,219 (20,000 to 1,000,000)"}, {"b", ">= 9,000", "30,000"}}}},
				Notes: []string{"small print"}, Charts: []Chart{{Name: "rates-throughput", Title: "Throughput", About: "of both", Wide: drawn("#0072B2", "")}, {Name: "rates-none", Title: "Other", NoData: "nothing was measured"}}},
			{Title: "Latencies", Charts: []Chart{{Name: "latencies-throughput", Title: "Latency <1>", Wide: drawn("#0072B2", "")}}},
		},
		DarkColors: map[string]string{"#0072B2": "#56B4E9"},
	}
}

func writtenPage(t *testing.T, x *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePage(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page of other content is as those of runs: its parts stand in their order, under the same heads, and no text becomes markup.
func TestPageOfOtherContent(t *testing.T) {
	text := writtenPage(t, samplePage())
	last := -1
	for _, want := range []string{
		"--c-0072B2:#56B4E9;", "<h1>Queues &lt;and&gt; sizes</h1>", `<section aria-label="Verdict &amp; findings">`, `<p class="verdict fail">FAIL</p>`, "<p>What this is.</p>",
		`<li class="fail"><b>fail</b> row &lt;b&gt;: lost`, "<li>3 messages</li>", "<dt>most</dt><dd>25,219 <small>messages/s</small></dd>", `<div class="bad"><dt>lost</dt>`,
		`<li><a href="#rates-of-2-queues-both">Rates, of 2 queues (both)</a></li>`, `<h2 id="rates-of-2-queues-both">Rates, of 2 queues (both)</h2>`, `<p class="more">Published: somewhere.</p>`,
		"<dt>target</dt><dd>main</dd>", `<table class="sortable">`, `<th scope="colgroup" colspan="2">rate</th>`, `<th scope="row" class="left">&lt;a&gt;</th><td>25,219 (20,000 to 1,000,000)</td><td></td>`,
		`<p class="remark">measured here</p>`, `<p class="remark">small print</p>`, `<figure id="chart-rates-throughput" class="chart">`, "<figcaption>Of both</figcaption>",
		"Other: not drawn (nothing was measured).", `<h2 id="latencies">Latencies</h2>`, `<figure id="chart-latencies-throughput" class="chart">`, "<h3>Latency &lt;1&gt;</h3>", "<p>Made by leveret</p>",
	} {
		at := strings.Index(text[last+1:], want)
		if at < 0 {
			t.Fatalf("no %q after what stands before it", want)
		}
		last += 1 + at
	}
	if strings.Contains(text, "Charts</h2>") || strings.Contains(text, "<and>") || strings.Contains(text, "row <b>") {
		t.Error("a heading of nobody's, or a text that became markup")
	}
	if got := writtenPage(t, &Page{Title: "Nothing"}); !strings.Contains(got, "<h1>Nothing</h1>") {
		t.Error("a page of a title alone is none")
	}
	if err := WritePage(failingWriter{}, samplePage()); err == nil {
		t.Error("no error from a writer that fails")
	}
}

// Its charts give way where it would be too large, and it says which.
func TestPageOfOtherContentStaysSmall(t *testing.T) {
	x := &Page{Title: "Many"}
	for i := range 6 {
		more := strings.Repeat(`<path d="M0 0"/>`, 45_000) // 720 kB
		x.Sections = append(x.Sections, PageSection{Title: fmt.Sprint("Table ", i), Charts: []Chart{{Name: fmt.Sprint(i), Title: fmt.Sprint("Chart ", i), Wide: drawn("#000001", more)}}})
	}
	text := writtenPage(t, x)
	if len(text) >= mostHTML || !strings.Contains(text, `id="chart-3"`) || strings.Contains(text, `id="chart-4"`) ||
		!strings.Contains(text, "Chart 4: left out, the page would be larger than 3 MB.") || !strings.Contains(text, `<h2 id="table-5">`) {
		t.Errorf("%d bytes", len(text))
	}
	if x.Sections[4].Charts[0].Wide == nil {
		t.Error("the caller's charts were changed")
	}
}
