package reports

import (
	"slices"

	"leveret/analyze/result"
)

// rates prints the rates of the run over its window, the drain's own, and what piled up in the queues.
func (p *page) rates(r *result.Result) {
	head := "Rates"
	if length := span(r.Window.StartNS, r.Window.EndNS); length > 0 {
		head += " over " + duration(float64(length), p.ascii)
	}
	if r.Window.Text != "" {
		head += ", " + p.clean(r.Window.Text)
	}
	p.heading(head)
	lines := rateLines(r)
	width := 0
	for _, l := range lines {
		if l.value != nil {
			width = max(width, len(rate(*l.value)))
		}
	}
	for _, l := range lines {
		if l.value == nil || !isFinite(*l.value) {
			p.field(l.name, fieldColumn, notAvailable+" ("+l.why+")")
			continue
		}
		text := "messages per second"
		switch {
		case l.name == "sent" && r.Rates.SentBytes != nil:
			text += ", " + bytesPerSecond(*r.Rates.SentBytes) + " of bodies"
		case l.name == "republished":
			text += ": copies of messages in doubt, which are in none of the other rates of publishing"
		case l.name == "arrived" && r.Rates.ArrivedNS != nil:
			text += " over " + duration(float64(*r.Rates.ArrivedNS), p.ascii) + ", until it was proved that the broker had taken all that was sent"
		case l.name == "drain" && r.Rates.DrainNS != nil:
			text += " received over " + duration(float64(*r.Rates.DrainNS), p.ascii) + " after publishing stopped"
		}
		p.quantity(l.name, fieldColumn, rate(*l.value), width, text)
	}
	if f := r.ConfirmFrames; f != nil {
		p.field("confirms", fieldColumn, framesLine(f))
	}
	p.part(r)
	p.backlog(r)
	p.waiting(r)
	p.steadiness(r)
	p.fairness(r)
}

// part says what the window holds where a part of the run was asked for, and what is not of it.
func (p *page) part(r *result.Result) {
	w := r.Window.Part
	if w == nil {
		return
	}
	text := result.Group(w.Sent) + " sent"
	if r.Config.Confirm > 0 || w.Confirmed > 0 {
		text += ", " + result.Group(w.Confirmed) + " confirmed"
	}
	if w.Committed > 0 {
		text += ", " + result.Group(w.Committed) + " committed"
	}
	text += ", " + result.Group(w.Received) + " received in it; latencies are of the " + result.Plural(w.Cohort, "message") + " due (else sent) in it, whenever they were answered"
	p.field("window", fieldColumn, text)
	p.remark("Findings, verdict and counts are of the whole run.")
}

// framesLine: "8,000 frames of 12.5 messages on average; 50 % 8, 99 % 100, max 200".
func framesLine(f *result.FrameSizes) string {
	mean := wholeOr(f.Mean, 1) + " messages"
	if f.Mean == 1 {
		mean = "1 message"
	}
	return result.Plural(f.Frames, "frame") + " of " + mean + " on average; 50 % " + result.Group(f.P50) + ", 99 % " + result.Group(f.P99) + ", max " + result.Group(f.Max)
}

// rateLines are the rates of a run, with the reasons for those that there are not.
func rateLines(r *result.Result) []rateLine {
	lines := []rateLine{
		{"sent", r.Rates.Sent, without(r.Config.Producers == 0, "no producers in this run")},
		{"confirmed", r.Rates.Confirmed, without(r.Config.Producers == 0, "no producers in this run", r.Config.Confirm == 0, "confirms were off")},
		{"received", r.Rates.Received, without(r.Config.Consumers == 0, "no consumers in this run")},
		{"drain", r.Rates.Drain, without(r.Config.Consumers == 0 || r.Config.Producers == 0, "no producers or no consumers in this run",
			true, "too little was received after publishing stopped")},
	}
	if r.Config.PublishTxSize > 0 || r.Rates.Committed != nil {
		commits := rateLine{"committed", r.Rates.Committed, without(r.Config.Producers == 0, "no producers in this run")}
		if lines[1].value == nil {
			lines[1] = commits
		} else {
			lines = slices.Insert(lines, 2, commits)
		}
	}
	if r.Rates.Arrived != nil {
		lines = slices.Insert(lines, 1, rateLine{"arrived", r.Rates.Arrived, ""})
	}
	if again := r.Rates.Republished; again != nil {
		lines = slices.Insert(lines, 1, rateLine{"republished", again, ""})
	}
	if r.SeveralRuns() {
		for i := range lines {
			lines[i].why = "the captures are not of one run"
		}
	}
	return lines
}

// rateLine is one rate, or why there is none.
type rateLine struct {
	name  string
	value *float64
	why   string
}

// without picks the reason whose condition holds.
func without(pairs ...any) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].(bool) {
			return pairs[i+1].(string)
		}
	}
	return "not measured"
}

// backlog says what the queues held when publishing stopped. Where the analysis found it worth a finding, the latency of
// delivery is the waiting time in the queue and says nothing of how fast a message could be.
func (p *page) backlog(r *result.Result) {
	end, before, grew, ok := backlogAtStop(r)
	if !ok || r.Config.Consumers == 0 {
		return
	}
	text := result.Plural(end, "message") + " when publishing stopped"
	overloaded := slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Code == "backlog" })
	switch {
	case overloaded && before != nil && end <= *before+*before/2:
		text += ", no longer growing (" + result.Group(*before) + " half-way)"
	case overloaded:
		text += ", growing by " + rate(grew) + " per second"
	}
	p.field("backlog", fieldColumn, text)
	if overloaded {
		p.remark("More was sent than was consumed: delivery latency measures how long messages waited in the queue.")
	}
}

// backlogAtStop finds the backlog at the end of the last interval of the run, that half-way (nil where there is one interval only), and
// its mean growth since the first began.
func backlogAtStop(r *result.Result) (end int64, before *int64, perS float64, ok bool) {
	var known []*result.Interval
	for i := range r.Intervals {
		if in := &r.Intervals[i]; in.Phase != "drain" && in.BacklogEnd != nil {
			known = append(known, in)
		}
	}
	if len(known) == 0 {
		return 0, nil, 0, false
	}
	first, last := known[0], known[len(known)-1]
	if len(known) > 1 {
		before = known[(len(known)-1)/2].BacklogEnd
	}
	end = *last.BacklogEnd
	return end, before, perSecond(end, first.StartNS, last.EndNS), true
}
