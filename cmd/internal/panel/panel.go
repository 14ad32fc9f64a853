// Package panel shows people a run while it goes on: on a terminal a panel that is drawn anew several times a second, elsewhere
// a line an interval. The plan, its counters, live latencies and the recorder's state flow in; text flows out, to standard
// error, and the run never waits for it. What a command writes there besides goes through a Console, so that it appears above
// the panel; the bar of a long analysis is here, too.
package panel

import (
	"cmp"
	"io"
	"time"

	"leveret/capture"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Run is a run as those see it who look at it while it goes on.
type Run struct {
	Plan     *loadcore.Plan // with Progress; it is read only
	Title    string
	Interval time.Duration // of what is measured; 0: a second
	// Live gives the latencies of the interval since its last call, and Recorder how the recording goes.
	Live     func() loadcore.LiveFigures
	Recorder func() capture.State
	// LinesOnly: other lines come all the time, and a panel would be in their way.
	LinesOnly bool
}

// Show shows people how the run goes until the function that it returns is called with the outcome, nil if there is
// none: a panel where out is a Console on a terminal, a line an interval elsewhere. Stopping shows the last state, and waits
// a second at most for whoever takes nothing.
func Show(r Run, out io.Writer, noColor bool) (stop func(*manifest.Outcome)) {
	r.Interval = cmp.Or(r.Interval, time.Second)
	if c, ok := out.(*Console); ok && isTerminal(out) && !r.LinesOnly {
		if stop := start(c, newWatch(r), !SpeaksUTF8(), Colored(out, noColor)); stop != nil {
			return stop
		}
	}
	done, ended := make(chan *manifest.Outcome, 1), make(chan struct{})
	go func() {
		defer close(ended)
		line := lineWriter{Run: r, plan: newPlan(r.Plan), out: out}
		ticker := time.NewTicker(r.Interval)
		defer ticker.Stop()
		looks := time.NewTicker(outagesLook)
		defer looks.Stop()
		var said outages
		for {
			select {
			case o := <-done:
				said.say(out, time.Now(), r.Plan.Progress.Outage())
				line.end(o)
				return
			case <-ticker.C: // it sends when it should have: the clock is read anew
				line.show(time.Now(), r.Plan.Progress.Snapshot())
			case <-looks.C:
				said.say(out, time.Now(), r.Plan.Progress.Outage())
			}
		}
	}()
	return func(o *manifest.Outcome) {
		done <- o
		select {
		case <-ended:
		case <-time.After(grace): // whoever should read the lines does not
		}
	}
}
