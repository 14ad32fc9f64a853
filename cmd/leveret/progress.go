package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// defaultProgressInterval is what is measured together where no other interval was asked for.
const defaultProgressInterval = time.Second

// showProgress shows people how the run goes until the function that it returns is called with the outcome, nil if there is
// none: a panel on a terminal, a line an interval elsewhere.
func showProgress(w watched, out io.Writer, noColor bool) (stop func(*manifest.Outcome)) {
	if c, ok := out.(*console); ok && isTerminal(out) && !w.linesOnly {
		if stop := startPanel(c, newPanelWatch(w), !speaksUTF8(), colored(out, noColor)); stop != nil {
			return stop
		}
	}
	done, ended := make(chan *manifest.Outcome, 1), make(chan struct{})
	go func() {
		defer close(ended)
		line := progressLine{out: out, watched: w}
		ticker := time.NewTicker(w.interval)
		defer ticker.Stop()
		for {
			select {
			case o := <-done:
				line.end(o)
				return
			case <-ticker.C: // it sends when it should have: the clock is read anew
				line.show(time.Now(), w.plan.Progress.Snapshot())
			}
		}
	}()
	return func(o *manifest.Outcome) {
		done <- o
		select {
		case <-ended:
		case <-time.After(panelGrace): // whoever should read the lines does not
		}
	}
}

// progressLine turns counters into rates since the line before.
type progressLine struct {
	watched
	out io.Writer

	started  time.Time
	previous measured
}

func (l *progressLine) show(now time.Time, c loadcore.Counts) {
	if c.Phase == loadcore.PhaseConnecting {
		if c.Connections < c.Planned { // else it waits for other instances, which is said once
			fmt.Fprintf(l.out, "connecting: %d of %s open\n", c.Connections, plural(c.Planned, "connection"))
		}
		return
	}
	if l.started.IsZero() {
		l.started = now.Add(-l.interval)
		l.previous.at = l.started
	}
	seconds := now.Sub(l.previous.at).Seconds()
	figures := l.live()
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
	if name := phaseNames[c.Phase]; name != "" {
		b.WriteString("  " + name)
	}
	l.previous = m
	fmt.Fprintln(l.out, b.String())
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
func (l *progressLine) end(o *manifest.Outcome) {
	if o != nil && o.StopReason != "" {
		fmt.Fprintf(l.out, "ended: %s\n", endText(o))
	}
}

type progressRate struct {
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
func (s *progressPlan) rates(now, before *measured) []progressRate {
	var rates []progressRate
	if len(s.Producers) > 0 {
		rates = append(rates, progressRate{"sent", now.counts.Sent - before.counts.Sent})
		if s.window > 0 {
			rates = append(rates, progressRate{"confirmed", now.counts.Confirmed - before.counts.Confirmed})
		}
		if s.transactions {
			rates = append(rates, progressRate{"committed", now.committed - before.committed})
		}
	}
	if len(s.Consumers) > 0 {
		rates = append(rates, progressRate{"received", now.counts.Received - before.counts.Received})
	}
	return rates
}

// latencies names the latencies that a run can have, as lines and panel call them; "" for none. Consumers whose producers are
// other processes know the due time that messages bring along.
func (s *progressPlan) latencies() (settled, delivery string) {
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
