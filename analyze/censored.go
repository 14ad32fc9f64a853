package analyze

import (
	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// censored are the messages of a distribution that have no answer. Each took at least a bound: what was sent, from then (or
// from due) until answers were no longer recorded; what was due and never sent, from due until publishing stopped.
type censored struct {
	count, unsent uint64
	least, most   int64               // bounds
	bounds        *quantile.Histogram // of all bounds; nil while there are none
	ranked        result.Bounds
	asked         []*int64 // of the percentiles asked for by number
}

// add a message that was sent at from (or due then); end is event.None where the bound is unknown.
func (c *censored) add(end, from int64) {
	bound := int64(0)
	if end != event.None {
		bound = max(0, end-from)
	}
	if c.bounds == nil {
		c.bounds, c.least, c.most = new(quantile.Histogram), bound, bound
	}
	c.count++
	c.least, c.most = min(c.least, bound), max(c.most, bound)
	c.bounds.Add(bound)
}

func (c *censored) addUnsent(stop, due int64) {
	c.add(stop, due)
	c.unsent++
}

func (c *censored) merge(o *censored) {
	if o.count == 0 {
		return
	}
	if c.bounds == nil {
		c.bounds, c.least, c.most = new(quantile.Histogram), o.least, o.most
	}
	c.count += o.count
	c.unsent += o.unsent
	c.least, c.most = min(c.least, o.least), max(c.most, o.most)
	c.bounds.Merge(o.bounds)
}

// rank finds the bounds of the percentiles that fall among the censored messages, given the histogram of the measured
// ones. A message's latency is not below its bound, so that a percentile is not below what stands at its rank when each
// bound is taken for a latency. Of a bucket its least value counts, so that the bound holds; see raiseBounds, too.
func (c *censored) rank(measured *quantile.Histogram, total uint64, asked []wanted) {
	c.asked = make([]*int64, len(asked))
	if c.count == 0 {
		return
	}
	all := c.bounds
	all.Merge(measured)
	c.bounds = nil // no longer needed
	b := &c.ranked
	for i, to := range []**int64{&b.P50NS, &b.P75NS, &b.P95NS, &b.P99NS, &b.P999NS, &b.P9999NS} {
		if r := quantile.Rank(reported[i], total); r > total-c.count {
			v := max(all.Floor(r), c.least)
			*to = &v
		}
	}
	for i := range asked {
		if r := asked[i].rank; r > total-c.count {
			v := max(all.Floor(r), c.least)
			c.asked[i] = &v
		}
	}
}

// describe adds the bounds to a distribution.
func (c *censored) describe(d *result.Distribution) {
	if c.count > 0 {
		d.AtLeastNS, d.MaxAtLeastNS, d.AtLeast = &c.least, &c.most, &c.ranked
	}
}

// raiseBounds raises the bounds of the percentiles of d to the measured percentiles, all of which are lower ones: a message that
// was never answered ranks above those that were, and no percentile is below a lower one.
func raiseBounds(d *result.Distribution) {
	var measured *int64
	higher := func(v *int64) {
		if v != nil && (measured == nil || *v > *measured) {
			measured = v
		}
	}
	for _, v := range []*int64{d.P50NS, d.P75NS, d.P95NS, d.P99NS, d.P999NS, d.P9999NS} {
		higher(v)
	}
	for i := range d.Asked {
		higher(d.Asked[i].ValueNS)
	}
	if measured == nil {
		return
	}
	raise := func(bound **int64) {
		if *bound != nil && **bound < *measured {
			v := *measured
			*bound = &v
		}
	}
	if b := d.AtLeast; b != nil {
		for _, bound := range []**int64{&b.P50NS, &b.P75NS, &b.P95NS, &b.P99NS, &b.P999NS, &b.P9999NS} {
			raise(bound)
		}
	}
	for i := range d.Asked {
		raise(&d.Asked[i].AtLeastNS)
	}
}
