package analyze

import (
	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// Steps of magnitude in a result: of whole distributions, and of the rows of heat maps.
var (
	wholeScale = quantile.NewScale(8)
	heatScale  = quantile.NewScale(4)
)

// heatColumns is how many spans of time a heat map has at most.
const heatColumns = 200

// shape is how a distribution is spread. It is taken before the memory of the histograms goes to the selection of percentiles.
type shape struct {
	count   int64
	buckets []result.Bucket
	width   int // intervals of a column
	columns []shapeColumn
}

// shapeColumn are the counts by bin of heatScale.
type shapeColumn struct {
	first    int // bin of counts[0]
	counts   []int64
	censored int64
}

// shapeOf a distribution and of its intervals.
func shapeOf(whole *cell, intervals []*cell) shape {
	s := shape{count: int64(whole.moments.Count()), width: (len(intervals) + heatColumns - 1) / heatColumns}
	wholeScale.Each(&whole.hist, func(bin int, n uint64) {
		low, high := wholeScale.Limits(bin)
		s.buckets = append(s.buckets, result.Bucket{FromNS: low, ToNS: high, Messages: int64(n)})
	})
	s.columns = make([]shapeColumn, (len(intervals)+s.width-1)/s.width)
	for i, c := range intervals {
		if c == nil {
			continue
		}
		column := &s.columns[i/s.width]
		column.censored += int64(c.censored.count)
		heatScale.Each(&c.hist, column.add)
	}
	return s
}

// add counts n messages of a bin; the bins of a column are kept without a hole.
func (c *shapeColumn) add(bin int, n uint64) {
	if len(c.counts) == 0 {
		c.first = bin
	}
	if bin < c.first {
		c.counts = append(make([]int64, c.first-bin), c.counts...)
		c.first = bin
	}
	for bin-c.first >= len(c.counts) {
		c.counts = append(c.counts, 0)
	}
	c.counts[bin-c.first] += int64(n)
}

func (l *latencies) histograms() (all []result.Histogram) {
	for g, name := range groupNames {
		if s := &l.shapes[g]; s.count > 0 {
			all = append(all, result.Histogram{What: name[0], From: name[1], Count: s.count, Buckets: s.buckets})
		}
	}
	return all
}

// heatMaps are of response latency where there is any, else of service latency.
func (l *latencies) heatMaps() (all []result.HeatMap) {
	for service := 0; service < groups; service += 2 {
		for _, g := range []int{service + 1, service} {
			if l.shapes[g].count > 0 {
				all = append(all, l.heatMap(g))
				break
			}
		}
	}
	return all
}

func (l *latencies) heatMap(g int) result.HeatMap {
	s := &l.shapes[g]
	m := result.HeatMap{What: groupNames[g][0], From: groupNames[g][1]}
	row := s.rows(&m)
	for i := range s.columns {
		c := &s.columns[i]
		x := result.HeatColumn{Censored: c.censored, Messages: []int64{}}
		x.StartNS, _ = l.t.bounds(i * s.width)
		_, x.EndNS = l.t.bounds(min((i+1)*s.width, l.t.run) - 1)
		if len(c.counts) > 0 {
			x.FirstRow = row(c.first)
			x.Messages = make([]int64, row(c.first+len(c.counts)-1)+1-x.FirstRow)
			for k, n := range c.counts {
				if n > 0 {
					x.Messages[row(c.first+k)-x.FirstRow] = n
				}
			}
		}
		m.Columns = append(m.Columns, x)
	}
	return m
}

// rows sets the edges of a heat map and gives the row of each bin. Bins that hold no integer are left out.
func (s *shape) rows(m *result.HeatMap) func(bin int) int {
	first, last, any := 0, 0, false
	for _, c := range s.columns {
		if len(c.counts) == 0 {
			continue
		}
		if end := c.first + len(c.counts) - 1; !any {
			first, last, any = c.first, end, true
		} else {
			first, last = min(first, c.first), max(last, end)
		}
	}
	row := make([]int, last-first+1)
	for bin := first; bin <= last; bin++ {
		low, high := heatScale.Limits(bin)
		if row[bin-first] = len(m.EdgesNS); low < high {
			m.EdgesNS = append(m.EdgesNS, low)
		}
	}
	_, end := heatScale.Limits(last)
	m.EdgesNS = append(m.EdgesNS, end)
	return func(bin int) int { return row[bin-first] }
}
