package panel

import (
	"slices"
	"testing"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

func TestHowFarARunHasCome(t *testing.T) {
	for what, c := range map[string]struct {
		change func(p *loadcore.Plan)
		counts loadcore.Counts // 15 s after the barrier
		done   float64
		want   []string
	}{
		"time": {func(p *loadcore.Plan) { p.Time = time.Minute }, loadcore.Counts{Sent: 10}, 0.25, []string{"15 s of 1 min", "45 s left"}},
		"messages": {func(p *loadcore.Plan) { p.Producers[0].Limit, p.Producers[1].Limit = 1000, 1000 }, loadcore.Counts{Sent: 500}, 0.25,
			[]string{"15 s", "500 of 2,000 sent", "45 s left"}}, // 1500 more at 500/15 s
		"what comes first": {func(p *loadcore.Plan) { p.Time = time.Hour; p.Producers = p.Producers[:1]; p.Producers[0].Limit = 1000 }, loadcore.Counts{Sent: 750}, 0.75,
			[]string{"15 s of 1 h 00 min", "750 of 1,000 sent", "5 s left"}},
		"consumers": {func(p *loadcore.Plan) { p.Producers = nil; p.Consumers[0].Limit = 30 }, loadcore.Counts{Received: 15}, 0.5,
			[]string{"15 s", "15 of 30 received", "15 s left"}},
		"nothing sent yet": {func(p *loadcore.Plan) { p.Producers = p.Producers[:1]; p.Producers[0].Limit = 1000 }, loadcore.Counts{}, 0, []string{"15 s", "0 of 1,000 sent"}},
		"no end":           {nil, loadcore.Counts{Sent: 10}, -1, []string{"15 s", "until Ctrl-C"}},
	} {
		w := newWatch(Run{Plan: planWith(c.change).Plan, Interval: time.Second})
		v := &view{done: -1}
		w.viewRunning(v, &c.counts, 15*time.Second)
		if v.done != c.done || !slices.Equal(v.progress, c.want) {
			t.Errorf("%s: %.3f, %q; want %.3f, %q", what, v.done, v.progress, c.done, c.want)
		}
	}
}

// Failures that differ in numbers only are one line with a count; the last ones come first; only so many are kept.
func TestFailuresAreGrouped(t *testing.T) {
	w := newWatch(Run{Plan: planWith(nil).Plan, Interval: time.Second, Recorder: func() capture.State { return capture.State{} }})
	for i := range 300 {
		w.fail(&manifest.Failure{Connection: i, Text: "lost: EOF"})
	}
	lane := 3
	w.fail(&manifest.Failure{Connection: 1, Producer: &lane, Text: "NO_ROUTE"})
	v := w.view(time.Now())
	want := []errorRow{{1, "producer 3: NO_ROUTE"}, {300, "connection 299: lost: EOF"}}
	if v.failures != 301 || !slices.Equal(v.errors, want) {
		t.Errorf("%d failures, %+v", v.failures, v.errors)
	}
	for i := range 100 {
		w.fail(&manifest.Failure{Text: string(rune('a'+i%26)) + string(rune('a'+i/26))})
	}
	if len(w.errors) != mostGroups {
		t.Errorf("%d kinds of failures are kept", len(w.errors))
	}
}

// C090: the last state says in one line why the load ended, and when.
func TestC090EndIsNamed(t *testing.T) {
	o := &manifest.Outcome{StopReason: "time limit reached", BarrierNS: 1e9, PublishStopNS: 13_020_000_000}
	if got := endText(o); got != "time limit reached, after 12 s" {
		t.Errorf("%q", got)
	}
	o = &manifest.Outcome{StopReason: "could not begin:\nrefused", BarrierNS: event.None, PublishStopNS: event.None}
	if got := endText(o); got != "could not begin: refused" {
		t.Errorf("%q", got)
	}
}
