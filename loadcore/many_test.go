package loadcore

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Thousands of queues are not asked one after the other: the first is not answered before the second is asked, too.
func TestQueuesAreDrainedAtTheSameTime(t *testing.T) {
	noLeaks(t)
	var asked atomic.Int64
	both := make(chan struct{})
	ep := startStub(t, &stub{
		onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
		onMethod: func(_ *stubConn, _ uint16, m wire.Method) bool {
			if d, ok := m.(*wire.QueueDeclare); ok && d.Passive {
				if asked.Add(1) == 2 {
					close(both)
				}
				select {
				case <-both:
				case <-time.After(5 * time.Second):
				}
			}
			return false
		},
	})
	plan, _ := manyQueues(ep, 2, 1)
	for i := range plan.Producers {
		plan.Producers[i].Confirm = 1
		plan.Consumers = append(plan.Consumers, manifest.Consumer{Connection: i, Queues: []int{i}, AckEvery: 1})
	}
	plan.DrainTimeout = time.Second
	if out, _ := runPlan(t, plan); !out.Drained {
		t.Errorf("not drained: %s", out.DrainNote)
	}
}

// What the broker refuses to all consumers of a queue is said once.
func TestManyConsumersAreRefusedAlike(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{
		onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			d, ok := m.(*wire.QueueDeclare)
			if ok = ok && d.Passive; ok {
				c.method(channel, &wire.ChannelClose{ReplyCode: wire.ReplyAccessRefused, ReplyText: "ACCESS_REFUSED - not yours", Class: 50, Method: 10})
			}
			return ok
		},
	})
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1)}, make([]manifest.Consumer, 30))
	for i := range plan.Consumers {
		plan.Consumers[i].AckEvery = 1
	}
	out, _ := runPlan(t, plan)
	if out.Drained || strings.Count(out.DrainNote, "not yours") != 1 || !strings.Contains(out.DrainNote, " and 29 more: ") {
		t.Errorf("drained %v: %q", out.Drained, out.DrainNote)
	}
}

// Half a second more for each hundred channels and connections: 250 and 50 have 1.5 s beside the 5 s. Without any time there is none.
func TestManyHaveMoreTimeToClose(t *testing.T) {
	for _, x := range []struct {
		given       time.Duration
		consumers   int
		connections int
		want        time.Duration
	}{{5 * time.Second, 250, 50, 6500 * time.Millisecond}, {5 * time.Second, 50, 49, 5 * time.Second}, {-1, 250, 50, -1}} {
		plan := oneQueue(Endpoint{}, "q", nil, make([]manifest.Consumer, x.consumers))
		for i := range plan.Consumers {
			plan.Consumers[i].Connection = i % x.connections
		}
		plan.Connections, plan.CloseTimeout = x.connections, x.given
		e := newEngine(plan, nil)
		e.leave()
		e.stopLeaving()
		if e.leaveTime != x.want {
			t.Errorf("%d consumers on %d connections: %v, want %v", x.consumers, x.connections, e.leaveTime, x.want)
		}
	}
}

// The frame of the longest key: 8 bytes of frame, 4 of the method's number, 2 reserved, and exchange, key and a byte of flags, with a byte
// of length each.
func TestLongestPublish(t *testing.T) {
	plan := &Plan{Clock: event.NewClock(), Topology: &manifest.Topology{Routes: []manifest.Route{
		{Exchange: "x", RoutingKey: "a"}, {Exchange: "x", RoutingKey: "abcd"}, {Exchange: "x", RoutingKey: "abcdef"}, {Exchange: "x", RoutingKey: "a", Random: true},
	}}}
	e := newEngine(plan, nil)
	for _, x := range []struct{ route, routes, want int }{{0, 0, 19}, {0, 2, 22}, {0, 3, 24}, {1, 1, 22}, {0, 2, 22}, {3, 1, 54}} {
		if got := e.longestPublish(&manifest.Producer{Route: x.route, Routes: x.routes}); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
	}
}

// Producers that take the same keys in turn: the work grows with the number of producers and with that of keys, and not with both.
func BenchmarkKeysInTurn(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan := oneQueue(Endpoint{}, "q", make([]manifest.Producer, n), nil)
			for range n {
				plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{Exchange: "x", RoutingKey: "12345678-1234-1234-1234-123456789abc"})
			}
			for i := range plan.Producers {
				plan.Producers[i] = manifest.Producer{Connection: i, Size: 12, Routes: n}
			}
			for b.Loop() {
				if err := plan.Validate(); err != nil {
					b.Fatal(err)
				}
				e := newEngine(plan, nil)
				for i := range plan.Producers {
					e.longestPublish(&plan.Producers[i])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/producer")
		})
	}
}

// Of 10,000 connections that are lost each waits up to 5 s, of one no longer than half a millisecond.
func TestAttemptsAreSpread(t *testing.T) {
	for lost, most := range map[int]time.Duration{-1: 500 * time.Microsecond, 0: 500 * time.Microsecond, 1: 500 * time.Microsecond, 10_000: 5 * time.Second} {
		longest := time.Duration(0)
		for range 1000 {
			longest = max(longest, spread(lost))
		}
		if longest >= most || longest < most/2 { // that all of 1000 are below the half: 2^-1000
			t.Errorf("%d lost: up to %v, want %v", lost, longest, most)
		}
	}
}

// A second for each twenty channels.
func TestManyChannelsHaveMoreTimeToOpen(t *testing.T) {
	for _, x := range []struct {
		lanes int
		want  time.Duration
	}{{1, 0}, {19, 0}, {20, time.Second}, {1019, 50 * time.Second}} {
		plan := oneQueue(Endpoint{}, "q", make([]manifest.Producer, x.lanes), nil)
		for i := range plan.Producers {
			plan.Producers[i].Connection = 0
		}
		plan.Connections = 1
		if got := newEngine(plan, nil).conn(0).lanesTime(); got != x.want {
			t.Errorf("%d channels: %v, want %v", x.lanes, got, x.want)
		}
	}
}

// What is made again for a lane, by hand, and 50 ms for each: the producer's routes lead through x to a and b, and through y to c and b;
// c is its consumer's affair, and so is z, to which nothing is bound.
func TestWhatIsMadeAgain(t *testing.T) {
	plan := &Plan{Clock: event.NewClock(), Connections: 1, Topology: &manifest.Topology{
		Exchanges: []manifest.Exchange{{Name: "x", Declare: true}, {Name: "y", Declare: true}, {Name: "z", Declare: true}},
		Queues:    []manifest.Queue{{Name: "a", Declare: true}, {Name: "b", Declare: true}, {Name: "c", Declare: true, Exclusive: true}},
		Bindings:  []manifest.Binding{{Exchange: "x", Queue: 0}, {Exchange: "x", Queue: 1}, {Exchange: "y", Queue: 2}, {Exchange: "y", Queue: 1}},
		Routes:    []manifest.Route{{Exchange: "x", Queues: []int{0, 1}}, {Exchange: "y", Queues: []int{2, 1}}},
	}, Producers: []manifest.Producer{{Routes: 2}, {Routes: 2}, {}}, Consumers: []manifest.Consumer{{Queues: []int{2}}, {Queues: []int{0, 1}}}}
	e := newEngine(plan, nil)
	for i, x := range []struct {
		lane                        lanePlan
		exchanges, queues, bindings string
		more                        time.Duration
	}{
		{lanePlan{producer: e.producers[0]}, "x y", "[0 1]", "0 x, 1 x, 1 y", 350 * time.Millisecond},
		{lanePlan{producer: e.producers[2]}, "x y", "[0 1]", "0 x, 1 x, 1 y", 350 * time.Millisecond},
		{lanePlan{consumer: e.consumers[0]}, "y", "[2]", "2 y", 150 * time.Millisecond},
		{lanePlan{consumer: e.consumers[1]}, "x y", "[0 1]", "0 x, 1 x, 1 y", 350 * time.Millisecond},
	} {
		r := e.remade(x.lane)
		var exchanges, bindings []string
		for _, v := range r.exchanges {
			exchanges = append(exchanges, v.Name)
		}
		for _, b := range r.bindings {
			bindings = append(bindings, fmt.Sprint(b.Queue, " ", b.Exchange))
		}
		if got := strings.Join(exchanges, " "); got != x.exchanges {
			t.Errorf("%d: exchanges %s", i, got)
		}
		if got := fmt.Sprint(r.queues); got != x.queues {
			t.Errorf("%d: queues %s", i, got)
		}
		if got := strings.Join(bindings, ", "); got != x.bindings {
			t.Errorf("%d: bindings %s", i, got)
		}
		if r.time() != x.more {
			t.Errorf("%d: %v more", i, r.time())
		}
	}
	if e.remade(lanePlan{producer: e.producers[0]}) != e.remade(lanePlan{producer: e.producers[1]}) {
		t.Error("producers with the same routes do not share what is made again for them")
	}
	plan.Topology.Strict = true
	if r := newEngine(plan, nil).remade(lanePlan{producer: e.producers[0]}); r.time() != 0 {
		t.Errorf("%+v is made again although nothing is to be declared", r)
	}
}

// As many queues as producers that have lost their channels: the work grows with their number, and not with its square.
func BenchmarkRemade(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan, _ := manyQueues(Endpoint{}, n, 1)
			plan.Clock = event.NewClock()
			for i := range n {
				plan.Topology.Bindings = append(plan.Topology.Bindings, manifest.Binding{Exchange: "x", Queue: i})
			}
			for b.Loop() {
				e := newEngine(plan, nil)
				for _, p := range e.producers {
					e.remade(lanePlan{producer: p})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/producer")
		})
	}
}
