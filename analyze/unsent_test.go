package analyze

import (
	"context"
	"testing"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// leaveUnsent records messages that were due and never sent.
func (r *recording) leaveUnsent(p int, first uint64, due ...int64) {
	if err := r.w.Reserve(context.Background(), len(due)); err != nil {
		r.t.Fatal(err)
	}
	s := &event.Sends{Producer: uint16(p), First: first, N: len(due), Sent: event.None, Written: event.None, Size: 12}
	for _, d := range due {
		s.Due = append(s.Due, epoch+d)
	}
	r.w.Sends(s)
	r.m.Outcome.NotSent += int64(len(due))
}

// A broker that stalls keeps messages from being sent: they are in the response latency as censored, each with the time
// from due to the stop of publishing, and not in the service latency.
func TestNeverSentIsCensored(t *testing.T) {
	m := plan(1, 2)
	m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: 1000 * ms}
	m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "r", Type: "classic"})
	m.Topology.Routes[0].Queues = []int{0, 1}
	m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: 1, Consumed: true, Drained: true})
	m.Consumers[1].Queues = []int{1}
	r := record(t, m)
	for i := range uint64(4) { // due at 0, 100, 200, 300 ms, sent 1 ms late
		due := int64(i) * 100 * ms
		r.send(0, i, 1, due+ms, due)
		r.ack(0, i, 1, due+3*ms)
		r.receive(0, 0, 0, due+5*ms, i)
		r.receive(1, 1, 0, due+5*ms, i)
	}
	r.leaveUnsent(0, 4, 400*ms, 500*ms, 600*ms, 700*ms, 800*ms, 900*ms)
	r.ackAll(0, 400*ms)
	r.ackAll(1, 400*ms)
	got := analyzedIn(t, 100*ms, r.close())
	checkCounts(t, got.Counts, result.Counts{Sent: 4, Confirmed: 4, NotSent: 6, Received: 8, ReceivedUnique: 8})
	for _, x := range []struct {
		name                    string
		d                       *result.Distribution
		count, unsent           int64
		max, least, most, first int64 // bounds 0: none; first: of the interval from 400 ms
	}{
		{"confirm service", got.Latency.Confirm.Service, 4, 0, 2 * ms, 0, 0, 0},
		{"confirm response", got.Latency.Confirm.Response, 4, 6, 3 * ms, 100 * ms, 600 * ms, 600 * ms},
		{"delivery service", got.Latency.Delivery.Service, 8, 0, 4 * ms, 0, 0, 0},
		{"delivery response", got.Latency.Delivery.Response, 8, 12, 5 * ms, 100 * ms, 600 * ms, 600 * ms},
	} {
		d := x.d
		if d.Count != x.count || d.Censored != x.unsent || d.NeverSent != x.unsent || *d.MaxNS != x.max {
			t.Errorf("%s: %+v", x.name, d)
		}
		if x.unsent == 0 {
			if d.AtLeastNS != nil || d.MaxAtLeastNS != nil || *d.P9999NS != x.max {
				t.Errorf("%s: %+v", x.name, d)
			}
			continue
		}
		if d.P50NS != nil || *d.AtLeastNS != x.least || *d.MaxAtLeastNS != x.most { // 4 of 10 are known: the median is not
			t.Errorf("%s: p50 %v, at least %d to %d", x.name, d.P50NS, *d.AtLeastNS, *d.MaxAtLeastNS)
		}
		// Of 10: four measured, then 100, 200, ... 600 ms at least. Ranks 5, 8, 10 (or, of 20, two of each).
		for i, want := range []int64{100 * ms, 400 * ms, 600 * ms, 600 * ms, 600 * ms, 600 * ms} {
			if p := d.Percentiles()[i]; !p.AtLeast || *p.ValueNS > want || *p.ValueNS < want-want/100 {
				t.Errorf("%s: percentile %d: at least %v, want %d", x.name, i, *p.ValueNS, want)
			}
		}
	}
	in := got.Intervals[4].Latency
	if c := in.Confirm.Response; in.Confirm.Service != nil || c.Count != 0 || c.NeverSent != 1 || *c.AtLeastNS != 600*ms || *c.MaxAtLeastNS != 600*ms {
		t.Errorf("interval from 400 ms: %+v", c)
	}
}

// The bounds of what was sent and never answered, and of what was never sent, end at different times. The greatest is the
// bound of the maximum, and no interval has a greater one than the window.
func TestBoundOfTheMaximum(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate = manifest.Rate{Messages: 2, PerNS: 1000 * ms}
	r := record(t, m)
	r.send(0, 0, 1, 250*ms, 200*ms) // never confirmed: at least 1100 - 200 ms from due, 1100 - 250 from sent
	r.leaveUnsent(0, 1, 700*ms)     // at least 1000 - 700 ms
	got := analyzed(t, r.close())
	if d := got.Latency.Confirm.Response; d.Censored != 2 || d.NeverSent != 1 || *d.AtLeastNS != 300*ms || *d.MaxAtLeastNS != 900*ms {
		t.Errorf("%+v", d)
	}
	if d := got.Latency.Confirm.Service; d.Censored != 1 || d.NeverSent != 0 || *d.AtLeastNS != 850*ms || *d.MaxAtLeastNS != 850*ms {
		t.Errorf("%+v", d)
	}
	for _, in := range got.Intervals {
		if d := in.Latency.Confirm.Response; d != nil && *d.MaxAtLeastNS > 900*ms {
			t.Errorf("from %d: %+v", in.StartNS-epoch, d)
		}
	}
}

// Without confirms no confirm was due either.
func TestNeverSentWithoutConfirms(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Confirm, m.Producers[0].Rate = 0, manifest.Rate{Messages: 2, PerNS: 1000 * ms}
	r := record(t, m)
	r.leaveUnsent(0, 0, 0, 500*ms)
	got := analyzed(t, r.close())
	if got.Latency.Confirm != (result.Latency{}) || got.Latency.Delivery.Response.NeverSent != 2 {
		t.Errorf("%+v", got.Latency)
	}
}

// Of ten messages six are answered after 500 to 505 ms; four that were sent at 700 ms are not, and each is known to have taken
// 400 ms at least. The median is 504 ms, the fifth; the percentiles above are not below it, nor below the sixth, which was asked for.
func TestBoundsDoNotFall(t *testing.T) {
	r := record(t, plan(1, 0))
	for i := range uint64(6) {
		r.send(0, i, 1, 0)
		r.ack(0, i, 1, int64(500+i)*ms)
	}
	r.send(0, 6, 4, 700*ms)
	dir := r.close()
	for _, x := range []struct {
		asked []quantile.Percent
		want  int64
	}{{nil, 504 * ms}, {[]quantile.Percent{60 * quantile.One, 90 * quantile.One}, 505 * ms}} {
		got, err := Run(t.Context(), []string{dir}, Options{Percentiles: x.asked, Tmp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		d := got.Latency.Confirm.Service
		if *d.P50NS != 504*ms || *d.AtLeastNS != 400*ms || *d.MaxAtLeastNS != 400*ms || d.MaxBound() != 505*ms {
			t.Errorf("%+v", d)
		}
		ps := d.Percentiles()
		for i, p := range ps[1:] {
			if !p.AtLeast || *p.ValueNS != x.want {
				t.Errorf("asked for %v: percentile %d: %v, want at least %d", x.asked, i+1, value(p.ValueNS), x.want)
			}
		}
		if p, ok := d.Percentile(90); x.asked != nil && (!ok || !p.AtLeast || *p.ValueNS != x.want) {
			t.Errorf("90 %%: %+v, want at least %d", p, x.want)
		}
	}
}
