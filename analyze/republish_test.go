package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// republished is a run of ten messages, one every 100 ms. The producer's connection is lost at 450 ms, with 3 and 4 unconfirmed, and
// opened again at 700 ms; they are sent again at 710 ms, and at 730 ms what was due meanwhile, 5 to 7. The broker had 3, so that it
// comes twice, and 4 for the first time behind 5 to 7.
func republished(t *testing.T) string {
	m := plan(1, 1)
	m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: second}
	m.Topology.Queues[0].Durable = true
	m.Options = map[string]string{"republish": "true"}
	m.Outcome.Recoveries = []manifest.Recovery{{LostNS: epoch + 450*ms, OpenNS: epoch + 700*ms, RecoveredNS: epoch + 720*ms, Attempts: 2, InDoubt: 2, Republished: 2}}
	m.Outcome.InDoubt, m.Outcome.Republished = 2, 2
	r := record(t, m)
	state := func(s event.ConnectionState, at int64, text string) {
		r.w.Connection(&event.Connection{At: epoch + at, Connection: 0, State: s, Producer: event.NoLane, Consumer: event.NoLane, Text: text})
	}
	state(event.Open, 0, "")
	for i := range uint64(5) {
		at := int64(i) * 100 * ms
		r.send(0, i, 1, at, at)
		if i < 3 {
			r.ack(0, i, 1, at+10*ms)
		}
		if i < 4 {
			r.receive(0, 0, 0, at+20*ms, i)
		}
	}
	state(event.Lost, 450*ms, "reset by peer")
	r.settle(event.InDoubt, 0, 3, 2, 451*ms)
	state(event.Connecting, 500*ms, "attempt 1")
	state(event.Connecting, 650*ms, "attempt 2")
	state(event.Open, 700*ms, "")
	r.send(0, 3, 2, 710*ms, 300*ms, 400*ms)
	m.Outcome.Sent -= 2 // the same messages
	state(event.Recovered, 720*ms, "after 0.270 s, 2 attempts")
	r.send(0, 5, 3, 730*ms, 500*ms, 600*ms, 700*ms)
	r.ack(0, 3, 2, 740*ms)
	r.receive(0, 0, 0, 745*ms, 3)
	r.receive(0, 0, 0, 755*ms, 5, 6, 7)
	r.receive(0, 0, 0, 760*ms, 4)
	r.send(0, 8, 1, 800*ms, 800*ms)
	r.ack(0, 5, 3, 805*ms)
	r.ack(0, 8, 1, 810*ms)
	r.receive(0, 0, 0, 820*ms, 8)
	r.send(0, 9, 1, 900*ms, 900*ms)
	r.ack(0, 9, 1, 910*ms)
	r.receive(0, 0, 0, 920*ms, 9)
	r.ackAll(0, 950*ms)
	return r.close()
}

// Sent counts messages, in the count, the rate, the intervals and the lateness; copies stand apart. What is in doubt is in flight no
// more until its copy is.
func TestCopiesAreCountedApart(t *testing.T) {
	got := analyzedIn(t, 100*ms, republished(t))
	checkVerdict(t, got, result.Pass, "reconnected", "in_doubt", "duplicated_by_republishing")
	if c := &got.Counts; c.Sent != 10 || c.Confirmed != 10 || c.Received != 11 || c.ReceivedUnique != 10 || c.Duplicates != 0 || c.OutOfOrder != 0 || c.Unconfirmed != 0 {
		t.Errorf("%+v", *c)
	}
	if want := (result.Doubt{Messages: 2, Republished: 2, Confirmed: 2, DuplicatedByRepublishing: 1}); got.Disruption.Doubt != want {
		t.Errorf("%+v", got.Disruption.Doubt)
	}
	// Over a second.
	if r := &got.Rates; *r.Sent != 10 || r.Republished == nil || *r.Republished != 2 || *r.Confirmed != 10 || *r.Received != 11 || *r.SentBytes != 120 {
		t.Errorf("%+v", *r)
	}
	var sent, again, doubt, flight []int64
	for _, in := range got.Intervals[:10] {
		sent, again, doubt, flight = append(sent, in.Sent), append(again, in.Republished), append(doubt, in.InDoubt), append(flight, *in.InFlightEnd)
	}
	for _, x := range []struct {
		name      string
		got, want []int64
	}{
		{"sent", sent, []int64{1, 1, 1, 1, 1, 0, 0, 3, 1, 1}},
		{"republished", again, []int64{0, 0, 0, 0, 0, 0, 0, 2, 0, 0}},
		{"in doubt", doubt, []int64{0, 0, 0, 0, 2, 0, 0, 0, 0, 0}},
		{"in flight", flight, []int64{0, 0, 0, 1, 0, 0, 0, 3, 0, 0}}, // at 800 ms 5 to 7
	} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s %v, want %v", x.name, x.got, x.want)
		}
	}
	if late := got.Generator.Lateness; late == nil || late.Count != 10 || *late.MaxNS != 230*ms {
		t.Errorf("%+v", late)
	}
}

// What the loss did, to the connection and to the run: the last ack before it was at 210 ms, the last delivery at 320 ms, the first ack
// after it at 740 ms; 5 and 6 were sent 230 and 130 ms late at 730 ms, 10 ms after the recovery, and 7 only 30 ms late.
func TestEffectsOfALoss(t *testing.T) {
	d := analyzed(t, republished(t)).Disruption
	if d == nil || len(d.Outages) != 1 || len(d.Episodes) != 1 || d.EpisodesTotal != 1 {
		t.Fatalf("%+v", d)
	}
	x := &d.Outages[0]
	for _, w := range []struct {
		name string
		got  *int64
		want int64
	}{
		{"first effect", x.FirstEffectNS, epoch + 210*ms}, {"moved", x.MovedNS, epoch + 740*ms}, {"recovered", x.RecoveredNS, epoch + 720*ms},
		{"caught up", x.CaughtUpNS, epoch + 730*ms}, {"to catch up", x.CatchUpNS, 10 * ms}, {"last effect", x.LastEffectNS, epoch + 740*ms},
		{"in doubt", x.InDoubt, 2}, {"republished", x.Republished, 2}, {"unacked", x.Unacked, 0}, {"to recover", &x.DurationNS, 270 * ms},
	} {
		if w.got == nil || *w.got != w.want {
			t.Errorf("%s of the connection: want %d in %+v", w.name, w.want, *x)
		}
	}
	e := d.Episodes[0]
	if e.StandstillFromNS == nil || *e.StandstillFromNS != epoch+320*ms || *e.StandstillNS != 420*ms || *e.CaughtUpNS != epoch+730*ms || *e.CatchUpNS != 10*ms {
		t.Errorf("%+v", e)
	}
	e.StandstillFromNS, e.StandstillNS, e.CaughtUpNS, e.CatchUpNS = nil, nil, nil, nil
	if want := (result.Episode{Losses: 1, Text: "reset by peer", FirstNS: epoch + 450*ms, LastNS: epoch + 720*ms, RecoverNS: 270 * ms, RecoveredAll: true,
		FirstEffectNS: epoch + 320*ms, LastEffectNS: epoch + 740*ms}); e != want {
		t.Errorf("%+v", e)
	}
	if d.FirstEffectNS != epoch+320*ms || d.LastEffectNS != epoch+740*ms {
		t.Errorf("%+v", d)
	}
}

// Rows have what the analysis has: the copy of 3 is no duplicate, 4 is not out of order, and both say when they were in doubt and sent
// again.
func TestRowsOfCopies(t *testing.T) {
	dir := republished(t)
	rows, _ := exported(t, All(RowsMessages), Options{}, dir)
	var duplicates, deliveries, late int64
	for _, r := range rows.rows {
		duplicates, deliveries, late = duplicates+r["duplicates"].(int64), deliveries+r["deliveries"].(int64), late+r["out_of_order"].(int64)
	}
	if len(rows.rows) != 10 || duplicates != 0 || deliveries != 11 || late != 0 {
		t.Errorf("%d rows, %d duplicates, %d deliveries, %d out of order", len(rows.rows), duplicates, deliveries, late)
	}
	for _, where := range []string{"in_doubt", "republished"} {
		s := All(RowsMessages)
		s.Where = []string{where}
		rows, _ := exported(t, s, Options{}, dir)
		var got []string
		for _, r := range rows.rows {
			got = append(got, fmt.Sprint(r["seq"], " sent ", r["sent_ns"].(int64)-epoch, " in doubt ", r["in_doubt_ns"].(int64)-epoch, " again ", r["republished_ns"].(int64)-epoch, " ", r["settlement"], " ", r["integrity"]))
		}
		want := "3 sent 300000000 in doubt 451000000 again 710000000 ack delivered\n4 sent 400000000 in doubt 451000000 again 710000000 ack delivered"
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("--where=%s: %s", where, text)
		}
	}
}

// Two losses 400 ms apart are two episodes, unless what was due meanwhile is still being sent late: the messages of the first, due at 200
// and 300 ms, go out at 350 ms, and in the second run further ones until just before the next loss.
func TestEpisodes(t *testing.T) {
	for _, hurried := range []bool{false, true} {
		m := plan(1, 1)
		m.Producers[0].Rate = manifest.Rate{Messages: 10, PerNS: second}
		m.Outcome.Recoveries = []manifest.Recovery{{LostNS: epoch + 150*ms, RecoveredNS: epoch + 340*ms}, {LostNS: epoch + 740*ms, RecoveredNS: epoch + 790*ms}}
		r := record(t, m)
		state := func(s event.ConnectionState, at int64) {
			r.w.Connection(&event.Connection{At: epoch + at, Connection: 0, State: s, Producer: event.NoLane, Consumer: event.NoLane})
		}
		sent := []int64{0, 100 * ms, 350 * ms, 350 * ms, 400 * ms, 500 * ms, 600 * ms, 700 * ms, 800 * ms, 900 * ms}
		if hurried {
			sent[4], sent[5], sent[6], sent[7] = 700*ms, 700*ms, 710*ms, 715*ms
		}
		for i, at := range sent {
			r.send(0, uint64(i), 1, at, int64(i)*100*ms)
			r.ack(0, uint64(i), 1, at+ms)
			r.receive(0, 0, 0, at+2*ms, uint64(i))
		}
		r.ackAll(0, 950*ms)
		state(event.Lost, 150*ms)
		state(event.Recovered, 340*ms)
		state(event.Lost, 740*ms)
		state(event.Recovered, 790*ms)
		d := analyzed(t, r.close()).Disruption
		want := [][2]int64{{150 * ms, 340 * ms}, {740 * ms, 790 * ms}}
		if hurried {
			want = [][2]int64{{150 * ms, 790 * ms}}
		}
		var got [][2]int64
		for _, e := range d.Episodes {
			got = append(got, [2]int64{e.FirstNS - epoch, e.LastNS - epoch})
		}
		if !slices.Equal(got, want) || d.Losses != 2 {
			t.Errorf("hurried %v: %v, want %v", hurried, got, want)
		}
		if e := d.Episodes[0]; !hurried && (e.CaughtUpNS == nil || *e.CaughtUpNS != epoch+350*ms || *e.CatchUpNS != 10*ms || d.Episodes[1].CaughtUpNS != nil) {
			t.Errorf("%+v", d.Episodes)
		}
	}
}

// A message that was refused and arrives all the same is expected once, and arrives once, whichever comes first: 0 is delivered, 1 refused
// and then delivered, 2 delivered and then refused, 3 refused. Nothing is left.
func TestBacklogOfRefusedMessagesThatArrive(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 4, 0)
	r.receive(0, 0, 0, 5*ms, 2)
	r.settle(event.Nack, 0, 1, 3, 10*ms)
	r.ack(0, 0, 1, 11*ms)
	r.receive(0, 0, 0, 20*ms, 0, 1)
	r.ackAll(0, 30*ms)
	got := analyzedIn(t, 100*ms, r.close())
	if b := got.Intervals[0].BacklogEnd; b == nil || *b != 0 || got.Counts.ReceivedUnique != 3 || got.Counts.Nacked != 3 {
		t.Errorf("%+v, %+v", got.Intervals[0], got.Counts)
	}
}

// Three messages in doubt are sent again: 0 is confirmed; the copies of 1 and 2 are refused, but the broker had the first 1, and delivers it.
func TestWhatBecameOfRefusedCopies(t *testing.T) {
	m := plan(1, 1)
	m.Options = map[string]string{"republish": "true"}
	m.Outcome.InDoubt, m.Outcome.Republished = 3, 3
	r := record(t, m)
	r.send(0, 0, 3, 0)
	r.settle(event.InDoubt, 0, 0, 3, 10*ms)
	r.send(0, 0, 3, 20*ms)
	m.Outcome.Sent -= 3
	r.ack(0, 0, 1, 30*ms)
	r.settle(event.Nack, 0, 1, 2, 31*ms)
	r.receive(0, 0, 0, 40*ms, 1, 0)
	r.ackAll(0, 50*ms)
	got := analyzed(t, r.close())
	f := finding(t, got, "in_doubt")
	if want := "3 sent again, 1 then confirmed, 1 then refused, 1 then refused and yet received"; f.Count != 3 || !strings.HasSuffix(f.Text, want) {
		t.Errorf("%d %q, want %q", f.Count, f.Text, want)
	}
}
