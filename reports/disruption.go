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
	t := times{start: r.Config.StartedNS}
	add := func(name, text string) { p.field(name, fieldColumn, p.clean(text)) }
	text := fmt.Sprintf("%s of them, the first at %s; %s recovered", result.Group(d.Losses), t.at(d.FirstNS), result.Group(d.Recovered))
	if d.Losses == 1 {
		text = fmt.Sprintf("1, at %s; %s recovered", t.at(d.FirstNS), result.Group(d.Recovered))
	}
	if d.Recovered > 0 {
		text += ", the last at " + t.at(d.LastNS)
	}
	add("losses", text+fmt.Sprintf(", after %s to connect; taken together at least one was away for %s", result.Plural(d.Attempts, "attempt"), lasting(d.DownNS)))
	if len(d.Episodes) == 1 {
		add("effect", effectText(t, &d.Episodes[0]))
	}
	if d.StandstillNS != nil && d.StandstillFromNS != nil {
		add("standstill", standstillText(t, *d.StandstillFromNS, *d.StandstillNS))
	}
	if d.CaughtUpNS != nil {
		add("caught up", fmt.Sprintf("after %s no message was sent over %d ms late for a second at least", t.at(*d.CaughtUpNS), result.CatchUpNS/1_000_000))
	}
	add("in doubt", doubtText(&d.Doubt))
	add("whole run", fmt.Sprintf("%s confirmed and lost, %s redelivered, %s received twice by being sent again", result.Group(r.Counts.Lost), result.Group(r.Counts.Redelivered), result.Group(d.Doubt.DuplicatedByRepublishing)))
	p.episodes(d, t)
	p.outages(d, t)
}

// times are written in seconds after the start.
type times struct{ start int64 }

func (t times) at(ns int64) string { return fmt.Sprintf("%.3f", float64(span(t.start, ns))/1e9) }

func lasting(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

func standstillText(t times, from, ns int64) string {
	return fmt.Sprintf("nothing was confirmed or received for %s from %s on", lasting(ns), t.at(from))
}

// effectText says how long an episode told, and what it took to be over.
func effectText(t times, e *result.Episode) string {
	text := fmt.Sprintf("from %s to %s: ", t.at(e.FirstEffectNS), t.at(e.LastEffectNS))
	if e.RecoveredAll {
		text += "recovered " + lasting(e.RecoverNS) + " after the first loss"
	} else {
		text += "not all was recovered before the run ended"
	}
	if e.CatchUpNS != nil && *e.CatchUpNS > 0 {
		text += ", caught up with the schedule " + lasting(*e.CatchUpNS) + " after that"
	}
	return text
}

// episodes are listed where there are several.
func (p *page) episodes(d *result.Disruption, t times) {
	if len(d.Episodes) < 2 {
		return
	}
	for i := range d.Episodes {
		if i == p.most.spans {
			p.remark(fmt.Sprintf("and %s more", result.Plural(int64(d.EpisodesTotal-i), "episode")))
			return
		}
		e := &d.Episodes[i]
		text := "1 loss, at " + t.at(e.FirstNS)
		if e.Losses != 1 {
			text = fmt.Sprintf("%s losses, the first at %s", result.Group(e.Losses), t.at(e.FirstNS))
		}
		text += "; effect " + effectText(t, e)
		if e.StandstillNS != nil && e.StandstillFromNS != nil {
			text += "; " + standstillText(t, *e.StandstillFromNS, *e.StandstillNS)
		}
		p.field(fmt.Sprintf("episode %d", i+1), fieldColumn, p.clean(join("; ", text, e.Text)))
	}
}

// outages lists single losses.
func (p *page) outages(d *result.Disruption, t times) {
	column := fieldColumn
	for i := range min(len(d.Outages), p.most.spans) {
		column = max(column, cells(d.Outages[i].Where()))
	}
	for i := range d.Outages {
		if i == p.most.spans {
			p.remark(fmt.Sprintf("and %s more", result.Group(d.Losses-int64(i))))
			return
		}
		x := &d.Outages[i]
		text := fmt.Sprintf("lost at %s, not recovered (%s)", t.at(x.LostNS), result.Plural(int64(x.Attempts), "attempt"))
		if x.RecoveredNS != nil {
			text = fmt.Sprintf("lost at %s, back at %s (%s, %s)", t.at(x.LostNS), t.at(*x.RecoveredNS), lasting(x.DurationNS), result.Plural(int64(x.Attempts), "attempt"))
		}
		p.field(x.Where(), column, p.clean(join("; ", join(": ", text, x.Text), howRecovered(x.Recovery), outageEffect(t, x))))
	}
}

// outageEffect: "nothing moved on it from 1.990 to 3.310; caught up at 3.400, 0.150 s after it was back".
func outageEffect(t times, x *result.Outage) string {
	text := ""
	switch {
	case x.FirstEffectNS != nil && x.MovedNS != nil:
		text = fmt.Sprintf("nothing moved on it from %s to %s", t.at(*x.FirstEffectNS), t.at(*x.MovedNS))
	case x.FirstEffectNS != nil:
		text = fmt.Sprintf("nothing moved on it after %s", t.at(*x.FirstEffectNS))
	case x.MovedNS != nil:
		text = fmt.Sprintf("nothing moved on it before %s", t.at(*x.MovedNS))
	}
	if x.CaughtUpNS != nil && x.CatchUpNS != nil && *x.CatchUpNS > 0 {
		text = join("; ", text, fmt.Sprintf("caught up at %s, %s after it was back", t.at(*x.CaughtUpNS), lasting(*x.CatchUpNS)))
	}
	return text
}

// howRecovered is what was recorded of a recovery, "after 1.214 s, 4 attempts, at URI", without length and attempts: the line
// has them, and by the clock of the record.
func howRecovered(text string) string {
	if parts := strings.SplitN(text, ", ", 3); strings.HasPrefix(text, "after ") && len(parts) > 1 && strings.Contains(parts[1], " attempt") {
		return strings.Join(parts[2:], "")
	}
	return text
}

// doubtText: "9 messages; 9 sent again, 9 then confirmed".
func doubtText(d *result.Doubt) string {
	if d.Messages == 0 {
		return "no message"
	}
	return join("; ", result.Plural(d.Messages, "message"), d.Describe())
}
