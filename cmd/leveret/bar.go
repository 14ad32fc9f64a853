package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows how far a long analysis is; only people on a terminal see it, and only when it takes longer than a moment.
type bar struct {
	out   io.Writer
	begun time.Time
	bar   *progressbar.ProgressBar
}

// barDelay keeps short analyses quiet.
const barDelay = 500 * time.Millisecond

func newBar(w io.Writer, quiet bool) *bar {
	if quiet || !isTerminal(w) {
		return &bar{}
	}
	if c, ok := w.(*console); ok { // of a file the bar learns how wide the terminal is
		w = c.file
	}
	return &bar{out: w, begun: time.Now()}
}

func (b *bar) show(done, total int64) {
	if b.out == nil || time.Since(b.begun) < barDelay {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription("analyzing"),
			progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	}
	b.bar.Set64(done)
}

func (b *bar) end() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
