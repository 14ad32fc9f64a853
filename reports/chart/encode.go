package chart

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image/png"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// encodePNG draws the spec as pixels. The file says how many of them make a metre, so that it comes out at its size on
// paper.
func encodePNG(s *Spec, o Options) ([]byte, error) {
	canvas := pixels{vgimg.NewWith(vgimg.UseWH(vg.Length(o.WidthInches)*vg.Inch, vg.Length(o.HeightInches)*vg.Inch), vgimg.UseDPI(o.DPI))}
	if err := render(s, canvas); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, canvas.Image()); err != nil {
		return nil, fmt.Errorf("encode PNG: %w", err)
	}
	return withDensity(b.Bytes(), o.DPI), nil
}

// pixels is a canvas that sets texts as typeset measures them.
type pixels struct{ *vgimg.Canvas }

func (c pixels) FillString(face font.Face, at vg.Point, s string) {
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

// encodeSVG draws the spec as an SVG whose text stays text. Where Liberation Sans is not installed its metric twins
// Arial and Helvetica take its place. Title and description are there for those who hear the chart.
func encodeSVG(s *Spec, o Options) ([]byte, error) {
	canvas := vgsvg.New(vg.Length(o.WidthInches)*vg.Inch, vg.Length(o.HeightInches)*vg.Inch)
	if err := render(s, canvas); err != nil {
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
	title := joinNotEmpty(append([]string{s.Title}, s.Marks...)...)
	body = strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	// Round joins as in the PNG: a mitre would let a spike end above its value.
	return []byte(head + `role="img" stroke-linejoin="round">` + "\n<title>" + html.EscapeString(printable(title)) + "</title>\n<desc>" +
		html.EscapeString(printable(strings.Join(s.Caption, " "))) + "</desc>\n" +
		`<rect width="100%" height="100%" style="fill:#FFFFFF"/>` + body), nil
}
