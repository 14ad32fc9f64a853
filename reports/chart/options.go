package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Options say which charts are made, and what of. The zero value draws the usual charts as PNG and SVG, light, 8 by 4.5
// inches, PNG at 200 dots per inch (1600 by 900 pixels).
type Options struct {
	Formats  []string // among Formats; none: png and svg
	Names    []string // among Names(); none: the usual ones
	Style    string   // among Styles; "": light
	WidthIn  float64  // inches, MinWidthIn to MaxIn; 0: 8
	HeightIn float64  // inches, MinHeightIn to MaxIn; 0: 4.5
	DPI      int      // of PNG, MinDPI to MaxDPI; 0: 200
	Font     string   // among Fonts; "": sans
	// NoCaption draws neither title nor caption, for a paper has its own. Marks stay, and the texts that an SVG has for those who
	// hear it.
	NoCaption bool
}

// Limits of Options.
const (
	MinWidthIn, MinHeightIn, MaxIn = 3, 2, 40
	MinDPI, MaxDPI                 = 50, 1200
)

// A page where no other size is asked for, in inches. Type and lines are made for it.
const (
	defaultWidth  = 8.0
	defaultHeight = 4.5
	defaultDPI    = 200
)

// Formats that Encode knows. PNG has pixels, the others lines: SVG, PDF and EPS are documents of one page, TeX is a pgfpicture
// for \input into a LaTeX document that uses the package pgf, whose fonts it takes.
var Formats = []string{"svg", "png", "pdf", "eps", "tex"}

// mostPixels bounds the memory that one picture takes (4 bytes a pixel).
const mostPixels = 64 << 20

// Check fills in what is not set and says what cannot be drawn.
func (o *Options) Check() error {
	if len(o.Formats) == 0 {
		o.Formats = []string{"png", "svg"}
	}
	for _, f := range o.Formats {
		if !slices.Contains(Formats, f) {
			return fmt.Errorf("chart format %q is unknown: use %s", f, strings.Join(Formats, ", "))
		}
	}
	if err := CheckNames(o.Names); err != nil {
		return err
	}
	if ThemeOf(o.Style) == nil {
		return fmt.Errorf("chart style %q is unknown: use %s", o.Style, strings.Join(Styles, ", "))
	}
	if o.Font != "" && !slices.Contains(Fonts, o.Font) {
		return fmt.Errorf("chart font %q is not among those that are built in: use %s", o.Font, strings.Join(Fonts, ", "))
	}
	o.setDefaults()
	switch {
	case !(o.WidthIn >= MinWidthIn && o.WidthIn <= MaxIn):
		return fmt.Errorf("chart width %g inches: use %d to %d", o.WidthIn, MinWidthIn, MaxIn)
	case !(o.HeightIn >= MinHeightIn && o.HeightIn <= MaxIn):
		return fmt.Errorf("chart height %g inches: use %d to %d", o.HeightIn, MinHeightIn, MaxIn)
	case o.DPI < MinDPI || o.DPI > MaxDPI:
		return fmt.Errorf("chart resolution %d dots per inch: use %d to %d", o.DPI, MinDPI, MaxDPI)
	case o.WidthIn*o.HeightIn*float64(o.DPI)*float64(o.DPI) > mostPixels:
		return fmt.Errorf("chart of %g by %g inches at %d dots per inch has more than %d million pixels: make it smaller or coarser",
			o.WidthIn, o.HeightIn, o.DPI, mostPixels>>20)
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.Style == "" {
		o.Style = Styles[0]
	}
	if o.Font == "" {
		o.Font = Fonts[0]
	}
	if o.WidthIn == 0 {
		o.WidthIn = defaultWidth
	}
	if o.HeightIn == 0 {
		o.HeightIn = defaultHeight
	}
	if o.DPI == 0 {
		o.DPI = defaultDPI
	}
}
