// Package perftest writes what RabbitMQ's PerfTest prints, so that whatever reads that reads ours: the line of each
// interval in both of its formats, the CSV file, the line that names the stop, and the summary. They are functions of
// values; nothing here keeps time or writes to anywhere.
//
// It departs from PerfTest in four things, each so that no figure says what it does not mean: an interval in which nothing
// happened has a line, of zeros; a latency that is not known is not printed as 0 (see Latency); the maximum is that of all
// messages; and text for machines is ASCII.
package perftest

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Shown says what a run has at all; the other pieces are left out of its lines.
type Shown struct {
	Producers bool // the run publishes
	Consumers bool // the run consumes
	Mandatory bool // messages may be returned
	Confirms  bool // publisher confirms are on
}

// Format is how the lines of a run look.
type Format struct {
	ID     string
	Shown  Shown
	Millis bool // latencies in whole milliseconds, not microseconds
	ASCII  bool // the reader may not know UTF-8: "us" for microseconds
}

// Sample is one interval. Rates are in messages per second.
type Sample struct {
	Elapsed time.Duration // since load began, at the end of the interval
	Wall    time.Time     // the same moment, for the compact format

	Sent, Returned, Confirmed, Nacked, Received float64
	Delivery, Confirm                           Latency
}

// Latency is min, median, 75th, 95th and 99th percentile and maximum, in this order: the order of Heading.
type Latency struct {
	Values [6]time.Duration
	// AtLeast marks values that are only known to be at least so much, as messages are still on their way.
	AtLeast [6]bool
	// Unknown says, where it is not empty, why there are no values: "n/a (backlog)".
	Unknown string
}

// Heading names the values of a Latency.
const Heading = "min/median/75th/95th/99th/max"

const perSecond = "msg/s"

// StartingConnection is the line that announces connection i, from 0; what is "consumer" or "producer".
func (f Format) StartingConnection(what string, i int) string {
	return fmt.Sprintf("id: %s, starting %s #%d", f.ID, what, i)
}

// StartingChannel is the line that announces channel j of connection i.
func (f Format) StartingChannel(what string, i, j int) string {
	return fmt.Sprintf("id: %s, starting %s #%d, channel #%d", f.ID, what, i, j)
}

// Line is an interval in the default format.
func (f Format) Line(s *Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s, time %s s", f.ID, Seconds(s.Elapsed))
	for _, p := range f.rates(s) {
		fmt.Fprintf(&b, ", %s: %s %s", p.name, Rate(p.rate), perSecond)
	}
	for i, p := range f.latencies(s) {
		b.WriteString(", ")
		if i == 0 {
			b.WriteString(Heading + " ")
		}
		fmt.Fprintf(&b, "%s latency: %s", p.name, f.Latency(p.of))
	}
	return b.String()
}

type namedRate struct {
	name string
	rate float64
}

// rates are the rates that the run has, in the order of the line.
func (f Format) rates(s *Sample) []namedRate {
	var rates []namedRate
	if f.Shown.Producers {
		rates = append(rates, namedRate{"sent", s.Sent})
	}
	if f.Shown.Mandatory {
		rates = append(rates, namedRate{"returned", s.Returned})
	}
	if f.confirms() {
		rates = append(rates, namedRate{"confirmed", s.Confirmed}, namedRate{"nacked", s.Nacked})
	}
	if f.Shown.Consumers {
		rates = append(rates, namedRate{"received", s.Received})
	}
	return rates
}

type namedLatency struct {
	name string
	of   *Latency
}

func (f Format) latencies(s *Sample) []namedLatency {
	var latencies []namedLatency
	if f.Shown.Consumers {
		latencies = append(latencies, namedLatency{"consumer", &s.Delivery})
	}
	if f.confirms() {
		latencies = append(latencies, namedLatency{"confirm", &s.Confirm})
	}
	return latencies
}

func (f Format) confirms() bool { return f.Shown.Producers && f.Shown.Confirms }

// Summary are the last lines of a run.
func (f Format) Summary(sending, receiving float64, delivery, confirm *Latency) []string {
	return f.summary("id: "+f.ID+", ", sending, receiving, delivery, confirm)
}

func (f Format) summary(begin string, sending, receiving float64, delivery, confirm *Latency) []string {
	lines := []string{
		fmt.Sprintf("%ssending rate avg: %s %s", begin, Rate(sending), perSecond),
		fmt.Sprintf("%sreceiving rate avg: %s %s", begin, Rate(receiving), perSecond),
	}
	for _, p := range f.latencies(&Sample{Delivery: *delivery, Confirm: *confirm}) {
		lines = append(lines, fmt.Sprintf("%s%s latency %s %s", begin, p.name, Heading, f.Latency(p.of)))
	}
	return lines
}

// Latency writes the values with their unit, or why there are none.
func (f Format) Latency(q *Latency) string {
	if q.Unknown != "" {
		return q.Unknown
	}
	var b strings.Builder
	for i, v := range q.Values {
		if i > 0 {
			b.WriteByte('/')
		}
		if q.AtLeast[i] {
			b.WriteString(">=")
		}
		fmt.Fprintf(&b, "%d", f.whole(v))
	}
	return b.String() + " " + f.unit()
}

func (f Format) unit() string {
	switch {
	case f.Millis:
		return "ms"
	case f.ASCII:
		return "us"
	}
	return "\u00b5s"
}

// whole is a latency in whole units, truncated as in PerfTest.
func (f Format) whole(d time.Duration) int64 {
	if f.Millis {
		return d.Milliseconds()
	}
	return d.Microseconds()
}

// Seconds writes a time in seconds with three decimals.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Rate writes messages per second as PerfTest does: 0; below 1 with two decimals, below 10 with one, rounded half up; from
// 10 on truncated. The decimal separator is a point, whatever the locale.
func Rate(r float64) string {
	switch {
	case r == 0 || math.IsNaN(r) || math.IsInf(r, 0):
		return "0"
	case r < 1:
		return fmt.Sprintf("%.2f", math.Round(r*100)/100)
	case r < 10:
		return fmt.Sprintf("%.1f", math.Round(r*10)/10)
	}
	return fmt.Sprintf("%d", int64(r))
}
