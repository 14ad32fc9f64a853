package chart

import "iter"

// Spec is one chart as plain data. Coordinates are in the units that the axes name, transformed (log10, nines) nowhere
// but in the X of a percentile curve, whose axis says so.
type Spec struct {
	Name    string   `json:"name"`              // file name without its extension
	Title   string   `json:"title"`             // what the chart shows
	Marks   []string `json:"marks,omitempty"`   // what must not be overlooked: "FAIL", "incomplete recording", "embedded broker"
	Caption []string `json:"caption,omitempty"` // paragraphs below the chart; wrapped when drawn
	X       Axis     `json:"x"`
	Y       Axis     `json:"y"`
	Cells   *Cells   `json:"cells,omitempty"`
	Bands   []Band   `json:"bands,omitempty"`
	Bars    []Bars   `json:"bars,omitempty"`
	Rows    *Rows    `json:"rows,omitempty"`
	Series  []Series `json:"series,omitempty"`
	Dots    []Dots   `json:"dots,omitempty"`
	Spans   []Span   `json:"spans,omitempty"`
	Events  []Event  `json:"events,omitempty"`
	NoData  string   `json:"no_data,omitempty"` // why there is nothing to draw; then there is no layer
	// Table has the figures behind the chart, all of them and unrounded, for the CSV file beside it. Nil: what is drawn.
	Table *Table `json:"-"`
}

// Table of figures. Column names end in their unit.
type Table struct {
	Columns []string
	// Rows are given one after the other, each with a cell a column; the slice is the callee's again when yield returns. An
	// empty cell is a value that is not there.
	Rows iter.Seq[[]string]
}

// Axis with the ticks that are drawn. Min < Max, both finite; above 0 where Log is set.
type Axis struct {
	Label string `json:"label"` // with the unit
	Log   bool   `json:"log,omitempty"`
	// Category: the ticks are names of what lies beside each other, a unit each.
	Category bool    `json:"category,omitempty"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Ticks    []Tick  `json:"ticks"`
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
	Color string  `json:"color"`          // name of an ink of the Theme
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

// Event is an instant on the x axis: one that somebody marked, or the first message of a finding.
type Event struct {
	At    float64 `json:"at"`
	Kind  string  `json:"kind"` // "mark" or "lost"; chooses the colour
	Label string  `json:"label"`
}
