package panel

import (
	"strings"
	"testing"
	"time"

	"leveret/loadcore"
)

// Load began ten seconds before the first line: its 1000 messages are some 100 a second, and not all of one interval of a second.
func TestFirstLineCountsFromTheBarrier(t *testing.T) {
	var out strings.Builder
	p := planWith(nil)
	l := lineWriter{Run: Run{Plan: p.Plan, Interval: time.Second, Live: func() (f loadcore.LiveFigures) { return f }}, plan: p, out: &out}
	l.show(time.Now(), loadcore.Counts{Phase: loadcore.PhaseRunning, BarrierNS: p.Clock.Now() - 10e9, Connections: 3, Planned: 3, Sent: 1000})
	if got := out.String(); strings.Contains(got, "1,000/s") || !strings.HasPrefix(got, "  1") { // 10 s, on a machine that is not stopped for half a minute
		t.Errorf("%q", got)
	}
}
