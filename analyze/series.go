package analyze

import (
	"slices"

	"leveret/analyze/result"
)

// finerIntervals are the least that a run is divided into to be resampled.
const finerIntervals = 100

func (a *analysis) leastIntervals() int64 {
	if a.o.Finer {
		return finerIntervals
	}
	return usualIntervals
}

// seriesOf is a latency by interval, in the buckets of its histograms. It is taken before the memory of the histograms goes to the
// selection of percentiles.
func seriesOf(group int, whole *cell, cells []*cell) result.Series {
	s := result.Series{What: groupNames[group][0], From: groupNames[group][1]}
	place := map[int64]int{}
	whole.hist.Each(func(low int64, width, _ uint64) {
		place[low] = len(s.LowNS)
		s.LowNS, s.WidthNS = append(s.LowNS, low), append(s.WidthNS, width)
	})
	for row := range slices.Chunk(cells, result.SeriesRow(len(cells))) {
		counts, unanswered := make([]uint32, len(s.LowNS)), int64(0)
		for _, c := range row {
			if c != nil {
				c.hist.Each(func(low int64, _, count uint64) { counts[place[low]] += uint32(count) })
				unanswered += int64(c.censored.count)
			}
		}
		s.Counts, s.Unanswered = append(s.Counts, counts), append(s.Unanswered, unanswered)
	}
	return s
}
