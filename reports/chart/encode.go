package chart

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image/png"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Encode draws one spec in one of the Formats; of the options it takes style, size, resolution, font and caption. The same spec
// and options give the same bytes. Colours of an SVG are exactly those of the style's Theme.
func Encode(s *Spec, format string, o Options) ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	w, h := vg.Length(o.WidthIn)*vg.Inch, vg.Length(o.HeightIn)*vg.Inch
	switch format {
	case "png":
		return encodePNG(s, o, w, h)
	case "svg":
		return encodeSVG(s, o, w, h)
	case "pdf":
		return encodePDF(s, o, w, h)
	case "eps":
		return encodeEPS(s, o, w, h)
	case "tex":
		return encodeTeX(s, o, w, h)
	}
	return nil, fmt.Errorf("chart format %q is unknown: use %s", format, strings.Join(Formats, ", "))
}

// encodePNG draws the spec as pixels. The file says how many of them make a metre, so that it comes out at its size on
// paper.
func encodePNG(s *Spec, o Options, w, h vg.Length) ([]byte, error) {
	canvas := &pixels{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(o.DPI))}
	if _, err := render(s, canvas, o); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, canvas.Image()); err != nil {
		return nil, fmt.Errorf("encode PNG: %w", err)
	}
	return withDensity(b.Bytes(), o.DPI), nil
}

// pixels is a canvas that sets texts as typeset measures them, and strokes long lines piece by piece: the library's time for a
// line that goes up and down grows with the square of its length.
type pixels struct {
	*vgimg.Canvas
	dashed bool
}

func (c *pixels) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.dashed = len(pattern) > 0
	c.Canvas.SetLineDash(pattern, offset)
}

// piece is the most points that are stroked at once. Neighbouring pieces have a stretch in common, so that no join is missing.
const piece = 64

func (c *pixels) Stroke(path vg.Path) {
	plain := !slices.ContainsFunc(path[min(1, len(path)):], func(p vg.PathComp) bool { return p.Type != vg.LineComp })
	if c.dashed || !plain || len(path) <= piece {
		c.Canvas.Stroke(path)
		return
	}
	for from := 0; from < len(path)-2; from += piece - 2 {
		part := slices.Clone(path[from:min(from+piece, len(path))])
		part[0].Type = vg.MoveComp
		c.Canvas.Stroke(part)
	}
}

func (c *pixels) FillString(face font.Face, at vg.Point, s string) {
	for _, piece := range unkerned(s) {
		c.Canvas.FillString(face, at, piece)
		at.X += face.Width(piece)
	}
}

// withDensity puts a pHYs chunk behind the header (PNG specification, 11.3.5.3), which Go's encoder does not write.
func withDensity(file []byte, dpi int) []byte {
	const header = 8 + 4 + 4 + 13 + 4 // signature, then IHDR: length, type, data, CRC
	perMetre := uint32(math.Round(float64(dpi) / 0.0254))
	chunk := []byte("pHYs")
	chunk = binary.BigEndian.AppendUint32(chunk, perMetre)
	chunk = binary.BigEndian.AppendUint32(chunk, perMetre)
	chunk = append(chunk, 1) // the unit is the metre
	out := append([]byte(nil), file[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, file[header:]...)
}

// encodeSVG draws the spec as an SVG whose text stays text. Where the font is not installed one of the same widths takes its
// place. Title and description are there for those who hear the chart; the attribute data-panel says where in the viewBox the ends
// of the axes are: left, top, right, bottom.
func encodeSVG(s *Spec, o Options, w, h vg.Length) ([]byte, error) {
	canvas := vgsvg.New(w, h)
	panel, err := render(s, canvas, o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode SVG: %w", err)
	}
	head, body, ok := strings.Cut(b.String(), `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	if !ok {
		return nil, fmt.Errorf("encode SVG: the drawing library wrote an unknown head")
	}
	f := families[o.Font]
	body = strings.ReplaceAll(body, "font-family:"+f.name+";", "font-family:'"+f.name+"',"+f.twins+";")
	// Round joins as in the PNG: a mitre would let a spike end above its value.
	ends := fmt.Sprintf(`data-panel="%.2f %.2f %.2f %.2f" `, panel.Min.X, h-panel.Max.Y, panel.Max.X, h-panel.Min.Y)
	return []byte(head + ends + `role="img" stroke-linejoin="round">` + "\n<title>" + html.EscapeString(printable(s.fullTitle())) + "</title>\n<desc>" +
		html.EscapeString(printable(strings.Join(s.Caption, " "))) + "</desc>\n" + strings.TrimPrefix(body, "\n")), nil
}

// fullTitle has the marks with it.
func (s *Spec) fullTitle() string { return joinNotEmpty(append([]string{s.Title}, s.Marks...)...) }
