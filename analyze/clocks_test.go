package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// onHost is a capture of a host of its own: p producers, c consumers, two queues of which producers use one and consumers the
// other.
func onHost(name string, tag uint16, p, c, produces, consumes int) *manifest.Manifest {
	m := plan(p, c)
	m.ID, m.Tag = name, tag
	m.ClockStart.BootID, m.ClockStart.MonotonicNS = "boot of "+name, 1
	m.Topology.Queues = []manifest.Queue{{Name: "there", Type: "classic", Declare: true}, {Name: "back", Type: "classic", Declare: true}}
	m.Topology.Routes = []manifest.Route{{RoutingKey: m.Topology.Queues[produces].Name, Queues: []int{produces}, Known: true}}
	m.Outcome.Queues = nil
	for i := range m.Consumers {
		m.Consumers[i].Queues = []int{consumes}
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: consumes, Ready: ptr(int64(0)), Consumed: true, Drained: true})
	}
	return m
}

// twoWays records two hosts that send to each other, one message a millisecond each way, received 2 ms later. The second's
// clock is ahead by what is given; with back false nothing goes back.
func twoWays(t *testing.T, ahead int64, back bool, change func(first, second *manifest.Manifest)) []string {
	t.Helper()
	lanes := 0
	if back {
		lanes = 1
	}
	first, second := onHost("one", 7, 1, lanes, 0, 1), onHost("two", 8, lanes, 1, 1, 0)
	for _, at := range []*int64{&second.Outcome.BarrierNS, &second.Outcome.PublishStopNS, &second.Outcome.DrainEndNS} {
		*at += ahead
	}
	if change != nil {
		change(first, second)
	}
	a, b := record(t, first), record(t, second)
	for i := range uint64(100) {
		at := int64(i+10) * ms
		a.send(0, i, 1, at)
		b.deliver(0, at+2*ms+ahead, event.Delivery{Queue: 0, Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
		if back {
			b.send(0, i, 1, at+ahead)
			a.deliver(0, at+2*ms, event.Delivery{Queue: 1, Seq: i, Tag: 8, Body: event.Intact, Size: 12, Due: event.None})
		}
	}
	a.ack(0, 0, 100, 500*ms)
	b.ackAll(0, 500*ms+ahead)
	if back {
		b.ack(0, 0, 100, 500*ms+ahead)
		a.ackAll(0, 500*ms)
	}
	return []string{a.close(), b.close()}
}

// Two hosts whose clocks are 5 ms apart, one of them behind: messages both ways tell it, and the latencies are what they were.
func TestHostsJoinedByMessages(t *testing.T) {
	for _, ahead := range []int64{-5 * ms, 3_600_000 * ms} {
		got := analyzed(t, twoWays(t, ahead, true, nil)...)
		checkVerdict(t, got, result.Pass, "clocks_differ")
		checkCounts(t, got.Counts, result.Counts{Sent: 200, Confirmed: 200, Received: 200, ReceivedUnique: 200})
		if len(got.Clocks) != 1 || got.Clocks[0].AheadNS == nil {
			t.Fatalf("%+v", got.Clocks)
		}
		// The bounds are 2 ms on either side of it, and 0.2 us for what the clocks can have run apart in a part of the run.
		c := got.Clocks[0]
		if *c.AheadNS < ahead-1000 || *c.AheadNS > ahead+1000 || *c.ErrorNS < 2*ms || *c.ErrorNS > 2*ms+1000 {
			t.Errorf("ahead by %d, give or take %d", *c.AheadNS, *c.ErrorNS)
		}
		d := got.Latency.Delivery.Service
		if d == nil || d.Count != 200 || d.Negative != 0 || *d.MinNS < 2*ms-1000 || *d.MaxNS > 2*ms+1000 {
			t.Errorf("%+v", d)
		}
		if text := finding(t, got, "clocks_differ").Text; !strings.Contains(text, "give or take 2.0") || !strings.Contains(text, "messages that went both ways") {
			t.Error(text)
		}
		if !strings.Contains(strings.Join(got.LatencyRemarks, " "), "exact to 2.0") {
			t.Errorf("%q", got.LatencyRemarks)
		}
	}
}

// C036: one way only, and the systems say nothing: 2 ms are seen as -3 ms. That is counted and flagged, nothing is moved or
// clamped, and no latency is given; every count is right all the same.
func TestC036HostsWithoutAWayBack(t *testing.T) {
	got := analyzed(t, twoWays(t, -5*ms, false, nil)...)
	checkVerdict(t, got, result.Pass, "clock_skew", "clocks_differ")
	checkCounts(t, got.Counts, result.Counts{Sent: 100, Confirmed: 100, Received: 100, ReceivedUnique: 100})
	if finding(t, got, "clock_skew").Count != 100 {
		t.Error("not all are counted")
	}
	if text := finding(t, got, "clocks_differ").Text; !strings.Contains(text, "at least 2.99") || !strings.Contains(text, "delivery latencies are not given") {
		t.Error(text)
	}
	if got.Latency.Delivery != (result.Latency{}) || !strings.Contains(got.LatencyNote, "no delivery latency: the clocks of senders and receivers differ by an unknown time") {
		t.Errorf("%+v %q", got.Latency.Delivery, got.LatencyNote)
	}
	for _, x := range got.Intervals {
		if x.Latency.Delivery != (result.Latency{}) {
			t.Errorf("%+v", x)
		}
	}
	for _, c := range got.Curves {
		if c.What == "delivery" {
			t.Errorf("%+v", c)
		}
	}
	if c := got.Clocks[0]; c.AheadNS != nil || c.AtLeastNS != nil || c.AtMostNS == nil || *c.AtMostNS < -3*ms || *c.AtMostNS > -3*ms+1000 {
		t.Errorf("%+v", c)
	}
}

// C036, where the systems say how far off they may be: 4 and 6 ms. The difference is -10 to -3 ms by that and by the
// messages: -6.5 ms, give or take 3.5 ms, and the 2 ms, seen as -3 ms, become 3.5 ms.
func TestC036HostsThatKnowTheirError(t *testing.T) {
	got := analyzed(t, twoWays(t, -5*ms, false, func(first, second *manifest.Manifest) {
		first.ClockStart.WallErrorNS, second.ClockStart.WallErrorNS = 4*ms, 5*ms
		// Its wall clock was moved by 1 ms meanwhile.
		second.ClockEnd = &event.Snapshot{ClockNS: epoch + 1000*ms, WallNS: epoch + 1001*ms, WallErrorNS: 5 * ms}
		first.ClockEnd = &event.Snapshot{ClockNS: epoch + 1000*ms, WallNS: epoch + 1000*ms, WallErrorNS: 4 * ms}
	})...)
	checkVerdict(t, got, result.Pass, "clocks_differ")
	d := got.Latency.Delivery.Service
	if d == nil || d.Count != 100 || *d.P50NS < 3_500_000-1000 || *d.P50NS > 3_500_000+1000 {
		t.Errorf("%+v", d)
	}
	if c := got.Clocks[0]; c.ErrorNS == nil || *c.ErrorNS < 3_500_000 || *c.ErrorNS > 3_500_000+1000 {
		t.Errorf("%+v", c)
	}
}

// A capture without manifest has messages all the same.
func TestHostsWithoutManifest(t *testing.T) {
	dirs := twoWays(t, 5*ms, true, nil)
	dirs[1] = damaged(t, dirs[1], without(manifest.StartName, manifest.FinalName))
	got := analyzed(t, dirs...)
	if len(got.Clocks) != 1 || got.Clocks[0].AheadNS == nil || *got.Clocks[0].AheadNS < 5*ms-1000 || *got.Clocks[0].AheadNS > 5*ms+1000 {
		t.Errorf("%+v", got.Clocks)
	}
}

// When all had arrived is moved onto the first capture's clock as all other times are. The clock of the second is 7 s ahead of the first's,
// on one host, so that by how much is known exactly: what had arrived 1.5 s after the start had done so by the first one's, too.
func TestArrivedOnOneClock(t *testing.T) {
	capture := func(id string, tag uint16, ahead, arrived int64) string {
		m := plan(1, 0)
		m.ID, m.Tag, m.Producers[0].Confirm = id, tag, 0
		m.ClockStart = event.Snapshot{BootID: "b", MonotonicNS: 1, ClockNS: epoch + ahead, WallNS: epoch + ahead}
		for _, at := range []*int64{&m.Outcome.BarrierNS, &m.Outcome.PublishStopNS, &m.Outcome.DrainEndNS} {
			*at += ahead
		}
		m.Outcome.ArrivedNS = ptr(epoch + ahead + arrived)
		r := record(t, m)
		r.send(0, 0, 10, ahead)
		return r.close()
	}
	got := analyzed(t, capture("one", 7, 0, 1200*ms), capture("two", 8, 7000*ms, 1500*ms))
	if at := got.Rates.ArrivedNS; at == nil || *at != 1500*ms {
		t.Errorf("arrived after %v", at)
	}
}
