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
	if len(got.Spans) != 1 || got.Spans[0] != (result.Span{FromNS: epoch + 400*ms, ToNS: epoch + 600*ms, Kind: "lost", Text: "connection 0 lost: reset by peer"}) {
		t.Errorf("%+v", got.Spans)
	}
	if f := finding(t, got, "in_doubt"); !strings.Contains(f.Text, "1 never confirmed nor received") {
		t.Errorf("%+v", f)
	}
}
