package reports

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// disruption says what losses of connections did to the run; nothing where there were none.
func (p *page) disruption(r *result.Result) {
	d := r.Disruption
	if d == nil {
		return
	}
	p.heading("Lost connections (seconds after the start)")
	add := func(name, text string) { p.field(name, fieldColumn, p.clean(text)) }
	at := func(ns int64) string { return fmt.Sprintf("%.3f", float64(span(r.Config.StartedNS, ns))/1e9) }
	seconds := func(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
	text := fmt.Sprintf("%s of them, the first at %s; %s recovered", result.Group(d.Losses), at(d.FirstNS), result.Group(d.Recovered))
	if d.Losses == 1 {
		text = fmt.Sprintf("1, at %s; %s recovered", at(d.FirstNS), result.Group(d.Recovered))
	}
	if d.Recovered > 0 {
		text += ", the last at " + at(d.LastNS)
	}
	add("losses", text+fmt.Sprintf(", after %s to connect; taken together at least one was away for %s", result.Plural(d.Attempts, "attempt"), seconds(d.DownNS)))
	if d.StandstillNS != nil && d.StandstillFromNS != nil {
		add("standstill", fmt.Sprintf("nothing was confirmed or received for %s from %s on", seconds(*d.StandstillNS), at(*d.StandstillFromNS)))
	}
	if d.CaughtUpNS != nil {
		add("caught up", fmt.Sprintf("after %s no message was sent over %d ms late", at(*d.CaughtUpNS), result.CatchUpNS/1_000_000))
	}
	add("in doubt", doubtText(&d.Doubt))
	lost := r.Counts.Lost
	add("outcome", fmt.Sprintf("%s confirmed and lost, %s redelivered, %s received twice by being sent again", result.Group(lost), result.Group(r.Counts.Redelivered), result.Group(d.Doubt.DuplicatedByRepublishing)))
	column := fieldColumn
	for i := range min(len(d.Outages), outagesShown) {
		column = max(column, cells(d.Outages[i].Where()))
	}
	for i := range d.Outages {
		if i == outagesShown {
			p.remark(fmt.Sprintf("and %s more", result.Group(d.Losses-outagesShown)))
			return
		}
		x := &d.Outages[i]
		text := fmt.Sprintf("lost at %s, not recovered (%s)", at(x.LostNS), result.Plural(int64(x.Attempts), "attempt"))
		if x.RecoveredNS != nil {
			text = fmt.Sprintf("lost at %s, back at %s (%s, %s)", at(x.LostNS), at(*x.RecoveredNS), seconds(x.DurationNS), result.Plural(int64(x.Attempts), "attempt"))
		}
		p.field(x.Where(), column, p.clean(join("; ", join(": ", text, x.Text), howRecovered(x.Recovery))))
	}
}

// howRecovered is what was recorded of a recovery, "after 1.214 s, 4 attempts, at URI", without length and attempts: the line
// has them, and by the clock of the record.
func howRecovered(text string) string {
	if parts := strings.SplitN(text, ", ", 3); strings.HasPrefix(text, "after ") && len(parts) > 1 && strings.Contains(parts[1], " attempt") {
		return strings.Join(parts[2:], "")
	}
	return text
}

// outagesShown is how many losses are told one by one.
const outagesShown = 10

// doubtText: "9 messages; 9 sent again, 9 then confirmed".
func doubtText(d *result.Doubt) string {
	if d.Messages == 0 {
		return "no message"
	}
	text := result.Plural(d.Messages, "message")
	separator := "; "
	for _, n := range []struct {
		count int64
		what  string
	}{
		{d.Republished, "sent again"}, {d.Confirmed, "then confirmed"}, {d.Refused, "then refused"}, {d.Received, "never confirmed and yet received"},
		{d.Missing, "never confirmed nor received"}, {d.Unknown, "of which it is not known whether they arrived"},
	} {
		if n.count > 0 {
			text += separator + result.Group(n.count) + " " + n.what
			separator = ", "
		}
	}
	return text
}
