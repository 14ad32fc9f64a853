package compare

import (
	"math"
	"slices"

	"leveret/analyze/result"
)

// blockLength is how many parts a block has: the longest that any of the run's series asks for.
func (s *resampling) blockLength() int {
	block := 1
	for _, of := range []func(x *result.Interval) (above, below float64, ok bool){
		func(x *result.Interval) (float64, float64, bool) {
			return float64(x.Sent), float64(x.EndNS - x.StartNS), s.run.Rates.Sent != nil
		},
		func(x *result.Interval) (float64, float64, bool) {
			return float64(x.Received), float64(x.EndNS - x.StartNS), s.run.Rates.Received != nil
		},
		meanSeries("confirm"), meanSeries("commit"), meanSeries("delivery"),
	} {
		var series []float64
		for _, part := range s.parts {
			a, b := 0.0, 0.0
			for _, k := range part {
				if above, below, ok := of(&s.run.Intervals[k]); ok {
					a, b = a+above, b+below
				}
			}
			if b > 0 {
				series = append(series, a/b)
			}
		}
		block = max(block, blockFor(series))
	}
	return block
}

// meanSeries is the mean latency by interval, from due where there is such a time.
func meanSeries(what string) func(x *result.Interval) (float64, float64, bool) {
	return func(x *result.Interval) (float64, float64, bool) {
		d := x.Latency.Pick(what, "response")
		if d == nil {
			d = x.Latency.Pick(what, "service")
		}
		if d == nil || d.MeanNS == nil {
			return 0, 0, false
		}
		return *d.MeanNS * float64(d.Count), float64(d.Count), true
	}
}

// blockFor is the length of blocks that resamples a series with the least error (D. N. Politis and H. White, Automatic block-length
// selection for the dependent bootstrap, Econometric Reviews 23, 2004, 53-70, with the correction of A. Patton, D. N. Politis and
// H. White, ibid. 28, 2009, 372-375), at least 1.
func blockFor(series []float64) int {
	n := len(series)
	if n < leastParts {
		return 1
	}
	if slices.Min(series) == slices.Max(series) {
		return 1
	}
	r := covariances(series)
	// m is the last lag before autocorrelation is insignificant for some lags in a row.
	row := max(5, int(math.Ceil(math.Sqrt(math.Log10(float64(n))))))
	limit := 2 * math.Sqrt(math.Log10(float64(n))/float64(n))
	m, quiet := 0, 0
	for k := 1; k < len(r); k++ {
		if math.Abs(r[k]) < limit*r[0] {
			if quiet++; quiet == row {
				break
			}
			continue
		}
		m, quiet = k, 0
	}
	most := min(2*max(1, m), len(r)-1)
	g, density := 0.0, r[0]
	for k := 1; k <= most; k++ {
		weight := min(1, 2*(1-float64(k)/float64(most))) // a trapezoid
		g += 2 * weight * float64(k) * r[k]
		density += 2 * weight * r[k]
	}
	longest := math.Ceil(min(3*math.Sqrt(float64(n)), float64(n)/3))
	if density <= 0 {
		return 1 // neighbours make up for each other
	}
	length := math.Cbrt(2*g*g/(4.0/3*density*density)) * math.Cbrt(float64(n))
	return int(max(1, min(longest, math.Round(length))))
}

// covariances of a series with itself, by lags of up to a third of it.
func covariances(series []float64) []float64 {
	n, mean := len(series), 0.0
	for _, x := range series {
		mean += x / float64(n)
	}
	r := make([]float64, n/3+1)
	for k := range r {
		for i := 0; i+k < n; i++ {
			r[k] += (series[i] - mean) * (series[i+k] - mean) / float64(n)
		}
	}
	return r
}
