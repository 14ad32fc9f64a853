package quantile

import "math"

// LeastToSettle is the number of values below which nothing is said of when a series settles.
const LeastToSettle = 10

// Settled tells from which of the values on a series is steady: 0 where it is from the beginning. ok is false where it is not
// before the middle, or where there are fewer than LeastToSettle values.
//
// It is the rule MSER (K. P. White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69,
// 1997, 323-334): of all beginnings d, that one is cut off which leaves the least
//
//	sum over i >= d of (x(i) - mean(d))^2 / (n-d)^2
//
// and a series for which d lies in its second half has not settled. The values are means or rates over spans of time, as those
// of its variant MSER-5 are means of five. Noise alone makes the rule cut a little: what it cuts counts only where its mean is
// more than three standard errors off the rest's.
func Settled(values []float64) (from int, ok bool) {
	n := len(values)
	if n < LeastToSettle {
		return 0, false
	}
	best, cut := math.Inf(1), 0
	for d := range n - 4 { // the last few are alike by chance
		_, squares := squaresOf(values[d:])
		if statistic := squares / float64((n-d)*(n-d)); statistic < best*(1-1e-12) {
			best, cut = statistic, d
		}
	}
	if cut == 0 {
		return 0, true
	}
	before, _ := squaresOf(values[:cut])
	mean, squares := squaresOf(values[cut:])
	rest := float64(n - cut)
	standardError := math.Sqrt(squares / (rest - 1) * (1/float64(cut) + 1/rest))
	if math.Abs(before-mean) <= 3*standardError {
		return 0, true
	}
	return cut, cut <= n/2
}

// squaresOf are the mean and the sum of squared differences from it.
func squaresOf(values []float64) (mean, squares float64) {
	for _, v := range values { // differences, so that a flat series has exactly none
		mean += (v - values[0]) / float64(len(values))
	}
	mean += values[0]
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}
