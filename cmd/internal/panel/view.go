package panel

import (
	"fmt"
	"math"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/loadcore"
)

// view is what the panel shows at one moment, as plain values.
type view struct {
	title    string
	remember time.Duration // how far sparklines go back
	ended    bool
	phase    string
	color    string    // of the phase
	done     float64   // share of the run, or of the phase, 0 to 1; negative: nobody knows
	progress []string  // how far it has come, the most important part last
	rates    []rateRow // none before load begins
	latency  []latencyRow

	backlog          int64   // messages that the queues hold; negative: not known
	growth           float64 // of the backlog, messages per second; 0: none worth speaking of
	inFlight, window int64   // confirms awaited, and how many may be; window 0: without confirms
	open, planned    int     // connections
	blocked          int
	limit            limitName
	limitText        string

	record capture.State

	failures, nacked, returned int64
	errors                     []errorRow // the last first
}

// rateRow is the rate of one kind of event; rates in messages per second.
type rateRow struct {
	name         string
	now, average float64 // NaN: not known yet
	total        int64
	past         *history
}

// latencyRow is the latency of one kind of answer in the last interval.
type latencyRow struct {
	name string
	loadcore.LiveLatency
	past *history // p99 in ns
}

type errorRow struct {
	count int64
	text  string
}

// span is a piece of a line, in one style: the parameters of an SGR sequence, "" for none.
type span struct{ text, style string }

const (
	styleTitle  = "1"
	styleHeader = "2"
	styleGood   = "32"
	styleWarn   = "33"
	styleBad    = "31"
	styleSpark  = "36"
)

// line is a line of the panel. Where not all find room, those with the largest rank are left out.
type line struct {
	spans []span
	rank  int
}

// Ranks of lines.
const (
	rankFirst = iota
	rankRates
	rankLatency
	rankStanding // backlog, limit, what goes wrong
	rankMore
	rankHeader
	rankDetail
	rankTitle
	rankBlank
)

// Widths of the tables. Below narrowBelow columns there are none: each figure stands with its name.
const (
	narrowBelow  = 60
	labelColumns = 12
	rateColumns  = 11
	totalColumns = 14
	gapColumns   = 1 // before a sparkline
	timeColumns  = 9
	countColumns = 12
	barColumns   = 40
)

// lines lays the panel out for a terminal.
func (v *view) lines(width, height int, ascii bool) []line {
	p := layout{view: v, width: width, ascii: ascii, narrow: width < narrowBelow}
	p.add(rankTitle, span{plainText(v.title, ascii), styleTitle})
	p.addProgress()
	p.addRates()
	p.addLatency()
	p.blank()
	if len(v.rates) > 0 {
		p.addQueues()
	}
	if !v.ended { // all are closed then
		p.addConnections()
	}
	if v.limitText != "" {
		p.labelled(rankStanding, "limit", span{v.limitText, limitStyles[v.limit]})
	}
	if len(v.rates) > 0 {
		p.addRecorder()
	}
	p.addErrors(max(1, min(8, (height-18)/2)))
	return fitLines(p.out, height)
}

var limitStyles = map[limitName]string{limitSchedule: styleGood, limitClient: styleWarn}

// fitLines leaves out the least important lines until at most n are left, the last ones first.
func fitLines(lines []line, n int) []line {
	for len(lines) > max(n, 0) {
		worst := 0
		for i, l := range lines {
			if l.rank >= lines[worst].rank {
				worst = i
			}
		}
		lines = append(lines[:worst], lines[worst+1:]...)
	}
	return lines
}

// layout gathers the lines of a view.
type layout struct {
	*view
	width         int
	ascii, narrow bool
	out           []line
}

func (p *layout) add(rank int, spans ...span) {
	p.out = append(p.out, line{spans, rank})
}

func (p *layout) blank() {
	if !p.narrow {
		p.add(rankBlank)
	}
}

// labelled adds a line that begins with its name.
func (p *layout) labelled(rank int, label string, spans ...span) {
	p.add(rank, append([]span{{text: fmt.Sprintf("%-*s", labelColumns, label)}}, spans...)...)
}

func (p *layout) addProgress() {
	spans := []span{{p.phase, p.color}}
	text := strings.Join(p.progress, ", ")
	if p.narrow && len(p.progress) > 0 {
		text = p.progress[len(p.progress)-1]
	}
	if text != "" {
		text = "  " + text
	}
	if room := min(barColumns, p.width-len(p.phase)-2-len(text)); p.done >= 0 && room >= 8 {
		spans = append(spans, span{text: "  "}, span{barText(p.done, room, p.ascii), p.color})
	}
	p.add(rankFirst, append(spans, span{text: text})...)
}

func (p *layout) addRates() {
	if len(p.rates) == 0 {
		return
	}
	p.blank()
	spark := 0
	if !p.narrow {
		spark = sparkWidth(p.width - labelColumns - 2*rateColumns - totalColumns - gapColumns)
		now := "now/s"
		if p.ended {
			now = "last/s"
		}
		header := fmt.Sprintf("%-*s%*s%*s%*s", labelColumns, "messages", rateColumns, now, rateColumns, "average/s", totalColumns, "total")
		if spark > 0 {
			header += " last " + spanText(p.remember)
		}
		p.add(rankHeader, span{header, styleHeader})
	}
	for _, r := range p.rates {
		now, average := perSecondText(r.now), perSecondText(r.average)
		if p.narrow {
			p.labelled(rankRates, r.name, span{text: now + "/s"}, span{text: "  average " + average + "/s"})
			continue
		}
		spans := []span{{fmt.Sprintf("%*s", rateColumns, now), styleTitle}, {text: fmt.Sprintf("%*s%*s", rateColumns, average, totalColumns, result.Group(r.total))}}
		if spark > 0 {
			spans = append(spans, span{text: " "}, span{sparkText(r.past.columns(spark), p.ascii), styleSpark})
		}
		p.labelled(rankRates, r.name, spans...)
	}
}

func perSecondText(rate float64) string {
	if math.IsNaN(rate) {
		return "-"
	}
	return rateText(rate)
}

func (p *layout) addLatency() {
	if len(p.latency) == 0 {
		return
	}
	p.blank()
	spark := 0
	if !p.narrow {
		header := fmt.Sprintf("%-*s", labelColumns, "latency")
		for _, name := range []string{"min", "p50", "p95", "p99", "max"} {
			header += fmt.Sprintf("%*s", timeColumns, name)
		}
		if p.width > len(header)+countColumns {
			header += fmt.Sprintf("%*s", countColumns, "messages")
		}
		if spark = sparkWidth(p.width - labelColumns - 5*timeColumns - countColumns - gapColumns); spark > 0 {
			header += " p99, last " + spanText(p.remember)
		}
		p.add(rankHeader, span{header, styleHeader})
	}
	for _, l := range p.latency {
		p.labelled(rankLatency, l.name, p.latencySpans(&l, spark)...)
	}
}

// latencySpans are the figures of one row. A latency that is known of a part of the messages only would be biased, and is
// not shown.
func (p *layout) latencySpans(l *latencyRow, spark int) []span {
	var spans []span
	text := func(ns int64) string { return latencyText(ns, p.ascii) }
	switch {
	case l.Biased() && p.narrow:
		return []span{{biasText(&l.LiveLatency), styleWarn}}
	case l.Biased():
		spans = []span{{fmt.Sprintf("%-*s", 5*timeColumns+countColumns, "  "+biasText(&l.LiveLatency)), styleWarn}}
	case l.Count == 0 && p.narrow:
		return []span{{text: "-"}}
	case l.Count == 0:
		spans = []span{{text: strings.Repeat(fmt.Sprintf("%*s", timeColumns, "-"), 5) + fmt.Sprintf("%*d", countColumns, 0)}}
	case p.narrow:
		line := "p50 " + text(l.P50NS)
		for _, more := range []string{"  p99 " + text(l.P99NS), "  max " + text(l.MaxNS)} {
			if labelColumns+len(line)+len(more) < p.width {
				line += more
			}
		}
		return []span{{text: line}}
	default:
		for i, ns := range []int64{l.MinNS, l.P50NS, l.P95NS, l.P99NS, l.MaxNS} {
			s := span{text: fmt.Sprintf("%*s", timeColumns, text(ns))}
			if i == 1 || i == 3 {
				s.style = styleTitle
			}
			spans = append(spans, s)
		}
		spans = append(spans, span{text: fmt.Sprintf("%*s", countColumns, result.Group(l.Count))})
	}
	if spark > 0 {
		spans = append(spans, span{text: " "}, span{sparkText(l.past.columns(spark), p.ascii), styleSpark})
	}
	return spans
}
