package chart

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// fonts are compiled in: a chart needs neither installed fonts nor a home directory. Only the two faces that charts use
// are parsed; gonum's own collection has twelve.
var fonts = sync.OnceValues(func() (faces [2]*opentype.Font, err error) {
	for i, ttf := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		if faces[i], err = opentype.Parse(ttf); err != nil {
			return faces, fmt.Errorf("read the built-in font: %w", err)
		}
	}
	return faces, nil
})

// weights by the order of fonts.
var weights = [2]stdfont.Weight{stdfont.WeightNormal, stdfont.WeightBold}

// typeset is a face at a size and in a colour.
type typeset struct {
	face  font.Face
	color color.Color
}

// typesets of one chart.
type typesets struct{ title, mark, label, tick, legend, span, caption typeset }

// newTypesets gives all texts their sizes; scaled is 1 at the default page width.
func newTypesets(scaled float64) (t typesets, err error) {
	faces, err := fonts()
	if err != nil {
		return t, err
	}
	set := func(bold int, points float64, hex string) typeset {
		return typeset{
			face:  font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points * scaled), Weight: weights[bold]}, Face: faces[bold]},
			color: rgb(hex),
		}
	}
	return typesets{
		title: set(1, 12.5, "#1A1A1A"), mark: set(1, 10.5, "#B34700"), // vermillion, darkened until it reads well as text
		label: set(0, 9.5, "#333333"), tick: set(0, 9, "#333333"), legend: set(0, 9.5, "#1A1A1A"),
		span: set(0, 8, "#444444"), caption: set(0, 7.8, "#444444"),
	}, nil
}

func (t typeset) size() vg.Length { return t.face.Font.Size }

func (t typeset) width(s string) (sum vg.Length) {
	for _, piece := range unkerned(s) {
		sum += t.face.Width(piece)
	}
	return sum
}

// unkerned cuts s between neighbouring ones: the font draws 11 together by a fourteenth of an em, which in the pixels of
// small figures makes them touch, and lets columns of figures stand askew.
func unkerned(s string) []string {
	var pieces []string
	from := 0
	for i := 1; i < len(s); i++ {
		if s[i-1] == '1' && s[i] == '1' {
			pieces = append(pieces, s[from:i])
			from = i
		}
	}
	return append(pieces, s[from:])
}

// draw sets s with its baseline at y. align is where x lies in it: 0 its left end, 0.5 its middle, 1 its right end.
func (t typeset) draw(c vg.Canvas, x, y vg.Length, align float64, s string) {
	if s == "" {
		return
	}
	c.SetColor(t.color)
	c.FillString(t.face, vg.Point{X: x - vg.Length(align)*t.width(s), Y: y}, s)
}

// wrap breaks text at blanks into at most lines lines that fit into width; what is left over is elided. A separator stays at
// the end of its line, so that what it separates is not run together by who reads on.
func (t typeset) wrap(text string, width vg.Length, lines int) []string {
	words := unbroken(strings.Fields(printable(text)))
	var out []string
	for len(words) > 0 {
		n := 1
		for n < len(words) && t.width(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		l := strings.Join(words[:n], " ")
		if len(out) == lines-1 && n < len(words) {
			return append(out, t.elide(l+" …", width))
		}
		out = append(out, t.elide(l, width))
		words = words[n:]
	}
	return out
}

// unbroken joins separators to the words before them.
func unbroken(words []string) []string {
	var out []string
	for _, w := range words {
		if n := len(out); n > 0 && w == strings.TrimSpace(separator) {
			out[n-1] += " " + w
		} else {
			out = append(out, w)
		}
	}
	return out
}

// elide shortens s to width, keeping its start and its end.
func (t typeset) elide(s string, width vg.Length) string {
	if t.width(s) <= width {
		return s
	}
	r := []rune(s)
	for keep := len(r) - 1; keep > 1; keep-- {
		head := (keep + 1) / 2
		if short := string(r[:head]) + "…" + string(r[len(r)-(keep-head):]); t.width(short) <= width {
			return short
		}
	}
	return "…"
}

// printable replaces what no font can draw and no XML may hold.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !strconv.IsPrint(c) && c != ' ' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// rgb reads #RRGGBB; what is not one is black.
func rgb(hex string) color.NRGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		return color.NRGBA{A: 0xFF}
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}
