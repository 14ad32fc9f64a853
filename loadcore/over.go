package loadcore

import (
	"fmt"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Reasons to stop, as the outcome gives them.
const (
	StopTime        = "time limit reached"
	StopInterrupted = "interrupted"
	StopSent        = "all messages sent"
	StopReceived    = "all consumers have received their messages"
	StopIdle        = "all consumers have been idle for over a second"
	StopEmpty       = "the queues of all consumers are empty"
	// StopLimits: consumers ended by themselves, some for another reason than the others.
	StopLimits = "all consumers have ended: message limit reached, idle or queues empty"
	// StopDisconnected begins the reason with DisconnectFail; what was lost follows.
	StopDisconnected = "disconnected"
	// StopRecording begins the reason where the recorder failed; ": " and its error follow. Run returns the same as its error.
	StopRecording = "recording failed"
)

// over says why the load is over, "" if it is not.
func (r *run) over() string {
	if err := r.fatalError(); err != nil {
		return err.Error()
	}
	if len(r.producers) > 0 && r.publishers.Load() == 0 {
		switch {
		case r.plan.Time > 0 && r.clock.Now() >= r.end.Load():
			return StopTime
		case r.anyHalted() || r.anyShort():
			return "all producers have ended, not all of them as planned"
		case r.consumersToCome():
			r.publishingEnded()
			return ""
		}
		return StopSent
	}
	return r.consumersOver()
}

// consumersToCome: all is sent, and consumers have not begun yet, or will leave by themselves. They are waited for within
// the time limit.
func (r *run) consumersToCome() bool {
	return slices.ContainsFunc(r.consumers, func(s *consumer) bool {
		return s.live() && (s.begun.Load() == 0 || s.spec.ExitWhen != "")
	})
}

// limitsMissed says how many consumers waited for more messages than there were.
func (r *run) limitsMissed() string {
	n := 0
	for _, s := range r.consumers {
		if s.limit > 0 && !s.finished.Load() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d consumers have not reached their message limit", n, len(r.consumers))
}

// publishingEnded notes that all producers have ended. No interval that is recorded is of both, the time before and after.
func (r *run) publishingEnded() {
	if r.outcome.PublishStopNS == event.None {
		r.outcome.PublishStopNS = r.clock.Now()
		r.progress.publishingStopped(r.outcome.PublishStopNS)
		r.sampler.sample()
	}
}

// anyShort: a producer has ended, by a connection that was lost under its write for instance, before its limit. Only
// asked once all have ended.
func (r *run) anyShort() bool {
	return slices.ContainsFunc(r.producers, func(p *producer) bool { return p.seq < p.limit })
}

func (r *run) anyHalted() bool {
	for _, p := range r.producers {
		if p.halted.Load() && !p.cut.Load() {
			return true
		}
	}
	return false
}

// consumersOver decides where no producer has a limit of its own: then consumers with a limit end the run, and a run of
// consumers alone ends with the last of them.
func (r *run) consumersOver() string {
	for _, p := range r.producers {
		if p.spec.Limit > 0 {
			return ""
		}
	}
	limited, finished, live, reason := 0, 0, 0, ""
	for _, s := range r.consumers {
		if s.live() {
			live++
		}
		if s.limit == 0 && s.spec.ExitWhen == "" {
			continue
		}
		limited++
		if s.live() {
			return ""
		}
		if s.finished.Load() {
			finished++
			why := StopReceived
			if s.left.Load() {
				why = stopOf[s.spec.ExitWhen]
			}
			if reason != "" && reason != why {
				why = StopLimits
			}
			reason = why
		}
	}
	switch {
	case limited > 0 && finished > 0 && len(r.producers) > 0:
		return reason
	case len(r.producers) > 0 && (limited == 0 || r.plan.Time > 0):
		return ""
	case live > 0:
		return ""
	case finished == len(r.consumers):
		return reason
	}
	return "all consumers have ended, not all of them as planned"
}

var stopOf = map[string]string{manifest.ExitIdle: StopIdle, manifest.ExitEmpty: StopEmpty}
