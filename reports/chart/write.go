package chart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// Options of Write. The zero value draws PNG and SVG, 8 by 4.5 inches, PNG at 200 dots per inch (1600 by 900 pixels).
type Options struct {
	Formats      []string // png, svg; none: both
	WidthInches  float64  // 3 to 40; 0: 8
	HeightInches float64  // 2 to 40; 0: 4.5
	DPI          int      // of PNG, 50 to 1200; 0: 200
}

// Formats that Write knows.
var Formats = []string{"png", "svg"}

// mostPixels bounds the memory that one picture takes (4 bytes a pixel).
const mostPixels = 64 << 20

// Check fills in what is not set and says what cannot be drawn.
func (o *Options) Check() error {
	if len(o.Formats) == 0 {
		o.Formats = Formats
	}
	for _, f := range o.Formats {
		if !slices.Contains(Formats, f) {
			return fmt.Errorf("chart format %q is unknown: use %s", f, strings.Join(Formats, " or "))
		}
	}
	if o.WidthInches == 0 {
		o.WidthInches = defaultWidth
	}
	if o.HeightInches == 0 {
		o.HeightInches = defaultHeight
	}
	if o.DPI == 0 {
		o.DPI = 200
	}
	switch {
	case !(o.WidthInches >= 3 && o.WidthInches <= 40):
		return fmt.Errorf("chart width %g inches: use 3 to 40", o.WidthInches)
	case !(o.HeightInches >= 2 && o.HeightInches <= 40):
		return fmt.Errorf("chart height %g inches: use 2 to 40", o.HeightInches)
	case o.DPI < 50 || o.DPI > 1200:
		return fmt.Errorf("chart resolution %d dots per inch: use 50 to 1200", o.DPI)
	case o.WidthInches*o.HeightInches*float64(o.DPI)*float64(o.DPI) > mostPixels:
		return fmt.Errorf("chart of %g by %g inches at %d dots per inch has more than %d million pixels: make it smaller or coarser",
			o.WidthInches, o.HeightInches, o.DPI, mostPixels>>20)
	}
	return nil
}

// Write draws the charts of a result into dir, which it makes if need be, and returns the files' paths in a fixed order.
// Charts without data are left out; Skipped names them. Files of the same names are replaced, each as a whole. An error
// of one chart does not keep the others from being drawn.
func Write(dir string, r *result.Result, o Options) (files []string, err error) {
	if r == nil {
		return nil, errors.New("draw charts: there is no result")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("draw charts: %w", err)
	}
	var errs []error
	for _, s := range Specs(r) {
		if s.NoData != "" {
			continue
		}
		for _, format := range o.Formats {
			path := filepath.Join(dir, s.Name+"."+format)
			if err := writeChart(path, &s, format, o); err != nil {
				errs = append(errs, fmt.Errorf("draw chart: %s: %w", path, err))
				continue
			}
			files = append(files, path)
		}
	}
	return files, errors.Join(errs...)
}

// Encode draws one spec in one of the Formats.
func Encode(s *Spec, format string, o Options) ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	switch format {
	case "png":
		return encodePNG(s, o)
	case "svg":
		return encodeSVG(s, o)
	}
	return nil, fmt.Errorf("chart format %q is unknown: use %s", format, strings.Join(Formats, " or "))
}

// writeChart replaces the file at path, so that nobody ever reads half a picture.
func writeChart(path string, s *Spec, format string, o Options) error {
	b, err := Encode(s, format, o)
	if err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, b, 0o644); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		os.Remove(part)
		return err
	}
	return nil
}
