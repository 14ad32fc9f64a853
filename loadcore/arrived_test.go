package loadcore

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// A broker that takes what was written only long after publishing has stopped: the outcome tells when it was proved to have it.
func TestArrivalIsProvedLate(t *testing.T) {
	noLeaks(t)
	const late = 300 * time.Millisecond
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		d, ok := m.(*wire.QueueDeclare)
		if !ok || c.messages == 0 {
			return false
		}
		time.Sleep(late)
		c.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: uint32(c.messages)})
		return true
	}})
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 5}}, nil))
	if out.ArrivedNS == nil || *out.ArrivedNS-out.PublishStopNS < int64(late) || *out.ArrivedNS > out.DrainEndNS {
		t.Errorf("arrived at %v, publishing stopped at %d, drained at %d", out.ArrivedNS, out.PublishStopNS, out.DrainEndNS)
	}
	if out.Queues[0].Ready == nil || *out.Queues[0].Ready != 5 {
		t.Errorf("%+v", out.Queues[0])
	}
}

// With confirms, and where nothing was sent, there is nothing to prove; what is not answered is not proved.
func TestArrivalIsNotProved(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	for name, p := range map[string]manifest.Producer{"confirms": {Size: 12, Limit: 5, Confirm: 5}, "transactions": {Size: 12, Limit: 6, TxSize: 2}} {
		if out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{p}, nil)); out.ArrivedNS != nil || out.Sent == 0 {
			t.Errorf("%s: %+v", name, out)
		}
	}
	mute := startStub(t, &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
		_, ok := m.(*wire.QueueDeclare)
		return ok && c.messages > 0
	}})
	plan := oneQueue(mute, "q", []manifest.Producer{{Size: 12, Limit: 5}, {Size: 12, Limit: 5}}, nil)
	plan.DrainTimeout = 100 * time.Millisecond
	out, _ := runPlan(t, plan)
	want := "producer 0 and 1 more: it could not be proved in time that its messages have arrived: they have no confirms, and the broker has not yet answered what was asked behind them"
	if out.ArrivedNS != nil || out.Drained || out.DrainNote != want {
		t.Errorf("%v, drained %v: %q", out.ArrivedNS, out.Drained, out.DrainNote)
	}
}

// Each queue is asked behind the last message of its producer, and, where it has told of all by then, not once more.
func TestQueuesThatHaveToldOfAllAreNotAskedAgain(t *testing.T) {
	noLeaks(t)
	var asked atomic.Int64
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		d, ok := m.(*wire.QueueDeclare)
		if !ok || !d.Passive {
			return false
		}
		asked.Add(1)
		c.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: 5})
		return true
	}})
	plan, want := manyQueues(ep, 40, 5)
	out, _ := runPlan(t, plan)
	for i, q := range out.Queues {
		if q.Ready == nil || *q.Ready != want {
			t.Fatalf("queue %d: %+v", i, q)
		}
	}
	if asked.Load() != 40 || out.ArrivedNS == nil {
		t.Errorf("asked %d times for 40 queues, arrived %v", asked.Load(), out.ArrivedNS)
	}
}

// With confirms all queues are asked once the drain is over, also where they are more than are asked at the same time.
func TestEachOfManyQueuesTellsWhatIsLeft(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{
		onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			d, ok := m.(*wire.QueueDeclare)
			if ok {
				c.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: 7})
			}
			return ok
		},
	})
	plan, want := manyQueues(ep, 3*askAtOnce+1, 7)
	for i := range plan.Producers {
		plan.Producers[i].Confirm = 10
	}
	out, _ := runPlan(t, plan)
	for i, q := range out.Queues {
		if q.Ready == nil || *q.Ready != want {
			t.Fatalf("queue %d: %+v", i, q)
		}
	}
}

// manyQueues has n producers, on connections of their own, that publish as many messages each, to queues of their own.
func manyQueues(ep Endpoint, n int, messages int64) (plan *Plan, each int64) {
	plan = oneQueue(ep, "q0", nil, nil)
	plan.Connections = n
	zero := int64(0)
	plan.Topology = &manifest.Topology{}
	for i := range n {
		name := fmt.Sprintf("q%d", i)
		plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: name, Type: "classic", Declare: true, ReadyAtStart: &zero})
		plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{RoutingKey: name, Known: true, Queues: []int{i}})
		plan.Producers = append(plan.Producers, manifest.Producer{Connection: i, Route: i, Size: 12, Limit: messages})
	}
	return plan, messages
}

// What a queue is to get, by hand: producer 0 sent 10 to a and b; producer 1, without confirms, 4 to b; producer 2 sends now to b, now
// to c, so that nobody knows how many each of them gets.
func TestFeeds(t *testing.T) {
	zero, one := int64(0), int64(1)
	plan := &Plan{Connections: 1, Topology: &manifest.Topology{
		Queues: []manifest.Queue{{Name: "a", ReadyAtStart: &zero}, {Name: "b", ReadyAtStart: &zero}, {Name: "c", ReadyAtStart: &zero}, {Name: "d", ReadyAtStart: &one}, {Name: "e"}},
		Routes: []manifest.Route{{Known: true, Queues: []int{0, 1}}, {Known: true, Queues: []int{1}}, {Known: true, Queues: []int{2}}, {}},
	}, Producers: []manifest.Producer{{Confirm: 1}, {Route: 1}, {Route: 1, Routes: 2, Confirm: 1}}, Clock: event.NewClock()}
	feeds := func() []feed {
		r := &run{engine: newEngine(plan, nil)}
		for i, sent := range []int64{10, 4, 20}[:len(plan.Producers)] {
			r.producers[i].count.sent.Store(sent)
			r.producers[i].count.confirmed.Store(sent * int64(min(plan.Producers[i].Confirm, 1)))
		}
		return r.feeds()
	}
	check := func(what string, want ...feed) {
		t.Helper()
		for i, got := range feeds() {
			if got != want[i] {
				t.Errorf("%s, queue %d: %+v, want %+v", what, i, got, want[i])
			}
		}
	}
	check("all", feed{10, false}, feed{-1, true}, feed{-1, false}, feed{-1, false}, feed{-1, false})
	plan.Producers = plan.Producers[:2]
	check("without the third", feed{10, false}, feed{14, true}, feed{0, false}, feed{-1, false}, feed{-1, false})
	plan.Producers = append(plan.Producers, manifest.Producer{Route: 3})
	check("with one whose route is not known", feed{-1, true}, feed{-1, true}, feed{-1, true}, feed{-1, true}, feed{-1, true})
}

func TestSayings(t *testing.T) {
	var s sayings
	for i := range 50 {
		s.add("queue", 100-i, fmt.Sprintf("%d messages", i))
	}
	s.add("producer", 7, "gone")
	s.add("producer", 3, "gone")
	s.add("producer", 9, "gone")
	lines := s.list()
	if len(lines) != mostSayings+1 || lines[0] != "producer 3 and 2 more: gone" || lines[1] != "queue 51: 49 messages" || lines[mostSayings] != "and 31 more of that kind" {
		t.Errorf("%q", lines)
	}
}

// As many queues as producers, as many as a process can have: the work grows with their number, and not with its square.
func BenchmarkFeeds(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan, _ := manyQueues(Endpoint{}, n, 1)
			plan.Clock = event.NewClock()
			r := &run{engine: newEngine(plan, nil)}
			b.ReportAllocs()
			for b.Loop() {
				r.feeds()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/queue")
		})
	}
}
