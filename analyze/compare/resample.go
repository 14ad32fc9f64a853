package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"leveret/analyze/assert"
	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// One run each is compared by a circular block bootstrap (D. N. Politis and J. P. Romano, in: Exploring the Limits of Bootstrap,
// 1992, 263-270): the run's window is put together anew from blocks of neighbouring intervals, again and again, and each time
// the figure is taken. Blocks keep what messages of one moment have in common; their length is that of blocklength.go.
const (
	fewestReplicates = 1999
	mostReplicates   = 19_999
	// leastParts and leastBlocks tell something.
	leastParts  = 20
	leastBlocks = 6
)

// replicatesFor so many changes that are judged together: of R replicates no p-value is below 2/(R+1), and adjusted for n changes that
// has to stay well below the error rate, at half of it; up to 250 changes, as more replicates take too long.
func replicatesFor(changes int) int {
	return min(max(fewestReplicates, int(math.Ceil(4*float64(changes)/errorRate))-1), mostReplicates)
}

// replicated is one figure of one run, resampled.
type replicated struct {
	values []float64 // may hold +Inf: among messages without an answer
	whole  float64   // the same estimate of the run as it was
	widen  float64   // by how much so few blocks understate the deviations
	why    string    // there is none
}

// resample does so for all groups and metrics; nil where runs are repeated.
func (c *comparison) resample() [][]replicated {
	if c.Method != result.ByBlocks {
		return nil
	}
	var all [][]replicated
	n := replicatesFor(len(c.figures) * (len(c.groups) - 1))
	for i := range c.groups {
		random := rand.New(rand.NewPCG(uint64(i), 0x6c65766572657421))
		all = append(all, newResampling(c.groups[i].Runs[0], n, random).figures(c.figures))
	}
	return all
}

// resampling is one run on its way.
type resampling struct {
	run   *result.Result
	parts [][]int // intervals of the window that belong together (result.SeriesRow), by their indices in the result
	draws [][]uint8
	widen float64
	why   string
}

func newResampling(r *result.Result, replicates int, random *rand.Rand) *resampling {
	s := &resampling{run: r}
	var inside []int
	for i := range r.Intervals {
		if r.Intervals[i].Phase == "run" {
			inside = append(inside, i)
		}
	}
	s.parts = slices.Collect(slices.Chunk(inside, result.SeriesRow(len(inside))))
	block := s.blockLength()
	longest := len(s.parts) / leastBlocks
	switch {
	case len(s.parts) < leastParts:
		s.why = fmt.Sprintf("the run has %s, and it takes %d to resample it", result.Plural(int64(len(s.parts)), "interval"), leastParts)
	case block > 2*longest:
		s.why = "what happens in the run depends on what was before over too much of it, or drifts: it cannot be resampled"
	default:
		block = min(block, longest)
		s.widen = quantile.Student(len(s.parts)/block-1) / 1.959963984540054
		s.draw(block, replicates, random)
	}
	return s
}

// draw chooses, for every replicate, how often each part is in it.
func (s *resampling) draw(block, replicates int, random *rand.Rand) {
	n := len(s.parts)
	for range replicates {
		times := make([]uint8, n)
		for drawn := 0; drawn < n; {
			at := random.IntN(n)
			for k := 0; k < block && drawn < n; k++ {
				if times[(at+k)%n] < math.MaxUint8 {
					times[(at+k)%n]++
				}
				drawn++
			}
		}
		s.draws = append(s.draws, times)
	}
}

// figures resamples each.
func (s *resampling) figures(all []*assert.Figure) []replicated {
	out := make([]replicated, len(all))
	for i, f := range all {
		name, perSecond := f.Counted()
		what, from, isMean, ofLatency := f.Latency()
		percent, isPercentile := f.Percent()
		switch {
		case s.why != "":
			out[i].why = s.why
		case perSecond && name != "drain" && name != "arrived":
			out[i] = s.ratio(func(x *result.Interval) (float64, float64) {
				return float64(countOf(x, name)), float64(x.EndNS-x.StartNS) / 1e9
			})
		case ofLatency && isMean && from != "":
			out[i] = s.ratio(func(x *result.Interval) (sum, n float64) {
				if d := x.Latency.Pick(what, from); d != nil && d.MeanNS != nil {
					return *d.MeanNS * float64(d.Count), float64(d.Count)
				}
				return 0, 0
			})
		case ofLatency && isPercentile && from != "":
			out[i] = s.percentile(s.run.SeriesOf(what, from), percent)
		default:
			out[i].why = "nothing within one run tells how far it is known"
		}
	}
	return out
}

func countOf(x *result.Interval, name string) int64 {
	switch name {
	case "sent":
		return x.Sent
	case "confirmed":
		return x.Confirmed
	case "committed":
		return x.Committed
	}
	return x.Received
}

// ratio resamples the sum of one thing over the sum of another.
func (s *resampling) ratio(of func(x *result.Interval) (above, below float64)) replicated {
	above, below := make([]float64, len(s.parts)), make([]float64, len(s.parts))
	for i, part := range s.parts {
		for _, k := range part {
			a, b := of(&s.run.Intervals[k])
			above[i], below[i] = above[i]+a, below[i]+b
		}
	}
	value := func(times func(i int) float64) float64 {
		a, b := 0.0, 0.0
		for i := range above {
			a, b = a+times(i)*above[i], b+times(i)*below[i]
		}
		if b == 0 {
			return 0
		}
		return a / b
	}
	r := replicated{widen: s.widen, whole: value(func(int) float64 { return 1 })}
	for _, times := range s.draws {
		r.values = append(r.values, value(func(i int) float64 { return float64(times[i]) }))
	}
	return r
}

// percentile resamples one, from the counts in narrow buckets that every interval has. Within a bucket values are taken to be
// spread evenly.
func (s *resampling) percentile(series *result.Series, p quantile.Percent) replicated {
	if series == nil || len(series.Counts) != len(s.parts) {
		return replicated{why: "the distributions by interval are not known"}
	}
	// below[b] are the values under bucket b by row: a rank is then found by halving the buckets, for every replicate anew.
	below := make([][]uint64, len(series.LowNS)+1)
	below[0] = make([]uint64, len(series.Counts))
	for b := range series.LowNS {
		below[b+1] = slices.Clone(below[b])
		for row, counts := range series.Counts {
			below[b+1][row] += uint64(counts[b])
		}
	}
	r := replicated{widen: s.widen, whole: percentileOf(series, below, nil, p)}
	for _, times := range s.draws {
		r.values = append(r.values, percentileOf(series, below, times, p))
	}
	return r
}

// percentileOf the rows, each so many times; nil: once. It is infinite among messages without an answer.
func percentileOf(series *result.Series, below [][]uint64, times []uint8, p quantile.Percent) float64 {
	sum := func(b int) (n uint64) {
		for row, x := range below[b] {
			if times == nil {
				n += x
			} else {
				n += uint64(times[row]) * x
			}
		}
		return n
	}
	buckets := len(series.LowNS)
	total := sum(buckets)
	for row, n := range series.Unanswered {
		if times == nil {
			total += uint64(n)
		} else {
			total += uint64(times[row]) * uint64(n)
		}
	}
	rank := quantile.Rank(p, total)
	b := sort.Search(buckets, func(b int) bool { return sum(b+1) >= rank })
	if b == buckets || total == 0 {
		return math.Inf(1)
	}
	under := sum(b)
	return float64(series.LowNS[b]) + (float64(rank-under)-0.5)/float64(sum(b+1)-under)*float64(series.WidthNS[b])
}

// byBlocks compares two runs by their replicates. The deviations of replicates are widened, as few blocks understate them; the
// estimates are the exact figures.
func byBlocks(x *result.ComparedChange, base, candidate float64, b, c replicated) {
	difference := candidate - base
	x.Difference = &difference
	positive := base > 0 && candidate > 0
	if positive {
		delta := candidate/base - 1
		x.Delta = &delta
	}
	if b.why != "" || c.why != "" {
		if x.Note = b.why; x.Note == "" {
			x.Note = c.why
		}
		return
	}
	replicates := len(b.values)
	differences, ratios := make([]float64, 0, replicates), make([]float64, 0, replicates)
	below, above := 0, 0
	for i := range b.values {
		from, to := b.around(base, i), c.around(candidate, i)
		switch d := to - from; {
		case math.IsNaN(d): // both beyond what is known
			below, above = below+1, above+1
			continue
		default:
			differences = append(differences, d)
			if d <= 0 {
				below++
			}
			if d >= 0 {
				above++
			}
		}
		if positive && from > 0 && !math.IsInf(from, 0) {
			ratios = append(ratios, to/from-1)
		}
	}
	p := min(1, 2*float64(min(below, above)+1)/float64(replicates+1))
	x.PValue, x.Level = &p, level
	x.DifferenceLow, x.DifferenceHigh = middlePart(differences, replicates)
	if positive && len(ratios) == len(differences) {
		x.DeltaLow, x.DeltaHigh = middlePart(ratios, replicates)
	}
}

// around is a replicate about the exact figure.
func (r *replicated) around(exact float64, i int) float64 {
	v := r.values[i]
	if math.IsInf(v, 0) || math.IsInf(r.whole, 0) {
		return math.Inf(1)
	}
	if v > 0 && r.whole > 0 && exact > 0 {
		return exact * math.Pow(v/r.whole, r.widen)
	}
	return exact + r.widen*(v-r.whole)
}

// middlePart are the ends between which the level's share of values lies; nil where they are not finite, or where fewer than half of
// the replicates have one.
func middlePart(values []float64, replicates int) (low, high *float64) {
	if len(values) < replicates/2 {
		return nil, nil
	}
	slices.Sort(values)
	n := float64(len(values))
	l, h := values[int(math.Floor(n*(1-level)/2))], values[int(math.Ceil(n*(1+level)/2))-1]
	if !math.IsInf(l, 0) {
		low = &l
	}
	if !math.IsInf(h, 0) {
		high = &h
	}
	return low, high
}
