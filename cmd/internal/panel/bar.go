package panel

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows how far a long analysis is; only people on a terminal see it, and only when it takes longer than a moment.
type Bar struct {
	out   io.Writer
	what  string
	begun time.Time
	bar   *progressbar.ProgressBar
}

// barDelay keeps short analyses quiet.
const barDelay = 500 * time.Millisecond

// NewBar is a bar on w for what is being done, which shows itself where w is a terminal and quiet is not asked for.
func NewBar(w io.Writer, quiet bool, what string) *Bar {
	if quiet || !isTerminal(w) {
		return &Bar{}
	}
	if c, ok := w.(*Console); ok { // of a file the bar learns how wide the terminal is
		w = c.file
	}
	return &Bar{out: w, what: what, begun: time.Now()}
}

// Show draws how far it is, of total.
func (b *Bar) Show(done, total int64) {
	if b.out == nil || time.Since(b.begun) < barDelay {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription(b.what),
			progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	}
	b.bar.Set64(done)
}

// End takes the bar away.
func (b *Bar) End() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
