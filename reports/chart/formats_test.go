package chart

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// awkward texts hold what some format takes for something else.
const awkward = `a_b 50 % of #1 & $2 {x} \y ^z ~q <&"'> (p) -- µs · … ≥ é` + "\u00A0世界"

func awkwardSpec(t *testing.T) *Spec {
	s := ratesSpec(loadSample(t, "failing"))
	s.Title, s.Series[0].Name, s.Spans[0].Label, s.Caption[0] = awkward, awkward, awkward, awkward
	return &s
}

// A PDF is one page of the size that was asked for, has its font in it, says no time of day, and its text can be found.
func TestPDF(t *testing.T) {
	s := ratesSpec(loadSample(t, "stall"))
	b := encode(t, &s, "pdf", Options{WidthIn: 7, HeightIn: 4})
	if !bytes.HasPrefix(b, []byte("%PDF-1.")) || !bytes.Contains(b, []byte("%%EOF")) || bytes.Count(b, []byte("/Type /Page\n")) != 1 {
		t.Errorf("no PDF of one page: %q ...", b[:20])
	}
	if !bytes.Contains(b, []byte("/MediaBox [0 0 504.00 288.00]")) { // 7 and 4 times 72
		t.Error("not of 7 by 4 inches")
	}
	if n := bytes.Count(b, []byte("/FontFile2")); n != 1 {
		t.Errorf("%d fonts in the file, want 1", n)
	}
	if bytes.Contains(b, []byte("CreationDate")) || bytes.Contains(b, []byte("ModDate")) {
		t.Error("the file says when it was made")
	}
	text := pdfStreams(b)
	for _, want := range []string{"(messages per second)", "confirm window 100", " \xB7"} { // the middle dot in code page 1252
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the text", want)
		}
	}
	encode(t, awkwardSpec(t), "pdf", Options{})
}

// pdfStreams unpacks what of a PDF is packed.
func pdfStreams(file []byte) string {
	var all strings.Builder
	for rest := file; ; {
		_, after, ok := bytes.Cut(rest, []byte("stream\n"))
		if !ok {
			return all.String()
		}
		if r, err := zlib.NewReader(bytes.NewReader(after)); err == nil {
			unpacked, _ := io.ReadAll(r)
			all.Write(unpacked)
		}
		_, rest, _ = bytes.Cut(after, []byte("endstream"))
	}
}

// Where no folder for temporary files is to be had, a PDF is drawn nevertheless: its texts are outlines.
func TestPDFWithoutTemporaryFiles(t *testing.T) {
	for _, key := range []string{"TMPDIR", "TMP", "TEMP"} { // by system
		t.Setenv(key, "/nowhere/at all")
	}
	s := ratesSpec(loadSample(t, "stall"))
	b := encode(t, &s, "pdf", Options{})
	if bytes.Contains(b, []byte("/FontFile2")) || len(b) < 10_000 {
		t.Errorf("%d bytes, fonts %v", len(b), bytes.Contains(b, []byte("/FontFile2")))
	}
}

// operands of the operators that an EPS may have.
var operands = map[string]int{"moveto": 2, "lineto": 2, "curveto": 6, "arc": 5, "setlinewidth": 1, "setrgbcolor": 3, "setlinejoin": 1,
	"newpath": 0, "closepath": 0, "stroke": 0, "fill": 0, "gsave": 0, "grestore": 0, "showpage": 0, "setdash": 2}

// checkEPS walks through an EPS as an interpreter would: every operator is known and has its operands, and no point lies off the page.
func checkEPS(t *testing.T, b []byte, width, height float64) {
	t.Helper()
	head, body, ok := strings.Cut(string(b), "%%EndComments\n")
	if !ok || !strings.HasPrefix(head, "%!PS-Adobe-3.0 EPSF-3.0\n") {
		t.Fatalf("head %q", head)
	}
	if want := "%%BoundingBox: 0 0 " + strconv.Itoa(int(width)) + " " + strconv.Itoa(int(height)) + "\n"; !strings.Contains(head, want) {
		t.Errorf("head %q, want %q", head, want)
	}
	var stack []float64
	depth := 0
	for _, word := range strings.Fields(regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(body, "0")) {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			stack = append(stack, v)
			continue
		}
		n, ok := operands[word]
		if !ok || n != len(stack) {
			t.Fatalf("operator %q with %d operands", word, len(stack))
		}
		switch word {
		case "moveto", "lineto", "curveto":
			for i, v := range stack {
				if limit := []float64{width, height}[i%2]; v < -0.5 || v > limit+0.5 {
					t.Fatalf("%v %s is off the page", stack, word)
				}
			}
		case "gsave":
			depth++
		case "grestore":
			depth--
		}
		stack = stack[:0]
	}
	if len(stack) > 0 || depth != 0 || !strings.HasSuffix(body, "showpage\n") {
		t.Errorf("ends with %v left and %d states saved", stack, depth)
	}
}

func TestEPS(t *testing.T) {
	s := ratesSpec(loadSample(t, "stall"))
	checkEPS(t, encode(t, &s, "eps", Options{WidthIn: 7, HeightIn: 4}), 504, 288)
	checkEPS(t, encode(t, awkwardSpec(t), "eps", Options{Style: "print", Font: "serif"}), 576, 324)
}

// texMacros that a picture may use: those of pgf, of its compatibility layer, and of LaTeX's kernel.
var texMacros = strings.Fields(`begin end pgftransformxscale pgftransformyscale pgfsetdash pgfsetlinewidth color pgfsetstrokeopacity pgfsetfillopacity
	pgfpathmoveto pgflineto pgfcurveto pgfpatharc pgfpoint pgfusepath pgftext fontsize selectfont bfseries rlap llap
	textbackslash textasciicircum textasciitilde textless textgreater textbar textperiodcentered ensuremath mu ldots ge le times pm
	{ } $ & # % _`)

var texMacro = regexp.MustCompile(`\\([A-Za-z]+|.)`)

// checkTeX reads a picture as TeX would: braces and groups are closed, every macro is known, and nothing that TeX takes for
// something else stands in a text by itself.
func checkTeX(t *testing.T, b []byte) {
	t.Helper()
	depth, text := 0, ""
	for _, line := range strings.Split(string(b), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "%") { // a comment
			text += line + "\n"
		}
	}
	for _, m := range texMacro.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(texMacros, m[1]) {
			t.Fatalf("macro %q", m[0])
		}
	}
	plain := texMacro.ReplaceAllString(text, "")
	for _, c := range plain {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			t.Fatal("a brace is closed that was not opened")
		}
		if strings.ContainsRune(`$&#%_^`, c) || c > 0xFF {
			t.Fatalf("%q stands in the text", c)
		}
	}
	if depth != 0 || strings.Count(text, `\begin{`) != strings.Count(text, `\end{`) || !strings.Contains(text, `\begin{pgfpicture}`) {
		t.Errorf("%d braces left open, or a group", depth)
	}
}

func TestTeX(t *testing.T) {
	s := ratesSpec(loadSample(t, "stall"))
	b := encode(t, &s, "tex", Options{WidthIn: 7, HeightIn: 4})
	checkTeX(t, b)
	for _, want := range []string{`\rlap{\bfseries Message rates over time}`, `\rlap{messages per second}`, `\llap{`, `\textperiodcentered{}`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is missing", want)
		}
	}
	checkTeX(t, encode(t, awkwardSpec(t), "tex", Options{Style: "print"}))
	if got := texText(`a_b\c{d}% — 世`); got != `a\_b\textbackslash{}c\{d\}\% --- ?` {
		t.Errorf("escaped to %s", got)
	}
}

// Every font draws every format, and an SVG names it with its twins.
func TestFonts(t *testing.T) {
	s := latencySpec(loadSample(t, "stall"), "delivery")
	for _, f := range Fonts {
		for _, format := range Formats {
			encode(t, &s, format, Options{Font: f, DPI: 50})
		}
		if svg := encode(t, &s, "svg", Options{Font: f}); !bytes.Contains(svg, []byte("font-family:'"+families[f].name+"',"+families[f].twins)) {
			t.Errorf("%s: the SVG names another font", f)
		}
	}
}

// An outline of a text is as wide as the text, but for the bearings of its first and last glyph.
func TestOutline(t *testing.T) {
	all, err := newTypesets(1, light, "sans")
	if err != nil {
		t.Fatal(err)
	}
	face := all.title.face
	path := outline(face, at(100, 50), "HOHOH")
	lo, hi := path[0].Pos.X, path[0].Pos.X
	for _, c := range path {
		if c.Pos.X != 0 {
			lo, hi = min(lo, c.Pos.X), max(hi, c.Pos.X)
		}
	}
	width := face.Width("HOHOH")
	if lo < 100 || lo > 102 || hi > 100+width || hi < 98+width {
		t.Errorf("from %v to %v, the text from 100 to %v", lo, hi, 100+width)
	}
}

func at(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
