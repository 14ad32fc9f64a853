package analyze

import (
	"fmt"
	"math"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// confidenceLevel of the intervals.
const confidenceLevel = 0.95

// wanted is a percentile that was asked for by number.
type wanted struct {
	percent   quantile.Percent
	rank      uint64
	low, high uint64 // ranks of the ends of its interval; 0: none
	interval  *result.Confidence
}

// ask prepares a cell for the percentiles that were asked for. spans are the same distribution by intervals of time; nil where
// it is not divided. The histograms are still needed.
func (c *cell) ask(percents []quantile.Percent, spans []*cell, spanNS int64) {
	total := c.total()
	if total == 0 || len(percents) == 0 {
		return
	}
	for _, p := range percents {
		w := wanted{percent: p, rank: quantile.Rank(p, total)}
		if spans != nil {
			c.bracket(&w, spans, spanNS)
		}
		c.asked = append(c.asked, w)
	}
	if spans != nil && c.moments.Count() > 0 {
		c.meanInterval = c.bracketMean(spans, spanNS)
	}
}

// bracket finds the ranks between which the percentile lies. The share p of values up to the percentile is known with a variance
// that its share in the spans of time tells; the interval of the share, taken as ranks, is that of the percentile (R. S.
// Woodruff, Confidence intervals for medians and other position measures, Journal of the American Statistical Association 47,
// 1952, 635-646). The share's interval is Wilson's, for the number of independent values that have that variance.
//
// Within the bucket that holds the percentile, at most 1/128 of its value wide, the values are taken to be spread in every span
// as they are in all, and to be independent.
func (c *cell) bracket(w *wanted, spans []*cell, spanNS int64) {
	w.interval = &result.Confidence{Level: confidenceLevel}
	if w.rank > c.moments.Count() {
		w.interval.Note = amongUnanswered
		return
	}
	limit, below, inside := c.hist.Split(w.rank)
	part := float64(w.rank-below) / float64(inside)
	var shares []quantile.Span
	for _, s := range spans {
		if s == nil {
			continue
		}
		under, in := s.hist.Around(limit)
		shares = append(shares, quantile.Span{Count: float64(s.total()), Sum: float64(under) + part*float64(in)})
	}
	c.bracketBy(w, shares, part, inside, spanNS)
}

const amongUnanswered = "it falls among messages without an answer"

// bracketBy finds the ranks by the shares of values up to the percentile in spans of time, of which part of the inside values in
// its bucket count.
func (c *cell) bracketBy(w *wanted, shares []quantile.Span, part float64, inside uint64, spanNS int64) {
	n := float64(c.total())
	spread, ok := quantile.SpreadOf(shares)
	if !ok {
		w.interval.Note = cannotSay(len(shares))
		return
	}
	p := float64(w.rank) / n
	variance := spread.Variance + part*(1-part)*float64(inside)/(n*n)
	effective := n
	if variance > 0 && p < 1 {
		effective = p * (1 - p) / variance
	}
	describeBatches(w.interval, spread, spanNS, min(n, effective))
	low, high := quantile.Wilson(p, effective, quantile.Student(spread.Batches-1))
	w.low, w.high = uint64(max(1, math.Floor(low*n))), uint64(math.Ceil(high*n))
	if w.high >= c.total() || p == 1 {
		w.high, w.interval.Note = 0, "no upper end: too few messages above"
	} else if w.high > c.moments.Count() {
		w.high, w.interval.Note = 0, "no upper end: it falls among messages without an answer"
	}
}

// bracketMean is the interval of the mean of the measured messages: Student's, over batches of them.
func (c *cell) bracketMean(spans []*cell, spanNS int64) *result.Confidence {
	var sums []quantile.Span
	for _, s := range spans {
		if s != nil && s.moments.Count() > 0 {
			sums = append(sums, quantile.Span{Count: float64(s.moments.Count()), Sum: s.moments.Sum()})
		}
	}
	return c.meanBy(sums, spanNS)
}

func (c *cell) meanBy(sums []quantile.Span, spanNS int64) *result.Confidence {
	x := &result.Confidence{Level: confidenceLevel}
	spread, ok := quantile.SpreadOf(sums)
	if !ok {
		x.Note = cannotSay(len(sums))
		return x
	}
	n, deviation := float64(c.moments.Count()), c.moments.StdDev()
	effective := n
	if spread.Variance > 0 {
		effective = deviation * deviation / spread.Variance
	}
	describeBatches(x, spread, spanNS, min(n, effective))
	half := 0.0
	if effective > 0 {
		half = quantile.Student(spread.Batches-1) * deviation / math.Sqrt(effective)
	}
	low, high := c.moments.Mean()-half, c.moments.Mean()+half
	if c.moments.Negative() == 0 {
		low = max(0, low)
	}
	x.LowNS, x.HighNS = &low, &high
	return x
}

func describeBatches(x *result.Confidence, s quantile.Spread, spanNS int64, effective float64) {
	x.EffectiveSamples, x.Batches, x.BatchNS = effective, s.Batches, int64(s.Merged)*spanNS
}

func cannotSay(spans int) string {
	if spans < quantile.LeastBatches {
		return fmt.Sprintf("too few intervals with messages for one: %d, of at least %d", spans, quantile.LeastBatches)
	}
	return "none can be given: the latency depends on what it was before over too much of the window, or drifts"
}

// answers puts what was asked for into a distribution.
func (c *cell) answers(d *result.Distribution, bounded bool) {
	for i := range c.asked {
		w := &c.asked[i]
		a := result.AskedPercentile{Percent: w.percent.Float(), ValueNS: c.at(w.rank), Above: int64(c.total() - w.rank), Censored: w.rank > c.moments.Count(), Interval: w.interval}
		if a.Censored && bounded {
			a.AtLeastNS = c.censored.asked[i]
		}
		if w.low > 0 {
			w.interval.LowNS = inFloat(c.at(w.low))
		}
		if w.high > 0 {
			w.interval.HighNS = inFloat(c.at(w.high))
		}
		d.Asked = append(d.Asked, a)
	}
	d.MeanInterval = c.meanInterval
}

func inFloat(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}
