package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// streamWithALoss is a run whose first consumer of a stream is away from 100 to 200 ms.
func streamWithALoss(t *testing.T, consumers int, offset string) (*recording, func(event.ConnectionState, int64)) {
	m := plan(1, consumers)
	m.Topology.Queues[0].Type, m.Topology.Queues[0].Durable = "stream", true
	m.Consumers[0].Arguments = []manifest.Arg{{Key: "x-stream-offset", Value: offset}}
	m.Outcome.Recoveries = []manifest.Recovery{{Connection: 1, LostNS: epoch + 100*ms, RecoveredNS: epoch + 200*ms}}
	r := record(t, m)
	return r, func(s event.ConnectionState, at int64) {
		r.w.Connection(&event.Connection{At: epoch + at, Connection: 1, State: s, Producer: event.NoLane, Consumer: event.NoLane})
	}
}

// A subscription that is opened again begins where its offset says, next by default: what the stream got meanwhile is not for it, and
// nobody's loss. That of another consumer is.
func TestReopenedSubscriptionHasAGap(t *testing.T) {
	for _, lost := range []int64{0, 1} {
		r, state := streamWithALoss(t, 2, "next")
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 4)...)
		r.receive(1, 0, 0, 2*ms, seqs(0, uint64(5-lost))...)
		r.receive(1, 0, 0, 3*ms, seqs(6, 9)...)
		state(event.Lost, 100*ms)
		state(event.Recovered, 200*ms)
		r.receive(0, 0, 0, 210*ms, 8, 9)
		r.ackAll(0, 220*ms)
		r.ackAll(1, 220*ms)
		got := analyzed(t, r.close())
		checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 17 - lost, ReceivedUnique: 17 - lost, Missing: 3 + lost, RemovedByRule: 3, Lost: lost})
		if lost == 1 {
			checkVerdict(t, got, result.Fail, "lost", "removed_by_rule", "reconnected")
			continue
		}
		checkVerdict(t, got, result.Pass, "removed_by_rule", "reconnected")
		if f := finding(t, got, "removed_by_rule"); !strings.Contains(f.Text, "x-stream-offset") {
			t.Errorf("%q does not say why", f.Text)
		}
	}
}

// With the offset first it gets everything once more, which is no duplicate; a repeat to a consumer that was never away is one.
func TestReopenedSubscriptionReadsAgain(t *testing.T) {
	for _, duplicates := range []int64{0, 1} {
		r, state := streamWithALoss(t, 2, "first")
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 4)...)
		r.receive(1, 0, 0, 2*ms, seqs(0, 9)...)
		if duplicates > 0 {
			r.receive(1, 0, 0, 3*ms, 9)
		}
		state(event.Lost, 100*ms)
		state(event.Recovered, 200*ms)
		r.receive(0, 0, 0, 210*ms, seqs(0, 9)...)
		r.ackAll(0, 220*ms)
		r.ackAll(1, 220*ms)
		got := analyzed(t, r.close())
		checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 25 + duplicates, ReceivedUnique: 20, Duplicates: duplicates})
		if duplicates == 0 {
			checkVerdict(t, got, result.Pass, "reconnected", "stream_read_again")
		} else {
			checkVerdict(t, got, result.Fail, "duplicate", "reconnected", "stream_read_again")
		}
	}
}
