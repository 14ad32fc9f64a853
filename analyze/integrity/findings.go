package integrity

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// Codes of findings. They are stable: scripts rely on them.
const (
	CodeLost               = "lost"
	CodeDuplicate          = "duplicate"
	CodeCorrupt            = "corrupt"
	CodeOutOfOrder         = "out_of_order"
	CodeReturned           = "returned"
	CodeUnroutable         = "unroutable"
	CodeRecorderLostRows   = "recorder_lost_rows"
	CodeMissing            = "missing"
	CodeMissingUnconfirmed = "missing_unconfirmed"
	CodeUnaccounted        = "unaccounted"
	CodeExpectedUnknown    = "expected_queues_unknown"
	CodeNotDrained         = "not_drained"
	CodeSubscriptionEmpty  = "subscription_empty"
	CodeIncomplete         = "capture_incomplete"
	CodeContradiction      = "record_contradicts_itself"
	CodeEndedEarly         = "ended_early"
	CodeNothingToJudge     = "nothing_to_judge"
	CodeTagClash           = "tag_clash"
	CodeNotOneRun          = "not_one_run"
	CodeStrangeFiles       = "strange_files"
	CodeNacked             = "nacked"
	CodeRemovedByRule      = "removed_by_rule"
	CodeRedelivered        = "redelivered"
	CodeForeign            = "foreign"
	CodeOtherQueue         = "other_queue"
	CodeBlocked            = "blocked"
	CodeReconnected        = "reconnected"
	CodeInDoubt            = "in_doubt"
	CodeReadAgain          = "stream_read_again"
	CodeRepublishedTwice   = "duplicated_by_republishing"
	CodeClockSkew          = "clock_skew"
	CodeClocksDiffer       = "clocks_differ"
	CodeUnconfirmedAtStop  = "unconfirmed_at_stop"
	CodeUncommittedAtStop  = "uncommitted_at_stop"
	CodeDiscardedAtStop    = "discarded_at_stop"
	CodeContradictory      = "contradictory_confirms"
	CodeReturnUnknown      = "returned_unattributed"
	CodeGeneratorLimit     = "generator_limit"
	CodeBacklog            = "backlog"
	CodeArrivedLate        = "arrived_late"
	CodeRecorderStall      = "recorder_stall"
	CodeClientStalled      = "client_stalled"
	CodeTLSNotVerified     = "tls_not_verified"
	CodeInterrupted        = "interrupted"
	CodeClosedLoop         = "closed_loop"
	CodeEmbeddedBroker     = "embedded_broker"
	CodeOrderNotJudged     = "order_not_judged"
	CodeBrokerAlarm        = "broker_alarm"
	CodeBrokerFlow         = "broker_flow"
	CodeMarksDamaged       = "marks_damaged"
)

// report collects findings.
type report struct {
	l        *Ledger
	f        *Facts
	ts       []tally
	c        result.Counts
	findings []result.Finding
}

// add one finding, if there is anything to find.
func (r *report) add(code string, s result.Severity, count int64, first []*example, format string, args ...any) {
	if count == 0 {
		return
	}
	r.findings = append(r.findings, result.Finding{Code: code, Severity: s, Count: count, Text: fmt.Sprintf(format, args...), First: r.l.messages(first)})
}

func messages(n int64) string { return result.Plural(n, "message") }

// messages are the findings about what became of single messages.
func (r *report) messages() {
	t, c := &r.l.total, &r.c
	bound := ""
	if n := min(c.CorruptUnattributed, c.Lost); n > 0 {
		bound = fmt.Sprintf(", of which up to %s may be the corrupt ones", result.Group(n))
	}
	r.add(CodeLost, result.SeverityFail, c.Lost, t.lostFirst, "%s lost%s: %s by the broker, the queue drained, never received intact%s (%s)",
		messages(c.Lost), bound, vouchedFor(c), r.where(func(t *tally) int64 { return t.Lost }), r.notLookedAt())
	r.duplicates()
	which := "the stamps tell which they were"
	if n := c.CorruptUnattributed; n > 0 {
		which = fmt.Sprintf("%s of them cannot be told which they were", result.Group(n))
	}
	r.add(CodeCorrupt, result.SeverityFail, c.Corrupt, t.corruptFirst, "%s received whose checksum does not hold; %s%s",
		messages(c.Corrupt), which, r.where(func(t *tally) int64 { return t.Corrupt }))
	r.add(CodeOutOfOrder, result.SeverityFail, c.OutOfOrder, t.outOfOrderFirst, "%s received for the first time after a later one of the same producer, queue and consumer%s",
		messages(c.OutOfOrder), r.where(func(t *tally) int64 { return t.OutOfOrder }))
	r.refusals()
	r.add(CodeMissing, result.SeverityInconclusive, sumOf(r.ts, func(t *tally) int64 { return t.unasked }), t.uncertainFirst,
		"%s missing: published without confirms, so the broker never vouched for them; the queue was drained%s",
		messages(sumOf(r.ts, func(t *tally) int64 { return t.unasked })), r.where(func(t *tally) int64 { return t.unasked }))
	unexplained := func(t *tally) int64 { return t.unexplained }
	r.add(CodeMissing, result.SeverityInconclusive, sumOf(r.ts, unexplained), nil,
		"%s missing from a queue that the run did not declare: its arguments and policies are not known, nor who else consumes from it, and they may explain it%s",
		messages(sumOf(r.ts, unexplained)), r.where(unexplained))
	r.add(CodeMissingUnconfirmed, result.SeverityInconclusive, c.MissingUnconfirmed, t.unconfirmedFirst,
		"%s missing that the broker never confirmed; the queue was drained%s", messages(c.MissingUnconfirmed), r.where(func(t *tally) int64 { return t.MissingUnconfirmed }))
	r.add(CodeRemovedByRule, result.SeverityWarning, c.RemovedByRule, t.ruleFirst, "%s missing that a rule of the queue may have removed%s",
		messages(c.RemovedByRule), r.where(func(t *tally) int64 { return t.RemovedByRule }))
	r.redelivered()
	r.foreign()
	r.order()
}

// duplicates are the findings about messages that a queue delivered more than once. Of a queue that may be a stream they are none
// of the broker's.
func (r *report) duplicates() {
	certain := func(t *tally) int64 {
		if t.queue.mayBeStream() {
			return 0
		}
		return t.Duplicates
	}
	doubtful := func(t *tally) int64 { return t.Duplicates - certain(t) }
	first := r.l.total.duplicateFirst
	of := func(doubtful bool) []*example {
		return slices.DeleteFunc(slices.Clone(first), func(e *example) bool {
			return e.dest >= 0 && r.l.x.queues[r.l.x.dests[e.dest].queue].mayBeStream() != doubtful
		})
	}
	n, m := sumOf(r.ts, certain), sumOf(r.ts, doubtful)
	r.add(CodeDuplicate, result.SeverityFail, n, of(false), "%s received again from a queue that had delivered the same message, without cause for a redelivery%s",
		messages(n), r.where(certain))
	r.add(CodeDuplicate, result.SeverityInconclusive, m, of(true),
		"%s received more than once from a queue with several consumers that the run did not declare: a stream gives each of them all messages, other queues do not; --stream-queue, or --queue-args x-queue-type=TYPE, says which it is%s",
		messages(m), r.where(doubtful))
}

// vouchedFor says how the broker took messages over.
func vouchedFor(c *result.Counts) string {
	switch {
	case c.Committed == 0:
		return "confirmed"
	case c.Confirmed == 0:
		return "committed"
	}
	return "confirmed or committed"
}

// redelivered is no more than a note where consumers asked for it.
func (r *report) redelivered() {
	severity, why := result.SeverityWarning, ""
	for i := range r.ts {
		switch requeues, _ := r.ts[i].queue.requeues(); {
		case !requeues || r.ts[i].Redelivered == 0:
		case r.ts[i].queue.kind == "quorum":
			severity, why = result.SeverityNote, "; consumers give messages back (nack with requeue), and a quorum queue drops what exceeds its delivery limit (20 by default since RabbitMQ 4.0)"
		case why == "":
			severity, why = result.SeverityNote, "; consumers give messages back (nack with requeue)"
		}
	}
	r.add(CodeRedelivered, severity, r.c.Redelivered, nil, "%s delivered with the redelivered flag set%s", messages(r.c.Redelivered), why)
}

// refusals are messages that the broker did not take, or had no queue for.
func (r *report) refusals() {
	t, c := &r.l.total, &r.c
	r.add(CodeReturned, result.SeverityFail, t.returnedWanted, t.returnFirst, "%s returned as unroutable although the run bound a queue for them", messages(t.returnedWanted))
	r.add(CodeReturned, result.SeverityWarning, c.Returned-t.returnedWanted, t.returnFirst, "%s returned as unroutable; the run has no queue for them", messages(c.Returned-t.returnedWanted))
	severity := result.SeverityWarning
	if len(r.l.x.queues) > 0 {
		severity = result.SeverityFail
	}
	r.add(CodeUnroutable, severity, c.Unroutable, nil, "%s published where no queue is bound: confirmed does not mean routed", messages(c.Unroutable))
	r.add(CodeNacked, result.SeverityWarning, c.Nacked, t.nackedFirst, "%s refused by the broker (basic.nack); they are not missing and not in the confirm latencies", messages(c.Nacked))
	r.add(CodeUnconfirmedAtStop, result.SeverityWarning, c.Unconfirmed, nil, "%s neither acked nor nacked when the run ended", messages(c.Unconfirmed))
	r.add(CodeUncommittedAtStop, result.SeverityWarning, c.Uncommitted, nil, "%s of transactions that were not committed when the run ended: the broker keeps none of them, so that they are not missing", messages(c.Uncommitted))
	again := t.contradictions + r.f.ContradictoryConfirms
	r.add(CodeContradictory, result.SeverityWarning, again, nil, "%s of the broker to messages that it had answered already", result.Plural(again, "confirm"))
	r.add(CodeReturnUnknown, result.SeverityWarning, r.f.UnattributedReturns, nil, "%s returned that cannot be told which they were", messages(r.f.UnattributedReturns))
}

func (r *report) foreign() {
	var neverSent int64
	for _, c := range r.l.dests {
		neverSent += c.neverSent
	}
	text := ""
	if neverSent > 0 && r.f.SendsWhole {
		text = fmt.Sprintf("; %s of them carry the stamp of a producer of this run that never sent them (an earlier run with the same tag?)", result.Group(neverSent))
	}
	severity := result.SeverityWarning
	if r.l.x.producers == 0 { // nothing is wrong with them: their producers were not recorded here
		severity = result.SeverityNote
	}
	r.add(CodeForeign, severity, r.c.Foreign, nil, "%s not of these captures: no stamp of theirs%s%s",
		messages(r.c.Foreign), r.where(func(t *tally) int64 { return t.Foreign }), text)
	n := r.l.total.otherQueue
	r.add(CodeOtherQueue, result.SeverityWarning, n, nil, "%s received from a queue that the run did not bind for them", messages(n))
}

func (r *report) order() {
	var names []string
	for i := range r.l.x.queues {
		q := &r.l.x.queues[i]
		if _, ok := q.argument("x-max-priority"); ok {
			names = append(names, q.name+" (priorities)")
		} else if some, _ := q.requeues(); some {
			names = append(names, q.name+" (consumers give messages back)")
		}
	}
	r.add(CodeOrderNotJudged, result.SeverityNote, int64(len(names)), nil, "order is not judged in %s: %s", result.Plural(int64(len(names)), "queue"), few(names))
}

// recording are the findings about the record itself.
func (r *report) recording() {
	f, t := r.f, &r.l.total
	r.add(CodeRecorderLostRows, result.SeverityFail, f.MismatchRows, nil, "the record does not agree with the engine's own counters: %s", few(f.Mismatch))
	r.add(CodeRecorderLostRows, result.SeverityFail, f.LostRows, nil, "the recorder lost rows: %s", few(f.Lost))
	if len(f.Incomplete) > 0 {
		text := ""
		if n := sumOf(r.ts, func(t *tally) int64 { return t.unjudged }); n > 0 {
			text = fmt.Sprintf("; %s without a delivery in it, which says nothing about the broker", messages(n))
		}
		r.add(CodeIncomplete, result.SeverityInconclusive, int64(len(f.Incomplete)), nil, "the record is not whole: %s%s", few(f.Incomplete), text)
	}
	if n := int64(len(f.Strangers)); n > 0 {
		r.add(CodeStrangeFiles, result.SeverityWarning, n, nil, "%s left out that the capture's manifest does not know: %s", result.Plural(n, "file"), few(f.Strangers))
	}
	r.add(CodeMarksDamaged, result.SeverityWarning, int64(len(f.MarkDamage)), nil, "%s left out: %s", result.Plural(int64(len(f.MarkDamage)), "mark"), few(f.MarkDamage))
	r.add(CodeContradiction, result.SeverityInconclusive, t.repeatedSends, nil, "%s recorded as sent twice", messages(t.repeatedSends))
	r.add(CodeNotOneRun, result.SeverityInconclusive, int64(len(f.NotOneRun)), nil, "the captures are not of one run: %s; loss is not judged, there are no rates, and latencies are of all of them together", few(f.NotOneRun))
	if r.l.x.tagClash {
		r.add(CodeTagClash, result.SeverityInconclusive, 1, nil, "two of the captures stamp their messages with the same tag: their messages cannot be told apart")
	}
	who := "publishing"
	if r.onlyChurn() {
		who = "operations"
	}
	r.add(CodeRecorderStall, result.SeverityWarning, f.Stalls, nil, "%s waited for the recorder %s, %s in all", who, result.Plural(f.Stalls, "time"), seconds(f.StallNS))
	r.add(CodeClientStalled, result.SeverityWarning, int64(len(f.ClientStalls)), nil,
		"the client itself stood still, %s in all: it was stopped, or had no processor, and what took long then tells of it and not of the broker: %s", seconds(f.ClientStalledNS), few(f.ClientStalls))
	r.add(CodeClockSkew, result.SeverityWarning, f.NegativeLatencies, nil, "%s below zero: the clocks of sender and receiver disagree", result.Plural(f.NegativeLatencies, "latency value"))
	if len(f.ClocksDiffer) > 0 {
		r.add(CodeClocksDiffer, result.SeverityWarning, 1, nil, "the captures are of different hosts: %s", strings.Join(f.ClocksDiffer, "; "))
	}
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// notDrained is the finding that queues were not proved empty: why, which, and what is still there or under way.
func (r *report) notDrained(unworked int64) {
	note := ""
	r.l.x.manifests(func(m *manifest.Manifest) {
		if m.Outcome != nil && m.Outcome.DrainNote != "" && note == "" {
			note = m.Outcome.DrainNote
		}
	})
	n, names := r.undrained(note)
	if n == 0 || r.l.x.consumers == 0 {
		return
	}
	var parts []string
	if note != "" {
		parts = append(parts, note)
	}
	if len(names) > 0 {
		parts = append(parts, few(names))
	}
	if q := r.c.QueuedAtStop; q > 0 && r.f.DeliveriesWhole {
		parts = append(parts, messages(q)+" still there or under way")
	}
	if u := r.c.UnackedAtStop; u > 0 {
		parts = append(parts, messages(u)+" received and not acked")
	}
	if d := r.c.DiscardedAtStop - unworked; d > 0 {
		parts = append(parts, messages(d)+" handed out by the broker and discarded at the stop (automatic acks)")
	}
	r.add(CodeNotDrained, result.SeverityInconclusive, n, nil, "not drained, so that loss is not judged: %s", strings.Join(parts, "; "))
}

// undrained counts the queues that were not proved empty, and names them with what is known of each, as far as the engine's
// note has not said it.
func (r *report) undrained(note string) (n int64, names []string) {
	for i := range r.ts {
		q := r.ts[i].queue
		if !q.fed || q.drained(r.l.x, r.f) || !q.consumed && r.ts[i].Sent == 0 {
			continue
		}
		n++
		part := "queue " + q.name
		if strings.Contains(note, part+": ") {
			continue
		}
		if !q.consumed {
			part += " without a consumer"
		}
		var facts []string
		if r.ts[i].ready >= 0 {
			facts = append(facts, result.Group(r.ts[i].ready)+" ready")
		}
		if why := q.whyNotEmptied(); note == "" && why != "" {
			facts = append(facts, why)
		}
		if len(facts) > 0 {
			part += " (" + strings.Join(facts, ", ") + ")"
		}
		names = append(names, part)
	}
	return n, names
}
