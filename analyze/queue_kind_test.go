package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// asFound is a plan whose queue was there before: what its options say of the type is nobody's knowledge.
func asFound(p, c int) *manifest.Manifest {
	m := plan(p, c)
	m.Topology.Predeclared, m.Topology.Queues[0].Declare = true, false
	return m
}

// Two consumers of a stream get all messages each. One capture declared the queue as a stream, another one used it as it was and was
// not told of what type it is: the one that knows counts, in whatever order they are given.
func TestWhoDeclaresAQueueKnowsItsType(t *testing.T) {
	producing, consuming := plan(1, 0), asFound(0, 2)
	producing.Topology.Queues[0].Type = "stream"
	consuming.ID, consuming.Tag = "b", 9
	for _, m := range []*manifest.Manifest{producing, consuming} {
		m.ClockStart.BootID, m.ClockStart.MonotonicNS = "host", 5
	}
	p, c := record(t, producing), record(t, consuming)
	p.send(0, 0, 5, 0)
	p.ack(0, 0, 5, ms)
	c.m.Tag = 7 // of the messages
	for i := range 2 {
		c.receive(i, 0, 0, 2*ms, seqs(0, 4)...)
		c.ackAll(i, 3*ms)
	}
	c.m.Tag = 9
	dirs := []string{c.close(), p.close()}
	for range 2 {
		got := analyzed(t, dirs...)
		checkVerdict(t, got, result.Pass)
		checkCounts(t, got.Counts, result.Counts{Sent: 5, Confirmed: 5, Received: 10, ReceivedUnique: 10})
		dirs[0], dirs[1] = dirs[1], dirs[0]
	}
}

// A queue that was used as it was may be a stream, of which each consumer gets everything: that messages come to several of them is not
// held against the broker, as little as it is passed over. A single consumer gets nothing twice from either.
func TestRepeatsFromAQueueOfUnknownType(t *testing.T) {
	for consumers, want := range map[int]result.Verdict{1: result.Fail, 2: result.Inconclusive} {
		r := record(t, asFound(1, consumers))
		r.send(0, 0, 5, 0)
		r.ack(0, 0, 5, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 4)...)
		r.receive(consumers-1, 0, 0, 3*ms, seqs(0, 4)...)
		r.ackAll(0, 4*ms)
		if consumers > 1 {
			r.ackAll(1, 4*ms)
		}
		got := analyzed(t, r.close())
		checkVerdict(t, got, want, "duplicate")
		checkCounts(t, got.Counts, result.Counts{Sent: 5, Confirmed: 5, Received: 10, ReceivedUnique: 5, Duplicates: 5})
		if f := finding(t, got, "duplicate"); consumers > 1 && !strings.Contains(f.Text, "--stream-queue") {
			t.Errorf("%q has no remedy", f.Text)
		}
	}
}
