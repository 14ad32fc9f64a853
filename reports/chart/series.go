package chart

import (
	"cmp"
	"math"
	"slices"
)

// strips is how many vertical strips a line is thinned to. A chart is some 500 points wide on paper; beyond this count
// neighbouring values fall onto the same dot of a printer.
const strips = 800

// segments cuts points, in the order of their X, at the gaps: where Y is NaN or infinite. Lines that are too long are
// thinned: of each strip the first, lowest, highest and last point stay, so that the drawn line covers what the whole
// line would cover, and gaps narrower than a strip close.
func segments(points []Point) [][]Point {
	real := 0
	for _, p := range points {
		if drawable(p) {
			real++
		}
	}
	if real > 4*strips {
		points = thin(points)
	}
	var all [][]Point
	open := false
	for _, p := range points {
		switch {
		case !drawable(p):
			open = false
		case open:
			all[len(all)-1] = append(all[len(all)-1], p)
		default:
			all = append(all, []Point{p})
			open = true
		}
	}
	return all
}

func drawable(p Point) bool { return finite(p.X) && finite(p.Y) }

// thin keeps at most four points a strip, with a gap where a strip or more is empty because of one.
func thin(points []Point) []Point {
	lo, hi := extent(points, func(p Point) float64 { return p.X })
	width := (hi - lo) / strips
	strip := func(p Point) int {
		if !(width > 0) { // all at one place
			return 0
		}
		return min(strips-1, int((p.X-lo)/width))
	}
	var out, pending []Point
	current, gap := -1, false
	flush := func() {
		out = append(out, corners(pending)...)
		pending = pending[:0]
	}
	for _, p := range points {
		if !drawable(p) {
			gap = true
			continue
		}
		if s := strip(p); s != current {
			flush()
			if gap && current >= 0 && s > current+1 {
				out = append(out, Point{X: p.X, Y: math.NaN()})
			}
			current = s
		}
		gap = false
		pending = append(pending, p)
	}
	flush()
	return out
}

// corners are the first, lowest, highest and last of points, in their order and each once.
func corners(points []Point) []Point {
	if len(points) <= 4 {
		return points
	}
	lowest, highest := 0, 0
	for i, p := range points {
		if p.Y < points[lowest].Y {
			lowest = i
		}
		if p.Y > points[highest].Y {
			highest = i
		}
	}
	keep := []int{0, lowest, highest, len(points) - 1}
	slices.Sort(keep)
	var out []Point
	for _, i := range slices.Compact(keep) {
		out = append(out, points[i])
	}
	return out
}

// thinBounds keeps the highest bound of each strip.
func thinBounds(points []Point) []Point {
	const most = strips / 8 // triangles are wide
	points = slices.DeleteFunc(points, func(p Point) bool { return !drawable(p) })
	if len(points) <= most {
		return points
	}
	lo, hi := extent(points, func(p Point) float64 { return p.X })
	best := make([]*Point, most)
	for i := range points {
		s := 0
		if hi > lo {
			s = min(most-1, int((points[i].X-lo)/(hi-lo)*most))
		}
		if best[s] == nil || points[i].Y > best[s].Y {
			best[s] = &points[i]
		}
	}
	var out []Point
	for _, p := range best {
		if p != nil {
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return out
}

// extent is the least and the greatest of a coordinate of the points that can be drawn; NaN where there are none.
func extent(points []Point, of func(Point) float64) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, p := range points {
		if !drawable(p) {
			continue
		}
		v := of(p)
		if !(lo <= v) {
			lo = v
		}
		if !(hi >= v) {
			hi = v
		}
	}
	return lo, hi
}

// line is a series before it has an axis: values in base units, NaN where there is a gap.
type line struct {
	name   string
	style  Style
	points []Point
	bounds []Point
	plain  bool
	// denseFrom is the number of points from which on the line is drawn thin and solid; 0: never.
	denseFrom int
}

// spread is the extent of all values of some lines, and of the positive ones among them; notPositive counts the others,
// notPositiveIn names the lines that have some.
type spread struct {
	lo, hi        float64
	positiveLo    float64
	highestBound  float64 // 0 without bounds
	notPositive   int
	notPositiveIn []string
	points        int
}

func spreadOf(lines []line) spread {
	s := spread{lo: math.NaN(), hi: math.NaN(), positiveLo: math.NaN()}
	for _, l := range lines {
		for _, p := range l.bounds {
			if drawable(p) {
				s.highestBound = max(s.highestBound, p.Y)
			}
		}
		for _, p := range slices.Concat(l.points, l.bounds) {
			if !drawable(p) {
				continue
			}
			s.points++
			if !(s.lo <= p.Y) {
				s.lo = p.Y
			}
			if !(s.hi >= p.Y) {
				s.hi = p.Y
			}
			if p.Y <= 0 {
				s.notPositive++
				if n := len(s.notPositiveIn); n == 0 || s.notPositiveIn[n-1] != l.name {
					s.notPositiveIn = append(s.notPositiveIn, l.name)
				}
			} else if !(s.positiveLo <= p.Y) {
				s.positiveLo = p.Y
			}
		}
	}
	return s
}

// logFrom is the ratio of largest to smallest value from which on an axis is logarithmic: on a linear one the smaller
// values would lie on the axis.
const logFrom = 50

func (s spread) wantsLog() bool { return s.positiveLo > 0 && s.hi/s.positiveLo > logFrom }

// The number of points from which on a line over time is drawn thin and without dashes: between all neighbouring dots of
// the paper it goes up and down, its dashes would be a hatching, and a spike could hide between two of them. Rates bear
// more: while a run keeps pace they lie on each other, and only dashes show all of them.
const (
	denseLatency = 400
	denseRates   = 2 * strips
)

func dense(l line) Style {
	s := l.style
	if l.denseFrom > 0 && len(l.points) > l.denseFrom && s.Color != grey {
		s.Dash, s.Width = "", min(s.Width, 0.9)
	}
	return s
}

// toSeries turns lines into series on the axes' scales. On a logarithmic axis values that are not above 0 become gaps.
func toSeries(lines []line, perX, perY float64, log bool) []Series {
	var all []Series
	for _, l := range lines {
		to := func(points []Point) []Point {
			out := make([]Point, 0, len(points))
			for _, p := range points {
				q := Point{X: p.X / perX, Y: p.Y / perY}
				if log && !(p.Y > 0) {
					q.Y = math.NaN()
				}
				out = append(out, q)
			}
			return out
		}
		s := Series{Name: l.name, Style: dense(l), Segments: segments(to(l.points)), Bounds: thinBounds(to(l.bounds)), Plain: l.plain}
		if len(s.Segments)+len(s.Bounds) > 0 {
			all = append(all, s)
		}
	}
	if len(all) == 1 { // nothing to tell it from
		all[0].Style.Dash = ""
	}
	return all
}
