package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"leveret/analyze/result"
)

func encode(t testing.TB, s *Spec, format string, o Options) []byte {
	t.Helper()
	b, err := Encode(s, format, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// svgText is one text of an SVG with the box it takes, in points from the upper left corner.
type svgText struct {
	text                     string
	left, right, top, bottom float64
}

var textElement = regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" transform="scale\(1, -1\)"\s+style="[^"]*font-weight:(\w+);[^"]*font-size:([0-9.]+)px[^"]*">([^<]*)</text>`)

// svgTexts reads back where the texts stand. The drawing is upside down: y is the negative height above the lower edge.
func svgTexts(t testing.TB, svg []byte, height float64) []svgText {
	t.Helper()
	faces, err := newTypesets(1, light, "sans")
	if err != nil {
		t.Fatal(err)
	}
	var all []svgText
	for _, m := range textElement.FindAllSubmatch(svg, -1) {
		var n [3]float64
		for i, s := range [][]byte{m[1], m[2], m[4]} {
			if n[i], err = strconv.ParseFloat(string(s), 64); err != nil {
				t.Fatal(err)
			}
		}
		face := faces.tick
		if string(m[3]) == "bold" {
			face = faces.title
		}
		text := html.UnescapeString(string(m[5]))
		width := float64(face.width(text)/face.size()) * n[2]
		baseline := height + n[1]
		all = append(all, svgText{text, n[0], n[0] + width, baseline - 0.73*n[2], baseline + 0.2*n[2]})
	}
	if len(all) < strings.Count(string(svg), "<text") {
		t.Fatalf("read %d of %d texts", len(all), strings.Count(string(svg), "<text"))
	}
	return all
}

// No text leaves the page or runs into another, whatever the run and the size.
func TestTextsStayApart(t *testing.T) {
	long := loadSample(t, "failing")
	long.Broker.Embedded = true
	long.Config.QueueTypes = []string{strings.Repeat("queuetype", 30)}
	long.Spans[0].Kind = "a_rather_long_kind_of_span_that_nobody_foresaw_but_which_happened_nevertheless"
	for i := range int64(40) {
		long.Spans = append(long.Spans, result.Span{FromNS: start + i*800e6, ToNS: start + i*800e6 + 300e6, Kind: "reconnecting"})
	}
	runs := map[string]*result.Result{"long names": long}
	for _, name := range sampleNames {
		runs[name] = loadSample(t, name)
	}
	for name, r := range runs {
		for _, size := range [][2]float64{{8, 4.5}, {3.3, 2.4}, {6, 6}, {3, 2}, {20, 5}} {
			for _, s := range Specs(r, Options{}) {
				svg := encode(t, s, "svg", Options{WidthIn: size[0], HeightIn: size[1]})
				texts := svgTexts(t, svg, 72*size[1])
				for i, a := range texts {
					if a.left < 0 || a.right > 72*size[0] || a.top < 0 || a.bottom > 72*size[1] {
						t.Errorf("%s, %s, %v inches: %q leaves the page: %+v", name, s.Name, size, a.text, a)
					}
					for _, b := range texts[:i] {
						if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
							t.Errorf("%s, %s, %v inches: %q runs into %q", name, s.Name, size, a.text, b.text)
						}
					}
				}
			}
		}
	}
}

// The SVG is well-formed, names itself, and holds what the title and the axes say, whatever the names.
func TestSVG(t *testing.T) {
	s := ratesSpec(loadSample(t, "failing"))
	s.Title, s.Caption[0] = `<&"'> title`, "caption \x00\x1b\ufffe\xff"
	svg := encode(t, &s, "svg", Options{})
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(data)))
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{`<&"'> title`, "FAIL · incomplete recording", "messages per second", "time since start (seconds)", "blocked", "recorder stall", "confirmed", "drain"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if !bytes.Contains(svg, []byte(`<title>&lt;&amp;`)) || !bytes.Contains(svg, []byte("<desc>")) {
		t.Error("no title or description")
	}
	if regexp.MustCompile(`NaN|Inf`).Match(svg) {
		t.Error("the SVG holds what is no number")
	}
}

// The PNG has the size that was asked for and says its density: 200 dots per inch are 7,874 per metre.
func TestPNG(t *testing.T) {
	s := ratesSpec(loadSample(t, "tiny"))
	b := encode(t, &s, "png", Options{})
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1600 || size.Y != 900 {
		t.Errorf("%v pixels, want 1600 by 900", size)
	}
	if want := []byte{'p', 'H', 'Y', 's', 0, 0, 0x1E, 0xC2, 0, 0, 0x1E, 0xC2, 1}; !bytes.Contains(b, want) {
		t.Error("the density is missing")
	}
}

// dotElement is a filled circle: a reading.
var dotElement = regexp.MustCompile(`<path d="M([0-9.]+),([0-9.]+)A([0-9.]+),[^"]*Z" style="fill:(#[0-9A-F]{6})`)

// C053, in small: where the SVG has a dot, the PNG has its colour.
func TestPNGAndSVGAgree(t *testing.T) {
	const dpi = 144 // two pixels a point
	s := latencySpec(latencyRun(1e6, 9e6, 3e6, 7e6, 2e6), "confirm")
	s.Series = s.Series[len(s.Series)-1:] // nothing is drawn above the last line
	o := Options{DPI: dpi}
	img, err := png.Decode(bytes.NewReader(encode(t, &s, "png", o)))
	if err != nil {
		t.Fatal(err)
	}
	dots := dotElement.FindAllSubmatch(encode(t, &s, "svg", o), -1)
	if len(dots) != 5 {
		t.Fatalf("%d dots in the SVG, want 5", len(dots))
	}
	for i, m := range dots {
		var n [3]float64
		for k := range n {
			if n[k], err = strconv.ParseFloat(string(m[k+1]), 64); err != nil {
				t.Fatal(err)
			}
		}
		x, y := int(2*(n[0]-n[2])), int(2*(4.5*72-n[1])) // the middle: the path begins at the right end
		r, g, b, _ := img.At(x, y).RGBA()
		if got, want := fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8), string(m[4]); got != want {
			t.Errorf("dot %d: the PNG has %s at (%d, %d), want %s", i, got, x, y, want)
		}
	}
}

// C053: a million intervals make small files that keep the one spike, and the one idle interval.
func TestMillionIntervals(t *testing.T) {
	const n, spike, idle = 1_000_000, 654_321, 123_456
	typical := &result.Distribution{Count: 1, P50NS: ptr(int64(1e6)), P95NS: ptr(int64(2e6)), P99NS: ptr(int64(3e6)), MaxNS: ptr(int64(4e6))}
	slow := &result.Distribution{Count: 1, P50NS: ptr(int64(1e6)), P95NS: ptr(int64(2e6)), P99NS: ptr(int64(3e6)), MaxNS: ptr(int64(777e6))}
	r := latencyRun()
	r.Intervals = make([]result.Interval, n)
	r.IntervalNS = 1e7
	for i := range r.Intervals {
		at := start + int64(i)*1e7
		r.Intervals[i] = result.Interval{StartNS: at, EndNS: at + 1e7, Due: 10, Sent: 10 + int64(i%3), Confirmed: 10, Phase: "run"}
		r.Intervals[i].Latency.Confirm.Response = typical
	}
	r.Intervals[spike].Latency.Confirm.Response = slow
	r.Intervals[idle].Sent = 0
	rates, latency := ratesSpec(r), latencySpec(r, "confirm")
	for _, s := range []Spec{rates, latency} {
		for _, format := range Formats {
			if b := encode(t, &s, format, Options{}); len(b) > 2_000_000 {
				t.Errorf("%s.%s has %d bytes", s.Name, format, len(b))
			}
		}
	}
	// 10,000 s are drawn in minutes: the spike is where it was, to an interval.
	find := func(points [][]Point, y float64) (x []float64) {
		for _, segment := range points {
			for _, p := range segment {
				if p.Y == y {
					x = append(x, p.X)
				}
			}
		}
		return x
	}
	if x := find(series(t, &latency, "maximum").Segments, 777); len(x) != 1 || math.Abs(x[0]*60-spike*0.01) > 0.011 || latency.X.Label != "time since start (minutes)" {
		t.Errorf("the spike is at %v, %s", x, latency.X.Label)
	}
	if x := find(series(t, &rates, "sent").Segments, 0); len(x) == 0 {
		t.Error("the idle interval is gone")
	}
}

// The same result gives the same bytes.
func TestDeterministic(t *testing.T) {
	for _, format := range Formats {
		for i := range Specs(loadSample(t, "failing"), Options{}) {
			one, two := Specs(loadSample(t, "failing"), Options{})[i], Specs(loadSample(t, "failing"), Options{})[i]
			if !bytes.Equal(encode(t, one, format, Options{DPI: 60}), encode(t, two, format, Options{DPI: 60})) {
				t.Errorf("%s.%s differs from one time to the next", one.Name, format)
			}
		}
	}
}

// A spec without data still makes a picture, which says why.
func TestNoDataIsDrawn(t *testing.T) {
	s := latencySpec(&result.Result{}, "confirm")
	if s.NoData != "no producers in this run" {
		t.Errorf("reason %q", s.NoData)
	}
	if svg := encode(t, &s, "svg", Options{}); !bytes.Contains(svg, []byte("no data: no producers in this run")) {
		t.Error("the SVG does not say why")
	}
	encode(t, &s, "png", Options{DPI: 50})
}

func TestWrap(t *testing.T) {
	faces, err := newTypesets(1, light, "sans")
	if err != nil {
		t.Fatal(err)
	}
	f := faces.caption
	text := "RabbitMQ 3.10.8 · one · " + strings.Repeat("word ", 100) + strings.Repeat("x", 400) + " end"
	lines := f.wrap(text, 200, 50)
	for _, l := range lines {
		if f.width(l) > 200 {
			t.Errorf("%q is %v wide", l, f.width(l))
		}
	}
	if got := strings.Join(lines, " "); !strings.HasPrefix(got, "RabbitMQ 3.10.8 · one") || !strings.HasSuffix(got, "end") || !strings.Contains(got, "xx…xx") {
		t.Errorf("wrapped to %q", got)
	}
	if lines := f.wrap(text, 200, 2); len(lines) != 2 || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("two lines: %q", lines)
	}
	// What is left over is cut at a word, and a separator does not end it.
	for width := vg.Length(80); width < 190; width++ {
		lines := f.wrap("one · two · three · four · five · six · seven · eight · nine · ten · eleven · twelve · thirteen · fourteen · fifteen · sixteen", width, 2)
		if last := lines[1]; !regexp.MustCompile(`^(\w+ · )*\w+ …$`).MatchString(last) || f.width(last) > width {
			t.Errorf("at %v: %q", width, last)
		}
	}
	if lines := f.wrap("", 200, 2); len(lines) != 0 {
		t.Errorf("nothing wrapped to %q", lines)
	}
}
