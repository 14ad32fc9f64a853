package result

// Series is a latency by the intervals of the window, in buckets that are narrow enough to take percentiles of any of them
// together. It is no part of the JSON form.
type Series struct {
	What, From string
	// LowNS are the least values of the buckets, rising, WidthNS how many each covers (at most 1/128 of its values).
	LowNS   []int64
	WidthNS []uint64
	// Counts by row and bucket; Unanswered are the messages of each row without an answer. A row is so many intervals of the
	// window as SeriesRow says, the last one maybe fewer.
	Counts     [][]uint32
	Unanswered []int64
}

// SeriesRow is how many neighbouring intervals of a window a row of a Series takes together, so that there are at most 240 rows.
func SeriesRow(intervals int) int {
	const most = 240
	return max(1, (intervals+most-1)/most)
}

// SeriesOf is that of a latency, as Latencies.Pick names it; nil where there is none.
func (r *Result) SeriesOf(what, from string) *Series {
	for i := range r.Series {
		if s := &r.Series[i]; s.What == what && s.From == from {
			return s
		}
	}
	return nil
}
