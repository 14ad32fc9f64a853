package panel

import (
	"fmt"
	"io"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Churn is a churn as those see it who look at it while it goes on.
type Churn struct {
	Live     *loadcore.ChurnLive
	Clock    *event.Clock
	Interval time.Duration // of the lines; 0: a second
	Time     time.Duration // how long load is offered; 0: no limit
}

// ShowChurn shows how a churn goes until the function that it returns is called with the outcome, nil if there is none: one line that
// changes where out is a Console on a terminal, a line an interval elsewhere.
func ShowChurn(c Churn, out io.Writer) (stop func(*manifest.Outcome)) {
	if c.Interval <= 0 {
		c.Interval = time.Second
	}
	show := func(text string) { fmt.Fprintln(out, text) }
	status := NewStatus(out, false)
	if status.console != nil {
		show = status.Show
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		line := churnLine{Churn: c}
		ticker := time.NewTicker(c.Interval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if f := c.Live.Look(); f.BarrierNS != 0 {
					show(line.next(time.Duration(c.Clock.Now()-f.BarrierNS), f))
				}
			}
		}
	}()
	return func(o *manifest.Outcome) {
		close(done)
		select {
		case <-ended:
		case <-time.After(grace):
			return
		}
		if status.console != nil {
			status.Show("")
		}
		if o != nil && o.Churn != nil {
			fmt.Fprintln(out, churnEnd(o))
		}
	}
}

// churnLine turns counters into rates since the line before.
type churnLine struct {
	Churn
	at     time.Duration // of the line before
	before loadcore.ChurnFigures
}

// next is the line of an interval that ends so long after load began. It is ASCII, as lines go into files.
func (l *churnLine) next(at time.Duration, f loadcore.ChurnFigures) string {
	seconds := max(at-l.at, time.Millisecond).Seconds()
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s", at.Seconds())
	if l.Time > 0 && !f.Stopping {
		fmt.Fprintf(&b, " of %g s", l.Time.Seconds())
	}
	perSecond := func(n int64) string { return result.Group(int64(float64(n)/seconds + 0.5)) }
	fmt.Fprintf(&b, "  made %s/s  undone %s/s", perSecond(f.Made-l.before.Made), perSecond(f.Undone-l.before.Undone))
	if f.Count > 0 {
		fmt.Fprintf(&b, "  p50 %s p99 %s max %s", latencyText(f.P50NS, true), latencyText(f.P99NS, true), latencyText(f.HighNS, true))
	}
	fmt.Fprintf(&b, "  there %s", result.Group(f.Alive))
	if failed := f.Failed + f.UndoFailed; failed > 0 {
		fmt.Fprintf(&b, "  failed %s", result.Group(failed))
	}
	if f.Stopping {
		b.WriteString("  undoing the rest")
	}
	l.at, l.before = at, f
	return b.String()
}

// churnEnd: "ended: time limit reached; 6,000 made, 0 failed, 6,000 undone".
func churnEnd(o *manifest.Outcome) string {
	c := o.Churn
	text := fmt.Sprintf("ended: %s; %s made, %s failed, %s undone", endText(o), result.Group(c.Made), result.Group(c.Failed+c.UndoFailed), result.Group(c.Undone))
	if c.NotBegun > 0 {
		text += ", " + result.Group(c.NotBegun) + " not begun"
	}
	return text
}
