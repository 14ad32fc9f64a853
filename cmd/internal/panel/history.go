package panel

import "math"

// historyLength is how many intervals the panel remembers: with the usual interval of a second, the last minute.
const historyLength = 60

// history holds the last values of a figure, one an interval.
type history struct {
	values []float64 // the newest last
	count  int       // of all that there were
}

func (h *history) add(v float64) {
	if len(h.values) == historyLength {
		h.values = append(h.values[:0], h.values[1:]...)
	}
	h.values = append(h.values, v)
	h.count++
}

// sparkWidths are the widths a sparkline of the whole history can have, so that each column is of as many intervals.
var sparkWidths = []int{60, 30, 20, 15, 12}

// sparkWidth is how wide a sparkline can be in the columns that are left; 0: there is no room.
func sparkWidth(room int) int {
	for _, w := range sparkWidths {
		if w <= room {
			return w
		}
	}
	return 0
}

// columns reduces the history to at most n values, one of sparkWidths: the means of as many neighbors each. Which values are
// put together does not change from one interval to the next, so that the picture moves and does not flicker.
func (h *history) columns(n int) []float64 {
	per := historyLength / n
	first := h.count - len(h.values) // number of values[0], from 0
	group := first / per
	var means []float64
	sum, known := 0.0, 0
	flush := func() {
		mean := math.NaN()
		if known > 0 {
			mean = sum / float64(known)
		}
		means = append(means, mean)
		sum, known = 0, 0
	}
	for i, v := range h.values {
		if g := (first + i) / per; g != group {
			flush()
			group = g
		}
		if !math.IsNaN(v) {
			sum, known = sum+v, known+1
		}
	}
	if len(h.values) > 0 {
		flush()
	}
	return means[max(0, len(means)-n):]
}
