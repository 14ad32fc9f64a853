package reports

import (
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// A run of 3 s at 100 a second whose last message was sent 140 ms late: the last interval is short, nothing is due in it, and
// a stretch that has both counts due over the seconds of the schedule.
func TestScheduleThatEndsWithinAnInterval(t *testing.T) {
	r := baseResult()
	r.Config.OpenLoop, r.Config.RateTotal, r.Config.StartedNS = true, ptr(100.0), start
	r.IntervalNS = second
	r.Window = result.Window{StartNS: start, EndNS: start + 3140e6, ScheduleEndNS: ptr(start + 3*second)}
	for i := range int64(3) {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: start + i*second, EndNS: start + (i+1)*second, Phase: "run", Due: 100, Sent: 100})
	}
	r.Intervals[2].Sent = 86
	r.Intervals = append(r.Intervals, result.Interval{StartNS: start + 3*second, EndNS: start + 3140e6, Phase: "run", Sent: 14},
		result.Interval{StartNS: start + 3140e6, EndNS: start + 4140e6, Phase: "drain", Received: 1})
	text := textOf(t, r, TextOptions{Width: 140})
	for _, want := range []string{`(?m)^ +2\.0 +3\.0 +100 +86 `, `(?m)^ +3\.0 +3\.1 +- +100\.0 `, `(?m)^ +3\.1 +4\.1 +- +0 `} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	flat := strings.Join(strings.Fields(text), " ")
	if !strings.Contains(flat, "The last interval before publishing stopped is 140.0 ms long; its rates are over that. Nothing was due after 3.000 s") {
		t.Errorf("nothing is said of the last interval in\n%s", text)
	}
	text = textOf(t, r, TextOptions{Width: 140, Intervals: 2}) // all of the run in one line: 300 due in 3 s, the lowest whole interval has 86
	if !regexp.MustCompile(`(?m)^ +0\.0 +3\.1 +100 +95\.54 +86 `).MatchString(text) {
		t.Errorf("in\n%s", text)
	}
}
