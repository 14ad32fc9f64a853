package chart

import "leveret/analyze/result"

// Spec is one chart as plain data. Coordinates are in the units that the axes name, transformed (log10, nines) nowhere
// but in the X of a percentile curve, whose axis says so.
type Spec struct {
	Name    string   `json:"name"`              // file name without its extension
	Title   string   `json:"title"`             // what the chart shows
	Marks   []string `json:"marks,omitempty"`   // what must not be overlooked: "FAIL", "incomplete recording", "embedded broker"
	Caption []string `json:"caption,omitempty"` // paragraphs below the chart; wrapped when drawn
	X       Axis     `json:"x"`
	Y       Axis     `json:"y"`
	Series  []Series `json:"series,omitempty"`
	Spans   []Span   `json:"spans,omitempty"`
	NoData  string   `json:"no_data,omitempty"` // why there is nothing to draw; then there are no series
}

// Axis with the ticks that are drawn. Min < Max, both finite; above 0 where Log is set.
type Axis struct {
	Label string  `json:"label"` // with the unit
	Log   bool    `json:"log,omitempty"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Ticks []Tick  `json:"ticks"`
}

// Tick marks a value within the axis. One without a label is a minor one.
type Tick struct {
	At    float64 `json:"at"`
	Label string  `json:"label,omitempty"`
}

// Series is one line. Segments are the stretches without a gap; a stretch of one point is drawn as a dot.
type Series struct {
	Name     string    `json:"name"`
	Style    Style     `json:"style"`
	Segments [][]Point `json:"segments,omitempty"`
	// Plain lines get no dots at their points, which are corners of steps or of a curve and not readings.
	Plain bool `json:"plain,omitempty"`
	// Bounds are values known from below only (messages that were never answered), drawn as upward triangles.
	Bounds []Point `json:"bounds,omitempty"`
}

// Point in axis units, finite.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Style of a line. No two series of a chart share both color and dash, so that they can be told apart without colors.
type Style struct {
	Color string  `json:"color"`          // #RRGGBB
	Dash  string  `json:"dash,omitempty"` // "" solid, "dash", "dot", "dashdot"
	Width float64 `json:"width"`          // points
}

// Span is a shaded stretch of the x axis. Count is how many spans of the result it stands for.
type Span struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Kind  string  `json:"kind"` // chooses the shade
	Label string  `json:"label"`
	Count int     `json:"count"`
}

// Specs builds all charts of a result, always the same ones in the same order (with transactions, commit latency in the place
// of confirm latency); those without data say why in NoData.
func Specs(r *result.Result) []Spec {
	specs := []Spec{ratesSpec(r)}
	for _, what := range r.LatencyKinds() {
		specs = append(specs, latencySpec(r, what))
	}
	return append(specs, percentilesSpec(r))
}

// Skipped names the charts that Write does not draw, each with the reason.
func Skipped(r *result.Result) []string {
	var notes []string
	if r == nil {
		return nil
	}
	for _, s := range Specs(r) {
		if s.NoData != "" {
			notes = append(notes, s.Name+": not drawn: "+s.NoData)
		}
	}
	return notes
}

// The palette of Okabe and Ito (Color Universal Design, 2008), told apart by people with any kind of colour vision.
const (
	black         = "#000000"
	orange        = "#E69F00"
	skyBlue       = "#56B4E9"
	bluishGreen   = "#009E73"
	blue          = "#0072B2"
	vermillion    = "#D55E00"
	reddishPurple = "#CC79A7"
	grey          = "#A0A0A0" // for what is only a reference
)
