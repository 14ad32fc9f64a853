package analyze

import (
	"fmt"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// followedSpans is into how many spans of time a followed distribution is divided at most.
const followedSpans = 128

// mostFollowed bounds the memory for it, a few KiB and 2 for each percentile that was asked for: of 64 members there are mostly 256
// distributions.
const mostFollowed = 512

// followed is how a distribution that has no cells by interval went through the time, for how far its percentiles and its mean
// are known: a few numbers a span. Where a percentile lies is known after the first reading; the second counts for each span how
// many values lie below the bucket that holds it, and in it.
type followed struct {
	start, width int64
	messages     []float64       // by span, those without an answer included
	measured     []quantile.Span // by span: number and sum of the measured values
	kept         *quantile.Histogram
	percents     []followedPercent
}

type followedPercent struct {
	limit         quantile.Limit
	below, inside []float64 // values by span; nil: the percentile falls among messages without an answer
	part          float64   // of the bucket that lies up to the rank
	among         uint64    // values in the bucket
}

func newFollowed(start, stop int64) *followed {
	return &followed{start: start, width: (stop-start)/followedSpans + 1,
		messages: make([]float64, followedSpans), measured: make([]quantile.Span, followedSpans)}
}

func (f *followed) span(at int64) int { return int(max(0, min((at-f.start)/f.width, followedSpans-1))) }

// add counts a message.
func (f *followed) add(from int64) {
	if f != nil {
		f.messages[f.span(from)]++
	}
}

// count adds a value at the first reading.
func (c *cell) count(from, v int64) {
	c.hist.Add(v)
	c.moments.Add(v)
	if f := c.followed; f != nil {
		i := f.span(from)
		f.messages[i]++
		f.measured[i].Count++
		f.measured[i].Sum += float64(v)
	}
}

// look shows a value at a later reading, the first of them or not.
func (c *cell) look(from, v int64, first bool) {
	if c.open {
		c.selection.Add(v)
	}
	if first && c.followed != nil {
		c.followed.look(from, v)
	}
}

func (f *followed) look(from, v int64) {
	i := f.span(from)
	for k := range f.percents {
		p := &f.percents[k]
		if p.below == nil {
			continue
		}
		switch p.limit.Compare(v) {
		case -1:
			p.below[i]++
		case 0:
			p.inside[i]++
		}
	}
}

// begin prepares for the second reading, while the histogram is still there.
func (f *followed) begin(c *cell) {
	if f == nil {
		for i := range c.asked {
			c.asked[i].interval = &result.Confidence{Level: confidenceLevel, Note: fmt.Sprintf("none is looked for beyond the first %d distributions of groups", mostFollowed)}
		}
		return
	}
	f.kept = c.hist.Clone()
	for i := range c.asked {
		w := &c.asked[i]
		w.interval = &result.Confidence{Level: confidenceLevel}
		if w.rank > c.moments.Count() {
			w.interval.Note = amongUnanswered
			f.percents = append(f.percents, followedPercent{})
			continue
		}
		limit, below, inside := f.kept.Split(w.rank)
		f.percents = append(f.percents, followedPercent{limit: limit, part: float64(w.rank-below) / float64(inside), among: inside,
			below: make([]float64, followedSpans), inside: make([]float64, followedSpans)})
	}
}

// bracketFollowed finds the intervals, when the second reading is over. Their ends are those of the buckets in which they lie.
func (c *cell) bracketFollowed() {
	f := c.followed
	if f == nil || f.kept == nil {
		return
	}
	for k := range f.percents {
		p, w := &f.percents[k], &c.asked[k]
		if p.below == nil {
			continue
		}
		var shares []quantile.Span
		for i, n := range f.messages {
			if n > 0 {
				shares = append(shares, quantile.Span{Count: n, Sum: p.below[i] + p.part*p.inside[i]})
			}
		}
		c.bracketBy(w, shares, p.part, p.among, f.width)
		if w.low > 0 {
			low := float64(max(c.moments.Min(), f.kept.Floor(w.low)))
			w.interval.LowNS = &low
		}
		if w.high > 0 {
			high := float64(min(c.moments.Max(), f.kept.Ceiling(w.high)))
			w.interval.HighNS = &high
		}
		w.low, w.high = 0, 0 // found
	}
	if c.moments.Count() > 0 {
		var sums []quantile.Span
		for _, s := range f.measured {
			if s.Count > 0 {
				sums = append(sums, s)
			}
		}
		c.meanInterval = c.meanBy(sums, f.width)
	}
	f.kept, f.percents = nil, nil
}
