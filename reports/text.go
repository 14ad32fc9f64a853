package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// TextOptions of a text report. The zero value writes 100 columns of uncoloured UTF-8 with at most 24 interval lines.
type TextOptions struct {
	Width int  // columns; 0: 100, at least 60
	ASCII bool // for terminals that are not UTF-8: "us" for microseconds, other characters escaped
	Color bool // ANSI colours
	// Intervals is the most lines the interval table may have; 0: 24, negative: a line for every interval.
	Intervals int
	// Messages is how many messages of each finding are printed where more than a few were asked for; 0: 3.
	Messages int
}

const (
	defaultWidth     = 100
	leastWidth       = 60
	defaultIntervals = 24
)

// Text writes the report that people read: verdict and findings first, then what was run, counts, rates, latencies and
// intervals. No line is wider than o.Width.
func Text(w io.Writer, r *result.Result, o TextOptions) error {
	if r == nil {
		return errNoResult
	}
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Intervals == 0 {
		o.Intervals = defaultIntervals
	}
	if o.Messages <= 0 {
		o.Messages = messagesShown
	}
	p := &page{width: max(o.Width, leastWidth), ascii: o.ASCII, most: most{queues: 20, members: 20, spans: 10, intervals: o.Intervals, messages: o.Messages}}
	p.report(r)
	if _, err := w.Write(p.text(o.Color)); err != nil {
		return fmt.Errorf("write text report: %w", err)
	}
	return nil
}

// report fills the page with all that there is to say about a run.
func (p *page) report(r *result.Result) {
	p.verdict(r)
	p.findings(r)
	p.assertions(r)
	p.run(r)
	if r.OnlyChurn() { // there are no messages to tell of
		p.churn(r)
		p.charts()
		p.brokerSide(r)
		p.marks(r)
		p.spans(r)
		return
	}
	p.counts(r)
	p.queues(r)
	p.disruption(r)
	p.rates(r)
	p.latencies(r)
	p.churn(r)
	p.charts()
	p.groupings(r)
	p.generator(r)
	p.brokerSide(r)
	p.marks(r)
	p.spans(r)
	p.intervals(r)
}

var verdictStyle = map[result.Verdict]style{result.Pass: green, result.Fail: red, result.Inconclusive: yellow}

func (p *page) verdict(r *result.Result) {
	word := p.clean(string(r.Verdict))
	if word == "" {
		word = "none"
	}
	p.add(block{kind: verdictBlock, style: verdictStyle[r.Verdict], text: word})
	if r.Broker.Embedded {
		p.notice("Embedded broker", "", "this run measures leveret, not RabbitMQ.")
	}
	switch {
	case r.Growing:
		p.notice("Growing", yellow, "the recording goes on; the figures cover what had been written when it was read.")
	case !r.Complete:
		p.notice("Incomplete", yellow, "the recording did not end properly; the figures cover what could be read.")
	}
	reason := p.clean(r.StopReason)
	if reason == "" {
		reason = "not recorded"
	}
	p.notice("Stopped", "", reason+p.clean(endsText(r.Ends, reason)))
}

// endsText says which producers and consumers had stopped by themselves: " (by then had stopped: 2 by consumer limit)".
func endsText(ends map[string]int, reason string) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(ends)) {
		if why == "producer limit" && strings.HasPrefix(reason, "all messages sent") { // says the same
			continue
		}
		parts = append(parts, fmt.Sprintf("%s by %s", result.Group(int64(ends[why])), why))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (by then had stopped: " + strings.Join(parts, ", ") + ")"
}

// messagesShown is how many of a finding's first messages are printed; JSON has all that the result holds.
const messagesShown = 3

// assertions lists what was asserted; one that is not met stands among the findings, too.
func (p *page) assertions(r *result.Result) {
	if len(r.Assertions) == 0 {
		return
	}
	p.list("Assertions:")
	const column = 7 // "not met"
	for i := range r.Assertions {
		a, word, color := &r.Assertions[i], "met", green
		if !a.Met {
			word, color = "not met", red
		}
		p.item(word, color, column, p.clean(a.Text+": "+a.Describe()))
	}
}

func (p *page) findings(r *result.Result) {
	colors := map[result.Severity]style{result.SeverityFail: red, result.SeverityInconclusive: yellow, result.SeverityWarning: yellow}
	const column = 12 // "inconclusive"
	if len(r.Findings)+len(r.Notes) == 0 {
		p.list("Findings: none")
		return
	}
	p.list("Findings:")
	for _, f := range r.Findings {
		text := f.Text
		if strings.TrimSpace(text) == "" {
			text = result.Group(f.Count)
		}
		p.item(p.clean(string(f.Severity)), colors[f.Severity], column, p.clean(f.Code)+": "+p.clean(text))
		for i, m := range f.First {
			if i == p.most.messages {
				break
			}
			p.detail(column, p.message(m, r.Config.StartedNS))
		}
	}
	for _, n := range r.Notes {
		p.item("note", "", column, p.clean(n))
	}
}

// message names one message and its times, in seconds after the start of the run.
func (p *page) message(m result.Message, start int64) string {
	s := fmt.Sprintf("producer %d sequence %d", m.Producer, m.Sequence)
	if m.Claimed {
		s = "claims to be " + s
	}
	if m.Queue != "" {
		s += ", queue " + p.clean(p.name(m.Queue, 60))
	}
	if m.Consumer != nil {
		s += fmt.Sprintf(", consumer %d", *m.Consumer)
	}
	for _, t := range []struct {
		name string
		ns   *int64
	}{{"due", m.DueNS}, {"sent", m.SentNS}, {"received", m.ReceivedNS}} {
		if t.ns != nil {
			s += fmt.Sprintf(", %s at %.6f s", t.name, float64(span(start, *t.ns))/1e9)
		}
	}
	return s
}

func (p *page) spans(r *result.Result) {
	if len(r.Spans) == 0 {
		return
	}
	p.heading("Marked spans (seconds after the start)")
	ordered := slices.SortedStableFunc(slices.Values(r.Spans), func(a, b result.Span) int { return cmp.Compare(a.FromNS, b.FromNS) })
	for i, s := range ordered {
		if i == p.most.spans {
			p.remark(fmt.Sprintf("and %s more", result.Group(int64(len(r.Spans)-p.most.spans))))
			return
		}
		from, to := float64(span(r.Config.StartedNS, s.FromNS))/1e9, float64(span(r.Config.StartedNS, s.ToNS))/1e9
		p.item("", "", 0, fmt.Sprintf("%.3f to %.3f: %s", from, to, p.clean(spanText(s))))
	}
}

func spanText(s result.Span) string {
	kind := strings.ReplaceAll(s.Kind, "_", " ")
	if s.Text == "" {
		return kind
	}
	return kind + ": " + s.Text
}
