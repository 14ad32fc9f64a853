package chart

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgtex"
)

// encodeTeX draws the spec as a pgfpicture for \input into a LaTeX document. Texts are set in the document's own font, at the
// sizes of the other formats.
func encodeTeX(s *Spec, o Options, w, h vg.Length) ([]byte, error) {
	canvas := latex{vgtex.New(w, h)}
	const texPoints = 72.27 / 72 // TeX's point is less than the others'
	canvas.Scale(texPoints, texPoints)
	if _, err := render(s, canvas, o); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode TeX: %w", err)
	}
	head := "% " + plainASCII(s.Name) + ": \\usepackage{pgf} in the preamble, then \\input this file.\n"
	return []byte(head + b.String()), nil
}

// latex sets texts at their anchor: how wide they are only the document knows.
type latex struct{ *vgtex.Canvas }

func (c latex) FillString(face font.Face, at vg.Point, s string) { c.fillAligned(face, at, 0, s) }

// forTeX leaves room for Computer Modern, the widest font that papers are set in: the smaller, the wider it is made.
func (t *typesets) forTeX() {
	for _, set := range []*typeset{&t.title, &t.mark, &t.label, &t.tick, &t.legend, &t.span, &t.caption} {
		switch points := set.size().Points(); {
		case points < 7:
			set.wider = 0.18
		case points < 8.5 || set.face.Font.Weight == stdfont.WeightBold:
			set.wider = 0.1
		}
	}
}

func (c latex) Stroke(path vg.Path) { c.Canvas.Stroke(thousandths(path)) }
func (c latex) Fill(path vg.Path)   { c.Canvas.Fill(thousandths(path)) }

// thousandths of a point are fine enough, and half as long as what the library would write.
func thousandths(path vg.Path) vg.Path {
	round := func(p vg.Point) vg.Point {
		return vg.Point{X: vg.Length(math.Round(float64(p.X)*1000) / 1000), Y: vg.Length(math.Round(float64(p.Y)*1000) / 1000)}
	}
	out := make(vg.Path, len(path))
	for i, c := range path {
		c.Pos = round(c.Pos)
		c.Control = append([]vg.Point(nil), c.Control...)
		for k := range c.Control {
			c.Control[k] = round(c.Control[k])
		}
		out[i] = c
	}
	return out
}

// fillAligned: a box without width is set in the middle of what the library believes to be the text's width.
func (c latex) fillAligned(face font.Face, at vg.Point, align float64, s string) {
	text := texText(s)
	if face.Font.Weight == stdfont.WeightBold {
		text = `\bfseries ` + text
	}
	switch {
	case align < 0.25:
		text = `\rlap{` + text + `}`
	case align > 0.75:
		text = `\llap{` + text + `}`
	}
	at.X -= face.Width(text) / 2
	c.Canvas.FillString(face, at, text)
}

// inTeX are characters that LaTeX takes for something else, or has another name for.
var inTeX = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`, '^': `\textasciicircum{}`,
	'~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`, '"': `''`, '-': `-{}`, '\'': `'{}`, '`': "`{}",
	'·': `\textperiodcentered{}`, 'µ': `\ensuremath{\mu}`, '…': `\ldots{}`, '≥': `\ensuremath{\ge}`, '≤': `\ensuremath{\le}`,
	'×': `\ensuremath{\times}`, '±': `\ensuremath{\pm}`, '–': `--`, '—': `---`, '\u00A0': `~`,
}

// texText writes s so that LaTeX shows it. What lies outside Latin-1 has no glyph in LaTeX's usual fonts and becomes a question
// mark.
func texText(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch named, ok := inTeX[c]; {
		case ok:
			b.WriteString(named)
		case c > 0xFF:
			b.WriteByte('?')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
