package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A page is looked at in Chromium as its readers do: on a screen and on a telephone, in both themes, by keyboard, and printed. It says
// nothing on the console and asks for nothing but itself. LEVERET_TEST_PICTURES names a directory for pictures of all of it.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	_, code, dir := record(t, "--producers", "2", "--consumers", "2", "--queue-pattern", "<script>alert(%d)</script>", "--queue-pattern-from", "1",
		"--queue-pattern-to", "12", "--pmessages", "4000", "--rate", "8000", "--confirm", "100", "--size", "64", "--faults", "drop@1000-1002,duplicate@2000,corrupt@3000:byte=3")
	if code != exitVerdict {
		t.Fatalf("exit %d, want %d", code, exitVerdict)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if code, _, stderr := invoke(t, "analyze", dir, "--interval", "0.05", "--by", "queue", "-o", file); code != exitVerdict {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	b := openBrowser(t, file)
	for _, width := range []int64{1400, 390} {
		for _, theme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d-%s", width, theme), func(t *testing.T) {
				b.emulate(t, width, theme)
				b.load(t)
				b.looksAsItShould(t, width, theme)
				b.picture(t, fmt.Sprintf("fail-%d-%s.png", width, theme))
			})
		}
	}
	t.Run("keyboard", b.sortsByKeyboard)
	t.Run("values", b.showsValues)
	t.Run("theme button", b.changesItsTheme)
	t.Run("print", func(t *testing.T) { b.prints(t, "report") })
	b.quiet(t)
	t.Run("comparison", func(t *testing.T) { b.showsComparison(t, dir) })
	b.quiet(t)
}

// showsComparison: a comparison is a page like any other, and its bars have values, too.
func (b *browser) showsComparison(t *testing.T, dir string) {
	_, _, other := record(t, "--pmessages", "2000", "--confirm", "10", "--queue", "q")
	file := filepath.Join(t.TempDir(), "comparison.html")
	if code, _, stderr := invoke(t, "compare", "base<b>="+other, "candidate="+dir, "-o", file); code != exitVerdict {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	b.open(file)
	for _, width := range []int64{1400, 390} {
		for _, theme := range []string{"light", "dark"} {
			b.emulate(t, width, theme)
			b.load(t)
			b.looksAsItShould(t, width, theme)
			b.picture(t, fmt.Sprintf("comparison-%d-%s.png", width, theme))
		}
	}
	b.do(t, chromedp.Focus(chromedp.CSS("figure.chart .plot")), chromedp.KeyEvent(kb.ArrowRight))
	if text := ask[string](t, b, `document.querySelector("figure.chart .values").innerText`); !strings.Contains(text, ": ") {
		t.Errorf("the arrow key shows %q", text)
	}
	b.prints(t, "comparison")
}

// A suite's page is one like any other, with all of its tables and their charts.
func TestSuitePageInABrowser(t *testing.T) {
	file, dir := suiteFile(t, strings.Replace(trySuite, "repeat: 2", "about: Two sizes <b>twice</b>.", 1)+"    charts: [runs-rates, runs-latency, runs-percentiles-confirm]\n")
	if code, _, stderr := invoke(t, "suite", file, "--capture", dir, "--chart-format", "svg"); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	b := openBrowser(t, filepath.Join(dir, "tables.html"))
	for _, width := range []int64{1400, 390} {
		for _, theme := range []string{"light", "dark"} {
			b.emulate(t, width, theme)
			b.load(t)
			b.looksAsItShould(t, width, theme)
			b.picture(t, fmt.Sprintf("suite-%d-%s.png", width, theme))
		}
	}
	b.prints(t, "suite")
	b.quiet(t)
}

// browser is one tab with a page from disk.
type browser struct {
	ctx context.Context
	url string

	mu       sync.Mutex
	said     []string // on the console
	requests []string
}

// findChromium finds a browser, by the names that systems give it.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("this test looks at a page with Chromium; install it (Debian and Ubuntu: apt-get install chromium), or leave this test out with -skip InABrowser")
	return ""
}

func openBrowser(t *testing.T, file string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findChromium(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))
	deadline, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	allocated, cancel := chromedp.NewExecAllocator(deadline, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	b.open(file)
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	return b
}

// open names the file that is loaded next; what was asked for before is forgotten.
func (b *browser) open(file string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url, b.requests = (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), nil
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			b.said = append(b.said, string(a.Value)+a.Description)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprintf("%s at line %d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber))
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// quiet checks that the page said nothing and left its file for nothing.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		t.Errorf("on the console: %q", b.said)
	}
	loads := 0
	for _, r := range b.requests {
		switch {
		case r == b.url:
			loads++
		case !strings.HasPrefix(r, "data:"):
			t.Errorf("a request for %s", r)
		}
	}
	if loads == 0 {
		t.Error("no request for the page itself was seen: this test saw nothing")
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates an expression of JavaScript.
func ask[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	return run1(t, b, chromedp.Evaluate[T](expression))
}

func run1[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	answer, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// media pretends that the reader's system wants a theme, or that the page is on paper.
func (b *browser) media(t *testing.T, media, theme string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	if err != nil {
		t.Fatal(err)
	}
}

func (b *browser) emulate(t *testing.T, width int64, theme string) {
	t.Helper()
	if width < 500 {
		b.do(t, chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile))
	} else {
		b.do(t, chromedp.EmulateViewport(width, 900))
	}
	b.media(t, "", theme)
}

func (b *browser) load(t *testing.T) {
	t.Helper()
	b.do(t, chromedp.Navigate(b.url), chromedp.WaitReady(chromedp.CSS("footer")))
}

// looksAsItShould: nothing is wider than the screen, the theme is the system's, text can be read on what is behind it, and each
// drawing and table has a name.
func (b *browser) looksAsItShould(t *testing.T, width int64, theme string) {
	if w := ask[int64](t, b, `document.documentElement.scrollWidth`); w > width {
		wide := ask[[]string](t, b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0, 5).map(e => e.outerHTML.slice(0, 80))`)
		t.Errorf("the page is %d pixels wide: %q", w, wide)
	}
	background := ask[string](t, b, `getComputedStyle(document.body).backgroundColor`)
	if light := background == "rgb(255, 255, 255)"; light != (theme == "light") {
		t.Errorf("background %s in the %s theme", background, theme)
	}
	for _, weak := range ask[[]string](t, b, contrastScript) {
		t.Error("hard to read:", weak)
	}
	for what, expression := range map[string]string{
		"drawings without a name":     `[...document.querySelectorAll("svg")].filter(s => !s.getAttribute("aria-label")).length`,
		"headings out of order":       `[...document.querySelectorAll("h1,h2,h3,h4")].map(h => +h.tagName[1]).filter((n, i, all) => i > 0 && n > all[i-1] + 1).length`,
		"first headings but one":      `document.querySelectorAll("h1").length - 1`,
		"names that occur twice":      `(ids => ids.length - new Set(ids).size)([...document.querySelectorAll("[id]")].map(e => e.id).filter(id => id !== "arrow"))`,
		"links into nothing":          `[...document.querySelectorAll("nav a")].filter(a => !document.querySelector(a.getAttribute("href"))).length`,
		"scripts that came from data": `document.querySelectorAll("script:not([type])").length - 1`,
		"languages but English":       `Number(document.documentElement.lang !== "en")`,
		"pictures without a text":     `document.querySelectorAll("img:not([alt])").length`,
		"places to go without a name": `[...document.querySelectorAll("button,a[href],[tabindex]")].filter(e => !(e.getAttribute("aria-label") || e.textContent).trim()).length`,
		"columns without a head":      `[...document.querySelectorAll("thead")].flatMap(h => [...h.rows[h.rows.length - 1].cells]).filter(c => c.tagName !== "TH" || !c.scope || !c.textContent.trim()).length`,
		"regions that no key scrolls": `[...document.querySelectorAll("div,section,table")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible" && e.tabIndex < 0).length`,
		"buttons too low for a thumb": `[...document.querySelectorAll("button,nav a")].filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 24).length`,
	} {
		if n := ask[int](t, b, expression); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if n := ask[int](t, b, `[...document.querySelectorAll("figure.chart svg")].filter(s => s.getBoundingClientRect().width > 250).length`); n < 3 {
		t.Errorf("%d charts are seen, want at least those of rates and latencies", n)
	}
}

// contrastScript lists texts whose contrast to the colour behind them is below 4.5 to 1 (Web Content Accessibility Guidelines 2.1,
// success criterion 1.4.3).
const contrastScript = `(() => {
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0.5) return c; } return [255, 255, 255]; };
  const weak = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.tagName === "SCRIPT") continue;
    const style = getComputedStyle(e), own = rgb(e.ownerSVGElement ? style.fill : style.color);
    if (own.length < 3 || e.tagName === "title" || e.tagName === "desc") continue;
    const back = e.ownerSVGElement && e.closest("figure.chart") ? rgb(getComputedStyle(e.ownerSVGElement.querySelector("path")).fill) : behind(e);
    const [a, b] = [light(own), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) weak.add(e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 30) + " " + own + " on " + back + " " + ratio.toFixed(2));
  }
  return [...weak].slice(0, 8);
})()`

// sortsByKeyboard goes to a heading of the table by queue with the tabulator key and presses Enter.
func (b *browser) sortsByKeyboard(t *testing.T) {
	b.emulate(t, 1400, "light")
	b.load(t)
	const column = `[...document.querySelector("section[aria-labelledby=counts-by-queue] tbody").rows].map(r => Number(r.cells[2].textContent.replace(/,/g, "")))`
	const focused = `(e => e.closest("section[aria-labelledby=counts-by-queue]") && e.tagName === "BUTTON" ? e.textContent : "")(document.activeElement)`
	presses := 0
	for ; ask[string](t, b, focused) != "received"; presses++ {
		if presses > 200 {
			t.Fatal("the tabulator key does not lead to the column")
		}
		b.do(t, chromedp.KeyEvent(kb.Tab))
	}
	if outline := ask[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
		t.Error("where the keyboard is cannot be seen")
	}
	before := ask[[]float64](t, b, column)
	for _, want := range []string{"ascending", "descending"} {
		b.do(t, chromedp.KeyEvent(kb.Enter))
		if got := ask[string](t, b, `document.activeElement.closest("th").getAttribute("aria-sort")`); got != want {
			t.Errorf("aria-sort is %q, want %q", got, want)
		}
		sorted := ask[[]float64](t, b, column)
		if len(sorted) != 12 || len(before) != 12 {
			t.Fatalf("%d rows before, %d after; want 12", len(before), len(sorted))
		}
		for i := 1; i < len(sorted); i++ {
			if up := sorted[i] >= sorted[i-1]; sorted[i] != sorted[i-1] && up != (want == "ascending") {
				t.Fatalf("%s: %v", want, sorted)
			}
		}
	}
}

// spot is a place in the window, in its pixels.
type spot struct{ X, Y float64 }

// showsValues: the pointer, and the arrow keys, show the values of a chart.
func (b *browser) showsValues(t *testing.T) {
	b.load(t)
	b.do(t, chromedp.ScrollIntoView(chromedp.CSS("#chart-rates")))
	at := ask[spot](t, b, `(r => ({X: r.left + r.width / 2, Y: r.top + r.height / 2}))(document.querySelector("#chart-rates svg").getBoundingClientRect())`)
	b.do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
	text := ask[string](t, b, `(v => v.hidden ? "" : v.innerText)(document.querySelector("#chart-rates .values"))`)
	if !strings.Contains(text, "sent: ") || !strings.Contains(text, "messages per second") {
		t.Errorf("at the pointer: %q", text)
	}
	b.window(t, "values.png")
	b.do(t, chromedp.Focus(chromedp.CSS("#chart-rates .plot")), chromedp.KeyEvent(kb.ArrowRight))
	if other := ask[string](t, b, `document.querySelector("#chart-rates .values").innerText`); other == text || other == "" {
		t.Errorf("the arrow key shows %q, as the pointer did", other)
	}
	for name, want := range map[string]string{"waiting": "wait: schedule: ", "distribution-delivery": "service: ", "latency-delivery": "median: "} {
		b.do(t, chromedp.Focus(chromedp.CSS("#chart-"+name+" .plot")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		text := ask[string](t, b, `document.querySelector("#chart-`+name+` .values").innerText`)
		if !strings.Contains(text, want) || strings.Contains(text, "\n: ") || strings.Contains(text, ", from") {
			t.Errorf("%s: %q", name, text)
		}
	}
	b.showsCells(t)
}

// showsCells: of a heat map the arrow keys go from cell to cell, and the pointer shows the same of the cell that it is in.
func (b *browser) showsCells(t *testing.T) {
	const values = `(v => v.hidden ? "" : v.innerText)(document.querySelector("#chart-heat-delivery .values"))`
	b.do(t, chromedp.Focus(chromedp.CSS("#chart-heat-delivery .plot")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	cell := ask[string](t, b, values)
	if !regexp.MustCompile(`^[\d.,]+ to [\d.,]+ time .*\nmessages in a cell: [\d,]+\nin all of the column: [\d,]+\n[\d.,]+ to [\d.,]+ response latency \(`).MatchString(cell) {
		t.Errorf("a cell says %q", cell)
	}
	middle := ask[spot](t, b, `(r => ({X: r.left + r.width / 2, Y: r.top + r.height / 2}))(document.querySelector("#chart-heat-delivery .cursor").getBoundingClientRect())`)
	b.do(t, chromedp.KeyEvent(kb.Escape))
	if text := ask[string](t, b, values); text != "" {
		t.Errorf("after Escape: %q", text)
	}
	b.do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, middle.X, middle.Y))
	if text := ask[string](t, b, values); text != cell {
		t.Errorf("the pointer shows %q, the key showed %q", text, cell)
	}
	b.window(t, "cells.png")
}

// changesItsTheme: the button wins over the system, both ways.
func (b *browser) changesItsTheme(t *testing.T) {
	b.emulate(t, 1400, "dark")
	b.load(t)
	for _, want := range []bool{true, false} { // light, then dark again
		b.do(t, chromedp.Click(chromedp.CSS("button.theme")))
		if got := ask[string](t, b, `getComputedStyle(document.body).backgroundColor`); (got == "rgb(255, 255, 255)") != want {
			t.Errorf("background %s after the button", got)
		}
	}
	ask[string](t, b, `(localStorage.clear(), "")`) // other pages follow the system again
}

// prints: on white paper, whatever the theme; the charts are on it.
func (b *browser) prints(t *testing.T, name string) {
	b.emulate(t, 1400, "dark")
	b.load(t)
	b.media(t, "print", "dark")
	for what, want := range map[string]string{
		`getComputedStyle(document.body).backgroundColor`:                                        "rgb(255, 255, 255)",
		`getComputedStyle(document.querySelector("figure.chart svg path")).fill`:                 "rgb(255, 255, 255)",
		`getComputedStyle(document.querySelector("nav")).display`:                                "none",
		`String(document.querySelector("figure.chart svg").getBoundingClientRect().width > 500)`: "true",
	} {
		if got := ask[string](t, b, what); got != want {
			t.Errorf("%s is %s on paper, want %s", what, got, want)
		}
	}
	pdf := run1(t, b, chromedp.PrintToPDF())
	if pages := strings.Count(string(pdf), "/Type /Page\n") + strings.Count(string(pdf), "/Type /Page/") + strings.Count(string(pdf), "/Type /Page "); !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 20_000 || pages > 45 {
		t.Errorf("%d bytes of PDF, %d pages", len(pdf), pages)
	}
	keep(t, name+".pdf", pdf)
}

// picture keeps what is seen, where pictures are asked for.
func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	if os.Getenv(pictures) == "" {
		return
	}
	keep(t, name, run1(t, b, chromedp.FullScreenshot(100)))
}

// window is picture of what is on the screen: for a picture of the whole page the pointer would leave its place.
func (b *browser) window(t *testing.T, name string) {
	t.Helper()
	if os.Getenv(pictures) != "" {
		keep(t, name, run1(t, b, chromedp.CaptureScreenshot()))
	}
}

const pictures = "LEVERET_TEST_PICTURES"

func keep(t *testing.T, name string, content []byte) {
	t.Helper()
	dir := os.Getenv(pictures)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Error(err)
	}
}
