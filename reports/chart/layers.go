package chart

// The layers of a Spec besides its lines. From the bottom up: Bands, the grid, Cells, Bars, Rows, Series, Dots.

// Fill of an area: an ink of the Theme and how it is laid on. Those of a chart are told apart without colours, too.
type Fill struct {
	Ink string `json:"ink"`
	// Coat is "tint" (a quarter of the ink, under lines), "half", or "" for the full ink (in print with a pattern of its own).
	Coat string `json:"coat,omitempty"`
}

// Band is the area between two lines over the same x.
type Band struct {
	Name     string    `json:"name"`
	Fill     Fill      `json:"fill"`
	Segments [][]Range `json:"segments"`
}

// Range of y at an x; Low <= High.
type Range struct {
	X    float64 `json:"x"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bars are one series of bars, each from 0 (on a logarithmic axis from its end) to Value along y, between From and To of the x axis,
// all in axis units. Where they lie on their sides it is along x, between From and To of the y axis.
type Bars struct {
	Name     string `json:"name"`
	Fill     Fill   `json:"fill"`
	Sideways bool   `json:"sideways,omitempty"`
	Bars     []Bar  `json:"bars"`
}

// Bar with the interval in which its value is known, or between which several values lie; nil where there is none.
type Bar struct {
	From  float64  `json:"from"`
	To    float64  `json:"to"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Dots are values with intervals that stand for themselves: on a logarithmic axis the length of a bar says nothing. A style of
// greater width makes larger ones.
type Dots struct {
	Name  string `json:"name"`
	Style Style  `json:"style"`
	Shape string `json:"shape"` // "circle", "square", "diamond", "cross"
	// Sideways: intervals and bounds are along x.
	Sideways bool `json:"sideways,omitempty"`
	// Joined: a line goes through them.
	Joined bool  `json:"joined,omitempty"`
	Dots   []Dot `json:"dots"`
}

// Dot in axis units. One that is a bound is known from below only, and drawn as a triangle that points to where it may lie.
type Dot struct {
	X     float64  `json:"x"`
	Y     float64  `json:"y"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Bound bool     `json:"bound,omitempty"`
	// Apart: the line that joins the others does not go through it.
	Apart bool `json:"apart,omitempty"`
}

// Cells are a heat map. A cell of level i holds From[i] or more of what Name says, and fewer than From[i+1]; the theme's heat goes
// from the lowest to the highest level.
type Cells struct {
	Name  string    `json:"name"`
	From  []float64 `json:"from"`
	Cells []Cell    `json:"cells"` // those that hold anything
	// Counted are the counts behind the levels, by column from the left; those that hold nothing are not there.
	Counted []CountedColumn `json:"-"`
}

// CountedColumn from X0 to X1 has cells upwards, in axis units.
type CountedColumn struct {
	X0, X1 float64
	Cells  []CountedCell
}

// CountedCell from Y0 to Y1 holds Count.
type CountedCell struct {
	Y0, Y1 float64
	Count  int64
}

// Cell from X0 to X1 and Y0 to Y1 in axis units.
type Cell struct {
	X0    float64 `json:"x0"`
	X1    float64 `json:"x1"`
	Y0    float64 `json:"y0"`
	Y1    float64 `json:"y1"`
	Level int     `json:"level"`
}

// Rows are members of something, one below the other, each with the range of its values along x. The labels of the y axis name them.
type Rows struct {
	Line Style `json:"line"` // from Row.From to Row.To; the dot is of its ink
	Box  Fill  `json:"box"`
	Rows []Row `json:"rows"`
	// What the parts of a row are, for the legend.
	LineName string `json:"line_name"`
	BoxName  string `json:"box_name"`
	DotName  string `json:"dot_name"`
}

// Row in axis units: a line from From to To, a box from Low to High, a dot at Dot. Nil is not known. Bound is known from below only,
// and drawn as a triangle.
type Row struct {
	At    float64  `json:"at"`   // middle of the row
	Half  float64  `json:"half"` // half its height
	From  *float64 `json:"from,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	To    *float64 `json:"to,omitempty"`
	Dot   *float64 `json:"dot,omitempty"`
	Bound *float64 `json:"bound,omitempty"`
}

// gridTicks are where lines of the grid lie: at ticks, and between categories.
func (a *Axis) gridTicks() []Tick {
	if !a.Category {
		return a.Ticks
	}
	var between []Tick
	for at := a.Min + 1; at < a.Max && len(between) < len(a.Ticks); at++ {
		between = append(between, Tick{At: at})
	}
	return between
}

// empty tells whether there is nothing to draw.
func (s *Spec) empty() bool {
	return len(s.Series)+len(s.Bands)+len(s.Bars)+len(s.Dots) == 0 && s.Cells == nil && s.Rows == nil
}
