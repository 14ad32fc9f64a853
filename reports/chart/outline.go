package chart

import (
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outline is a text as the outlines of its glyphs, kerned, its baseline beginning at a point: for formats that would need the
// font where the picture is shown. A glyph that cannot be read leaves its room.
func outline(face plotfont.Face, at vg.Point, s string) (path vg.Path) {
	var buf sfnt.Buffer
	perEm := face.Face.UnitsPerEm()
	ppem := fixed.Int26_6(perEm) // so that what comes back is in the units of the font
	scale := face.Font.Size / vg.Length(perEm)
	previous := sfnt.GlyphIndex(0)
	for i, c := range s {
		glyph, err := face.Face.GlyphIndex(&buf, c)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := face.Face.Kern(&buf, previous, glyph, ppem, font.HintingNone); err == nil {
				at.X += vg.Length(kern) * scale
			}
		}
		previous = glyph
		if segments, err := face.Face.LoadGlyph(&buf, glyph, ppem, nil); err == nil {
			path = appendGlyph(path, segments, at, scale)
		}
		if advance, err := face.Face.GlyphAdvance(&buf, glyph, ppem, font.HintingNone); err == nil {
			at.X += vg.Length(advance) * scale
		}
	}
	return path
}

// appendGlyph adds a glyph's contours, its quadratic curves raised to cubic ones, which all formats draw alike.
func appendGlyph(path vg.Path, segments sfnt.Segments, at vg.Point, scale vg.Length) vg.Path {
	point := func(p fixed.Point26_6) vg.Point { // the font's y goes down
		return vg.Point{X: at.X + vg.Length(p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
	}
	between := func(a, b vg.Point) vg.Point { // two thirds of the way to b
		return vg.Point{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3}
	}
	var pen vg.Point
	for i, s := range segments {
		switch end := point(s.Args[0]); s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(end)
			pen = end
		case sfnt.SegmentOpLineTo:
			path.Line(end)
			pen = end
		case sfnt.SegmentOpQuadTo:
			control, end := point(s.Args[0]), point(s.Args[1])
			path.CubeTo(between(pen, control), between(end, control), end)
			pen = end
		case sfnt.SegmentOpCubeTo:
			end := point(s.Args[2])
			path.CubeTo(point(s.Args[0]), point(s.Args[1]), end)
			pen = end
		}
	}
	if len(segments) > 0 {
		path.Close()
	}
	return path
}
