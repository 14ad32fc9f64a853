package result

import (
	"slices"
	"strings"
)

// Messages is the size of the cohort: the measured and the censored ones. It saturates.
func (d *Distribution) Messages() int64 {
	if d == nil {
		return 0
	}
	if sum := d.Count + d.Censored; (sum < d.Count) == (d.Censored < 0) {
		return sum
	}
	return 1<<63 - 1
}

// MaxBound is what the greatest latency is at least, where some messages are censored: the greatest measured one or the
// greatest bound. It is 0 where nothing is known.
func (d *Distribution) MaxBound() int64 {
	most := int64(0)
	for _, v := range []*int64{d.MaxNS, d.AtLeastNS, d.MaxAtLeastNS} {
		if v != nil {
			most = max(most, *v)
		}
	}
	return most
}

// DescribeCensored says how many of the messages have no answer: "3 never answered, 2,900 due but never sent"; "" for none.
func (d *Distribution) DescribeCensored() string {
	if d == nil {
		return ""
	}
	var parts []string
	if n := d.Censored - d.NeverSent; n > 0 {
		parts = append(parts, Group(n)+" never answered")
	}
	if d.NeverSent > 0 {
		parts = append(parts, Group(d.NeverSent)+" due but never sent")
	}
	return strings.Join(parts, ", ")
}

// DueUntil is the end of the part of an interval in which messages could be due: schedules end before the last late message
// is sent, and nothing is due in the drain.
func (r *Result) DueUntil(in *Interval) int64 {
	switch end := r.Window.ScheduleEndNS; {
	case in.Phase == "drain":
		return in.StartNS
	case end != nil:
		return max(in.StartNS, min(in.EndNS, *end))
	}
	return in.EndNS
}

// SeveralRuns tells whether captures of several runs were looked at together: then there is no rate.
func (r *Result) SeveralRuns() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == "not_one_run" })
}

// LatencyKinds are those that a run can have, as Latencies.Pick names them. Commits take the place of confirms.
func (r *Result) LatencyKinds() []string {
	switch commits := r.Config.PublishTxSize > 0 || r.Latency.Commit.Service != nil; {
	case commits && (r.Config.Confirm > 0 || r.Latency.Confirm.Service != nil):
		return []string{"confirm", "commit", "delivery"}
	case commits:
		return []string{"commit", "delivery"}
	}
	return []string{"confirm", "delivery"}
}

// Pick gives the latency of "confirm", "delivery" or "commit" and whether it counts from "service" or "response"; nil for other words.
func (l *Latencies) Pick(what, from string) *Distribution {
	side := &l.Confirm
	switch what {
	case "confirm":
	case "delivery":
		side = &l.Delivery
	case "commit":
		side = &l.Commit
	default:
		return nil
	}
	switch from {
	case "service":
		return side.Service
	case "response":
		return side.Response
	}
	return nil
}

// noteOf is what LatencyNote says of a latency. Its clauses are joined by semicolons; those that begin with "no confirm
// latency: " and the like are of that one alone.
func (r *Result) noteOf(what, from string) string {
	var general []string
	for _, clause := range strings.Split(r.LatencyNote, "; ") {
		of, why, named := strings.Cut(clause, " latency: ")
		switch {
		case named && (of == "no "+what || of == "no "+from):
			return why
		case !named || !strings.HasPrefix(of, "no "):
			general = append(general, clause)
		}
	}
	return strings.Join(general, "; ")
}

// Remarks are the clauses of LatencyNote that WhyNoLatency gives for no latency.
func (r *Result) Remarks() string {
	var kept []string
	for _, clause := range strings.Split(r.LatencyNote, "; ") {
		if !strings.HasPrefix(clause, "no ") || !strings.Contains(clause, " latency: ") {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, "; ")
}

// WhyNoLatency says why there is no latency of this kind (what and from as for Latencies.Pick), in one clause; "" where
// there is some.
func (r *Result) WhyNoLatency(what, from string) string {
	d := r.Latency.Pick(what, from)
	switch {
	case d.Messages() > 0:
		return ""
	case d != nil:
		return "no messages in the window"
	case what != "delivery" && r.Config.Producers == 0:
		return "no producers in this run"
	case what == "confirm" && r.Config.Confirm == 0 && r.Config.PublishTxSize > 0:
		return "published in transactions, whose commits take the place of confirms"
	case what == "confirm" && r.Config.Confirm == 0:
		return "confirms were off"
	case what == "delivery" && r.Config.Consumers == 0:
		return "no consumers in this run"
	case from == "response" && r.Config.Producers > 0 && !r.Config.OpenLoop:
		return "closed loop, so no message has a due time"
	case r.noteOf(what, from) != "":
		return r.noteOf(what, from)
	case what == "delivery" && r.Config.Producers == 0:
		return "no usable send time: the messages were sent by another tool or run"
	case what == "confirm":
		return "no message was confirmed"
	case what == "commit":
		return "no transaction was committed"
	}
	return "no message was delivered"
}
