package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// A loss explains nothing that was sent after all was back. Of ten messages each at 0, 100, 200 and 300 ms, to a queue that is not
// durable, 7, 8, 9 and 6 came, and all connections were away from 120 to 150 ms: of the 3 + 2 missing of before it may have taken all;
// the 1 + 4 of afterwards are lost, confirmed as they are.
func TestLossExplainsWhatWasSentBefore(t *testing.T) {
	run := func(recovered bool, lost ...uint32) string {
		m := plan(1, 1)
		r := record(t, m)
		state := func(s event.ConnectionState, at int64, text string) {
			for _, connection := range lost {
				r.w.Connection(&event.Connection{At: epoch + at, Connection: connection, State: s, Producer: event.NoLane, Consumer: event.NoLane, Text: text})
			}
		}
		state(event.Open, 0, "")
		for i, n := range []int{7, 8, 9, 6} {
			first, at := uint64(10*i), int64(i)*100*ms
			r.send(0, first, 10, at)
			r.ack(0, first, 10, at+ms)
			for k := range n {
				r.receive(0, 0, 0, at+10*ms, first+uint64(k))
			}
			if i == 1 {
				state(event.Lost, 120*ms, "reset by peer")
				recovery := manifest.Recovery{LostNS: epoch + 120*ms, OpenNS: event.None, RecoveredNS: event.None, Attempts: 1}
				if recovered {
					state(event.Open, 140*ms, "")
					state(event.Recovered, 150*ms, "after 0.030 s, 1 attempt")
					recovery.OpenNS, recovery.RecoveredNS = epoch+140*ms, epoch+150*ms
				}
				m.Outcome.Recoveries = append(m.Outcome.Recoveries, recovery)
			}
		}
		r.ackAll(0, 400*ms)
		return r.close()
	}
	dir := run(true, 0, 1)
	r := analyzed(t, dir)
	if c := r.Counts; c.RemovedByRule != 5 || c.Lost != 5 || c.Missing != 10 || r.Verdict != result.Fail {
		t.Errorf("%s %+v", r.Verdict, c)
	}
	if f := finding(t, r, "removed_by_rule"); !strings.Contains(f.Text, "not durable: connections were lost") || f.Count != 5 || f.First[0].Sequence != 7 {
		t.Errorf("%+v", f)
	}
	if f := finding(t, r, "lost"); f.First[0].Sequence != 29 {
		t.Errorf("%+v", f)
	}
	rows, _ := exported(t, All(RowsMessages), Options{}, dir)
	outcomes := map[any]int{}
	for _, row := range rows.rows {
		outcomes[row["integrity"]]++
	}
	if outcomes["removed_by_rule"] != 5 || outcomes["lost"] != 5 {
		t.Errorf("%v", outcomes)
	}

	purgedAt(t, dir, "q", 160*ms) // it is known then, and need not be guessed
	if f := finding(t, analyzed(t, dir), "removed_by_rule"); !strings.HasSuffix(f.Text, "(queue q: 5, purged, as marked, 0.160 s after the start)") {
		t.Error(f.Text)
	}

	r = analyzed(t, run(false, 0, 1)) // lost for good: how long it went on taking messages away nobody knows
	if c := r.Counts; c.RemovedByRule != 10 || c.Lost != 0 {
		t.Errorf("%s %+v", r.Verdict, c)
	}

	// A broker that restarts takes the consumers of the queue away, too: one connection alone is no restart.
	r = analyzed(t, run(true, 0))
	if c := r.Counts; c.RemovedByRule != 0 || c.Lost != 10 || r.Verdict != result.Fail {
		t.Errorf("%s %+v", r.Verdict, c)
	}
}
