package analyze

import (
	"fmt"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// A plan with more sizes than there are groups: a group for each power of two. Sizes 0, 1, 2, ... 199, of one message each: 1 of 0,
// 1 of 1, 2 of 2 to 3, 4, 8, 16, 32, 64 of 64 to 127, 72 of 128 to 199; message s was confirmed after s us.
func TestBySizesWithoutNumber(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].PooledBodies = true
	for s := range 200 {
		m.Bodies = append(m.Bodies, manifest.Body{SizeBytes: s})
	}
	r := record(t, m)
	for s := range 200 {
		r.w.Sends(&event.Sends{First: uint64(s), N: 1, Sent: epoch, Written: epoch, Size: uint32(s)})
		m.Outcome.Sent++
		r.w.Settlements(&event.Settlements{At: epoch + 1000*int64(s), Runs: []event.SettledRun{{First: uint64(s), N: 1, Kind: event.Ack}}})
		m.Outcome.Confirmed++
	}
	got := analyzedBy(t, []string{BySize}, r.close())
	text := ""
	for _, x := range got.Groupings[0].Members {
		text += fmt.Sprintf("%s: %d, to %d us\n", x.Name, x.Messages, *x.Latency.Confirm.Service.MaxNS/1000)
	}
	const want = `0 bytes: 1, to 0 us
1 byte: 1, to 1 us
2 to 3 bytes: 2, to 3 us
4 to 7 bytes: 4, to 7 us
8 to 15 bytes: 8, to 15 us
16 to 31 bytes: 16, to 31 us
32 to 63 bytes: 32, to 63 us
64 to 127 bytes: 64, to 127 us
128 to 255 bytes: 72, to 199 us
`
	if text != want || got.Groupings[0].Total != 9 {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// The plan knows one size, and the rows have a hundred: the first of them have groups of their own, the others one together. A
// consumer alone tells of sizes, too, and of no priority.
func TestBySizesThatWereNotPlanned(t *testing.T) {
	r := record(t, plan(1, 0))
	for s := range 100 {
		r.w.Sends(&event.Sends{First: uint64(s), N: 1, Sent: epoch, Written: epoch, Size: uint32(1000 - s)})
		r.m.Outcome.Sent++
	}
	g := analyzedBy(t, []string{BySize}, r.close()).Groupings[0]
	if n := len(g.Members); n != sizeGroups || g.Members[0].Name != "938 bytes" || g.Members[62].Name != "1,000 bytes" || g.Members[63].Name != "other sizes" || g.Members[63].Messages != 37 {
		t.Errorf("%d members: %+v", n, g)
	}
	c := record(t, plan(0, 1))
	for s := range 6 {
		c.deliver(0, int64(s)*ms, event.Delivery{Seq: uint64(s), Tag: 99, Body: event.Intact, Size: uint32(100 + s%2), Due: epoch - 5*ms})
	}
	got := analyzedBy(t, []string{BySize, ByPriority}, c.close())
	if len(got.Groupings) != 1 || len(got.Groupings[0].Members) != 2 || len(got.Notes) != 1 {
		t.Fatalf("%+v %q", got.Groupings, got.Notes)
	}
	for i, x := range got.Groupings[0].Members {
		d := x.Latency.Delivery.Response // those of even numbers came after 0, 2, 4 ms, the others after 1, 3, 5
		if x.Name != fmt.Sprintf("%d bytes", 100+i) || x.Messages != 3 || d == nil || d.Count != 3 || *d.MinNS != int64(5+i)*ms || *d.MaxNS != int64(9+i)*ms {
			t.Errorf("%+v %+v", x, d)
		}
	}
}

// The sizes of a pool of bodies are kept once for all producers that take from it: of both there may be thousands.
func TestBodiesAreKeptOnce(t *testing.T) {
	m := plan(2, 0)
	m.Bodies = []manifest.Body{{SizeBytes: 1}, {SizeBytes: 2}}
	m.Producers[0].PooledBodies, m.Producers[1].PooledBodies = true, true
	of := newMessageSizes([]*source{{manifest: m}}).of[0]
	if a, b := of[0].planned, of[1].planned; len(a) != 2 || len(b) != 2 || &a[0] != &b[0] {
		t.Errorf("%v, %v", a, b)
	}
}
