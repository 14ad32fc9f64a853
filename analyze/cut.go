package analyze

import (
	"fmt"
	"strconv"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// WindowError says that the part of the run that was asked for is not in it.
type WindowError struct {
	FromNS, ToNS int64 // as asked for; ToNS 0: until publishing stopped
	LengthNS     int64 // of the run
}

func (e *WindowError) Error() string {
	part := "from " + inSeconds(e.FromNS) + " s on"
	if e.ToNS != 0 {
		part = "from " + inSeconds(e.FromNS) + " to " + inSeconds(e.ToNS) + " s"
	}
	return fmt.Sprintf("the part %s is not in the run, which published for %s s: choose one between 0 and %s", part, inSeconds(e.LengthNS), inSeconds(e.LengthNS))
}

// inSeconds writes nanoseconds as seconds, to the millisecond.
func inSeconds(ns int64) string {
	return strconv.FormatFloat(float64(ns/1e6)/1e3, 'f', -1, 64)
}

// A run of 60 s stops publishing a little before or after: an end that is not further off than this is the run's.
const (
	endSlackNS   = 100e6
	endSlackPart = 100
)

// cut makes the window the part from..to of the run, counted from its start; to 0: until its end. The end itself is in it only
// where it is the run's, so that windows that follow each other count nothing twice.
func (w *window) cut(from, to int64) error {
	if from == 0 && to == 0 {
		return nil
	}
	length := w.runStop - w.runStart
	past := to > length
	if from < 0 || to < 0 || from >= length || to != 0 && to <= from || past && to-length > max(endSlackNS, length/endSlackPart) {
		return &WindowError{FromNS: from, ToNS: to, LengthNS: length}
	}
	w.asked = true
	w.start += from
	if to != 0 && to < length {
		w.until = w.runStart + to
		w.stop = w.until - 1
	}
	return nil
}

// describeWindow says over what the rates and latencies are.
func (a *analysis) describeWindow() result.Window {
	w := result.Window{StartNS: a.window.start, EndNS: a.window.until, Text: a.window.text, ReceivedBefore: a.time.receivedBefore}
	if n := w.ReceivedBefore; n > 0 {
		w.Text += "; " + result.Plural(n, "message") + " received before it"
	}
	if a.window.asked {
		w.Part = a.describePart()
		w.Text = fmt.Sprintf("%s to %s s of a run of %s s (%s)", inSeconds(w.Part.FromNS), inSeconds(w.Part.ToNS), inSeconds(w.Part.RunNS), w.Text)
	}
	if end := a.scheduleEnd(); end != event.None {
		end = max(a.window.start, min(end, a.window.until))
		w.ScheduleEndNS = &end
	}
	if end := a.window.drainEnd; end != event.None {
		w.DrainEndNS = &end
	}
	return w
}

// describePart counts the events of the part that was asked for.
func (a *analysis) describePart() *result.Part {
	p := &result.Part{
		FromNS: a.window.start - a.window.runStart, ToNS: a.window.until - a.window.runStart, RunNS: a.window.runStop - a.window.runStart,
		Cohort: a.time.cohort,
	}
	for i := range a.time.run {
		n := &a.time.counts[i]
		p.Sent += n.sent
		p.Confirmed += n.confirmed
		p.Committed += n.committed
		p.Nacked += n.nacked
		p.Returned += n.returned
		p.Received += n.received
	}
	return p
}
