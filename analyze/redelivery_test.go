package analyze

import (
	"testing"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
)

// A consumer gets a message and loses its channel before it acks; another consumer, of another file, gets it again with the
// flag. The first one's file is written, and read, later: that is a legal redelivery nevertheless. Without the flag, or with the
// flag before, it is a duplicate.
func TestRedeliveryReadBeforeTheDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		again      int64
		flagged    bool
		duplicates int64
	}{
		"redelivered":           {20 * ms, true, 0},
		"delivered twice":       {20 * ms, false, 1},
		"redelivered, and anew": {5 * ms, true, 1},
	} {
		r := recordWith(t, plan(1, 2), capture.Options{Shards: 2, Compression: "none"})
		r.send(0, 0, 2, 0)
		r.ack(0, 0, 2, ms)
		r.receive(0, 0, 0, 10*ms, 0)
		r.deliver(1, c.again, event.Delivery{Seq: 0, Tag: 7, Body: event.Intact, Size: 12, Due: event.None, Redelivered: c.flagged})
		r.receive(0, 0, 0, 900*ms, 1) // the last row of its file: what is read first ends first
		r.ackAll(0, 950*ms)
		r.ackAll(1, 950*ms)
		got := analyzed(t, r.close())
		if got.Counts.Duplicates != c.duplicates || got.Counts.ReceivedUnique != 2 || (got.Verdict == result.Fail) != (c.duplicates > 0) {
			t.Errorf("%s: %s %+v", name, got.Verdict, got.Counts)
		}
	}
}
