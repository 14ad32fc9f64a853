package analyze

import (
	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// cell is one distribution.
type cell struct {
	hist     quantile.Histogram
	moments  quantile.Moments
	censored censored

	ranks     []uint64 // wanted, rising
	selection *quantile.Selection
	open      bool
}

// total is the number of messages in the cohort.
func (c *cell) total() uint64 { return c.moments.Count() + c.censored.count }

// prepare selects the ranks of the reported percentiles and of further ones, as far as they fall among the measured.
func (c *cell) prepare(further []quantile.Percent) {
	c.censored.rank(&c.hist, c.total())
	add := func(p quantile.Percent) {
		if r := quantile.Rank(p, c.total()); r > 0 && r <= c.moments.Count() {
			c.ranks = append(c.ranks, r)
		}
	}
	i := 0
	for _, p := range reported {
		for i < len(further) && further[i] <= p {
			add(further[i])
			i++
		}
		add(p)
	}
	for ; i < len(further); i++ {
		add(further[i])
	}
	c.selection = quantile.Select(&c.hist, c.ranks)
}

// value at percentile p; nil where it falls among the censored messages.
func (c *cell) value(p quantile.Percent) *int64 {
	r := quantile.Rank(p, c.total())
	for i, have := range c.ranks {
		if have == r {
			if v, ok := c.selection.Value(i); ok {
				return &v
			}
		}
	}
	return nil
}

// distribution of a cell, nil where it has no message. bounded: it is known how long answers were recorded.
func (c *cell) distribution(bounded bool) *result.Distribution {
	if c == nil || c.total() == 0 {
		return nil
	}
	d := &result.Distribution{Count: int64(c.moments.Count()), Censored: int64(c.censored.count), NeverSent: int64(c.censored.unsent), Negative: int64(c.moments.Negative())}
	if d.Count > 0 {
		low, high, mean, deviation := c.moments.Min(), c.moments.Max(), c.moments.Mean(), c.moments.StdDev()
		d.MinNS, d.MaxNS, d.MeanNS, d.StdDevNS = &low, &high, &mean, &deviation
	}
	for i, to := range []**int64{&d.P50NS, &d.P75NS, &d.P95NS, &d.P99NS, &d.P999NS, &d.P9999NS} {
		*to = c.value(reported[i])
	}
	if bounded {
		c.censored.describe(d)
	}
	return d
}

// curve of the whole window's distribution.
func (c *cell) curve(what, from string) (result.Curve, bool) {
	if c == nil || c.moments.Count() == 0 {
		return result.Curve{}, false
	}
	n := c.total()
	curve := result.Curve{What: what, From: from, Count: int64(n)}
	for _, p := range quantile.CurvePercents(n) {
		if v := c.value(p); v != nil {
			curve.Points = append(curve.Points, result.CurvePoint{Percent: p.Float(), ValueNS: *v, Above: int64(n - quantile.Rank(p, n))})
		}
	}
	return curve, true
}
