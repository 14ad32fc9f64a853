package loadcore

import (
	"math"
	"slices"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// A thousand a second, and nothing was sent for a second. By 10 ms before now slots 0 to 990 were due; the last of them is
// not late yet, as its next one was not due then.
func TestPassOverLate(t *testing.T) {
	for _, c := range []struct {
		catchUp, limit int64
		now            int64
		wantNext       uint64
	}{
		{0, 0, 1e9, 990},
		{100, 0, 1e9, 890},
		{989, 0, 1e9, 1},
		{990, 0, 1e9, 0},
		{5000, 0, 1e9, 0},
		{0, 500, 1e9, 500},
		{0, 0, 10e6, 0},     // slot 0 is due 10 ms ago, slot 1 is not
		{0, 0, 11e6, 0 + 1}, // now slot 1 is
		{0, 0, 9e6, 0},
	} {
		e, rec := bare([]manifest.Producer{{Size: 24, Rate: perSecond(1000), CatchUp: &c.catchUp, Limit: c.limit}}, nil)
		p := e.producers[0]
		p.sched = newSchedule(perSecond(1000), 0, 0)
		if !p.passOverLate(c.now, math.MaxInt64) {
			t.Fatal("refused")
		}
		if p.sched.n != c.wantNext || p.seq != c.wantNext || p.sched.due != int64(c.wantNext)*1e6 || p.count.notSent.Load() != int64(c.wantNext) || rec.sends != int64(c.wantNext) {
			t.Errorf("catch up %d, limit %d, now %d: next is slot %d, want %d; %d not sent, %d recorded", c.catchUp, c.limit, c.now, p.sched.n, c.wantNext, p.count.notSent.Load(), rec.sends)
		}
		// a hundred slots later nothing has changed for the bound
		before := p.sched.n
		if p.passOverLate(c.now+100e6, math.MaxInt64); c.limit == 0 && c.now == 1e9 && p.sched.n != max(before, uint64(max(0, 1090-c.catchUp))) {
			t.Errorf("catch up %d: 100 ms later the next is slot %d", c.catchUp, p.sched.n)
		}
	}
}

// Nothing that is due at the end or later is passed over.
func TestPassOverLateEndsWithTheRun(t *testing.T) {
	none := int64(0)
	e, _ := bare([]manifest.Producer{{Size: 24, Rate: perSecond(1000), CatchUp: &none}}, nil)
	p := e.producers[0]
	p.sched = newSchedule(perSecond(1000), 0, 0)
	p.passOverLate(1e9, 500e6) // slots 0 to 499 are the run's
	if p.sched.n != 499 {
		t.Errorf("next is slot %d, want 499", p.sched.n)
	}
}

// What is passed over counts for the limit, however much room the window and the batch have.
func TestPassOverLateKeepsTheLimit(t *testing.T) {
	none := int64(0)
	e, _ := bare([]manifest.Producer{{Size: 24, Rate: perSecond(1000), CatchUp: &none, Limit: 1001}}, nil)
	p := e.producers[0]
	p.sched = newSchedule(perSecond(1000), e.clock.Now()-5e9, 0)
	if n, _, _ := p.next(); n != 0 || p.seq != 1001 {
		t.Errorf("%d to send after %d were passed over, want none after all", n, p.seq)
	}
	p.seq, p.limit = 0, 5001
	p.sched, p.overdue = newSchedule(perSecond(1000), e.clock.Now()-5e9, 0), schedule{}
	n, _, _ := p.next()
	if uint64(n)+p.seq > 5001 || n == 0 {
		t.Errorf("%d to send after %d were passed over, of 5001 in all", n, p.seq)
	}
}

// A broker that stalls: what became late meanwhile is recorded as not sent, with its due time, and the run goes on.
func TestCatchUpInARun(t *testing.T) {
	for _, c := range []struct {
		name    string
		catchUp *int64
		most    int // messages sent late by half a second and more; some for a machine that stalls by itself
	}{{"all", nil, 1000}, {"none", new(int64), 10}, {"100", ptr(100), 110}} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			var until time.Time
			ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
				if m.tag == 100 {
					until = time.Now().Add(time.Second)
				}
				time.Sleep(time.Until(until))
				c.send(wire.AppendAck(nil, m.channel, m.tag, false))
			}})
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 1, Limit: 1500, Rate: perSecond(1000), CatchUp: c.catchUp}}, nil)
			out, rec := runPlan(t, plan)
			if out.Sent+out.NotSent != 1500 || out.Confirmed != out.Sent || (c.catchUp == nil) != (out.NotSent == 0) {
				t.Errorf("%+v", *out)
			}
			late := 0
			for _, s := range rec.sends {
				for i, due := range s.Due {
					if want := out.BarrierNS + (int64(s.First)+int64(i))*1e6; due != want {
						t.Fatalf("slot %d: due %d, want %d", int64(s.First)+int64(i), due, want)
					}
					if s.Sent != event.None && s.Sent-due >= 5e8 {
						late++
					}
				}
			}
			rec.sent(t) // the sequences have no hole
			if c.catchUp != nil && late > c.most || c.catchUp == nil && late < 400 {
				t.Errorf("%d messages were sent half a second late or more", late)
			}
		})
	}
}

func ptr(n int64) *int64 { return &n }

// In closed loop the phase delays the sending.
func TestStartDelayInClosedLoop(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 5, PhaseNS: 50e6}}, nil)
	out, rec := runPlan(t, plan)
	if out.Sent != 5 || rec.sends[0].Sent < out.BarrierNS+50e6 {
		t.Errorf("sent %d, first %d ns after the barrier", out.Sent, rec.sends[0].Sent-out.BarrierNS)
	}
}

// Slots that are passed over have the route and the size that their messages would have had, and are no part of the
// transaction that is open meanwhile.
func TestPassedOverSlotsKeepTheirTurn(t *testing.T) {
	none := int64(0)
	plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{{
		Size: 3, Rate: perSecond(1000), CatchUp: &none, Routes: 2, Stamp: manifest.StampHeader, PooledBodies: true, TxSize: 1000, Batch: 10,
	}}, nil)
	plan.Bodies = [][]byte{{1}, {1, 2}, {1, 2, 3}}
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{Exchange: "x"})
	e, _, rec := barePlan(t, plan)
	p := e.producers[0]
	sendDue := func(n int) {
		p.due = p.due[:0]
		for range n {
			p.due = append(p.due, p.sched.due)
			p.sched.next()
		}
		p.sends.Due = p.due
		p.stamp(n)
		if !p.send(n) {
			t.Fatal("not sent")
		}
	}
	p.sched = newSchedule(perSecond(1000), 0, 0)
	sendDue(5)
	if !p.passOverLate(1e9, math.MaxInt64) { // up to slot 989
		t.Fatal("refused")
	}
	sendDue(4)
	next := uint64(0)
	for _, s := range rec.sends {
		for i := range s.N {
			if seq := s.First + uint64(i); seq != next || s.Sizes[i] != uint32(1+seq%3) || s.Routes[i] != uint16(seq%2) || (s.Sent == event.None) != (seq >= 5 && seq < 990) {
				t.Fatalf("message %d, after %d: %d bytes, route %d, sent %d", seq, next, s.Sizes[i], s.Routes[i], s.Sent)
			}
			next++
		}
	}
	if next != 994 {
		t.Errorf("%d messages", next)
	}
	p.commit()
	if err := e.conn(0).feed(wire.AppendMethod(nil, 1, &wire.TxCommitOk{})); err != nil {
		t.Fatal(err)
	}
	want := []event.SettledRun{{First: 0, N: 5, Kind: event.Commit, FrameMessages: 9}, {First: 990, N: 4, Kind: event.Commit, FrameMessages: 9}}
	if got := rec.settlements[0].Runs; !slices.Equal(got, want) || p.unsettled() != 0 || p.tx.room() != 1000 {
		t.Errorf("%+v, %d open", got, p.unsettled())
	}
}
