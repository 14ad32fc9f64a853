package perftest

import (
	"fmt"
	"strings"
)

// Widths of the compact format: the date and time; a rate of six digits with its unit; six latencies of three digits.
const (
	compactTime    = "2006/01/02 15:04:05"
	rateWidth      = 13
	latencyWidth   = 27
	latencyAligned = latencyWidth - 1 // what is longer pushes the rest to the right, behind one space
)

// CompactHeader is the row that heads the lines of the compact format.
func (f Format) CompactHeader() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", len(compactTime), "time")
	for _, p := range f.rates(&Sample{}) {
		fmt.Fprintf(&b, "%*s", rateWidth, p.name)
	}
	for _, p := range f.latencies(&Sample{}) {
		fmt.Fprintf(&b, "%*s", latencyWidth, p.name+" latency")
	}
	return b.String()
}

// CompactLine is an interval in the compact format, which begins with the wall clock.
func (f Format) CompactLine(s *Sample) string {
	var b strings.Builder
	b.WriteString(s.Wall.Format(compactTime))
	for _, p := range f.rates(s) {
		fmt.Fprintf(&b, "%*s", rateWidth, Rate(p.rate)+" "+perSecond)
	}
	pushed := false
	for _, p := range f.latencies(s) {
		text := f.Latency(p.of)
		if pushed = pushed || len([]rune(text)) > latencyAligned; pushed {
			b.WriteString(" " + text)
		} else {
			fmt.Fprintf(&b, "%*s", latencyWidth, text)
		}
	}
	return b.String()
}

// CompactSummary are the last lines of a run in the compact format: without the run's id.
func (f Format) CompactSummary(sending, receiving float64, delivery, confirm *Latency) []string {
	return f.summary("", sending, receiving, delivery, confirm)
}
