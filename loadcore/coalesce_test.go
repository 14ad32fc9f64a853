package loadcore

import (
	"fmt"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// Reads that follow each other closely are rested between, sparse or full ones are not.
func TestRests(t *testing.T) {
	const bound = 100_000
	for _, c := range []struct {
		name  string
		gap   int64 // ns from being ready to the next read
		bytes int
		reads int
		want  int64
	}{
		{"dense", 1000, 21, 100, 80}, // the mean begins at 8 bounds, and 1 + 799 * (7/8)^20 us is above half a bound, ^21 below
		{"as sparse as half the bound", 51_000, 21, 100, 0},
		{"sparse", 10 * bound, 21, 100, 0},
		{"full reads", 1000, coalesceEnough, 100, 0},
	} {
		r := rests{bound: bound, gap: gapsMeant * bound}
		rested := int64(0)
		for range c.reads {
			now := r.ready + c.gap
			if r.due(now, c.bytes) {
				rested++
				r.ready = now + bound
			}
		}
		if rested != c.want {
			t.Errorf("%s: %d rests, want %d", c.name, rested, c.want)
		}
	}
}

// A rest ends with its bound whatever comes, and closing the connection's timer leaves nothing behind.
func TestRestEnds(t *testing.T) {
	noLeaks(t)
	clock := event.NewClock()
	r := rests{bound: 1_000_000}
	for range 20 {
		r.ready = clock.Now()
		r.after(clock, r.ready, 21)
	}
	if r.taken != 20 {
		t.Errorf("%d rests", r.taken)
	}
	r.end()
}

func TestSmallWindowsDoNotRest(t *testing.T) {
	for _, c := range []struct {
		producers []manifest.Producer
		consumers []manifest.Consumer
		coalesce  time.Duration
		want      int64
	}{
		{[]manifest.Producer{{Size: 12, Confirm: 1000}}, nil, UsualCoalesce, 200_000},
		{[]manifest.Producer{{Size: 12, Confirm: 1000}}, nil, 0, 0},
		{[]manifest.Producer{{Size: 12, Confirm: 1}}, nil, UsualCoalesce, 0},
		{[]manifest.Producer{{Size: 12, Confirm: 5}}, nil, UsualCoalesce, 0},
		{[]manifest.Producer{{Size: 12}}, nil, UsualCoalesce, 0}, // nothing comes
		{nil, []manifest.Consumer{{Prefetch: 10}}, UsualCoalesce, 0},
		{nil, []manifest.Consumer{{AutoAck: true, Prefetch: 10}}, UsualCoalesce, 200_000},
		{nil, []manifest.Consumer{{}}, UsualCoalesce, 200_000},
		{[]manifest.Producer{{Size: 12, Confirm: 40}, {Size: 12, Confirm: 40}}, nil, UsualCoalesce, 200_000}, // on one connection
	} {
		e, _ := bare(c.producers, c.consumers)
		e.plan.Coalesce = c.coalesce
		e.conn(0).prepareRests()
		if got := e.conn(0).rests.bound; got != c.want {
			t.Errorf("%+v %+v, %v: bound %d, want %d", c.producers, c.consumers, c.coalesce, got, c.want)
		}
	}
}

// Nobody waits for anything that only the end of a rest could bring: all is confirmed with any window, whether the broker
// acks each message the instant its last byte is read or a whole window with one multiple ack.
func TestCoalescingDoesNotStall(t *testing.T) {
	for _, window := range []int{1, 5, 1000} {
		for name, ack := range map[string]func(c *stubConn, m stubMessage){
			"each at once": func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
			"one for all": func(c *stubConn, m stubMessage) {
				if m.tag%uint64(window) == 0 {
					c.send(wire.AppendAck(nil, m.channel, m.tag, true))
				}
			},
		} {
			t.Run(fmt.Sprintf("%d, %s", window, name), func(t *testing.T) {
				noLeaks(t)
				ep := startStub(t, &stub{onMessage: ack})
				plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: window, Limit: 3000}}, nil)
				plan.Coalesce = 5 * time.Millisecond
				out, rec := runPlan(t, plan)
				if out.Sent != 3000 || out.Confirmed != 3000 || len(rec.settled(t, event.Ack)) != 3000 || len(out.Failures) > 0 {
					t.Errorf("%+v", *out)
				}
			})
		}
	}
}

func TestCoalescingEndToEnd(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1000, Limit: 50_000}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 1000}})
	plan.Coalesce = UsualCoalesce
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 50_000)
}
