package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"leveret/analyze/result"
	"leveret/loadcore"
)

const progressInterval = time.Second

// showProgress prints how the run goes, one line a second: rewritten in place on a terminal, appended elsewhere. The
// function that it returns ends it and leaves the terminal on a fresh line.
func showProgress(p *loadcore.Plan, quiet bool, w io.Writer) (stop func()) {
	if quiet {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		line := progressLine{out: w, inPlace: isTerminal(w), plan: progressPlan{p}}
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				line.end()
				return
			case now := <-ticker.C:
				line.show(now, p.Progress.Snapshot())
			}
		}
	}()
	return func() { close(done); <-ended }
}

// progressLine turns counters into rates since the line before.
type progressLine struct {
	out     io.Writer
	inPlace bool
	plan    progressPlan

	started, previous time.Time
	counts            loadcore.Counts
	width             int
}

func (l *progressLine) show(now time.Time, c loadcore.Counts) {
	if c.Phase == loadcore.PhaseConnecting {
		l.print(fmt.Sprintf("connecting: %d of %s open", c.Connections, plural(c.Planned, "connection")))
		return
	}
	if l.started.IsZero() {
		l.started = now.Add(-progressInterval)
		l.previous = l.started
	}
	seconds := now.Sub(l.previous).Seconds()
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s", now.Sub(l.started).Seconds())
	if l.plan.Time > 0 && c.Phase == loadcore.PhaseRunning {
		fmt.Fprintf(&b, " of %g s", l.plan.Time.Seconds())
	}
	for _, r := range l.plan.rates(c, l.counts) {
		fmt.Fprintf(&b, "  %s %s/s", r.name, result.Group(int64(float64(r.events)/seconds+0.5)))
	}
	if c.Blocked > 0 {
		fmt.Fprintf(&b, "  blocked %d", c.Blocked)
	}
	if name := phaseNames[c.Phase]; name != "" {
		b.WriteString("  " + name)
	}
	l.previous, l.counts = now, c
	l.print(b.String())
}

var phaseNames = map[loadcore.Phase]string{
	loadcore.PhaseConfirming: "waiting for confirms",
	loadcore.PhaseDraining:   "draining",
	loadcore.PhaseClosing:    "closing",
}

func (l *progressLine) print(text string) {
	if !l.inPlace {
		fmt.Fprintln(l.out, text)
		return
	}
	// A line that the terminal has to break could not be written over.
	if width := terminalWidth(l.out); width > 1 && len(text) >= width {
		text = text[:width-1]
	}
	fmt.Fprintf(l.out, "\r%-*s", l.width, text)
	l.width = len(text)
}

func (l *progressLine) end() {
	if l.inPlace && l.width > 0 {
		fmt.Fprintln(l.out)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// progressPlan says which events a run can have at all: the others are not shown as 0.
type progressPlan struct{ *loadcore.Plan }

type progressRate struct {
	name   string
	events int64
}

func (p progressPlan) rates(now, before loadcore.Counts) []progressRate {
	var rates []progressRate
	if len(p.Producers) > 0 {
		rates = append(rates, progressRate{"sent", now.Sent - before.Sent})
		if p.Producers[0].Confirm > 0 {
			rates = append(rates, progressRate{"confirmed", now.Confirmed - before.Confirmed})
		}
	}
	if len(p.Consumers) > 0 {
		rates = append(rates, progressRate{"received", now.Received - before.Received})
	}
	return rates
}

// terminalWidth is the number of columns of the terminal that w is; 0 where it is none, or does not tell.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
