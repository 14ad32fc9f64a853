package analyze

import (
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// A limit explains what is missing only where the queue can have come to it. Ten messages of 12 bytes, one of which is missing:
// twice over 20 messages and 2 x 10 x (12 + 1024) = 20,720 bytes; the run lasts 1.1 s, twice over 2,200 ms.
func TestLimitsWithinReach(t *testing.T) {
	for _, c := range []struct {
		name    string
		key     string
		value   any
		kind    string
		ready   *int64
		foreign bool
		removed bool
	}{
		{name: "length reached", key: "x-max-length", value: int64(19), ready: ptr(int64(0)), removed: true},
		{name: "length not reached", key: "x-max-length", value: int64(20), ready: ptr(int64(0))},
		{name: "length with what was there", key: "x-max-length", value: int64(21), ready: ptr(int64(1)), removed: true},
		{name: "length and nothing known of the start", key: "x-max-length", value: int64(1000), removed: true},
		{name: "length and messages of others", key: "x-max-length", value: int64(1000), ready: ptr(int64(0)), foreign: true, removed: true},
		{name: "bytes reached", key: "x-max-length-bytes", value: int64(20_719), ready: ptr(int64(0)), removed: true},
		{name: "bytes not reached", key: "x-max-length-bytes", value: int64(20_720), ready: ptr(int64(0))},
		{name: "a stream's usual bytes", key: "x-max-length-bytes", value: int64(20_000_000_000), kind: "stream", ready: ptr(int64(0))},
		{name: "bytes of what was there are unknown", key: "x-max-length-bytes", value: int64(20_000_000_000), ready: ptr(int64(1)), removed: true},
		{name: "time to live reached", key: "x-message-ttl", value: int64(2199), removed: true},
		{name: "time to live not reached", key: "x-message-ttl", value: int64(2200)},
		{name: "age reached", key: "x-max-age", value: "2s", kind: "stream", removed: true},
		{name: "age not reached", key: "x-max-age", value: "3s", kind: "stream"},
		{name: "an age that is none", key: "x-max-age", value: "soon", kind: "stream", removed: true},
		{name: "expiry not reached", key: "x-expires", value: int64(1_800_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plan(1, 1)
			q := &m.Topology.Queues[0]
			q.Arguments, q.ReadyAtStart = []manifest.Arg{{Key: c.key, Value: c.value}}, c.ready
			if c.kind != "" {
				q.Type = c.kind
			}
			r := record(t, m)
			r.send(0, 0, 10, 0)
			r.ack(0, 0, 10, 2*ms)
			for i := range uint64(9) {
				r.deliver(0, 5*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
			}
			if c.foreign {
				r.deliver(0, 5*ms, event.Delivery{Seq: 0, Tag: 9, Body: event.Intact, Size: 12, Due: event.None})
			}
			r.ackAll(0, 6*ms)
			got := analyzed(t, r.close())
			if c.removed {
				if got.Counts.RemovedByRule != 1 || got.Counts.Lost != 0 || got.Verdict == result.Fail {
					t.Errorf("%v, %+v", got.Verdict, got.Counts)
				}
			} else if got.Counts.RemovedByRule != 0 || got.Counts.Lost != 1 || got.Verdict != result.Fail {
				t.Errorf("%v, %+v", got.Verdict, got.Counts)
			}
		})
	}
}
