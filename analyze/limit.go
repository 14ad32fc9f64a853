package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// evidence is what the decision about the limit of a run rests on. Shares are 0 to 1.
type evidence struct {
	producers bool
	idle      bool         // nothing was due: the producers only connected
	commits   bool         // they publish in transactions, without confirms
	self      *result.Self // over the window; nil where the recording has none
	blocked   float64      // connection.blocked, of the time of the connections that publish
	away      float64      // lost, of the time of the connections that publish
	apart     string       // " but for" the time in which at least one of those was lost; empty where none was
	stalled   float64      // of the window, somebody waited for the recorder
	paused    float64      // reading was paused for the recorder, of the time of all connections
	cpu       float64      // of the processors that the hosts have
	cores     float64      // what that is in processors
	achieved  float64      // sent of what was asked for; negative in closed loop
}

// Where the decision turns. A rate counts as kept from 99 % on; a processor is never wholly one's own, so that 90 % of all is
// all. Without self-observation only what takes more than half of the time is spoken of.
const (
	keptRate = 0.99
	allCPU   = 0.9
	plainly  = 0.5
)

// findLimit decides what limited the run.
func (a *analysis) findLimit() {
	if len(a.facts.NotOneRun) > 0 { // each had its own
		return
	}
	e := a.evidence()
	a.facts.Limit, a.facts.LimitedBy = e.limit()
	if e.away > 0 && !a.window.asked {
		a.course.lostShare = &e.away
	}
}

func (a *analysis) evidence() *evidence {
	f, span := &a.facts, float64(a.window.runStop-a.window.runStart)
	e := &evidence{achieved: -1, self: a.observed.during(a.published, len(a.captures))}
	if span <= 0 {
		return e
	}
	publishing, connections, cpus, cpuNS := 0, 0, 0, int64(0)
	var down []result.Span
	hosts := map[string]bool{}
	for _, c := range a.captures {
		m := c.manifest
		if m == nil {
			continue
		}
		used := map[int]bool{}
		for i := range m.Producers {
			used[m.Producers[i].Connection] = true
			e.commits = m.Producers[i].TxSize > 0 && (e.commits || !e.producers)
			e.producers = true
		}
		publishing += len(used)
		for i := range a.course.outages {
			if x := &a.course.outages[i]; x.Capture == c.index && used[x.Connection] && x.Consumer == nil && x.Producer == nil {
				length := min(x.DurationNS, max(a.window.runStop-x.LostNS, 0))
				e.away += float64(length)
				down = append(down, result.Span{FromNS: x.LostNS, ToNS: x.LostNS + length})
			}
		}
		connections += m.Connections
		if !hosts[m.Host.Name] {
			hosts[m.Host.Name] = true
			cpus += m.Host.CPUs
		}
		if m.Outcome != nil {
			cpuNS += m.Outcome.CPUNS
		}
	}
	counted := a.window.runStop // the engine counts to the end of the drain
	if a.window.drainEnd != event.None {
		counted = max(counted, a.window.drainEnd)
	}
	e.cores = float64(cpuNS) / float64(counted-a.window.runStart)
	if e.self != nil && e.self.CPUCores != nil {
		e.cores = *e.self.CPUCores
	}
	if cpus > 0 {
		e.cpu = e.cores / float64(cpus)
	}
	e.blocked = min(1, float64(f.BlockedNS)/(span*float64(max(1, publishing))))
	e.away = min(1, e.away/(span*float64(max(1, publishing))))
	e.apart = a.apartFrom(down, publishing)
	e.stalled = float64(f.StallNS) / span
	if e.self != nil {
		e.paused = float64(e.self.ReadingPausedNS) / (span * float64(max(1, connections)))
	}
	if f.TargetRate != nil && f.SentRate != nil {
		if e.idle = *f.TargetRate == 0; !e.idle {
			e.achieved = *f.SentRate / *f.TargetRate
		}
	}
	return e
}

// apartFrom says how long connections that publish were lost, of so many, and when what was due meanwhile had been sent.
func (a *analysis) apartFrom(down []result.Span, publishing int) string {
	ns := int64(0)
	slices.SortFunc(down, func(x, y result.Span) int { return cmp.Compare(x.FromNS, y.FromNS) })
	down = union(down)
	for _, s := range down {
		ns += s.ToNS - s.FromNS
	}
	if ns <= 0 {
		return ""
	}
	text := ", but for " + seconds(ns) + " without a connection"
	if publishing > 1 {
		text = ", but for " + seconds(ns) + " in which connections were lost"
	}
	if at := a.caughtUp(downtimes(a.course.outages)); at != event.None {
		text += "; caught up at " + seconds(at-a.window.runStart)
	}
	return text
}

// limit names what limited the run, in one word and in words with the evidence:
//
//   - a rate that was kept to 99 % was not limited: the schedule;
//   - else, where the process used 90 % of all processors, it was the client's CPU, unless producers spent more than half of
//     their time blocked by the broker or waiting for the recorder;
//   - else it is what producers spent the most time on: waiting for the recorder, for the broker (in the socket or blocked by
//     connection.blocked, whichever is more), for the window (less the time in which connections were blocked, when no
//     confirm could be expected), or at work. With a rate most of the time may be waiting for the next message; then a wait
//     only counts if it makes up half of the shortfall at least, and if none does, the client was late by itself.
func (e *evidence) limit() (result.Limit, string) {
	switch {
	case !e.producers || e.idle:
		return e.limitOfConsumers()
	case e.achieved >= keptRate:
		return result.LimitSchedule, "the schedule: the rate that was asked for was kept" + e.apart
	case e.self == nil || e.self.WorkShare == nil:
		return e.limitUnobserved()
	}
	causes := e.causes()
	if e.cpu >= allCPU && e.blocked <= plainly && *e.self.RecorderShare <= plainly {
		return e.byCPU()
	}
	first := causes[0]
	for _, c := range causes[1:] {
		if c.share > first.share {
			first = c
		}
	}
	if e.achieved >= 0 && first.share < (1-e.achieved)/2 {
		return result.LimitClientCPU, fmt.Sprintf("the client: nothing that its producers waited for explains it (confirms %s, socket %s, recorder %s of the time)",
			percent(*e.self.WindowShare), percent(*e.self.SocketShare), percent(*e.self.RecorderShare))
	}
	return first.limit, fmt.Sprintf(first.text, percent(first.share))
}

// limitCause is something that may have limited a run; text has a place for its share.
type limitCause struct {
	limit result.Limit
	share float64
	text  string
}

// causes in the order in which they count where they are equal.
func (e *evidence) causes() []limitCause {
	s := e.self
	broker := limitCause{result.LimitBroker, *s.SocketShare, "the broker: producers waited %s of the time until it took more from the socket"}
	if e.blocked > broker.share {
		broker = limitCause{result.LimitBroker, e.blocked, "the broker: it blocked publishing (connection.blocked) %s of the time"}
	}
	if e.away > broker.share/2 { // what producers wait for then counts as waiting for the socket
		broker.share, broker.text = max(e.away, broker.share), "lost connections: producers waited %s of the time for the broker, most of it for their connections to be open again"
	}
	window := "the confirm window: producers waited %s of the time for confirms"
	if e.commits {
		window = "the transactions: producers waited %s of the time for the answers to their commits"
	}
	causes := []limitCause{
		{result.LimitRecorder, *s.RecorderShare, "the recorder: producers waited %s of the time until it had room"},
		broker,
		{result.LimitWindow, max(0, *s.WindowShare-e.blocked), window},
	}
	if e.achieved < 0 { // with a rate, to be at work is what is left when nothing is due
		causes = append(causes, limitCause{result.LimitClientCPU, *s.WorkShare, "the client: producers were at work %s of the time, and waited for nothing else"})
	}
	return causes
}

func (e *evidence) byCPU() (result.Limit, string) {
	return result.LimitClientCPU, fmt.Sprintf("the client's CPU: the process kept %.2f processors busy, %s of all", e.cores, percent(e.cpu))
}

// limitUnobserved decides without self-observation.
func (e *evidence) limitUnobserved() (result.Limit, string) {
	switch {
	case e.blocked > plainly:
		return result.LimitBroker, fmt.Sprintf("the broker: it blocked publishing (connection.blocked) %s of the time", percent(e.blocked))
	case e.stalled > plainly:
		return result.LimitRecorder, fmt.Sprintf("the recorder: it could not follow %s of the time", percent(e.stalled))
	case e.cpu >= allCPU:
		return e.byCPU()
	}
	return result.LimitUnknown, ""
}

// limitOfConsumers: of a run of consumers alone, and of producers that had nothing to send, only the client's own limits can
// be seen.
func (e *evidence) limitOfConsumers() (result.Limit, string) {
	switch {
	case e.paused > plainly:
		return result.LimitRecorder, fmt.Sprintf("the recorder: connections paused reading for it %s of the time", percent(e.paused))
	case e.cpu >= allCPU:
		return e.byCPU()
	}
	return result.LimitUnknown, ""
}

// percent writes a share: 0 %, 0.4 %, 83 %.
func percent(share float64) string {
	p := 100 * share
	if p > 0 && p < 1 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}
