package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"

	"leveret/analyze/result"
)

// byRanks compares two groups of runs by the ranks of their values (H. B. Mann and D. R. Whitney, On a test of whether one of two
// random variables is stochastically larger than the other, Annals of Mathematical Statistics 18, 1947, 50-60). The p-value
// is exact for up to 50 runs each, for up to 25 where values tie, and from the normal distribution for more. The estimate of the
// change is the median of the differences of all pairs of runs, and the interval has the ends that the test would not
// reject (J. L. Hodges and E. L. Lehmann, Estimates of location based on rank tests, Annals of Mathematical Statistics
// 34, 1963, 598-611).
func byRanks(x *result.ComparedChange, base, candidate []float64, e limits) {
	thresholds := benchmath.DefaultThresholds
	test := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(base), &thresholds), benchmath.NewSample(slices.Clone(candidate), &thresholds))
	p := 1.0 // all values are the same
	if test.P >= 0 && test.P <= 1 {
		p = test.P
	}
	x.PValue = &p
	differences := pairs(base, candidate, func(b, c float64) float64 { return c - b })
	drop := e.drop
	x.Level = e.level
	middle, low, high := median(differences), differences[drop], differences[len(differences)-1-drop]
	x.Difference, x.DifferenceLow, x.DifferenceHigh = &middle, &low, &high
	if slices.Min(base) <= 0 || slices.Min(candidate) <= 0 {
		return
	}
	ratios := pairs(base, candidate, func(b, c float64) float64 { return c/b - 1 })
	if math.IsInf(ratios[len(ratios)-1], 0) {
		return // the base is next to nothing
	}
	delta, deltaLow, deltaHigh := median(ratios), ratios[drop], ratios[len(ratios)-1-drop]
	x.Delta, x.DeltaLow, x.DeltaHigh = &delta, &deltaLow, &deltaHigh
}

// pairs compares each run of one group with each of the other, in rising order.
func pairs(base, candidate []float64, of func(b, c float64) float64) []float64 {
	all := make([]float64, 0, len(base)*len(candidate))
	for _, b := range base {
		for _, c := range candidate {
			all = append(all, of(b, c))
		}
	}
	slices.Sort(all)
	return all
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// limits of an interval: how many of the sorted differences lie outside of it on either side, and the level that it has by
// that: the wanted one at least, or the most that so few runs allow, where that is less.
type limits struct {
	drop  int
	level float64
}

// ends are the limits for m and n runs.
func ends(m, n int) limits {
	const each = (1 - level) / 2
	if m > exactRuns || n > exactRuns {
		mean, deviation := float64(m*n)/2, math.Sqrt(float64(m*n*(m+n+1))/12)
		return limits{max(0, int(math.Floor(mean-1.959963984540054*deviation))-1), level}
	}
	u := stats.UDist{N1: m, N2: n}
	drop, p := 0, u.CDF(0)
	for 2*(drop+1) < m*n {
		next := u.CDF(float64(drop + 1))
		if next > each {
			break
		}
		drop, p = drop+1, next
	}
	return limits{drop, 1 - 2*p}
}

// exactRuns is the number of runs up to which the distribution is computed exactly.
const exactRuns = 50

// leastP is the smallest p-value that m and n runs can have: all of the one above all of the other.
func leastP(m, n int) float64 {
	p := 2.0
	for i := 1; i <= m; i++ { // 2 / C(m+n, m)
		p *= float64(i) / float64(n+i)
	}
	return min(1, p)
}
