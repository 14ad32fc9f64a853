package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// lateLook is a look of a recording process at itself that came much too late. Nothing that the process waits for keeps it from
// looking: it was itself stopped (a signal, a debugger, a frozen container or machine), or had no processor.
type lateLook struct {
	capture   *source
	from, to  int64 // from the look before
	overdueNS int64 // of that, what was too long: the process did not run for so long at least
}

// standsStill is by how much a look must be late to count, in nanoseconds: a busy machine makes it late by some milliseconds.
const standsStill = 1e9

// lookedLate takes over a row that ended much later than it should have. Rows for which the recorder had no room become a part of
// the next one, which is longer for it: where somebody waited for the recorder nothing is said.
func (a *analysis) lookedLate(c *source, s *event.Self) {
	if s.SpanNS < standsStill || s.Recorder.SumNS > 0 || s.PausedNS > 0 {
		return
	}
	from := s.At - s.SpanNS
	step := event.SelfStepNS(math.MaxInt64, 0, 0) // the longer one
	if c.manifest != nil {
		step = event.SelfStepNS(from-a.window.runStart, len(c.manifest.Producers), c.manifest.Connections)
	}
	overdue := s.SpanNS - step
	if overdue >= standsStill {
		a.observed.late = append(a.observed.late, lateLook{c, from, s.At, overdue})
	}
}

// stoodStill are the facts about processes that were themselves stopped, in order of time.
func (a *analysis) stoodStill() {
	f := &a.facts
	slices.SortStableFunc(a.observed.late, func(x, y lateLook) int { return cmp.Compare(x.from, y.from) })
	for _, l := range a.observed.late {
		if l.recorderStalled() {
			continue
		}
		text := "the client did not run"
		if len(a.captures) > 1 {
			text = "the client of " + l.capture.dir + " did not run"
		}
		f.Spans = append(f.Spans, result.Span{FromNS: l.from, ToNS: l.to, Kind: "client_stalled", Text: text})
		f.ClientStalledNS += l.overdueNS
		f.ClientStalls = append(f.ClientStalls, fmt.Sprintf("%s for %.1f s at least, from %.1f s to %.1f s after the start", text,
			float64(l.overdueNS)/1e9, float64(l.from-a.window.runStart)/1e9, float64(l.to-a.window.runStart)/1e9))
	}
}

func (l *lateLook) recorderStalled() bool {
	if m := l.capture.manifest; m != nil && m.Recording != nil {
		for _, s := range m.Recording.Stalls {
			if s.FromNS < l.to && s.ToNS > l.from {
				return true
			}
		}
	}
	return false
}
