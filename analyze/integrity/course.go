package integrity

import (
	"fmt"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// course are the findings about how the run went.
func (r *report) course() {
	f, t := r.f, &r.l.total
	r.nothingToJudge()
	routed := ""
	if r.c.Confirmed > 0 {
		routed = ", and confirmed does not mean routed"
	}
	r.add(CodeExpectedUnknown, result.SeverityInconclusive, t.unknownRoute, nil,
		"%s published where the run does not know which queues they reach: loss is not judged%s (%s of them seen in no queue of the run)",
		messages(t.unknownRoute), routed, result.Group(t.nowhere))
	unworked := sumOf(r.ts, func(t *tally) int64 { return t.unworked })
	r.add(CodeDiscardedAtStop, result.SeverityWarning, unworked, nil,
		"%s received with automatic acks that consumers, for their rate or work, had not come to: discarded at the stop%s", messages(unworked), r.where(func(t *tally) int64 { return t.unworked }))
	r.notDrained(unworked)
	var unread int64
	for d := range r.l.x.dests {
		if c := r.l.destCounts(int32(d)); r.l.x.dests[d].stream && c.expected > 0 && c.received == 0 {
			unread++
		}
	}
	r.add(CodeSubscriptionEmpty, result.SeverityInconclusive, unread, nil, "%s received nothing, so that from where in the stream it should have is not known", result.Plural(unread, "stream subscription"))
	n := sumOf(r.ts, func(t *tally) int64 { return t.unaccounted })
	behind := ""
	if r.c.Confirmed == 0 {
		behind = "; without confirms it may not have come to them yet"
	}
	r.add(CodeUnaccounted, result.SeverityInconclusive, n, nil, "%s neither received nor, as far as the broker told at the end, in their queue%s%s",
		messages(n), r.where(func(t *tally) int64 { return t.unaccounted }), behind)
	if len(f.Ended) > 0 {
		var texts []string
		for _, e := range f.Ended {
			texts = append(texts, e.Text)
		}
		r.add(CodeEndedEarly, result.SeverityInconclusive, int64(len(f.Ended)), nil, "ended before the run did: %s", few(texts))
	}
	reasons := ""
	if len(f.BlockedFor) > 0 {
		reasons = ": " + few(f.BlockedFor)
	}
	r.add(CodeBlocked, result.SeverityWarning, f.Blocked, nil, "the broker blocked publishing %s (connection.blocked), %s in all over the connections%s", result.Plural(f.Blocked, "time"), seconds(f.BlockedNS), reasons)
	r.pace()
}

func (r *report) nothingToJudge() {
	x, text := r.l.x, ""
	switch {
	case r.onlyChurn():
		return // see churn
	case r.c.Sent == 0 && r.c.Received == 0:
		text = "no message was sent or received"
	case r.c.Sent == 0 && x.producers == 0:
		text = "only consumers were recorded, so that what they should have received is not known; analyze their capture together with that of the producers"
	case r.c.Sent == 0:
		text = "no message was sent"
	case r.c.Received == 0 && x.consumers == 0:
		text = "only producers were recorded, so that what became of their messages is not known"
		if r.c.QueuedAtStop > 0 {
			text += fmt.Sprintf(" (%s in queues at the stop, as far as the record tells)", messages(r.c.QueuedAtStop))
		}
		text += "; analyze their capture together with that of the consumers"
	case r.c.Received == 0 && r.c.Nacked == r.c.Sent:
		text = "the broker refused (nacked) every message"
	case r.c.Received == 0 && r.c.Nacked+r.c.Uncommitted == r.c.Sent:
		text = "the broker kept no message: none was committed"
	default:
		return
	}
	r.add(CodeNothingToJudge, result.SeverityInconclusive, 1, nil, "nothing to judge: %s", text)
}

// pace are the findings about offered load and backlog.
func (r *report) pace() {
	f := r.f
	if f.TargetRate != nil && f.SentRate != nil && *f.SentRate < 0.99**f.TargetRate {
		by := f.LimitedBy
		if by == "" {
			by = "what this recording does not tell"
		}
		r.add(CodeGeneratorLimit, result.SeverityWarning, 1, nil, "target %.0f msg/s, achieved %.0f msg/s: limited by %s", *f.TargetRate, *f.SentRate, by)
	} else if f.Limit == result.LimitClientCPU || f.Limit == result.LimitRecorder {
		r.add(CodeGeneratorLimit, result.SeverityNote, 1, nil, "the generator was the limit, so that the rates tell of it and not of the broker: %s", f.LimitedBy)
	}
	r.arrivedLate()
	// A backlog of a twentieth of all messages is no fluctuation, nor is a hundredth that grew to the end.
	var expected int64
	for i := range r.ts {
		if r.ts[i].queue.consumed {
			expected += r.ts[i].expected
		}
	}
	grew := f.Backlog != nil && *f.Backlog > f.BacklogBefore+f.BacklogBefore/2
	if b := f.Backlog; b != nil && f.SendsWhole && f.DeliveriesWhole && f.WindowNS > 0 && *b >= 1000 && (*b > expected/20 || grew && *b > expected/100) {
		course := fmt.Sprintf("%.0f a second on average", float64(*b)/(float64(f.WindowNS)/1e9))
		if f.BacklogStood {
			course += fmt.Sprintf(", but no longer growing (%s half-way)", result.Group(f.BacklogBefore))
		} else {
			course = "growing by " + course
		}
		r.add(CodeBacklog, result.SeverityWarning, *b, nil, "%s sent and not yet received when publishing stopped, %s: the delivery latency is the time in this queue", messages(*b), course)
	}
}

// arrivedLate: what is written to a socket without confirms counts as sent, however far the broker is behind. What a broker that
// keeps up has left to take is less than a second's, or a twentieth.
func (r *report) arrivedLate() {
	f := r.f
	const rule = "without confirms a message counts as sent once it is written to the socket: "
	if f.ArrivedNS == nil && f.NotArrived != "" && r.l.x.consumers == 0 { // else it is among the reasons for not drained
		r.add(CodeArrivedLate, result.SeverityWarning, 1, nil, rule+"it is not known when the broker had taken all of them: %s", f.NotArrived)
	}
	if f.ArrivedNS == nil || f.WindowNS <= 0 {
		return
	}
	late := f.StartNS + *f.ArrivedNS - f.PublishStopNS
	if late >= 1e9 && late > f.WindowNS/20 {
		r.add(CodeArrivedLate, result.SeverityWarning, 1, nil,
			rule+"it was proved only %s after publishing stopped that the broker had taken all of them, %.0f a second from the start to then",
			seconds(late), float64(r.c.Sent)/(float64(*f.ArrivedNS)/1e9))
	}
}

// notes are what every report has to say about the run beside its numbers.
func (r *report) notes() {
	var embedded, unverified, interrupted, closed, producers, captures int64
	r.l.x.manifests(func(m *manifest.Manifest) {
		captures++
		if m.Broker.Embedded {
			embedded++
		}
		if v := m.Broker.TLSVerified; v != nil && !*v {
			unverified++
		}
		if m.Outcome != nil && m.Outcome.Interrupted {
			interrupted++
		}
		for _, p := range m.Producers {
			producers++
			if !p.Timed() {
				closed++
			}
		}
	})
	text := "the broker was leveret's embedded one: this run measures leveret, not RabbitMQ"
	if embedded < captures {
		text = fmt.Sprintf("the broker was leveret's embedded one in %d of %d captures: those measure leveret, not RabbitMQ", embedded, captures)
	}
	r.add(CodeEmbeddedBroker, result.SeverityNote, embedded, nil, "%s", text)
	r.add(CodeTLSNotVerified, result.SeverityWarning, unverified, nil, "the broker's certificate was not verified")
	r.add(CodeInterrupted, result.SeverityWarning, interrupted, nil, "the run was interrupted by the user")
	r.add(CodeClosedLoop, result.SeverityNote, closed, nil,
		"closed loop: no rate was set for %s of %s, so there is no due time and no response latency; a stalled broker delays the messages that would have shown it",
		result.Group(closed), result.Plural(producers, "producer"))
}
