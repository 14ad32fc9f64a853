package reports

import (
	"fmt"

	"leveret/analyze/result"
)

// generator prints what the load generator noticed of itself, in few lines: the evidence for what limited the run.
func (p *page) generator(r *result.Result) {
	g := r.Generator
	if g == nil {
		return
	}
	p.heading("Generator")
	add := func(name, text string) {
		if text != "" {
			p.field(name, fieldColumn, p.clean(text))
		}
	}
	if g.Self != nil {
		add("producers", producersLine(g, &r.Config))
	}
	if d := g.Lateness; d.Messages() > 0 {
		add("sent - due", p.latenessLine(d))
	}
	if b := g.Batches; b != nil {
		add("writes", batchesLine(b))
	}
	if g.Self != nil {
		add("reads", readsLine(g.Self))
		add("process", p.processLine(g.Self))
	}
}

// producersLine: "waited for confirms 83 %, for the socket 1.2 % of the time; at work 15 %". What nobody waited for is left out,
// but where nothing was waited for at all.
func producersLine(g *result.Generator, c *result.Config) string {
	s := g.Self
	waits, answers, socket := "", "confirms", "the socket"
	if g.LostShare != nil && s.SocketShare != nil && *g.LostShare > *s.SocketShare/2 { // most of that was no connection's
		socket = "a lost connection or the socket"
	}
	if c.PublishTxSize > 0 && c.Confirm == 0 {
		answers = "commits"
	}
	for _, w := range []struct {
		what  string
		share *float64
	}{{answers, s.WindowShare}, {socket, s.SocketShare}, {"the recorder", s.RecorderShare}, {"the schedule", s.ScheduleShare}} {
		if w.share != nil && (*w.share > 0 || w.what == "the schedule" && c.OpenLoop) {
			waits = join(", ", waits, "for "+w.what+" "+share(*w.share))
		}
	}
	switch {
	case s.WorkShare == nil:
		return ""
	case waits == "":
		return "at work all the time, waited for nothing"
	}
	return "waited " + waits + " of the time; at work " + share(*s.WorkShare)
}

// share writes a part of a whole: "83 %", "0.42 %", "under 0.01 %".
func share(v float64) string {
	if v > 0 && v < 0.0001 {
		return "under 0.01 %"
	}
	return significant(100*v, shareDecimals(v)) + " %"
}

func shareDecimals(v float64) int {
	switch {
	case v >= 0.1 || v == 0:
		return 0
	case v >= 0.01:
		return 1
	}
	return 2
}

func (p *page) latenessLine(d *result.Distribution) string {
	at := func(x result.Percentile) string {
		switch {
		case x.ValueNS == nil:
			return notAvailable
		case x.AtLeast:
			return ">= " + duration(float64(*x.ValueNS), p.ascii)
		}
		return duration(float64(*x.ValueNS), p.ascii)
	}
	ps, most := d.Percentiles(), result.Percentile{ValueNS: d.MaxNS}
	if d.Censored > 0 && d.AtLeastNS != nil {
		bound := d.MaxBound()
		most = result.Percentile{ValueNS: &bound, AtLeast: true}
	}
	text := "50 % " + at(ps[0]) + ", 99 % " + at(ps[3]) + ", max " + at(most) + " of " + result.Plural(d.Messages(), "message")
	if d.Censored > 0 {
		text += " due; " + result.Group(d.Censored) + " of them not sent"
	}
	return text
}

func batchesLine(b *result.BatchSizes) string {
	at := func(v *int64) string {
		if v == nil {
			return notAvailable
		}
		return result.Group(*v)
	}
	mean := wholeOr(b.Mean, 1) + " messages"
	if b.Mean == 1 {
		mean = "1 message"
	}
	return result.Group(b.Writes) + " of " + mean + " on average; 50 % " + at(b.P50) + ", 99 % " + at(b.P99) + ", max " + result.Group(b.Max)
}

func readsLine(s *result.Self) string {
	if s.Reads <= 0 {
		return ""
	}
	text := result.Group(s.Reads) + " of " + significant(float64(s.ReadBytes)/float64(s.Reads), 0) + " bytes on average"
	if s.DeliveryReads > 0 {
		text += fmt.Sprintf("; %s deliveries a read where there were any, max %s", wholeOr(float64(s.Deliveries)/float64(s.DeliveryReads), 1), result.Group(s.LargestRead))
	}
	return text
}

func (p *page) processLine(s *result.Self) string {
	var parts []string
	if s.CPUCores != nil {
		parts = append(parts, significant(*s.CPUCores, 2)+" cores busy")
	}
	parts = append(parts, result.Plural(s.GCCycles, "garbage collection")+" (paused "+duration(float64(s.GCPauseNS), p.ascii)+")")
	if s.SchedLatencyP99NS != nil {
		parts = append(parts, "scheduling latency 99 % up to "+duration(float64(*s.SchedLatencyP99NS), p.ascii))
	}
	parts = append(parts, "heap up to "+byteCount(s.HeapBytes), result.Plural(s.Goroutines, "goroutine")+" at most")
	if s.UnsentMaxBytes != nil {
		parts = append(parts, "unsent in a socket up to "+byteCount(*s.UnsentMaxBytes))
	}
	if s.ReadingPausedNS > 0 {
		parts = append(parts, "reading paused for the recorder "+duration(float64(s.ReadingPausedNS), p.ascii))
	}
	return join(", ", parts...)
}
