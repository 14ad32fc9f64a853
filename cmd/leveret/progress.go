package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

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
		line := progressLine{out: w, inPlace: isTerminal(w), time: p.Time}
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
	time    time.Duration

	started, previous time.Time
	counts            loadcore.Counts
	width             int
}

func (l *progressLine) show(now time.Time, c loadcore.Counts) {
	if c.Phase == loadcore.PhaseConnecting {
		l.print(fmt.Sprintf("connecting: %d open", c.Connections))
		return
	}
	if l.started.IsZero() {
		l.started = now.Add(-progressInterval)
		l.previous = l.started
	}
	seconds := now.Sub(l.previous).Seconds()
	rate := func(now, before int64) string { return grouped(int64(float64(now-before)/seconds+0.5)) + "/s" }
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s", now.Sub(l.started).Seconds())
	if l.time > 0 {
		fmt.Fprintf(&b, " of %g s", l.time.Seconds())
	}
	fmt.Fprintf(&b, "  sent %s  confirmed %s  received %s", rate(c.Sent, l.counts.Sent), rate(c.Confirmed, l.counts.Confirmed), rate(c.Received, l.counts.Received))
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
	fmt.Fprintf(l.out, "\r%-*s", l.width, text)
	l.width = len(text)
}

func (l *progressLine) end() {
	if l.inPlace && l.width > 0 {
		fmt.Fprintln(l.out)
	}
}

// grouped writes a whole number with commas between thousands.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
