package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// A connection is lost for 200 ms with three messages in doubt: one is sent again, confirmed, and arrives twice; one arrives though it
// was never confirmed; one does not. A message that is handed out anew arrives before the first copy of it, which another connection
// that was lost still had. Nothing of that is the broker's fault.
func TestWhatALossLeaves(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Confirm = 10
	m.Topology.Queues[0].Durable = true
	m.Options = map[string]string{"republish": "true"}
	m.Outcome.Recoveries = []manifest.Recovery{{LostNS: epoch + 400*ms, RecoveredNS: epoch + 600*ms}}
	m.Outcome.InDoubt, m.Outcome.Republished = 3, 1
	r := record(t, m)
	state := func(s event.ConnectionState, at int64, text string) {
		r.w.Connection(&event.Connection{At: epoch + at, Connection: 0, State: s, Producer: event.NoLane, Consumer: event.NoLane, Text: text})
	}
	state(event.Open, 0, "")
	r.send(0, 0, 5, 100*ms)
	r.ack(0, 0, 2, 110*ms)
	r.receive(0, 0, 0, 120*ms, 0)
	state(event.Lost, 400*ms, "reset by peer")
	r.settle(event.InDoubt, 0, 2, 3, 401*ms)
	state(event.Connecting, 450*ms, "attempt 1")
	state(event.Lost, 460*ms, "refused")
	state(event.Connecting, 500*ms, "attempt 2")
	state(event.Open, 550*ms, "")
	r.send(0, 2, 1, 560*ms)
	m.Outcome.Sent-- // it was the same message
	r.ack(0, 2, 1, 570*ms)
	state(event.Recovered, 600*ms, "after 0.200 s, 2 attempts")
	r.receive(0, 0, 0, 610*ms, 2, 2, 3)
	again := event.Delivery{Producer: 0, Seq: 1, Tag: m.Tag, Body: event.Intact, Size: 12, Due: event.None, Redelivered: true}
	r.deliver(0, 620*ms, again)
	again.Redelivered = false
	r.deliver(0, 621*ms, again)
	r.ackAll(0, 630*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "missing_unconfirmed", "unconfirmed_at_stop", "reconnected", "in_doubt", "duplicated_by_republishing", "redelivered")
	d := got.Disruption
	want := result.Doubt{Messages: 3, Republished: 1, Confirmed: 1, Received: 1, Missing: 1, DuplicatedByRepublishing: 1}
	if d == nil || d.Doubt != want || d.Losses != 1 || d.Recovered != 1 || d.Attempts != 2 || d.DownNS != 200*ms || d.FirstNS != epoch+400*ms || d.LastNS != epoch+600*ms {
		t.Fatalf("%+v", d)
	}
	// from the delivery at 120 ms to the ack at 570 ms
	if d.StandstillNS == nil || *d.StandstillNS != 450*ms || *d.StandstillFromNS != epoch+120*ms {
		t.Errorf("standstill %d from %d", *d.StandstillNS, *d.StandstillFromNS-epoch)
	}
	if got.Counts.Duplicates != 0 || got.Counts.Sent != 5 || got.Counts.Confirmed != 3 || got.Counts.Redelivered != 1 {
		t.Errorf("%+v", got.Counts)
	}
	if len(got.Spans) != 1 || got.Spans[0] != (result.Span{FromNS: epoch + 400*ms, ToNS: epoch + 600*ms, Kind: "lost", Text: "connection 0: reset by peer"}) {
		t.Errorf("%+v", got.Spans)
	}
	if f := finding(t, got, "in_doubt"); !strings.Contains(f.Text, "1 never confirmed nor received") {
		t.Errorf("%+v", f)
	}
}

// Ten messages a second for 12 s; at 6 s both connections are lost, for 1.5 s and for 1 s, and what was due meanwhile is sent at 7.5 s: the
// rate was kept but for that, it was steady without it, and the connections are told in their order.
func TestAnOutageInASteadyRun(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: second}
	m.Connections, m.Consumers[0].Connection = 2, 1
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+12*second, epoch+12*second
	m.Outcome.Recoveries = []manifest.Recovery{{LostNS: epoch + 6*second, RecoveredNS: epoch + 7500*ms}}
	r := record(t, m)
	state := func(connection uint32, s event.ConnectionState, at int64) {
		r.w.Connection(&event.Connection{At: epoch + at, Connection: connection, State: s, Producer: event.NoLane, Consumer: event.NoLane})
	}
	state(0, event.Open, 0)
	state(1, event.Open, 0)
	for i := range uint64(120) {
		due := int64(i) * 100 * ms
		sent := due
		if due >= 6*second && due < 7500*ms {
			sent = 7500 * ms
		}
		if due == 10*second {
			sent += 300 * ms // late for another reason: the outage was over by then
		}
		r.send(0, i, 1, sent, due)
		r.ack(0, i, 1, sent+ms)
		r.receive(0, 0, 0, sent+2*ms, i)
	}
	r.ackAll(0, 12*second)
	state(1, event.Lost, 6*second)
	state(0, event.Lost, 6001*ms)
	state(1, event.Recovered, 7*second)
	state(0, event.Recovered, 7500*ms)
	got := analyzed(t, r.close())
	if want := "the schedule: the rate that was asked for was kept, but for 1.499 s without a connection; caught up at 7.500 s"; got.LimitedBy != want {
		t.Errorf("%q, want %q", got.LimitedBy, want)
	}
	if g := got.Generator; g == nil || g.LostShare == nil || *g.LostShare != 1.499/12 {
		t.Errorf("%+v", g)
	}
	d := got.Disruption
	if d == nil || len(d.Outages) != 2 || d.Outages[0].Connection != 0 || d.Outages[1].Connection != 1 || d.FirstNS != epoch+6*second || d.DownNS != 1500*ms {
		t.Errorf("%+v", d)
	}
	// The intervals from 6 s to the one that begins at 7.5 s.
	left := (1500*ms/got.IntervalNS + 1) * got.IntervalNS
	if s := got.Steadiness; s == nil || s.Rate == nil || !s.Rate.FromStart || s.Latency == nil || !s.Latency.FromStart || s.LeftOutNS != left {
		t.Errorf("%+v, intervals of %d", s, got.IntervalNS)
	}
}
