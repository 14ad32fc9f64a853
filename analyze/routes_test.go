package analyze

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// inTurn is a producer whose messages go to three queues in turn, each with a consumer, and to a fourth key that leads
// nowhere.
func inTurn() *manifest.Manifest {
	m := plan(1, 3)
	m.Topology.Exchanges = []manifest.Exchange{{Name: "e", Type: "direct"}}
	m.Topology.Queues, m.Topology.Routes, m.Outcome.Queues = nil, nil, nil
	for i, name := range []string{"a", "b", "c"} {
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: name, Type: "classic"})
		m.Topology.Routes = append(m.Topology.Routes, manifest.Route{Exchange: "e", RoutingKey: name, Queues: []int{i}, Known: true})
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: i, Ready: ptr(int64(0)), Consumed: true, Drained: true})
		m.Consumers[i].Queues = []int{i}
	}
	m.Producers[0].Routes = 3
	return m
}

// send in turn, from a message on, each with the size 100 + route.
func (r *recording) sendInTurn(first uint64, n, routes int, at int64) {
	s := event.Sends{First: first, N: n, Sent: epoch + at, Written: epoch + at, Size: 100 + uint32(routes)}
	for i := range n {
		route := (int(first) + i) % routes
		s.Routes, s.Sizes = append(s.Routes, uint16(route)), append(s.Sizes, 100+uint32(route))
	}
	r.w.Sends(&s)
	r.m.Outcome.Sent += int64(n)
}

// Three routes in turn over several pages of the ledger: each queue has its third, in order, one of b's is missing.
func TestRoutesInTurn(t *testing.T) {
	r := record(t, inTurn())
	const n = 3000
	r.sendInTurn(0, n, 3, 0)
	r.ack(0, 0, n, ms)
	for i := range uint64(n) {
		if i != 1000 { // 1000 = 3*333 + 1: a message of b
			r.receive(int(i%3), int(i%3), 0, 2*ms, i)
		}
	}
	for c := range 3 {
		r.ackAll(c, 3*ms)
	}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "lost")
	checkCounts(t, got.Counts, result.Counts{Sent: n, Confirmed: n, Received: n - 1, ReceivedUnique: n - 1, Missing: 1, Lost: 1})
	for i, want := range []result.Counts{
		{Sent: 1000, Confirmed: 1000, Received: 1000, ReceivedUnique: 1000},
		{Sent: 1000, Confirmed: 1000, Received: 999, ReceivedUnique: 999, Missing: 1, Lost: 1},
		{Sent: 1000, Confirmed: 1000, Received: 1000, ReceivedUnique: 1000},
	} {
		checkCounts(t, got.Queues[i].Counts, want)
	}
	if f := finding(t, got, "lost"); f.First[0].Sequence != 1000 || f.First[0].Queue != "b" {
		t.Errorf("%+v", f.First)
	}
	c := got.Config
	if c.FanOut != 1 || c.RoutingKeysTotal != 3 || !slices.Equal(c.SizesBytes, []int64{100, 101, 102}) || !slices.Equal(c.QueueNames, []string{"a", "b", "c"}) {
		t.Errorf("%+v", c)
	}
	if *got.Rates.SentBytes != 303_000 { // 1000 times 100, 101 and 102 bytes, in a second
		t.Errorf("%v bytes a second", *got.Rates.SentBytes)
	}
}

// C021: every third message is mandatory to a key that nobody has bound, and comes back. It counts once as returned, and as
// acked, and neither as delivered nor as lost.
func TestC021ReturnsBetweenAcks(t *testing.T) {
	m := inTurn()
	m.Topology.Routes[2].Queues = nil
	m.Producers[0].Mandatory = true
	r := record(t, m)
	r.sendInTurn(0, 30, 3, 0)
	for i := uint64(2); i < 30; i += 3 {
		r.settle(event.Return, 0, i, 1, ms)
		r.ack(0, i-2, 2, ms) // acks of others between a return and its ack
		r.ack(0, i, 1, 2*ms)
	}
	for i := range uint64(30) {
		if i%3 < 2 {
			r.receive(int(i%3), int(i%3), 0, 3*ms, i)
		}
	}
	for c := range 2 {
		r.ackAll(c, 4*ms)
	}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "returned", "unroutable")
	checkCounts(t, got.Counts, result.Counts{Sent: 30, Confirmed: 30, Returned: 10, Unroutable: 10, Received: 20, ReceivedUnique: 20})
}

// Where nothing was declared or bound, nobody knows where messages go: no loss is found, none is judged, and counts by queue
// that depend on it are null.
func TestStrictlyPredeclared(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Predeclared, m.Topology.Strict = true, true
	m.Topology.Routes[0].Known, m.Topology.Routes[0].Queues = false, nil
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 6)...)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "expected_queues_unknown")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 7, ReceivedUnique: 7})
	b, err := json.Marshal(got.Queues[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"sent":null`, `"confirmed":null`, `"not_sent":null`, `"received":7`, `"routes_unknown":true`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
	if strings.Count(string(b), `"sent"`) != 1 {
		t.Errorf("a key twice in %s", b)
	}
	if got.Config.Predeclared != "strict" || got.Config.DescribeDeclared() != "nothing declared and nothing bound" {
		t.Errorf("%+v", got.Config)
	}
}

// A random key for each message: where it leads is known for an exchange that does not look at it.
func TestRandomKeys(t *testing.T) {
	for _, known := range []bool{true, false} {
		m := plan(1, 1)
		m.Topology.Routes[0].Random, m.Topology.Routes[0].Known = true, known
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		if known {
			checkVerdict(t, got, result.Pass)
		} else {
			checkVerdict(t, got, result.Inconclusive, "expected_queues_unknown")
		}
		if !slices.Equal(got.Config.RoutingKeys, []string{"random for each message"}) {
			t.Errorf("%q", got.Config.RoutingKeys)
		}
	}
}

// Of more sizes than are kept, the least and the greatest are.
func TestManySizes(t *testing.T) {
	var s sizes
	col := []uint32{500_000, 9000, 9000}
	for n := uint32(200); n > 100; n-- {
		col = append(col, n, n)
	}
	s.add(append(col, 1<<31, 12, 12))
	list := s.list()
	if len(list) > mostSizes+2 || list[0] != 12 || list[len(list)-1] != 1<<31 || !slices.IsSorted(list) || !slices.Contains(list, 9000) {
		t.Errorf("%v", list)
	}
}

// A hiccup at the end of a short schedule is no lack of load: all was sent, 20 ms late.
func TestShortScheduleEndsLate(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate, m.Producers[0].Limit, m.Producers[0].Confirm = manifest.Rate{Messages: 1000, PerNS: 1000 * ms}, 50, 0
	m.Outcome.Queues[0].Ready = ptr(int64(50))
	r := record(t, m)
	for i := range int64(50) {
		late := int64(0)
		if i > 40 {
			late = 20 * ms
		}
		r.send(0, uint64(i), 1, i*ms+late, i*ms)
	}
	got := analyzed(t, r.close()) // which ends a second after it began
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge")
}
