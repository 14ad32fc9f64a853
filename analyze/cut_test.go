package analyze

import (
	"errors"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

const second = 1000 * ms

// warmedUp is 60 s at 1,000 messages a second, of which the first 30 s are slow: deliveries that were due then come 31 s after
// they were due, the others after 2 ms. It is thinned out a hundredfold: 10 messages a second.
func warmedUp(t *testing.T) string {
	m := plan(1, 1)
	m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: second}
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+60*second, epoch+62*second
	r := record(t, m)
	for i := range uint64(600) {
		due := int64(i) * 100 * ms
		r.send(0, i, 1, due, due)
		r.ack(0, i, 1, due+ms)
	}
	for i := range uint64(600) { // in the order of their receipt, as a consumer would
		due := int64(i) * 100 * ms
		if i < 300 {
			r.receive(0, 0, 0, due+31*second, i)
		} else {
			r.receive(0, 0, 0, due+2*ms, i)
		}
	}
	r.ackAll(0, 61*second)
	return r.close()
}

func analyzedPart(t *testing.T, dir string, from, to int64) *result.Result {
	t.Helper()
	r, err := Run(t.Context(), []string{dir}, Options{Tmp: t.TempDir(), FromNS: from, ToNS: to})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C063: a warm-up is in no figure of the summary. The case says that only messages sent after it count; that is so for the
// latencies. A rate counts events by their own time, whatever message they are of: 290 of the messages due in the first 30 s
// are received from 31 s to 60 s, and have taken capacity there.
func TestWarmUpIsInNoFigure(t *testing.T) {
	got := analyzedPart(t, warmedUp(t), 30*second, 0)
	w := got.Window
	if w.StartNS != epoch+30*second || w.EndNS != epoch+60*second || !strings.HasPrefix(w.Text, "30 to 60 s of a run of 60 s (") {
		t.Errorf("%+v", w)
	}
	want := result.Part{FromNS: 30 * second, ToNS: 60 * second, RunNS: 60 * second, Sent: 300, Confirmed: 300, Received: 300 + 290 + 1, Cohort: 300}
	if w.Part == nil || *w.Part != want { // the last one received in time was due at 29 s: 0 to 29 s are 291
		t.Fatalf("%+v, want %+v", w.Part, want)
	}
	if *got.Rates.Sent != 10 || *got.Rates.Confirmed != 10 || *got.Rates.Received != 591.0/30 {
		t.Errorf("%v, %v and %v a second", *got.Rates.Sent, *got.Rates.Confirmed, *got.Rates.Received)
	}
	if d := got.Latency.Delivery.Response; d.Count != 300 || d.Censored != 0 || *d.MaxNS != 2*ms || *d.P50NS != 2*ms {
		t.Errorf("%+v", d)
	}
	// Integrity is of the whole run.
	checkVerdict(t, got, result.Pass)
	if got.Counts.Sent != 600 || got.Counts.Received != 600 {
		t.Errorf("%+v", got.Counts)
	}
}

// The intervals of the window add up to its summary, and all intervals to the run; each phase is where it belongs.
func TestMeasuredIntervalsAddUp(t *testing.T) {
	for _, c := range []struct{ from, to int64 }{{30 * second, 0}, {0, 20 * second}, {10*second + 50*ms, 40*second + 7*ms}, {0, 60 * second}} {
		got := analyzedPart(t, warmedUp(t), c.from, c.to)
		p := got.Window.Part
		if p == nil {
			t.Fatal("no part")
		}
		var in, all result.Part
		var latency int64
		at := epoch
		for _, x := range got.Intervals {
			if x.StartNS != at {
				t.Fatalf("%+v: an interval begins at %d, the one before ended at %d", c, x.StartNS-epoch, at-epoch)
			}
			at = x.EndNS
			inside := x.StartNS >= got.Window.StartNS && x.EndNS <= got.Window.EndNS
			if (x.Phase == "run") != inside || x.Phase == "before" && x.EndNS > got.Window.StartNS || x.Phase == "drain" && x.StartNS < epoch+60*second {
				t.Errorf("%+v: %s from %d to %d", c, x.Phase, x.StartNS-epoch, x.EndNS-epoch)
			}
			if inside {
				in.Sent, in.Confirmed, in.Received = in.Sent+x.Sent, in.Confirmed+x.Confirmed, in.Received+x.Received
			}
			latency += x.Latency.Delivery.Response.Messages()
			all.Sent, all.Confirmed, all.Received = all.Sent+x.Sent, all.Confirmed+x.Confirmed, all.Received+x.Received
		}
		if in.Sent != p.Sent || in.Confirmed != p.Confirmed || in.Received != p.Received || latency != got.Latency.Delivery.Response.Messages() || latency != p.Cohort {
			t.Errorf("%+v: intervals of the window have %+v and %d latencies, the summary %+v", c, in, latency, p)
		}
		if all.Sent != 600 || all.Confirmed != 600 || all.Received != 600 {
			t.Errorf("%+v: all intervals have %+v", c, all)
		}
		if want := float64(p.Received) / (float64(p.ToNS-p.FromNS) / 1e9); *got.Rates.Received != want {
			t.Errorf("%+v: %v a second, want %v", c, *got.Rates.Received, want)
		}
	}
}

// What happens at the end of a part belongs to the next one: parts that follow each other count nothing twice.
func TestPartsThatFollowEachOther(t *testing.T) {
	dir := warmedUp(t)
	a, b, c := analyzedPart(t, dir, 0, 20*second), analyzedPart(t, dir, 20*second, 40*second), analyzedPart(t, dir, 40*second, 60*second)
	for i, r := range []*result.Result{a, b, c} {
		if p := r.Window.Part; p.Sent != 200 || p.Cohort != 200 {
			t.Errorf("part %d: %+v", i, p)
		}
	}
}

// A message that was due in the window and not answered in it is censored no earlier than any other: its answer is followed to
// the end of the recording.
func TestAnswersAreFollowedBehindTheWindow(t *testing.T) {
	got := analyzedPart(t, warmedUp(t), 5*second, 10*second)
	if d := got.Latency.Delivery.Response; d.Count != 50 || d.Censored != 0 || *d.MinNS != 31*second || *d.MaxNS != 31*second {
		t.Errorf("%+v", d)
	}
	if got.Window.Part.Received != 0 || *got.Rates.Received != 0 {
		t.Errorf("%+v", got.Window.Part)
	}
}

// A message due in the window and never sent is known from below until publishing stopped, which is behind the window.
func TestUnsentInTheWindow(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate = manifest.Rate{Messages: 1, PerNS: second}
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS, m.Outcome.NotSent = epoch+10*second, epoch+10*second, 1
	r := record(t, m)
	r.send(0, 0, 1, 0, 0)
	r.ack(0, 0, 1, ms)
	r.w.Sends(&event.Sends{Producer: 0, First: 1, N: 1, Sent: event.None, Size: 12, Due: []int64{epoch + second}})
	got := analyzedPart(t, r.close(), 500*ms, 2*second)
	if d := got.Latency.Confirm.Response; d == nil || d.NeverSent != 1 || *d.AtLeastNS != 9*second {
		t.Errorf("%+v", d)
	}
}

// A part that is not in the run is refused, with the run's length; a run that ended a little early is no reason.
func TestPartOutsideTheRun(t *testing.T) {
	dir := warmedUp(t)
	for _, c := range []struct{ from, to int64 }{{60 * second, 0}, {61 * second, 90 * second}, {0, 61 * second}, {20 * second, 20 * second}, {20 * second, 10 * second}, {-second, 0}} {
		_, err := Run(t.Context(), []string{dir}, Options{Tmp: t.TempDir(), FromNS: c.from, ToNS: c.to})
		var outside *WindowError
		if !errors.As(err, &outside) || outside.LengthNS != 60*second || !strings.Contains(err.Error(), "60 s") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if p := analyzedPart(t, dir, 50*second, 60*second+500*ms).Window.Part; p.ToNS != 60*second || p.Sent != 100 {
		t.Errorf("%+v", p)
	}
}
