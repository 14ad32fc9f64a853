package suite

import (
	"math"
	"strconv"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// tried is a value, and whether a run kept its bounds at it.
type tried struct {
	value float64
	kept  bool
}

// next is the value to try after those that were, in their order; done where the highest one is known as closely as asked for.
// The values double until one is not kept (or halve until one is), then the span between is halved.
func (s *Search) next(before []tried) (value float64, done bool) {
	low, high := 0.0, math.Inf(1)
	for _, t := range before {
		if t.kept {
			low = max(low, t.value)
		} else {
			high = min(high, t.value)
		}
	}
	switch {
	case len(before) == 0:
		return s.From, false
	case low >= s.To || len(before) >= mostProbes:
		return low, true
	case math.IsInf(high, 1):
		return math.Min(low*2, s.To), false
	case low == 0 && high <= 1:
		return 0, true
	case low == 0:
		return math.Max(1, math.Floor(high/2)), false
	case high-low <= max(1, low*s.Precision/100):
		return low, true
	}
	return math.Round((low + high) / 2), false
}

// mostProbes bounds a search whatever it finds.
const mostProbes = 60

// best is the highest value that was kept; 0 where none was.
func best(all []tried) (value float64) {
	for _, t := range all {
		if t.kept {
			value = max(value, t.value)
		}
	}
	return value
}

// keeps tells whether a run kept the bounds of the search, and if not, why.
func (s *Search) keeps(r *result.Result) (bool, string) {
	for _, f := range []struct {
		what   string
		is, of *float64
	}{{"sent", r.Rates.Sent, r.Config.RateTotal}, {"received", r.Rates.Received, expectedReceived(r)}} {
		if f.of == nil || f.is == nil || *f.of == 0 {
			continue
		}
		if share := *f.is / *f.of * 100; share < s.Keep {
			return false, strconv.FormatFloat(share, 'f', 1, 64) + " % of what should have been was " + f.what
		}
	}
	for _, b := range s.Bound {
		a, err := assert.Parse(b)
		if err != nil {
			return false, err.Error()
		}
		if x := a.Judge(r); !x.Met {
			return false, b + ": " + x.Describe()
		}
	}
	if s.Backlog > 0 {
		if n := backlog(r); n == nil || float64(*n) > s.Backlog {
			return false, "the backlog was larger than " + strconv.FormatFloat(s.Backlog, 'f', -1, 64)
		}
	}
	for _, f := range r.Findings {
		if f.Severity == result.SeverityFail {
			return false, f.Code
		}
	}
	return true, ""
}

// expectedReceived is the rate of deliveries that the offered rate comes to; nil where it is not known.
func expectedReceived(r *result.Result) *float64 {
	if r.Config.RateTotal == nil || r.Config.Consumers == 0 || r.Config.FanOut == 0 {
		return nil
	}
	v := *r.Config.RateTotal * float64(r.Config.FanOut)
	return &v
}

// backlog is the largest one at the end of an interval of the window; nil where it is not known.
func backlog(r *result.Result) *int64 {
	var most *int64
	for i := range r.Intervals {
		if x := &r.Intervals[i]; x.Phase == "run" && x.BacklogEnd != nil && (most == nil || *x.BacklogEnd > *most) {
			most = x.BacklogEnd
		}
	}
	return most
}
