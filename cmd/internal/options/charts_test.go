package options

import (
	"math"
	"strings"
	"testing"
)

func TestChartOptions(t *testing.T) {
	set, o := NewAnalyze()
	if _, err := set.Parse(strings.Fields("a --charts out --chart rates --chart percentiles,backlog --chart-format pdf,tex --chart-style print --chart-size 84x60mm --chart-dpi 300 --chart-font serif")); err != nil {
		t.Fatal(err)
	}
	if c := o.Report.ChartOptions; strings.Join(c.ChartNames, " ") != "rates percentiles backlog" || strings.Join(c.ChartFormat, " ") != "pdf tex" ||
		c.Charts != "out" || c.ChartStyle != "print" || c.ChartDPI != 300 || c.ChartFont != "serif" {
		t.Errorf("%+v", c)
	}
	if set, o = NewAnalyze(); strings.Join(o.Report.ChartFormat, " ") != "png svg" || o.Report.ChartSize != (PageSize{8, 4.5}) || o.Report.ChartDPI != 200 {
		t.Errorf("by default %+v", o.Report.ChartOptions)
	}
	if got := set.Values()["chart-size"]; got != "8x4.5in" {
		t.Errorf("the record says %s", got)
	}
}

func TestChartSizes(t *testing.T) {
	for text, want := range map[string]PageSize{
		"8x4.5": {8, 4.5}, "7x4in": {7, 4}, "3.3inx2.4in": {3.3, 2.4}, "25.4x12.7cm": {10, 5}, "127x63.5mm": {5, 2.5}, "254mmx127mm": {10, 5}, "16X9CM": {16 / 2.54, 9 / 2.54},
		"3x2": {3, 2}, "40x40": {40, 40},
	} {
		set, o := NewAnalyze()
		if _, err := set.Parse([]string{"--chart-size", text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := o.Report.ChartSize; math.Abs(got.WidthIn-want.WidthIn) > 1e-12 || math.Abs(got.HeightIn-want.HeightIn) > 1e-12 {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "must be a width and a height", "8": "must be a width and a height", "x": "must be a width and a height", "8x": "must be a width and a height",
		"8x4.5ft": "must be a width and a height", "axb": "must be a width and a height", "8x4x3": "must be a width and a height",
		"2x2": "the width must be 3 to 40 inches, 76.2 to 1016 mm", "60x60mm": "the width must be 3 to 40 inches", "8x1": "the height must be 2 to 40 inches, 50.8 to 1016 mm",
		"NaNx4": "the width must be", "8xNaN": "the height must be", "-8x4": "the width must be", "8xInf": "the height must be", "1e300x4": "the width must be",
	} {
		set, _ := NewAnalyze()
		if _, err := set.Parse([]string{"--chart-size", text}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--chart-size") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestChartErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--chart-format gif": `"gif" is none of svg, png, pdf, eps, tex`, "--chart-style neon": "must be one of light, dark, print", "--chart-font Times": "must be one of sans, serif, mono",
		"--chart-dpi 10": "50", "--chart-dpi 5000": "1200", "--chart rates --chart rates": "stands there twice", "--chart ,": "names nothing",
	} {
		set, _ := NewAnalyze()
		if _, err := set.Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strings.Fields(args)[0]) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	for _, c := range []struct {
		args, want string
	}{
		{"--chart rates", "--chart=rates: where to? give --charts DIR, too"},
		{"--charts charts_test.go", "--charts=charts_test.go: is a file; give a directory"},
		{"--chart rates --charts new", ""},
	} {
		set, o := NewAnalyze()
		if _, err := set.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		if err := o.Report.Check(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
	if err := (&ChartOptions{ChartNames: []string{"rates"}}).Check("html", "html"); err != nil {
		t.Errorf("a report that has charts in itself: %v", err)
	}
}
