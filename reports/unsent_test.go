package reports

import (
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// 4,000 due at 1,000 a second, of which the last 2,900 were never sent: the table says so, and the maximum is not below any
// interval's.
func TestNeverSentIsSaid(t *testing.T) {
	r := baseResult()
	r.Config.OpenLoop, r.Config.RateTotal = true, ptr(1000.0)
	r.Counts = result.Counts{Sent: 1100, Confirmed: 1100, NotSent: 2900}
	r.Latency.Confirm.Service = &result.Distribution{Count: 1100, P50NS: ptr(int64(2e6)), MaxNS: ptr(int64(3e6))}
	r.Latency.Confirm.Response = &result.Distribution{Count: 1100, Censored: 2900, NeverSent: 2900, MaxNS: ptr(int64(3e6)),
		AtLeastNS: ptr(int64(1e6)), MaxAtLeastNS: ptr(int64(2900e6))}
	r.IntervalNS = second
	r.Intervals = []result.Interval{{StartNS: start, EndNS: start + second, Phase: "run", Latency: r.Latency}}
	text := textOf(t, r, TextOptions{})
	for row, want := range map[string]string{
		"50 %": `2\.000 +>= 1\.000`, "max": `3\.000 +>= 2,900`, "censored": `0 +2,900`, "due, never sent": `0 +2,900`, "messages": `1,100 +4,000`,
	} {
		if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(row) + ` +` + want + `$`).MatchString(text) {
			t.Errorf("row %q is not %q in\n%s", row, want, text)
		}
	}
	if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat, "2,900 due but never sent: in the response latency") {
		t.Errorf("nothing is said of it in\n%s", text)
	}
	if !regexp.MustCompile(`>=2,900$`).MatchString(strings.TrimSpace(text)) {
		t.Errorf("the interval does not end in the bound of its maximum:\n%s", text)
	}
	if text := textOf(t, tinySample(), TextOptions{}); strings.Contains(text, "never sent") {
		t.Errorf("spoken of without cause in\n%s", text)
	}
}
