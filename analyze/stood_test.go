package analyze

import (
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// In the first ten seconds a process looks at itself every 100 ms: one that does it after 100 ms and next after 5,000 ms was itself
// stopped for 4,900 ms. Where the recorder had no room, several looks make one row.
func TestClientThatStoodStill(t *testing.T) {
	for _, x := range []struct {
		name   string
		wait   int64 // for the recorder
		spanNS int64
		want   bool
	}{
		{"stopped", 0, 5000 * ms, true},
		{"a busy machine", 0, 900 * ms, false},
		{"a producer waited for the recorder", ms, 5000 * ms, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := plan(1, 1)
			m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+6000*ms, epoch+6100*ms
			r := record(t, m)
			r.send(0, 0, 1, 0)
			r.ack(0, 0, 1, ms)
			r.receive(0, 0, 0, ms, 0)
			r.ackAll(0, ms)
			row := event.Self{At: epoch + 100*ms, SpanNS: 100 * ms, LateMaxNS: event.None, UnsentMaxBytes: event.None, CPUNS: event.None, SchedLatencyP99NS: event.None}
			r.w.Self(&row)
			row.At, row.SpanNS, row.Recorder.SumNS = row.At+x.spanNS, x.spanNS, x.wait
			r.w.Self(&row)
			got := analyzed(t, r.close())
			if got.Verdict != result.Pass || slices.Contains(codes(got), "client_stalled") != x.want {
				t.Fatalf("%s: %v", got.Verdict, codes(got))
			}
			if !x.want {
				return
			}
			f := finding(t, got, "client_stalled")
			if f.Severity != result.SeverityWarning || f.Count != 1 || !strings.Contains(f.Text, "4.900 s in all") || !strings.Contains(f.Text, "for 4.9 s at least, from 0.1 s to 5.1 s after the start") {
				t.Errorf("%+v", f)
			}
			if s := got.Spans; len(s) != 1 || s[0].Kind != "client_stalled" || s[0].FromNS != epoch+100*ms || s[0].ToNS != epoch+5100*ms {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestLateLookWhileTheRecorderStalled(t *testing.T) {
	m := &manifest.Manifest{Recording: &manifest.Recording{Stalls: []manifest.Stall{{FromNS: 20, ToNS: 30}}}}
	for _, x := range []struct {
		from, to int64
		want     bool
	}{{10, 20, false}, {10, 21, true}, {25, 26, true}, {29, 40, true}, {30, 40, false}} {
		if l := (lateLook{capture: &source{manifest: m}, from: x.from, to: x.to}); l.recorderStalled() != x.want {
			t.Errorf("%d to %d: %v", x.from, x.to, !x.want)
		}
	}
}
