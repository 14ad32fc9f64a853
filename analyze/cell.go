package analyze

import (
	"slices"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// cell is one distribution.
type cell struct {
	hist     quantile.Histogram
	moments  quantile.Moments
	censored censored

	followed     *followed // nil: not needed
	asked        []wanted  // by number, rising
	meanInterval *result.Confidence

	ranks     []uint64 // wanted, rising
	selection *quantile.Selection
	open      bool
}

// total is the number of messages in the cohort.
func (c *cell) total() uint64 { return c.moments.Count() + c.censored.count }

// prepare selects the ranks of the reported percentiles, of those asked for, and of further ones, as far as they fall among the
// measured.
func (c *cell) prepare(further []quantile.Percent) {
	c.censored.rank(&c.hist, c.total(), c.asked)
	add := func(r uint64) {
		if r > 0 && r <= c.moments.Count() {
			c.ranks = append(c.ranks, r)
		}
	}
	for _, p := range reported {
		add(quantile.Rank(p, c.total()))
	}
	for _, p := range further {
		add(quantile.Rank(p, c.total()))
	}
	for i := range c.asked {
		add(c.asked[i].rank)
		add(c.asked[i].low)
		add(c.asked[i].high)
	}
	slices.Sort(c.ranks)
	c.selection = quantile.Select(&c.hist, c.ranks)
}

// value at percentile p; nil where it falls among the censored messages.
func (c *cell) value(p quantile.Percent) *int64 { return c.at(quantile.Rank(p, c.total())) }

// at is the value at a rank that was prepared for.
func (c *cell) at(rank uint64) *int64 {
	if i, ok := slices.BinarySearch(c.ranks, rank); ok {
		if v, ok := c.selection.Value(i); ok {
			return &v
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
	c.answers(d, bounded)
	raiseBounds(d)
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
