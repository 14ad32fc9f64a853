package chart

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Fonts that are built in, the default first: Liberation Sans, Serif and Mono, as wide as Arial, Times New Roman and Courier New.
// A chart needs neither installed fonts nor a home directory.
var Fonts = []string{"sans", "serif", "mono"}

// family is a font in its two weights.
type family struct {
	name    string // as the font names itself
	variant font.Variant
	twins   string // of the same widths, for where it is not installed
	faces   func() ([2]*opentype.Font, error)
}

// families by their names in Fonts. Only those that are used are parsed.
var families = map[string]family{
	"sans":  {"Liberation Sans", "Sans", "Arial,Helvetica,sans-serif", parsed(liberationsansregular.TTF, liberationsansbold.TTF)},
	"serif": {"Liberation Serif", "Serif", "'Times New Roman',Times,serif", parsed(liberationserifregular.TTF, liberationserifbold.TTF)},
	"mono":  {"Liberation Mono", "Mono", "'Courier New',Courier,monospace", parsed(liberationmonoregular.TTF, liberationmonobold.TTF)},
}

func parsed(regular, bold []byte) func() ([2]*opentype.Font, error) {
	return sync.OnceValues(func() (faces [2]*opentype.Font, err error) {
		for i, ttf := range [][]byte{regular, bold} {
			if faces[i], err = opentype.Parse(ttf); err != nil {
				return faces, fmt.Errorf("read the built-in font: %w", err)
			}
		}
		return faces, nil
	})
}

// weights by the order of a family's faces.
var weights = [2]stdfont.Weight{stdfont.WeightNormal, stdfont.WeightBold}

// typeset is a face at a size and in a colour.
type typeset struct {
	face  font.Face
	color color.Color
	// wider is how much wider a text may come out than the face says, where a document has its own fonts; 0: not at all.
	wider vg.Length
}

// typesets of one chart.
type typesets struct{ title, mark, label, tick, legend, span, caption typeset }

// smallest type that is set, in points: what papers ask for, at least.
const smallest = 6

// newTypesets gives all texts their sizes; scaled is 1 at the default page width.
func newTypesets(scaled float64, theme *Theme, name string) (t typesets, err error) {
	f := families[name]
	faces, err := f.faces()
	if err != nil {
		return t, err
	}
	set := func(bold int, points float64, hex string) typeset {
		return typeset{
			face:  font.Face{Font: font.Font{Typeface: "Liberation", Variant: f.variant, Size: vg.Points(max(smallest, points*scaled)), Weight: weights[bold]}, Face: faces[bold]},
			color: rgb(hex),
		}
	}
	return typesets{
		title: set(1, 12.5, theme.Text), mark: set(1, 10.5, theme.Loud),
		label: set(0, 9.5, theme.Note), tick: set(0, 9, theme.Note), legend: set(0, 9.5, theme.Text),
		span: set(0, 8, theme.Fine), caption: set(0, 7.8, theme.Fine),
	}, nil
}

func (t typeset) size() vg.Length { return t.face.Font.Size }

func (t typeset) width(s string) (sum vg.Length) {
	for _, piece := range unkerned(s) {
		sum += t.face.Width(piece)
	}
	return sum * (1 + t.wider)
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
	if whole, ok := c.(draw.Canvas); ok {
		if aligning, ok := whole.Canvas.(latex); ok {
			aligning.fillAligned(t.face, vg.Point{X: x, Y: y}, align, s)
			return
		}
	}
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
			for n > 1 && t.width(l+" …") > width {
				n--
				l = strings.Join(words[:n], " ")
			}
			return append(out, t.elide(strings.TrimSuffix(l, separatorEnd)+" …", width))
		}
		out = append(out, t.elide(l, width))
		words = words[n:]
	}
	return out
}

// separatorEnd is how a separator stands at the end of a line.
const separatorEnd = " \u00b7"

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
