package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// Chart is a chart for a page, drawn already: this package neither draws nor knows the drawing library.
type Chart struct {
	Name  string // "rates"; a place in the page is named after it
	Title string
	// About is what the chart shows in words: its caption, and what stands for it where it cannot be seen.
	About string
	// NoData is why there is no chart; then the page has this sentence in its place.
	NoData string
	// Wide is for a page of the usual width and for print, Narrow for a telephone; without it Wide serves there, too.
	Wide, Narrow []byte // SVG in the light theme
	// Plot has the values that are shown where the pointer is; nil: none.
	Plot *Plot
}

// Plot is the data of a chart in the units of its axes. The SVG says in its attribute data-panel ("left top right bottom", in the
// units of its viewBox) where the axes' ends are.
type Plot struct {
	X     PlotAxis   `json:"x"`
	Y     PlotAxis   `json:"y"`
	Lines []PlotLine `json:"lines"`
	// Sideways: the values are along x, and the points' first coordinate along y, where Names say what is there.
	Sideways bool       `json:"sideways,omitempty"`
	Names    []PlotName `json:"names,omitempty"`
	// Heat has the cells of a heat map, which has no lines; nil: it is none.
	Heat *PlotHeat `json:"heat,omitempty"`
}

// PlotHeat is what the cells of a heat map hold. Edges are those of all rows along y, rising; columns are from the left.
type PlotHeat struct {
	Name    string       `json:"name"` // what is counted: "messages in a cell"
	Edges   []float64    `json:"edges"`
	Columns []PlotColumn `json:"columns"`
}

// PlotColumn from From to To of the x axis has Counts in the rows from First on: Counts[i] lies between Edges[First+i] and the edge
// above it.
type PlotColumn struct {
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	First  int     `json:"first"`
	Counts []int64 `json:"counts"`
}

// PlotName names a place on the axis.
type PlotName struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// PlotAxis from Min to Max, by Scale: "" linear, "log", or "nines" for percentiles, where the value v stands for the
// percentile 100 (1 - 10^-v).
type PlotAxis struct {
	Label string  `json:"label"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Scale string  `json:"scale,omitempty"`
}

// PlotLine is one line of a chart; its points are by rising X, in float64s that are finite. One without a name adds places for the
// pointer, and shows its value only where no line has a name.
type PlotLine struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
}

// figure is a place for a drawing in the page.
type figure struct {
	chart *Chart
	id    string
	// drawn is an SVG element of this package's own, which scrolls where the screen is narrow; "": the chart is drawn.
	drawn template.HTML
}

// palette are the colours of a page's drawings that are others in the dark theme; each becomes a variable.
type palette struct {
	dark map[string]string // by the light theme's colour, as #RRGGBB
	used []string
}

var hexColor = regexp.MustCompile(`#[0-9A-Fa-f]{6}\b`)

// element makes an SVG element whose colours are those of the page's theme.
func (p *palette) element(file []byte, label string) string {
	return hexColor.ReplaceAllStringFunc(svgElement(file, label), func(light string) string {
		if _, ok := p.dark[light]; !ok {
			return light
		}
		if !slices.Contains(p.used, light) {
			p.used = append(p.used, light)
		}
		return "var(" + variable(light) + ")"
	})
}

func variable(color string) string { return "--c-" + color[1:] }

// css declares the variables of a theme.
func (p *palette) css(dark bool) string {
	var b strings.Builder
	for _, c := range p.used {
		value := c
		if dark {
			value = p.dark[c]
		}
		fmt.Fprintf(&b, "%s:%s;", variable(c), value)
	}
	return b.String()
}

var (
	svgSize   = regexp.MustCompile(`^<svg [^>]*>`)
	sizeAttrs = regexp.MustCompile(`\s+(width|height|xmlns|xmlns:xlink|role|aria-label)="[^"]*"`)
)

// svgElement takes an SVG file's prologue, size, title and comments away; the page gives it its width. label is read out in its place.
func svgElement(file []byte, label string) string {
	at := bytes.Index(file, []byte("<svg "))
	if at < 0 {
		return ""
	}
	s := string(file[at:])
	head := svgSize.FindString(s)
	rest := asides.ReplaceAllString(s[len(head):], "")
	return sizeAttrs.ReplaceAllString(head[:len(head)-1], "") + ` role="img" aria-label="` + template.HTMLEscapeString(label) + `">` + strings.TrimSpace(rest)
}

// asides are comments, and the title and description that a browser would show at the pointer, where the values are.
var asides = regexp.MustCompile(`(?s)<!--.*?-->|<title>.*?</title>|<desc>.*?</desc>`)

// documentFigure is a drawing as the page's template takes it.
type documentFigure struct {
	ID, Title, About, NoData, Class string
	Wide, Narrow                    template.HTML
	Plot                            template.JS
	Scroll                          bool
}

func documentFigureOf(f *figure, narrow bool, colors *palette) documentFigure {
	c := f.chart
	x := documentFigure{ID: f.id, Title: c.Title, About: c.About, NoData: c.NoData, Class: "chart"}
	switch {
	case c.NoData != "":
	case f.drawn != "":
		x.Wide, x.Class, x.Scroll = f.drawn, f.id, true
	default:
		x.Wide = template.HTML(colors.element(c.Wide, c.Title))
		if narrow && len(c.Narrow) > 0 {
			x.Narrow = template.HTML(colors.element(c.Narrow, c.Title))
		}
		if c.Plot != nil {
			if b, err := json.Marshal(c.Plot); err == nil { // escapes <, > and &
				x.Plot = template.JS(b)
			}
		}
	}
	return x
}

// charts shows the page's charts; those without data as a sentence.
func (p *page) charts() {
	if len(p.figures) == 0 {
		return
	}
	p.heading("Charts")
	for i := range p.figures {
		p.figure(i)
	}
}

// figure shows the i-th of the page's charts.
func (p *page) figure(i int) {
	c := &p.figures[i]
	c.Title, c.About, c.NoData = p.clean(c.Title), upperFirst(p.clean(c.About)), p.clean(c.NoData)
	p.add(block{kind: figureBlock, figure: &figure{chart: c, id: "chart-" + anchor(c.Name)}})
}
