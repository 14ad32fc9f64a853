package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func htmlOf(t *testing.T, r *result.Result, charts ...Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, DocumentOptions{Charts: charts}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawn is a drawing of a circle in a colour.
func drawn(color, more string) []byte {
	return []byte(`<?xml version="1.0"?><!-- made --><svg width="8pt" height="4pt" viewBox="0 0 8 4"
	xmlns="http://www.w3.org/2000/svg" data-panel="0 0 8 4"><circle r="1" style="fill:` + color + `"/>` + more + `</svg>`)
}

// The colours of a drawing are variables, with one value in each theme; colours that no theme knows stay.
func TestThemesOfADrawing(t *testing.T) {
	var b bytes.Buffer
	o := DocumentOptions{DarkColors: map[string]string{"#0072B2": "#56B4E9", "#111111": "#EEEEEE"},
		Charts: []Chart{{Name: "one", Title: "One", Wide: drawn("#0072B2", `<path style="fill:#ABCDEF"/>`)}}}
	if err := HTML(&b, tinySample(), o); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, `style="fill:var(--c-0072B2)"`) || !strings.Contains(text, `style="fill:#ABCDEF"`) || strings.Contains(text, "--c-111111") {
		t.Errorf("in\n%s", regexp.MustCompile(`(?s)<figure.*?</figure>`).FindString(text))
	}
	light, dark, _ := strings.Cut(text, "@media screen and (prefers-color-scheme: dark)")
	if !strings.Contains(light, "--c-0072B2:#0072B2;") || strings.Count(dark, "--c-0072B2:#56B4E9;") != 2 {
		t.Error("the variable has not each theme's value")
	}
	if !strings.Contains(text, `<svg viewBox="0 0 8 4" data-panel="0 0 8 4" role="img" aria-label="One"><circle`) {
		t.Errorf("the element has its own size, or no name:\n%s", regexp.MustCompile(`<svg[^>]*>`).FindAllString(text, -1))
	}
}

// The page stays under 3 MB: charts give way, narrow ones first, and the page says which are not there.
func TestPageStaysSmall(t *testing.T) {
	r := failingSample()
	for i := range 4000 {
		r.Queues = append(r.Queues, result.QueueCounts{Queue: fmt.Sprintf("queue-%d-%s", i, strings.Repeat("x", 120)), Type: "classic"})
	}
	big := func(name string) Chart {
		more := strings.Repeat(`<path d="M0 0"/>`, 45_000) // 720 kB
		return Chart{Name: name, Title: "Chart " + name, Wide: drawn("#000001", more), Narrow: drawn("#000001", more)}
	}
	text := htmlOf(t, r, big("a"), big("b"), big("c"), big("d"), big("e"))
	if len(text) >= mostHTML {
		t.Errorf("%d bytes", len(text))
	}
	if !strings.Contains(text, `id="chart-a"`) || !strings.Contains(text, "Chart e: left out, the page would be larger than 3 MB.") || strings.Contains(text, `class="narrow"`) {
		t.Error("not the last charts, and the narrow ones, were left out")
	}
}

// A page asks nothing of the network: it names no address that a browser would fetch.
func TestPageNamesNoAddresses(t *testing.T) {
	for _, s := range samples() {
		text := htmlOf(t, s.r, Chart{Name: "one", Title: "One", Wide: drawn("#0072B2", "")})
		for _, m := range regexp.MustCompile(`(?i)(src|href|srcset|action|data|poster)="([^"]*)"|url\(([^)]*)\)|@import`).FindAllString(text, -1) {
			if !strings.HasPrefix(m, `href="#`) && m != "url(#arrow)" && m != `href="data:,"` {
				t.Errorf("%s: %s", s.name, m)
			}
		}
		if !strings.Contains(text, `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;`) {
			t.Errorf("%s: no policy", s.name)
		}
	}
}

// Tables whose rows are alike can be sorted; the percentiles of a latency table cannot.
func TestWhichTablesAreSorted(t *testing.T) {
	r := failingSample()
	text := htmlOf(t, r)
	sorted := 0
	for _, m := range regexp.MustCompile(`(?s)<section aria-labelledby="([a-z-]+)">(.*?)</section>`).FindAllStringSubmatch(text, -1) {
		switch is := strings.Contains(m[2], `<table class="sortable">`); {
		case is != (m[1] == "counts-by-queue" || m[1] == "intervals"):
			t.Errorf("%s: sortable %v", m[1], is)
		case is:
			sorted++
		}
	}
	if sorted != 2 {
		t.Errorf("%d sortable tables", sorted)
	}
}

// Of 200 queues the drawing shows the first 13 and one box for the others; every arrow ends at a box.
func TestTopologyOfManyQueues(t *testing.T) {
	r := tinySample()
	x := &result.Topology{QueuesTotal: 200, ProducersTotal: 200, ConsumersTotal: 200, BindingsTotal: 200, Exchanges: []result.Exchange{{Name: "direct", Type: "direct"}}}
	for i := range 200 {
		name := fmt.Sprintf("q-%03d", i)
		x.Queues = append(x.Queues, result.QueueNode{Name: name, Type: "classic"})
		x.Bindings = append(x.Bindings, result.Binding{Exchange: "direct", Queue: i, RoutingKey: name})
		x.Producers = append(x.Producers, result.Publishers{Count: 1, Exchange: "direct", RoutingKey: name, Keys: 1})
		x.Consumers = append(x.Consumers, result.Subscribers{Count: 2, Queues: []int{i}, QueuesTotal: 1})
	}
	r.Topology = x
	svg := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindString(htmlOf(t, r))
	// 14 boxes in each of three columns and the exchange; 14 arrows into the exchange, 14 out of it, 14 to the consumers.
	if boxes, arrows := strings.Count(svg, "<rect"), strings.Count(svg, "<path marker-end"); boxes != 43 || arrows != 42 {
		t.Errorf("%d boxes, %d arrows", boxes, arrows)
	}
	for _, want := range []string{">q-012</text>", ">and 187 more</text>", ">groups of producers</text>", "key q-000", ">2 consumers</text>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the drawing", want)
		}
	}
	if strings.Contains(svg, "q-013") || len(svg) > 40_000 {
		t.Errorf("the drawing is not bounded: %d bytes", len(svg))
	}
}
