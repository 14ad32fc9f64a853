package loadcore

import (
	"fmt"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// What differs from message to message costs no allocation either.
func TestAssembledPathAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	bodies := [][]byte{make([]byte, 5), make([]byte, 3000), {}, make([]byte, 200_000)}
	for i, spec := range []manifest.Producer{
		{Size: 5, Stamp: manifest.StampHeader, Confirm: 1000},
		{Size: 300_000, Stamp: manifest.StampHeader},
		{Size: 100, Stamp: manifest.StampPerfTest, Rate: manifest.Rate{Messages: 1e9, PerNS: 1e9}},
		{Size: 200_000, Stamp: manifest.StampHeader, PooledBodies: true},
		{Size: 200_000, Stamp: manifest.StampPerfTest, PooledBodies: true},
		{Size: 12, Routes: 2},
		{Size: 12, Route: 2},
		{Size: 100, Sizes: []manifest.SizeStage{{Bytes: 12, ForNS: 1000}, {Bytes: 100, ForNS: 1000}}},
		{Size: 12, TxSize: 100},
		{Size: 12, TxSize: 1},
	} {
		plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{spec}, nil)
		plan.Bodies = bodies
		plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{Exchange: "x", RoutingKey: "k"}, manifest.Route{Exchange: "x", RoutingKey: anyKey, Random: true})
		e, _, _ := barePlan(t, plan)
		rec := &discard{}
		e.rec = rec
		e.conn(0).link.sock, e.conn(0).out.sock = sink{}, sink{}
		p := e.producers[0]
		p.sched = newSchedule(manifest.Rate{Messages: 1, PerNS: 0}, 1, 0) // everything is due
		answers := wire.AppendMethod(nil, 1, &wire.TxCommitOk{})
		round := func() {
			n := p.take()
			if n == 0 || !p.reserve(n) {
				t.Fatal("nothing to send")
			}
			p.stamp(n)
			if !p.send(n) {
				t.Fatal("not sent")
			}
			switch {
			case p.win != nil: // keep the window open
				answers = wire.AppendAck(answers[:0], 1, p.win.head.Load()-1, true)
			case p.tx == nil || !p.tx.committing.Load():
				return
			}
			out := e.conn(0).out
			out.mu.Lock()
			out.drop()
			out.mu.Unlock()
			if err := e.conn(0).feed(answers); err != nil {
				t.Fatal(err)
			}
		}
		for range 8 { // buffers grow at first
			round()
		}
		if allocs := testing.AllocsPerRun(100, round); allocs != 0 {
			t.Errorf("%d: %v allocations a batch", i, allocs)
		}
		if rec.sends != int64(p.seq) || p.seq < 101 {
			t.Errorf("%d: %d sends recorded, sequence %d", i, rec.sends, p.seq)
		}
		if p.tx != nil && (rec.settled == 0 || rec.settled != int64(p.seq)-p.tx.uncommitted.Load()) {
			t.Errorf("%d: %d committed of %d", i, rec.settled, p.seq)
		}
	}
}

func TestConsumingHeaderStampsAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	e, rec := bare(nil, []manifest.Consumer{{AutoAck: true}})
	c, s := e.conn(0), e.consumers[0]
	var frames []byte
	for i := range uint64(pathBatch) {
		body := fmt.Appendf(nil, "body %d", i)
		headers := wire.Table{{Key: "other", Value: "text"}, {Key: StampHeaderName, Value: stampHeader(body, Stamp{Tag: 0xabc, Seq: i})}}
		frames = append(frames, delivered(1+i, &wire.Properties{Headers: headers}, body, 4096)...)
	}
	if allocs := testing.AllocsPerRun(100, func() {
		s.tag, s.acked = 0, 0 // the same tags once more
		if err := c.feed(frames); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations for %d deliveries", allocs, pathBatch)
	}
	if rec.delivered != 101*pathBatch {
		t.Errorf("%d deliveries recorded", rec.delivered)
	}
}
