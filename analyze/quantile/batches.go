package quantile

import "math"

// Span is what a span of time adds to a ratio: Sum of something over Count values. For a mean the something is the values
// themselves, for the share of values up to a limit it is 1 for each of those.
type Span struct {
	Count, Sum float64
}

// LeastBatches is the number of batches below which their differences tell too little.
const LeastBatches = 10

// Spread is how uncertain the ratio of the sums to the counts of spans is.
type Spread struct {
	Variance float64 // of the ratio
	Batches  int
	Merged   int // spans that make a batch
}

// SpreadOf estimates the variance of the ratio R = sum of Sum / sum of Count from how the spans, in the order of time, differ,
// with regard to autocorrelation. ok is false where there are fewer than LeastBatches, or where batches still depend on each
// other when there are no more than that: the series is too short for its memory, or drifts.
//
// The method is that of batch means (L. W. Schmeiser, Batch size effects in the analysis of simulation output, Operations
// Research 30, 1982, 556-568; G. S. Fishman, Grouping observations in digital simulation, Management Science 24, 1978,
// 510-521): neighbours are put together, in pairs, again and again, until the batches no longer correlate with the next one
// (lag 1 not above 1.645/sqrt(B), the one-sided limit at 5 % for uncorrelated ones), and once more where 2 * LeastBatches are left
// then, as a dependence that the test just misses makes the variance too small. As the counts differ, the variance is
// that of a ratio of cluster totals (W. G. Cochran, Sampling Techniques, 3rd edition 1977, 9A.2):
//
//	Var R = B/(B-1) * sum (Sum_b - R*Count_b)^2 / (sum Count_b)^2
func SpreadOf(spans []Span) (s Spread, ok bool) {
	batches := make([]Span, 0, len(spans))
	var all Span
	for _, x := range spans {
		if x.Count > 0 {
			batches = append(batches, x)
			all.Count += x.Count
			all.Sum += x.Sum
		}
	}
	ratio := all.Sum / all.Count
	independent := false
	for s.Merged = 1; len(batches) >= LeastBatches; s.Merged *= 2 {
		squares, products, last := 0.0, 0.0, 0.0
		for i, b := range batches {
			residual := b.Sum - ratio*b.Count
			squares += residual * residual
			if i > 0 {
				products += residual * last
			}
			last = residual
		}
		n := float64(len(batches))
		enough := independent || len(batches) < 4*LeastBatches
		independent = independent || products <= 1.645/math.Sqrt(n)*squares
		if independent && enough {
			s.Batches, s.Variance = len(batches), n/(n-1)*squares/(all.Count*all.Count)
			return s, true
		}
		batches = inPairs(batches)
	}
	return Spread{}, false
}

// inPairs puts neighbours together; an odd one at the end goes to the last pair.
func inPairs(batches []Span) []Span {
	n := len(batches) / 2
	for i := range n {
		a, b := batches[2*i], batches[2*i+1]
		batches[i] = Span{a.Count + b.Count, a.Sum + b.Sum}
	}
	if len(batches)%2 == 1 && n > 0 {
		odd := batches[len(batches)-1]
		batches[n-1].Count += odd.Count
		batches[n-1].Sum += odd.Sum
	}
	return batches[:n]
}

// Student is the 97.5 % point of Student's distribution with so many degrees of freedom, from 5 on to within 0.001: the
// expansion of Cornish and Fisher (M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.5).
func Student(degrees int) float64 {
	const z = 1.959963984540054
	z3, z5, z7, z9 := math.Pow(z, 3), math.Pow(z, 5), math.Pow(z, 7), math.Pow(z, 9)
	v := float64(degrees)
	return z + (z3+z)/4/v + (5*z5+16*z3+3*z)/96/(v*v) + (3*z7+19*z5+17*z3-15*z)/384/(v*v*v) +
		(79*z9+776*z7+1482*z5-1920*z3-945*z)/92160/(v*v*v*v)
}

// Wilson is the interval of a share p that n independent values show, t being the deviate of the wanted confidence (E. B. Wilson,
// Journal of the American Statistical Association 22, 1927, 209-212). Unlike p plus and minus t standard errors it holds for
// shares near 0 and 1.
func Wilson(p, n, t float64) (low, high float64) {
	middle, half := p+t*t/(2*n), t*math.Sqrt(p*(1-p)/n+t*t/(4*n*n))
	return max(0, (middle-half)/(1+t*t/n)), min(1, (middle+half)/(1+t*t/n))
}

// Split tells of the value at a rank how many values lie below its bucket and how many are in it.
func (h *Histogram) Split(rank uint64) (limit Limit, below, inside uint64) {
	sum := uint64(0)
	h.ascending(func(b, i uint, count uint64) {
		if sum < rank {
			below, inside = sum, count
			low, _ := bounds(b, i)
			limit = Limit{low}
		}
		sum += count
	})
	return limit, below, inside
}

// Limit is a bucket of every histogram.
type Limit struct{ low int64 }

// Compare tells whether a value lies below the bucket (-1), in it (0) or above (1).
func (l Limit) Compare(v int64) int {
	if v < l.low {
		return -1
	}
	if low, _ := bounds(locate(v)); low == l.low {
		return 0
	}
	return 1
}

// Around counts the values below a bucket and in it.
func (h *Histogram) Around(l Limit) (below, inside uint64) {
	h.ascending(func(b, i uint, count uint64) {
		switch low, _ := bounds(b, i); {
		case low < l.low:
			below += count
		case low == l.low:
			inside = count
		}
	})
	return below, inside
}

// Sum of all values, rounded once.
func (m *Moments) Sum() float64 { return m.Mean() * float64(m.count) }
