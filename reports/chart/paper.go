package chart

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgeps"
	"gonum.org/v1/plot/vg/vgpdf"
)

// The order in which the PDF library writes fonts is otherwise that of a map.
func init() { fpdf.SetDefaultCatalogSort(true) }

// pdfDates are when a PDF was made, which would make each file another one; PDF needs neither.
var pdfDates = regexp.MustCompile(`/(CreationDate|ModDate) \(D:[^)]*\)`)

// encodePDF draws the spec as one page. Its font is in the file, and all text but the title can be searched and copied.
func encodePDF(s *Spec, o Options, w, h vg.Length) ([]byte, error) {
	canvas := page{vgpdf.New(w, h), canMakeFonts()}
	if _, err := render(s, canvas, o); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode PDF: %w", err)
	}
	return pdfDates.ReplaceAllFunc(b.Bytes(), func(date []byte) []byte { return bytes.Repeat([]byte{' '}, len(date)) }), nil
}

// canMakeFonts: the PDF library prepares fonts in the system's folder for temporary files, and ends the program where it cannot.
func canMakeFonts() bool {
	dir, err := os.MkdirTemp("", "leveret-fonts-")
	return err == nil && os.Remove(dir) == nil
}

// page is a PDF in which texts are set as the library needs them: in code page 1252, and in one font, as it takes a second one for the
// first. What is bold, what the code page does not have, and everything where no font can be made, is drawn as outlines.
type page struct {
	*vgpdf.Canvas
	fonts bool
}

func (c page) FillString(face font.Face, at vg.Point, s string) {
	text, ok := codePage1252(s)
	if !ok || !c.fonts || face.Font.Weight == stdfont.WeightBold {
		c.Canvas.Fill(outline(face, at, s))
		return
	}
	c.Canvas.FillString(face, at, text)
}

// in1252 are the characters of code page 1252 that charts have beside those of Latin-1, which it holds at their own places.
var in1252 = map[rune]byte{'€': 0x80, '…': 0x85, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97}

func codePage1252(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		special, ok := in1252[c]
		switch {
		case c >= 0x20 && c < 0x7F, c >= 0xA0 && c <= 0xFF:
			b = append(b, byte(c))
		case ok:
			b = append(b, special)
		default:
			return "", false
		}
	}
	return string(b), true
}

// encodeEPS draws the spec as Encapsulated PostScript without fonts: texts are outlines, so that it prints the same everywhere
// and a publisher's check finds no font missing.
func encodeEPS(s *Spec, o Options, w, h vg.Length) ([]byte, error) {
	canvas := postScript{vgeps.New(w, h)}
	if _, err := render(s, canvas, o); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode EPS: %w", err)
	}
	_, body, ok := strings.Cut(b.String(), "%%EndComments\n")
	if !ok {
		return nil, fmt.Errorf("encode EPS: the drawing library wrote an unknown head")
	}
	// The library's own head begins with two per cent signs, has fractions in its box, and the time of day.
	head := fmt.Sprintf("%%!PS-Adobe-3.0 EPSF-3.0\n%%%%BoundingBox: 0 0 %d %d\n%%%%HiResBoundingBox: 0 0 %.4f %.4f\n%%%%Title: (%s)\n%%%%LanguageLevel: 2\n%%%%EndComments\n",
		int(math.Ceil(w.Points())), int(math.Ceil(h.Points())), w.Points(), h.Points(), plainASCII(s.Name))
	return []byte(head + "1 setlinejoin\n" + strings.TrimPrefix(body, "\n")), nil
}

// postScript is an EPS in which texts are outlines.
type postScript struct{ *vgeps.Canvas }

func (c postScript) FillString(face font.Face, at vg.Point, s string) {
	if path := outline(face, at, s); len(path) > 0 {
		c.Canvas.Fill(path)
	}
}

// plainASCII leaves out what a comment of PostScript cannot hold.
func plainASCII(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 || c > 0x7E || strings.ContainsRune("()\\%", c) {
			return -1
		}
		return c
	}, s)
}
