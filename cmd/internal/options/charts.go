package options

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ChartOptions holds the options that say which charts are drawn, and how; run, analyze and compare share them. Whether there is a chart
// of a name only the package that draws knows.
type ChartOptions struct {
	Charts      string // directory; "" : none
	ChartFormat []string
	ChartNames  []string // empty: those that make sense
	ChartStyle  string   // light, dark, print
	ChartFont   string   // sans, serif, mono
	// ChartCaption is "on", or "off" for charts without title and caption.
	ChartCaption string
	ChartSize    PageSize
	ChartDPI     int
}

// PageSize in inches.
type PageSize struct{ WidthIn, HeightIn float64 }

// The bounds of a page and of its resolution.
const (
	leastChartWidth, leastChartHeight, mostChartSide = 3, 2, 40
	leastChartDPI, mostChartDPI                      = 50, 1200
)

// Check refuses a directory that is a file, and charts that would be written nowhere: the formats are those of a report that
// has charts in itself.
func (c *ChartOptions) Check(format string, withCharts ...string) error {
	if info, err := os.Stat(c.Charts); c.Charts != "" && err == nil && !info.IsDir() {
		return fmt.Errorf("--charts=%s: is a file; give a directory", c.Charts)
	}
	if c.Charts == "" && len(c.ChartNames) > 0 && !slices.Contains(withCharts, format) {
		return fmt.Errorf("--chart=%s: where to? give --charts DIR, too", strings.Join(c.ChartNames, ","))
	}
	return nil
}

func (c *ChartOptions) options() []*Option {
	return []*Option{
		{Name: "charts", Arg: "DIR", Group: groupReport, value: text(&c.Charts, ""), Help: "write charts into this directory, each with its figures as CSV beside it"},
		{Name: "chart", Arg: "NAME", Group: groupReport, value: names(&c.ChartNames), Help: "this chart, in the place of those that make sense, such as rates; may be repeated; a wrong name lists all"},
		{Name: "chart-format", Arg: "FORMAT,...", Group: groupReport, value: choices(&c.ChartFormat, "png,svg", "svg", "png", "pdf", "eps", "tex"), Help: "formats of the charts: svg, png, pdf, eps, tex"},
		{Name: "chart-style", Arg: "STYLE", Group: groupReport, value: choice(&c.ChartStyle, "light", "light", "dark", "print"), Help: "light, dark, or print: greys, dashes and hatches, for paper without colour"},
		{Name: "chart-size", Arg: "WxH", Group: groupReport, value: pageSize(&c.ChartSize, PageSize{8, 4.5}), Help: "width and height of a chart, in inches unless cm or mm stands behind: 3.3x2.4, 16x9cm, 84x60mm"},
		{Name: "chart-dpi", Arg: "DPI", Group: groupReport, value: integer(&c.ChartDPI, 200, leastChartDPI, mostChartDPI), Help: "pixels per inch of png charts"},
		{Name: "chart-font", Arg: "FONT", Group: groupReport, value: choice(&c.ChartFont, "sans", "sans", "serif", "mono"), Help: "font of the charts, built in: sans, serif or mono; tex charts take the document's"},
		{Name: "chart-caption", Arg: "on|off", Group: groupReport, value: choice(&c.ChartCaption, "on", "on", "off"), Help: "off leaves title and caption out, for a paper that has its own; FAIL and embedded broker stay"},
	}
}

// names is a list that grows with each use of the option.
func names(p *[]string) value {
	return value{func() string { return strings.Join(*p, ",") }, func(s string) error {
		for item := range strings.SplitSeq(s, ",") {
			switch item = strings.TrimSpace(item); {
			case item == "":
				return errors.New("names nothing")
			case contains(*p, item):
				return fmt.Errorf("%q stands there twice: name it once", item)
			}
			*p = append(*p, item)
		}
		return nil
	}, "names"}
}

// perInch of the units of a page.
var perInch = map[string]float64{"in": 1, "cm": 2.54, "mm": 25.4}

// pageSize reads 8x4.5, 8x4.5in, 8inx4.5in, 16x9cm, 84x60mm.
func pageSize(p *PageSize, initial PageSize) value {
	*p = initial
	return value{func() string {
		return strconv.FormatFloat(p.WidthIn, 'g', 6, 64) + "x" + strconv.FormatFloat(p.HeightIn, 'g', 6, 64) + "in"
	}, func(s string) error {
		w, h, ok := strings.Cut(strings.ToLower(s), "x")
		unit := unitOf(h)
		width, err := inches(strings.TrimSuffix(w, unit), unit)
		height, errH := inches(strings.TrimSuffix(h, unit), unit)
		switch {
		case !ok || err != nil || errH != nil:
			return errors.New("must be a width and a height, such as 7x4, 16x9cm or 84x60mm; without a unit they are inches")
		case !(width >= leastChartWidth && width <= mostChartSide):
			return fmt.Errorf("the width must be %d to %d inches, %.4g to %.5g mm", leastChartWidth, mostChartSide, leastChartWidth*25.4, mostChartSide*25.4)
		case !(height >= leastChartHeight && height <= mostChartSide):
			return fmt.Errorf("the height must be %d to %d inches, %.4g to %.5g mm", leastChartHeight, mostChartSide, leastChartHeight*25.4, mostChartSide*25.4)
		}
		*p = PageSize{width, height}
		return nil
	}, "size"}
}

// unitOf is the unit that s ends in, "" where there is none.
func unitOf(s string) string {
	for unit := range perInch {
		if strings.HasSuffix(s, unit) {
			return unit
		}
	}
	return ""
}

func inches(s, unit string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if unit != "" {
		v /= perInch[unit]
	}
	return v, err
}
