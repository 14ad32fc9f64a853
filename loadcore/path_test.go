package loadcore

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// discard is a Recorder that costs nothing, and counts.
type discard struct {
	sends, settled, delivered int64
}

func (*discard) Reserve(context.Context, int) error { return nil }
func (*discard) TryReserve(int) bool                { return true }
func (d *discard) Sends(s *event.Sends)             { d.sends += int64(s.N) }
func (d *discard) Settlements(s *event.Settlements) {
	for _, r := range s.Runs {
		d.settled += int64(r.N)
	}
}
func (d *discard) Deliveries(b *event.Deliveries) { d.delivered += int64(len(b.Rows)) }
func (*discard) Acks(*event.Acks)                 {}
func (*discard) Connection(*event.Connection)     {}
func (*discard) Self(*event.Self) bool            { return true }
func (*discard) Congested() bool                  { return false }
func (*discard) Err() error                       { return nil }

// sink is a socket that takes everything at once and has nothing to say.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error)     { return len(p), nil }
func (sink) Read(p []byte) (int, error)      { return 0, io.EOF }
func (sink) Close() error                    { return nil }
func (sink) SetReadDeadline(time.Time) error { return nil }

// bare is an engine of one open connection without a broker.
func bare(producers []manifest.Producer, consumers []manifest.Consumer) (*engine, *discard) {
	rec := &discard{}
	plan := oneQueue(Endpoint{Host: "localhost"}, "q", producers, consumers).withDefaults()
	for i := range plan.Producers {
		plan.Producers[i].Connection = 0
	}
	for i := range plan.Consumers {
		plan.Consumers[i].Connection = 0
	}
	plan.Connections = 1
	e := newEngine(plan, rec)
	c := e.conn(0)
	c.enter(event.Connecting, loss{})
	c.link = &link{tcp: sink{}, sock: sink{}, limits: wire.Limits{FrameMax: 131072, ChannelMax: 2047}}
	c.out = newOutbox(e.clock, c.link, c.fail)
	c.prepareLanes()
	c.enter(event.Open, loss{})
	for _, p := range e.producers {
		p.encode()
	}
	for _, s := range e.consumers {
		s.wanted.Store(true)
	}
	return e, rec
}

// feed lets the connection take frames as if one read call had brought them.
func (c *conn) feed(frames []byte) error {
	c.in.buf, c.in.start, c.in.end = frames, 0, len(frames)
	c.at = c.eng.clock.Now()
	err := c.take()
	if e := c.finishRead(); err == nil {
		err = e
	}
	return err
}

// deliveries are the frames of n deliveries on channel 1, the first with delivery tag first.
func deliveries(dst []byte, first uint64, n, size int) []byte {
	body := make([]byte, size)
	for i := range uint64(n) {
		PutStamp(body, Stamp{Tag: 0xabc, Seq: first + i - 1, Due: event.None})
		dst = wire.AppendDeliver(dst, 1, "0", first+i, false, nil, []byte("q"))
		dst = wire.AppendHeader(dst, 1, uint64(size), nil)
		dst = wire.AppendBody(dst, 1, body, 131072)
	}
	return dst
}

const pathBatch = 500

func TestConsumePathAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	for _, every := range []int{1, 100} {
		e, rec := bare(nil, []manifest.Consumer{{AckEvery: every}})
		c, s := e.conn(0), e.consumers[0]
		frames := deliveries(nil, 1, pathBatch, 12)
		allocs := testing.AllocsPerRun(100, func() {
			s.tag, s.acked = 0, 0 // the same tags once more
			if err := c.feed(frames); err != nil {
				t.Fatal(err)
			}
			c.out.drop()
		})
		if allocs != 0 {
			t.Errorf("ack every %d: %v allocations for %d deliveries", every, allocs, pathBatch)
		}
		if rec.delivered != 101*pathBatch || s.acked != pathBatch {
			t.Errorf("ack every %d: %d deliveries recorded, acked up to %d", every, rec.delivered, s.acked)
		}
	}
}

func TestPublishPathAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	for _, spec := range []manifest.Producer{
		{Size: 12, Confirm: 1000},
		{Size: 1024},
		{Size: 24, Rate: manifest.Rate{Messages: 1e9, PerNS: 1e9}},
		{Size: 300_000},
	} {
		e, rec := bare([]manifest.Producer{spec}, nil)
		p := e.producers[0]
		p.sched = newSchedule(manifest.Rate{Messages: 1, PerNS: 0}, 1, 0) // everything is due
		var acks []byte
		allocs := testing.AllocsPerRun(100, func() {
			n := p.take()
			if n == 0 || !p.reserve(n) {
				t.Fatal("nothing to send")
			}
			p.stamp(n)
			if !p.send(n) {
				t.Fatal("not sent")
			}
			if p.win != nil { // keep the window open
				acks = wire.AppendAck(acks[:0], 1, p.win.head.Load()-1, true)
				if err := e.conn(0).feed(acks); err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%+v: %v allocations a batch", spec, allocs)
		}
		if rec.sends != int64(p.seq) || p.seq < 101 {
			t.Errorf("%+v: %d sends recorded, sequence %d", spec, rec.sends, p.seq)
		}
	}
}

func TestConfirmPathAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	e, rec := bare([]manifest.Producer{{Size: 12, Confirm: 1000}}, nil)
	c, p := e.conn(0), e.producers[0]
	var frames []byte
	allocs := testing.AllocsPerRun(100, func() {
		first := p.win.head.Load()
		p.win.publish(pathBatch)
		frames = frames[:0]
		// out of order, single and multiple, ack and nack
		frames = wire.AppendAck(frames, 1, first+3, false)
		frames = wire.AppendNack(frames, 1, first+2, true, false)
		for tag := first + 4; tag < first+100; tag++ {
			frames = wire.AppendAck(frames, 1, tag, false)
		}
		frames = wire.AppendAck(frames, 1, first+pathBatch-1, true)
		if err := c.feed(frames); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a read", allocs)
	}
	if rec.settled != 101*pathBatch || p.unsettled() != 0 {
		t.Errorf("%d settled, %d open", rec.settled, p.unsettled())
	}
}
