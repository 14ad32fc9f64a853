package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Of 200 response latencies 20 are 0, 80 (40 %) from 2^21 to 2^22 ns, 100 (half) up to 2^23; of service latencies three quarters are from
// 2^20 to 2^21 and a quarter from 2^22 to 2^23, with nothing between.
func TestDistribution(t *testing.T) {
	s := distributionSpec(everything(), "confirm")
	ms := func(power int) float64 { return float64(int64(1)<<power) / 1e6 }
	want := []Point{{X: ms(21)}, {ms(21), 40}, {ms(22), 40}, {ms(22), 50}, {ms(23), 50}, {X: ms(23)}}
	if got := series(t, &s, "response").Segments; fmt.Sprint(got) != fmt.Sprint([][]Point{want}) {
		t.Errorf("response %v, want %v", got, want)
	}
	want = []Point{{X: ms(20)}, {ms(20), 75}, {ms(21), 75}, {X: ms(21)}, {X: ms(22)}, {ms(22), 25}, {ms(23), 25}, {X: ms(23)}}
	if got := series(t, &s, "service").Segments; fmt.Sprint(got) != fmt.Sprint([][]Point{want}) {
		t.Errorf("service %v, want %v", got, want)
	}
	if len(s.Bars) != 1 || len(s.Bars[0].Bars) != 2 || s.Bars[0].Bars[1].Value != 50 {
		t.Errorf("bars %+v", s.Bars)
	}
	// Median 6 ms; 99 % at 24 and the maximum at 36 ms lie beyond the axis, which ends where the data do, at 10 ms.
	if len(s.Events) != 1 || s.Events[0].At != 6 || !s.X.Log || s.X.Max != 10 {
		t.Errorf("events %+v, axis to %g", s.Events, s.X.Max)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "response latency of 200 messages (20 at or below 0 not shown on the logarithmic axis)") {
		t.Errorf("caption %s", c)
	}
}

// A column's cells: 0 to 2^20 ns are none; 100*i from 2^20 and 3 from 2^21 on. The most is 900: levels at 1, 3, 10, 30, 100, 300.
func TestHeatMap(t *testing.T) {
	s := heatSpec(everything(), "delivery")
	if got := fmt.Sprint(s.Cells.From); got != "[1 3 10 30 100 300]" {
		t.Errorf("levels %s", got)
	}
	ms := func(power int) float64 { return float64(int64(1)<<power) / 1e6 }
	want := map[Cell]bool{
		{0, 1, ms(21), ms(22), 1}: true,                                  // none in the row below in the first second
		{2, 3, ms(20), ms(21), 4}: true, {2, 3, ms(21), ms(22), 1}: true, // 200 and 3
		{9, 10, ms(20), ms(21), 5}: true, // 900
	}
	for _, c := range s.Cells.Cells {
		delete(want, c)
	}
	if len(want) > 0 || len(s.Cells.Cells) != 19 {
		t.Errorf("%d cells, missing %v", len(s.Cells.Cells), want)
	}
}

// The largest heat map that an analysis makes, all cells full and no two neighbours alike, is still a small file.
func TestFullHeatMap(t *testing.T) {
	m := result.HeatMap{What: "delivery", From: "response"}
	for row := range 81 { // twenty doublings, of which two rows make one that is drawn
		m.EdgesNS = append(m.EdgesNS, int64(1000*math.Exp2(float64(row)/4)))
	}
	r := everything()
	for i := range int64(200) {
		c := result.HeatColumn{StartNS: start + i*6e7, EndNS: start + (i+1)*6e7}
		for row := range int64(80) {
			c.Messages = append(c.Messages, 1+5*((i+row/2)%2))
		}
		m.Columns = append(m.Columns, c)
	}
	r.HeatMaps = []result.HeatMap{m}
	s := heatSpec(r, "delivery")
	if n := len(s.Cells.Cells); n != 200*40 || s.Cells.Cells[0].Level != 0 || s.Cells.Cells[1].Level != 2 || s.Cells.Cells[1].Y0 != s.Cells.Cells[0].Y1 {
		t.Errorf("%d cells, the first %v", n, s.Cells.Cells[:2])
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "rows in steps of 41 %") {
		t.Errorf("caption %s", c)
	}
	for _, format := range []string{"svg", "eps", "tex"} {
		if b := encode(t, &s, format, Options{}); len(b) > 2_000_000 {
			t.Errorf("%s has %d bytes", format, len(b))
		}
	}
}

// Neighbours of one level are one cell, and the levels of millions go by tens.
func TestHeatCellsAreJoined(t *testing.T) {
	r := everything()
	r.HeatMaps = []result.HeatMap{{What: "delivery", From: "response", EdgesNS: []int64{-1, 1, 2e6, 4e6, 8e6, 16e6},
		Columns: []result.HeatColumn{{StartNS: start, EndNS: start + 2e9, Censored: 1, Messages: []int64{5, 10, 40, 99, 2e6}}}}}
	s := heatSpec(r, "delivery")
	if got := fmt.Sprint(s.Cells.Cells, s.Cells.From); got != "[{0 2 0.001 8000 1} {0 2 8000 16000 6}] [1 10 100 1000 10000 100000 1e+06]" {
		t.Errorf("%s", got)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "5 messages at or below 0 not shown") || !strings.Contains(c, "columns of 2 s") {
		t.Errorf("caption %s", c)
	}
}

// Six frames of one message, one of two, one of 20: 75, 12.5 and 12.5 % of the frames; 6, 2 and 20 of 28 messages.
func TestConfirmSizes(t *testing.T) {
	s := confirmSizesSpec(everything())
	frames, messages := series(t, &s, "frames").Segments, series(t, &s, "messages in them").Segments
	if got := fmt.Sprint(frames); got != "[[{0.5 0} {0.5 75} {1.5 75} {1.5 12.5} {2.5 12.5} {2.5 0} {19.5 0} {19.5 12.5} {21.5 12.5} {21.5 0}]]" {
		t.Errorf("frames %s", got)
	}
	if top := messages[0][7]; !near(top.Y, 2000.0/28) || s.Y.Max < top.Y {
		t.Errorf("messages %v, axis to %g", messages, s.Y.Max)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "8 frames confirmed or refused 28 messages") {
		t.Errorf("caption %s", c)
	}
}

// Shares of 0.2, 0.05, 0.1, i/20 and 0.65-i/20 lie on each other: work from 0 to 20 %, record to 25, socket to 35, in second 4 the window
// to 55, and the schedule to 100. The drain has none.
func TestWaiting(t *testing.T) {
	s := waitingSpec(everything())
	want := []string{"work 0 20", "wait: record 20 25", "wait: socket 25 35", "wait: confirms 35 55", "wait: schedule 55 100"}
	for i, b := range s.Bands {
		got := b.Segments[0][8] // two corners a second
		if len(b.Segments) != 1 || got.X != 4 || fmt.Sprintf("%s %.0f %.0f", b.Name, got.Low, got.High) != want[i] || b.Segments[0][len(b.Segments[0])-1].X != 10 {
			t.Errorf("%s: %v", b.Name, got)
		}
	}
	if len(s.Bands) != 5 {
		t.Errorf("%d bands", len(s.Bands))
	}
}

func TestLatenessAndCPU(t *testing.T) {
	late, cpu := latenessSpec(everything()), cpuSpec(everything())
	if got := series(t, &late, "maximum").Segments[0][2]; late.Y.Label != "sent later than due (milliseconds)" || got != (Point{2.5, 0.3}) {
		t.Errorf("%s: %v", late.Y.Label, got)
	}
	if got := series(t, &cpu, "busy").Segments[0][4]; got.X != 2 || !near(got.Y, 0.7) {
		t.Errorf("%v", got)
	}
	if got := series(t, &cpu, "processors of the host").Segments[0][0]; got.Y != 4 {
		t.Errorf("%v", got)
	}
	r := everything()
	r.Host.CPUs = 12 // would press 1.4 busy ones to the axis
	if cpu = cpuSpec(r); len(cpu.Series) != 1 || cpu.Y.Max > 2 {
		t.Errorf("%d lines up to %g", len(cpu.Series), cpu.Y.Max)
	}
}

// Of intervals of 100 ms only the sixth and the sixteenth have a look, as the recording took one a second: each holds half-way to the
// other. The one at 6 s is too far away for that, and the last interval, of 5 ms, says nothing.
func TestRareLooks(t *testing.T) {
	r := latencyRun()
	r.IntervalNS = 1e8
	for i := range int64(62) {
		in := result.Interval{StartNS: start + i*1e8, EndNS: start + (i+1)*1e8, Phase: "run"}
		if i == 5 || i == 15 || i == 60 {
			in.Self = &result.Self{CPUCores: ptr(float64(i))}
		}
		if i == 61 {
			in.EndNS, in.Self = in.StartNS+5e6, &result.Self{CPUCores: ptr(99.0)}
		}
		r.Intervals = append(r.Intervals, in)
	}
	s := cpuSpec(r)
	if got := fmt.Sprint(series(t, &s, "busy").Segments); got != "[[{0.5 5} {1.05 5} {1.05 15} {1.6 15}] [{6 60} {6.1 60}]]" {
		t.Errorf("%s", got)
	}
}

// Three queues have a row each, the first at the top; of 200 consumers there are curves in the order of the medians.
func TestSpread(t *testing.T) {
	s := spreadSpec(everything(), "queue")
	if got := fmt.Sprint(labels(s.Y)); got != "[queue 2 queue 1 queue 0]" {
		t.Errorf("names from below %s", got)
	}
	row := s.Rows.Rows[1]
	if row.At != 1.5 || *row.From != 1 || *row.Low != 2 || *row.High != 4 || *row.To != 6 || *row.Dot != 8 || row.Bound != nil {
		t.Errorf("the second queue: %+v", row)
	}
	r := everything()
	slow := r.Groupings[2].Members[0].Latency.Delivery.Service
	slow.P50NS, slow.Censored, slow.AtLeastNS, slow.MaxAtLeastNS = ptr(int64(500e6)), 1, ptr(int64(900e6)), ptr(int64(900e6))
	s = spreadSpec(r, "consumer")
	median, most := series(t, &s, "median").Segments[0], series(t, &s, "maximum")
	if s.Rows != nil || len(median) != 200 || median[0] != (Point{1, 2}) || median[198] != (Point{199, 200}) || median[199] != (Point{200, 500}) {
		t.Errorf("%d medians, %v to %v", len(median), median[0], median[len(median)-1])
	}
	if fmt.Sprint(most.Bounds) != "[{200 900}]" {
		t.Errorf("bounds %v", most.Bounds)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "highest median: consumer 0 ·") || !strings.Contains(c, "200 consumers") {
		t.Errorf("caption %s", c)
	}
	r.Groupings = nil
	if s = spreadSpec(r, "queue"); s.NoData != "latencies by queue were not asked for (--by queue)" {
		t.Errorf("%q", s.NoData)
	}
}

// A member with messages but without an answer, and values that no logarithmic axis has, leave the others standing.
func TestSpreadOfOddMembers(t *testing.T) {
	r := everything()
	g := &r.Groupings[0]
	g.Members[0].Latency.Delivery.Service.MinNS = ptr(int64(-5))
	g.Members[1].Latency.Delivery.Service = &result.Distribution{Censored: 7}
	g.Members[2].Latency.Delivery.Service.MaxNS = ptr(int64(math.MaxInt64))
	g.Members[2].Name = strings.Repeat("a-very-long-name-of-a-queue", 20)
	s := spreadSpec(r, "queue")
	if len(s.Rows.Rows) != 2 || !s.X.Log || s.Rows.Rows[0].From == nil || *s.Rows.Rows[0].From != *s.Rows.Rows[0].Low {
		t.Errorf("%+v", s.Rows.Rows)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "2 queues of 3") {
		t.Errorf("caption %s", c)
	}
}

// A queue of which most messages were never answered has no median, and is drawn nevertheless: from the least to what 99 % are at least.
func TestSpreadOfMembersMostlyNotAnswered(t *testing.T) {
	r := everything()
	r.Groupings[0].Members[1].Latency.Delivery.Service = &result.Distribution{Count: 3, Censored: 7, MinNS: ptr(int64(2e6)), MaxNS: ptr(int64(5e6)),
		AtLeastNS: ptr(int64(9e6)), MaxAtLeastNS: ptr(int64(12e6)), AtLeast: &result.Bounds{P50NS: ptr(int64(9e6)), P99NS: ptr(int64(11e6))}}
	s := spreadSpec(r, "queue")
	if len(s.Rows.Rows) != 3 || strings.Contains(strings.Join(s.Caption, " "), "queues of") {
		t.Fatalf("%d rows; %s", len(s.Rows.Rows), s.Caption)
	}
	if x := s.Rows.Rows[1]; x.Low != nil || x.Dot != nil || x.From == nil || *x.From != 2 || x.To == nil || *x.To != 11 || x.Bound == nil || *x.Bound != 12 {
		t.Errorf("%+v", x)
	}
}
