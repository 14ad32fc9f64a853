package panel

import (
	"fmt"
	"io"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// lineWriter turns counters into rates since the line before.
type lineWriter struct {
	Run
	plan *plan
	out  io.Writer

	started  time.Time
	previous measured
}

func (l *lineWriter) show(now time.Time, c loadcore.Counts) {
	if c.Phase == loadcore.PhaseConnecting {
		if c.Connections < c.Planned { // else it waits for other instances, which is said once
			fmt.Fprintf(l.out, "connecting: %s of %s open\n", result.Group(int64(c.Connections)), result.Plural(int64(c.Planned), "connection"))
		}
		return
	}
	if l.started.IsZero() {
		l.started = now.Add(-l.Interval)
		if c.BarrierNS != 0 { // load began within the interval
			l.started = now.Add(-time.Duration(l.plan.Clock.Now() - c.BarrierNS))
		}
		l.previous.at = l.started
	}
	seconds := max(now.Sub(l.previous.at), time.Millisecond).Seconds()
	figures := l.Live()
	m := measured{at: now, counts: c, committed: l.previous.committed + figures.Committed}
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s", now.Sub(l.started).Seconds())
	if l.plan.Time > 0 && c.Phase == loadcore.PhaseRunning {
		fmt.Fprintf(&b, " of %g s", l.plan.Time.Seconds())
	}
	for _, r := range l.plan.rates(&m, &l.previous) {
		fmt.Fprintf(&b, "  %s %s/s", r.name, result.Group(int64(float64(r.events)/seconds+0.5)))
	}
	settled, delivery := l.plan.latencies()
	for _, x := range []struct {
		name    string
		latency *loadcore.LiveLatency
	}{{settled, &figures.Confirm}, {delivery, &figures.Delivery}} {
		if x.name != "" {
			fmt.Fprintf(&b, "  %s %s", x.name, latencyWords(x.latency))
		}
	}
	if c.Blocked > 0 {
		fmt.Fprintf(&b, "  blocked %d", c.Blocked)
	}
	if c.Connections < c.Planned && c.Phase < loadcore.PhaseClosing {
		fmt.Fprintf(&b, "  %s of %s connections open", result.Group(int64(c.Connections)), result.Group(int64(c.Planned)))
	}
	if c.InDoubt > 0 {
		fmt.Fprintf(&b, "  %s in doubt", wereText(c.InDoubt))
	}
	if name := phaseNames[c.Phase]; name != "" {
		b.WriteString("  " + name)
	}
	l.previous = m
	fmt.Fprintln(l.out, b.String())
}

// wereText: what was in doubt may have been sent again, and answered.
func wereText(n int64) string {
	if n == 1 {
		return "1 was"
	}
	return result.Group(n) + " were"
}

// latencyWords: "p50 480 us p99 3.40 ms max 12.0 ms". Lines go into files that people open with anything: they are ASCII.
func latencyWords(l *loadcore.LiveLatency) string {
	switch {
	case l.Biased():
		return biasText(l)
	case l.Count == 0:
		return "-"
	}
	return fmt.Sprintf("p50 %s p99 %s max %s", latencyText(l.P50NS, true), latencyText(l.P99NS, true), latencyText(l.MaxNS, true))
}

// biasText says why there is no latency to be shown: what is known is not of all messages.
func biasText(l *loadcore.LiveLatency) string {
	if l.Missed > 0 {
		return "n/a (backlog)"
	}
	return "n/a (clock skew)"
}

var phaseNames = map[loadcore.Phase]string{
	loadcore.PhaseConfirming: "waiting for confirms",
	loadcore.PhaseDraining:   "draining",
	loadcore.PhaseClosing:    "closing",
}

// end says why the load has ended.
func (l *lineWriter) end(o *manifest.Outcome) {
	if o != nil && o.StopReason != "" {
		fmt.Fprintf(l.out, "ended: %s\n", endText(o))
	}
}

type rate struct {
	name   string
	events int64
}

// measured is what was counted up to a moment.
type measured struct {
	at        time.Time
	due       int64
	counts    loadcore.Counts
	committed int64 // messages in transactions that were committed
}

// rates are the events that a run can have at all, since before.
func (s *plan) rates(now, before *measured) []rate {
	var rates []rate
	if len(s.Producers) > 0 {
		rates = append(rates, rate{"sent", now.counts.Sent - before.counts.Sent})
		if s.window > 0 {
			rates = append(rates, rate{"confirmed", now.counts.Confirmed - before.counts.Confirmed})
		}
		if s.transactions {
			rates = append(rates, rate{"committed", now.committed - before.committed})
		}
	}
	if len(s.Consumers) > 0 {
		rates = append(rates, rate{"received", now.counts.Received - before.counts.Received})
	}
	return rates
}

// latencies names the latencies that a run can have, as lines and panel call them; "" for none. Consumers whose producers are
// other processes know the due time that messages bring along.
func (s *plan) latencies() (settled, delivery string) {
	switch {
	case s.window > 0:
		settled = "confirm"
	case s.transactions:
		settled = "commit"
	}
	switch {
	case len(s.Consumers) == 0:
	case len(s.Producers) > 0:
		delivery = "delivery"
	default:
		delivery = "since due"
	}
	return settled, delivery
}
