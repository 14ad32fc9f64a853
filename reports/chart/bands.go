package chart

import (
	"math"

	"leveret/analyze/result"
)

// ribbons cuts the ranges of a band, in the order of their X, where either end is no number (on a logarithmic axis: not above 0),
// and divides them by the axes' units. A long one is thinned as lines are: each strip of the paper is covered from its lowest to
// its highest.
func ribbons(ranges []Range, perX, perY float64, log bool) [][]Range {
	if len(ranges) > 4*strips {
		ranges = thinRanges(ranges)
	}
	var all [][]Range
	open := false
	for _, p := range ranges {
		q := Range{X: p.X / perX, Low: p.Low / perY, High: p.High / perY}
		switch {
		case !drawableRange(q) || log && q.Low <= 0:
			open = false
		case open:
			all[len(all)-1] = append(all[len(all)-1], q)
		default:
			all = append(all, []Range{q})
			open = true
		}
	}
	return all
}

func drawableRange(p Range) bool {
	return finite(p.X) && finite(p.Low) && finite(p.High) && p.Low <= p.High
}

// thinRanges makes two ranges of each strip, at its first and its last X, as high as all of its. A gap narrower than a strip closes.
func thinRanges(ranges []Range) []Range {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range ranges {
		if drawableRange(p) {
			lo, hi = math.Min(lo, p.X), math.Max(hi, p.X)
		}
	}
	var out []Range
	current, gap := -1, false
	for _, p := range ranges {
		if !drawableRange(p) {
			gap = true
			continue
		}
		strip := 0
		if hi > lo {
			strip = min(strips-1, int((p.X-lo)/(hi-lo)*strips))
		}
		if strip != current {
			if gap && strip > current+1 {
				out = append(out, Range{X: p.X, Low: math.NaN()})
			}
			out = append(out, p, p)
			current = strip
		}
		gap = false
		first, last := &out[len(out)-2], &out[len(out)-1]
		first.Low, first.High = math.Min(first.Low, p.Low), math.Max(first.High, p.High)
		*last = Range{X: p.X, Low: first.Low, High: first.High}
	}
	return out
}

// percentileBands lie between the lines of a chart of latency over time: from the median to 95 %, and from there to 99 %. Each is
// only where both of its percentiles are known.
func percentileBands(r *result.Result, t timeline, what, from string, perY float64, log bool) []Band {
	var all []Band
	for _, b := range []struct {
		coat      string
		low, high int // among result.Distribution.Percentiles
	}{{"half", 0, 2}, {"tint", 2, 3}} {
		low := t.overTime(r, quantileOf(what, from, b.low))
		high := t.overTime(r, quantileOf(what, from, b.high))
		ranges := make([]Range, len(low))
		for i := range low {
			ranges[i] = Range{X: low[i].X, Low: low[i].Y, High: high[i].Y}
		}
		if s := ribbons(ranges, t.unit.per, perY, log); len(s) > 0 {
			all = append(all, Band{Fill: Fill{Ink: skyBlue, Coat: b.coat}, Segments: s})
		}
	}
	return all
}

// quantileOf is one measured percentile of an interval, NaN where it is not known.
func quantileOf(what, from string, of int) func(*result.Interval) float64 {
	return func(in *result.Interval) float64 {
		v, atLeast := quantile{of: of}.value(in.Latency.Pick(what, from))
		if atLeast {
			return math.NaN()
		}
		return v
	}
}
