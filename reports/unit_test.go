package reports

import (
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// A median of 60 us makes the table one of microseconds; a 99th percentile of 2 ms in the intervals is in the same unit. One of
// 2 s would not fit and has its own.
func TestOneUnitOnAPage(t *testing.T) {
	for _, c := range []struct {
		p99  int64
		want string
	}{{2e6, "confirm (µs)"}, {2e9, "confirm (ms)"}} {
		r := baseResult()
		d := &result.Distribution{Count: 1000, P50NS: ptr(int64(60e3)), P99NS: ptr(c.p99), MaxNS: ptr(c.p99)}
		r.Latency.Confirm.Service = d
		r.IntervalNS = second
		r.Intervals = []result.Interval{{StartNS: start, EndNS: start + second, Phase: "run", Latency: r.Latency}}
		text := textOf(t, r, TextOptions{})
		table, intervals, _ := strings.Cut(text, "\nIntervals")
		if !strings.Contains(table, "confirm (µs)") || !strings.Contains(intervals, c.want) {
			t.Errorf("99 %% of %d ns: in\n%s", c.p99, text)
		}
		if ascii := textOf(t, r, TextOptions{ASCII: true}); regexp.MustCompile(`[^\x00-\x7f]`).MatchString(ascii) || !strings.Contains(ascii, "confirm (us)") {
			t.Errorf("not ASCII:\n%s", ascii)
		}
	}
}
