package chart

import (
	"math"
	"slices"
	"strconv"

	"leveret/analyze/result"
)

// heatSpec shows over time how many messages had which latency: response latency where there is any, else service latency.
func heatSpec(r *result.Result, what string) Spec {
	s := Spec{Title: title(what) + " latency over time, all messages", Marks: marks(r)}
	t := newTimeline(r)
	s.X = t.axis()
	m := heatMapOf(r, what)
	lo, hi, most := math.NaN(), math.NaN(), int64(0)
	var rows heatRows
	if m != nil {
		rows = rowsOf(m)
		lo, hi, most = heatExtent(m, rows)
	}
	if most <= 0 || !(lo > 0 && lo < hi) {
		s.Y, s.NoData = logAxis("latency (milliseconds)", 0.1, 10), whyNoShape(r, what)
		return s
	}
	unit := latencyScale(lo, hi, true)
	s.Y = logAxis(m.From+" latency ("+unit.word+")", lo/unit.per, hi/unit.per)
	s.Cells = &Cells{Name: "messages in a cell", From: heatLevels(most)}
	for i := range m.Columns {
		s.addColumn(m, &m.Columns[i], rows, t, unit.per)
	}
	if len(s.Cells.Cells) == 0 {
		s.Cells, s.NoData = nil, "the result's heat map has no cell within the run"
		return s
	}
	s.Spans, s.Events = spans(r, t), events(r, t)
	s.Table = heatTable(m, t)
	behind := result.Plural(r.Latency.Pick(what, m.From).Messages(), "message")
	notes := []string{behind, heatWidth(m), rows.describe(), meaning(m.From)}
	s.Caption = caption(r, append(notes, heatOmits(r, m)...)...)
	return s
}

// hasHeat: below that many columns with messages the lines of the percentiles say all.
func hasHeat(what string) func(*result.Result) bool {
	const least = 5
	return func(r *result.Result) bool {
		columns := 0
		if m := heatMapOf(r, what); m != nil {
			for i := range m.Columns {
				if len(m.Columns[i].Messages) > 0 {
					columns++
				}
			}
		}
		return columns >= least
	}
}

func heatMapOf(r *result.Result, what string) *result.HeatMap {
	for i := range r.HeatMaps {
		if m := &r.HeatMaps[i]; m.What == what {
			return m
		}
	}
	return nil
}

// mostHeatRows is how many rows are drawn: more would be no higher than a line on a small page.
const mostHeatRows = 48

// heatRows puts neighbouring rows together, so many, from the first that can stand on a logarithmic axis.
type heatRows struct{ first, together int }

func rowsOf(m *result.HeatMap) heatRows {
	first := slices.IndexFunc(m.EdgesNS, func(ns int64) bool { return ns > 0 })
	if first < 0 {
		first = len(m.EdgesNS)
	}
	rows := len(m.EdgesNS) - 1 - first
	return heatRows{first, max(1, (rows+mostHeatRows-1)/mostHeatRows)}
}

// describe the height of a row: four edges make a doubling.
func (h heatRows) describe() string {
	return "rows in steps of " + significant(math.Round(100*(math.Exp2(float64(h.together)/4)-1))) + " %"
}

// cells of a column that can stand on a logarithmic axis: their limits and their messages.
func (h heatRows) cells(m *result.HeatMap, c *result.HeatColumn, f func(lo, hi int64, n int64)) {
	sum, last := int64(0), -1
	show := func() {
		from := h.first + last*h.together
		if last < 0 || sum <= 0 {
			return
		}
		if lo, hi := m.EdgesNS[from], m.EdgesNS[min(from+h.together, len(m.EdgesNS)-1)]; lo > 0 && lo < hi {
			f(lo, hi, sum)
		}
	}
	for k, n := range c.Messages {
		row := c.FirstRow + k
		if row < h.first || row >= len(m.EdgesNS)-1 || n <= 0 {
			continue
		}
		if next := (row - h.first) / h.together; next != last {
			show()
			sum, last = 0, next
		}
		if sum += n; sum < 0 {
			sum = math.MaxInt64
		}
	}
	show()
}

// heatExtent is that of the cells that can be drawn, and the most messages of one of them.
func heatExtent(m *result.HeatMap, rows heatRows) (lo, hi float64, most int64) {
	lo, hi = math.Inf(1), 0
	for i := range m.Columns {
		rows.cells(m, &m.Columns[i], func(from, to, n int64) {
			lo, hi, most = math.Min(lo, float64(from)), math.Max(hi, float64(to)), max(most, n)
		})
	}
	return lo, hi, most
}

// heatLevels begin at 1, 3, 10, 30 and so on while there are few, and else at 1, 10, 100: a cell with a single message must show
// beside one with millions.
func heatLevels(most int64) (from []float64) {
	halves := most < 1e4
	for level := 1.0; level <= float64(most); level *= 10 {
		from = append(from, level)
		if halves && 3*level <= float64(most) {
			from = append(from, 3*level)
		}
	}
	return from
}

// addColumn draws neighbouring cells of one level as one.
func (s *Spec) addColumn(m *result.HeatMap, c *result.HeatColumn, rows heatRows, t timeline, per float64) {
	x0, x1 := math.Max(t.at(c.StartNS), 0)/t.unit.per, math.Min(t.at(c.EndNS), t.end)/t.unit.per
	if !(x0 < x1) {
		return
	}
	last, counted := -1, CountedColumn{X0: x0, X1: x1}
	rows.cells(m, c, func(lo, hi, n int64) {
		counted.Cells = append(counted.Cells, CountedCell{Y0: float64(lo) / per, Y1: float64(hi) / per, Count: n})
		level := max(0, levelOf(s.Cells.From, n))
		cell := Cell{X0: x0, X1: x1, Y0: float64(lo) / per, Y1: float64(hi) / per, Level: level}
		if all := s.Cells.Cells; last >= 0 && all[last].Level == level && all[last].Y1 == cell.Y0 {
			all[last].Y1 = cell.Y1
			return
		}
		last = len(s.Cells.Cells)
		s.Cells.Cells = append(s.Cells.Cells, cell)
	})
	if len(counted.Cells) > 0 {
		s.Cells.Counted = append(s.Cells.Counted, counted)
	}
}

// levelOf is the last level that begins at n or below.
func levelOf(from []float64, n int64) int {
	i, found := slices.BinarySearch(from, float64(n))
	if found {
		return i
	}
	return i - 1
}

// heatWidth says what a column stands for.
func heatWidth(m *result.HeatMap) string {
	width := 0.0
	if len(m.Columns) > 0 { // the last may be a little longer
		width = math.Max(0, float64(m.Columns[0].EndNS)-float64(m.Columns[0].StartNS))
	}
	unit := timeScale(width)
	return "columns of " + significant(width/unit.per) + " " + unit.name
}

// heatOmits says what is not in the picture.
func heatOmits(r *result.Result, m *result.HeatMap) (notes []string) {
	out := int64(0)
	for _, c := range m.Columns {
		for k, n := range c.Messages {
			if row := c.FirstRow + k; row >= 0 && row < len(m.EdgesNS) && m.EdgesNS[row] <= 0 && n > 0 {
				out += n
			}
		}
	}
	if out > 0 {
		notes = append(notes, result.Plural(out, "message")+" at or below 0 not shown on the logarithmic axis")
	}
	if text := r.Latency.Pick(m.What, m.From).DescribeCensored(); text != "" {
		notes = append(notes, text+", and so in no cell")
	}
	return notes
}

func heatTable(m *result.HeatMap, t timeline) *Table {
	return &Table{Columns: []string{"from_s", "to_s", "above_ms", "below_ms", "messages"}, Rows: func(yield func([]string) bool) {
		for i := range m.Columns {
			c := &m.Columns[i]
			from, to, goOn := number(t.at(c.StartNS)/1e9), number(t.at(c.EndNS)/1e9), true
			for k, n := range c.Messages {
				row := c.FirstRow + k
				if n <= 0 || row < 0 || row >= len(m.EdgesNS)-1 {
					continue
				}
				if goOn = yield([]string{from, to, milliseconds(float64(m.EdgesNS[row])), milliseconds(float64(m.EdgesNS[row+1])), strconv.FormatInt(n, 10)}); !goOn {
					return
				}
			}
		}
	}}
}
