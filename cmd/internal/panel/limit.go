package panel

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// limitShares say what the last few seconds were spent on; shares are 0 to 1.
type limitShares struct {
	producing bool    // a producer was publishing
	consuming bool    // the run has consumers
	achieved  float64 // sent of what was due; negative in closed loop
	window    float64 // of the producers' time, waiting for confirms
	socket    float64 // for the socket to take more
	recorder  float64 // for the recorder
	schedule  float64 // for the next message to be due
	blocked   float64 // of the connections' time, blocked by the broker
	paused    float64 // of the connections' time, not reading because of the recorder
	cpu       float64 // of all processors
}

// Where the judgement turns, as in the report (analyze/limit.go).
const (
	limitKeptRate = 0.99
	limitAllCPU   = 0.9
	limitPlainly  = 0.5
)

// limitName says in a word what limits a run, for its color; limitNone: nothing to be said.
type limitName int

const (
	limitNone limitName = iota
	limitSchedule
	limitBroker
	limitWindow
	limitClient // the client's CPU, or its recorder: the figures are not the broker's
)

// judge says what limits the run at the moment. The rules are those of the report, which looks at the whole run; this looks
// at the last few seconds, so that both can differ.
func (l *limitShares) judge() (limitName, string) {
	switch {
	case !l.producing && l.consuming && l.paused > limitPlainly:
		return limitClient, fmt.Sprintf("the recorder: connections do not read for it %s of the time", percentText(l.paused))
	case !l.producing && l.cpu >= limitAllCPU, l.producing && l.cpu >= limitAllCPU && l.blocked <= limitPlainly && l.recorder <= limitPlainly && l.behind():
		return limitClient, fmt.Sprintf("the client's CPU: %s of all processors busy", percentText(l.cpu))
	case !l.producing:
		return limitNone, ""
	case !l.behind():
		return limitSchedule, "the schedule: the rate is kept"
	}
	return l.longest()
}

// lostText is what limits a run where most of its connections are gone: then nothing else does. Thousands of slow producers may be due
// at the same moment, so that by the rate it would be seen late.
func lostText(open, planned int) string {
	if float64(open) >= limitPlainly*float64(planned) {
		return ""
	}
	return fmt.Sprintf("lost connections: %s of %s are open", result.Group(int64(open)), result.Group(int64(planned)))
}

// behind: the rate is not kept, or there is none to keep.
func (l *limitShares) behind() bool { return l.achieved < limitKeptRate }

// longest names what producers spend the most time on.
func (l *limitShares) longest() (limitName, string) {
	type cause struct {
		name  limitName
		share float64
		text  string
	}
	causes := []cause{
		{limitClient, l.recorder, "the recorder: producers wait for it %s of the time"},
		{limitBroker, l.socket, "the broker: producers wait for the socket %s of the time"},
		{limitBroker, l.blocked, "the broker: it blocks publishing %s of the time"},
		{limitWindow, max(0, l.window-l.blocked), "the confirm window: producers wait for confirms %s of the time"},
	}
	if l.achieved < 0 {
		causes = append(causes, cause{limitClient, max(0, 1-l.recorder-l.socket-l.window-l.schedule), "the client: producers are at work %s of the time"})
	}
	most := causes[0]
	for _, c := range causes[1:] {
		if c.share > most.share {
			most = c
		}
	}
	if l.achieved >= 0 && most.share < (1-l.achieved)/2 {
		return limitClient, fmt.Sprintf("the client: %s of the rate, and nothing else explains it", percentText(l.achieved))
	}
	return most.name, fmt.Sprintf(most.text, percentText(most.share))
}

func percentText(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// limitTicks is over how many intervals the limit is judged.
const limitTicks = 5

// limitMark is what was counted up to the end of an interval, to take the difference of two of them.
type limitMark struct {
	at        time.Time
	backlog   int64      // -1: not known
	self      event.Self // from the barrier on
	sent, due int64
	active    int     // producers that had not ended
	blocked   float64 // sum over the intervals of the share of publishing connections that were blocked
}

// limitMarks are the marks of the last intervals, the newest last.
type limitMarks []limitMark

func (m *limitMarks) add(mark limitMark) {
	if len(*m) > limitTicks {
		*m = append((*m)[:0], (*m)[1:]...)
	}
	*m = append(*m, mark)
}

// shares of the time between the first mark and the last; false where there is nothing between them.
func (m limitMarks) shares(p *plan) (*limitShares, bool) {
	if len(m) < 2 {
		return nil, false
	}
	from, to := &m[0], &m[len(m)-1]
	span := float64(to.self.SpanNS - from.self.SpanNS)
	if span <= 0 {
		return nil, false
	}
	l := &limitShares{consuming: len(p.Consumers) > 0, achieved: -1, blocked: (to.blocked - from.blocked) / float64(len(m)-1)}
	if publishing := float64(to.self.PublishingNS - from.self.PublishingNS); publishing > 0 {
		l.producing = true
		l.window = float64(to.self.Window.SumNS-from.self.Window.SumNS) / publishing
		l.socket = float64(to.self.Socket.SumNS-from.self.Socket.SumNS) / publishing
		l.recorder = float64(to.self.Recorder.SumNS-from.self.Recorder.SumNS) / publishing
		l.schedule = float64(to.self.Schedule.SumNS-from.self.Schedule.SumNS) / publishing
	}
	l.paused = float64(to.self.PausedNS-from.self.PausedNS) / (span * float64(max(p.Connections, 1)))
	if from.self.CPUNS != event.None && to.self.CPUNS != event.None {
		l.cpu = float64(to.self.CPUNS-from.self.CPUNS) / (span * float64(runtime.NumCPU()))
	}
	if p.timed {
		l.achieved = 1
		// The schedules of producers that have ended go on. Of each of the others a message may have become due this moment.
		due, sent := float64(to.due-from.due)*float64(to.active)/float64(len(p.Producers)), float64(to.sent-from.sent)
		if due-sent > float64(to.active) {
			l.achieved = sent / due
		}
	}
	return l, true
}

// growth is by how many messages a second the backlog has grown between the first mark and the last; 0 where that is little
// beside what is published, or not known.
func (m limitMarks) growth(p *plan) float64 {
	if len(m) < 2 || m[0].backlog < 0 || m[len(m)-1].backlog < 0 {
		return 0
	}
	from, to := &m[0], &m[len(m)-1]
	seconds := to.at.Sub(from.at).Seconds()
	grown, published := float64(to.backlog-from.backlog), float64((to.sent-from.sent)*p.perMessage)
	if seconds <= 0 || math.Abs(grown) < max(seconds, published/10) {
		return 0
	}
	return grown / seconds
}
