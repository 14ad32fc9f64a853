package loadcore

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// publish puts n messages of 12 bytes into the queue "q", with a run of its own.
func publish(t *testing.T, ep Endpoint, n int64) {
	t.Helper()
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{confirmed(12, n)}, nil))
	if out.Confirmed != n || *out.Queues[0].Ready != n {
		t.Fatalf("%+v", *out)
	}
}

// C082: the last incomplete group is acked, too.
func TestTailOfMultipleAcks(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	publish(t, ep, 15)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 10, Prefetch: 100}})
	plan.Time = 200 * time.Millisecond
	out, rec := runPlan(t, plan)
	if out.Received != 15 || out.Acked != 15 || out.Queues[0].UnackedAtStop != 0 || *out.Queues[0].Ready != 0 {
		t.Errorf("%+v %+v", *out, out.Queues[0])
	}
	last := rec.acks[len(rec.acks)-1]
	if last.DeliveryTag != 15 || last.Messages != 5 {
		t.Errorf("last ack %+v", last)
	}
	if got := newAdmin(t, ep).count("q"); got != 0 {
		t.Errorf("%d messages are in the queue", got)
	}
}

// A consumer with a limit acks so many and leaves the rest in the queue.
func TestConsumerLimit(t *testing.T) {
	for _, every := range []int{1, 7} {
		ep := embedded(t, broker.Options{})
		publish(t, ep, 1000)
		noLeaks(t)
		plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: every, Prefetch: 50, Limit: 100}})
		out, _ := runPlan(t, plan)
		if out.Acked != 100 || out.Received < 100 || out.StopReason != "all consumers have received their messages" {
			t.Errorf("every %d: %+v", every, *out)
		}
		q := out.Queues[0]
		if q.UnackedAtStop != out.Received-100 || *q.Ready+out.Received != 1000 || q.Drained {
			t.Errorf("every %d: %+v after %d received", every, q, out.Received)
		}
		if got := newAdmin(t, ep).count("q"); got != 900 {
			t.Errorf("every %d: %d messages are in the queue, want 900", every, got)
		}
	}
}

// Unlimited producers stop when the limited consumers have what they want.
func TestConsumerLimitStopsProducers(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 10, Limit: 500}, {AckEvery: 5, Prefetch: 10, Limit: 500}})
	out, _ := runPlan(t, plan)
	if out.Acked != 1000 || out.StopReason != "all consumers have received their messages" || out.Drained && out.Sent > 1000 {
		t.Errorf("%+v", *out)
	}
}

// One consumer of two queues: what is unacked is told apart by queue, and both are drained.
func TestConsumerOfTwoQueues(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).declare("q2", nil)
	zero := int64(0)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 3000), confirmed(12, 2000)}, []manifest.Consumer{{AckEvery: 1, Prefetch: 10}})
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic", ReadyAtStart: &zero})
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{RoutingKey: "q2", Queues: []int{1}, Known: true})
	plan.Producers[1].Route = 1
	plan.Consumers[0].Queues = []int{0, 1}
	out, rec := runPlan(t, plan)
	byQueue := map[uint16]int{}
	for _, d := range rec.deliveries {
		for _, r := range d.Rows {
			byQueue[r.Queue]++
			if int(r.Producer) != int(r.Queue) {
				t.Fatalf("producer %d in queue %d", r.Producer, r.Queue)
			}
		}
	}
	if byQueue[0] != 3000 || byQueue[1] != 2000 || !out.Drained || !out.Queues[0].Drained || !out.Queues[1].Drained {
		t.Errorf("%v, %+v", byQueue, *out)
	}
}

// A queue that nothing consumes is asked for what is in it, and does not count as not drained; one that does not exist
// costs no lane.
func TestQueuesThatNothingConsumes(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 70)}, nil)
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "gone", Type: "classic"}, manifest.Queue{Name: "q", Type: "classic"})
	out, _ := runPlan(t, plan)
	if !out.Drained || len(out.Failures) > 0 || out.Queues[0].Drained || out.Queues[0].Consumed || *out.Queues[0].Ready != 70 {
		t.Errorf("%+v", *out)
	}
	if out.Queues[1].Ready != nil || out.Queues[2].Ready == nil || *out.Queues[2].Ready != 70 {
		t.Errorf("queues %+v", out.Queues)
	}
}

// An auto-delete queue is asked before its last consumer leaves.
func TestAutoDeleteQueue(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).ask(&wire.QueueDeclare{Queue: "fleeting", AutoDelete: true}, wire.QueueDeclareOkID)
	plan := oneQueue(ep, "fleeting", []manifest.Producer{confirmed(12, 500)}, []manifest.Consumer{{AckEvery: 1}})
	plan.Topology.Queues[0].AutoDelete = true
	out, _ := runPlan(t, plan)
	if !out.Drained || out.Received != 500 || out.Queues[0].Ready == nil || *out.Queues[0].Ready != 0 || len(out.Failures) > 0 {
		t.Errorf("%+v %+v", *out, out.Queues)
	}
}

// Of a queue that is used as it is nobody knows whether it goes with its last consumer, as the plan has it: one that stays is asked and
// drained, of one that is gone that is said.
func TestQueueThatIsUsedAsItIsMayStay(t *testing.T) {
	for _, goes := range []bool{false, true} {
		ep := embedded(t, broker.Options{})
		newAdmin(t, ep).ask(&wire.QueueDeclare{Queue: "found", AutoDelete: goes}, wire.QueueDeclareOkID)
		noLeaks(t)
		plan := oneQueue(ep, "found", []manifest.Producer{confirmed(12, 15)}, []manifest.Consumer{{AckEvery: 5, Prefetch: 20, Limit: 15}})
		q := &plan.Topology.Queues[0]
		q.Declare, q.AutoDelete, q.ReadyAtStart = false, true, nil
		out, _ := runPlan(t, plan)
		if out.Acked != 15 || len(out.Failures) > 0 || out.Drained == goes {
			t.Errorf("goes %v: %+v", goes, *out)
		}
		if goes && out.DrainNote != "queue found: its consumers have left, and it is deleted with the last of them" || !goes && *out.Queues[0].Ready != 0 {
			t.Errorf("goes %v: %s, %+v", goes, out.DrainNote, out.Queues[0])
		}
	}
}

// Deliveries outrun the disk: acks are withheld, and sent once there is room, though nothing more comes to be read.
func TestCongestedRecorderWithholdsAcks(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	publish(t, ep, 100)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Prefetch: 10}})
	rec := &memory{}
	held, out := runCongested(t, plan, rec, 10, 100)
	if held != 0 || out.Received != 100 || out.Acked != 100 {
		t.Errorf("%d acked while acks were withheld: %+v", held, *out)
	}
}

// runCongested runs a plan with a congested recorder until first messages have come, frees the recorder, and stops when all
// are acked. It returns how many were acked while the recorder was congested. More than first must not have come by then.
func runCongested(t *testing.T, plan *Plan, rec *memory, first, all int64) (held int64, out *manifest.Outcome) {
	t.Helper()
	plan.Progress = new(Progress)
	rec.congested.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wait := func(done func(Counts) bool) Counts {
		for {
			c := plan.Progress.Snapshot()
			if done(c) || ctx.Err() != nil {
				return c
			}
			time.Sleep(time.Millisecond)
		}
	}
	plan.Started = func() {
		go func() {
			wait(func(c Counts) bool { return c.Received >= first })
			time.Sleep(50 * time.Millisecond) // for what must not come
			c := plan.Progress.Snapshot()
			if c.Received != first {
				t.Errorf("%d messages came while acks were withheld, want %d", c.Received, first)
			}
			held = c.Acked
			rec.congested.Store(false)
			wait(func(c Counts) bool { return c.Acked >= all })
			cancel()
		}()
	}
	out, err := Run(ctx, plan, rec)
	if err != nil {
		t.Fatal(err)
	}
	return held, out
}

// Another consumer may hold messages: that is no proof.
func TestDrainWithAForeignConsumer(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).ask(&wire.BasicConsume{Queue: "q", ConsumerTag: "foreign"}, wire.BasicConsumeOkID)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 100)}, []manifest.Consumer{{AckEvery: 1}})
	out, _ := runPlan(t, plan)
	if out.Drained || !strings.Contains(out.DrainNote, "1 other consumers") || out.Received >= 100 {
		t.Errorf("%+v", *out)
	}
}

func TestDrainTimeout(t *testing.T) {
	noLeaks(t)
	var asked atomic.Int64
	ep := startStub(t, &stub{
		onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			if d, ok := m.(*wire.QueueDeclare); ok { // never gets empty
				asked.Add(1)
				c.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: 3, ConsumerCount: 1})
				return true
			}
			return false
		},
	})
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 3)}, []manifest.Consumer{{AckEvery: 1}})
	plan.DrainTimeout = 400 * time.Millisecond
	out, _ := runPlan(t, plan)
	if out.Drained || !strings.Contains(out.DrainNote, "queue q: 3 messages were still ready") || !strings.HasSuffix(out.DrainNote, "; --drain-timeout gives it more time, --rate or --confirm less to drain") || asked.Load() < 2 || *out.Queues[0].Ready != 3 {
		t.Errorf("asked %d times: %+v", asked.Load(), *out)
	}
}

// A queue that says it is empty may lag behind: a quorum queue's count does, and what was published without confirms may still
// wait in front of any queue. That is believed at once only where as many messages have come as were confirmed, or sent.
func TestDrainOfALaggingQueue(t *testing.T) {
	unconfirmed := manifest.Producer{Size: 12, Limit: 1}
	for _, c := range []struct {
		name     string
		queue    manifest.Queue
		producer manifest.Producer
	}{
		{"quorum", manifest.Queue{Name: "q", Type: "quorum", Declare: true}, confirmed(12, 1)},
		{"used as it is, of a type that is not known", manifest.Queue{Name: "q", Type: "classic"}, confirmed(12, 1)},
		{"without confirms", manifest.Queue{Name: "q", Type: "classic", Declare: true}, unconfirmed},
	} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			var consumer atomic.Pointer[stubConn]
			s := &stub{}
			s.onMethod = func(conn *stubConn, channel uint16, m wire.Method) bool {
				if _, ok := m.(*wire.BasicConsume); ok {
					consumer.Store(conn)
				}
				return false
			}
			s.onMessage = func(conn *stubConn, m stubMessage) {
				if c.producer.Confirm > 0 {
					conn.send(wire.AppendAck(nil, m.channel, m.tag, false))
				}
				time.AfterFunc(700*time.Millisecond, func() { // long after the queue says that it is empty
					out := wire.AppendDeliver(nil, 1, "0", m.tag, false, nil, []byte(m.key))
					out = wire.AppendHeader(out, 1, uint64(len(m.body)), nil)
					consumer.Load().send(wire.AppendBody(out, 1, m.body, 131072))
				})
			}
			plan := oneQueue(startStub(t, s), "q", []manifest.Producer{c.producer}, []manifest.Consumer{{AckEvery: 1}})
			none := int64(0)
			c.queue.ReadyAtStart = &none
			plan.Topology.Queues[0] = c.queue
			out, _ := runPlan(t, plan)
			if !out.Drained || out.Received != 1 || out.Acked != 1 {
				t.Errorf("%+v", *out)
			}
		})
	}
}

// Without confirms the passive declare on the producer's own channel proves that what it sent has arrived.
func TestProducersWithoutConfirmsAskOnTheirOwnChannel(t *testing.T) {
	noLeaks(t)
	var order []string
	ep := startStub(t, &stub{
		onMessage: func(c *stubConn, m stubMessage) { order = append(order, "message") },
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			if _, ok := m.(*wire.QueueDeclare); ok && channel == 1 {
				order = append(order, "declare")
			}
			return false
		},
	})
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 3}}, nil))
	if want := []string{"message", "message", "message", "declare"}; !slices.Equal(order, want) || !out.Drained {
		t.Errorf("order %v, want %v: %+v", order, want, *out)
	}
}

// A queue's process answers questions before it takes messages: the count of a queue that nobody consumes is asked for until it
// has all that was sent, or stands still.
func TestCountOfAQueueThatNobodyConsumes(t *testing.T) {
	for _, c := range []struct {
		counts []uint32
		want   int64
	}{{[]uint32{0, 1, 1, 3}, 3}, {[]uint32{0, 2}, 2}} {
		noLeaks(t)
		asked := 0
		ep := startStub(t, &stub{onMethod: func(conn *stubConn, channel uint16, m wire.Method) bool {
			d, ok := m.(*wire.QueueDeclare)
			if ok && channel == 2 { // for questions: the producer has channel 1
				conn.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: c.counts[min(asked, len(c.counts)-1)]})
				asked++
			}
			return ok && channel == 2
		}})
		out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 3}}, nil))
		if len(out.Queues) != 1 || out.Queues[0].Ready == nil || *out.Queues[0].Ready != c.want {
			t.Errorf("counts %v: %+v", c.counts, out.Queues)
		}
	}
}

// Draining and closing share a bound: what draining leaves of it is for closing.
func TestClosingHasWhatDrainingLeaves(t *testing.T) {
	for _, c := range []struct {
		end   time.Duration
		state event.ConnectionState
	}{{0, event.Lost}, {20 * time.Second, event.Closed}} {
		noLeaks(t)
		ep := startStub(t, &stub{onMethod: func(conn *stubConn, channel uint16, m wire.Method) bool {
			_, closing := m.(*wire.ConnectionClose)
			if closing {
				time.AfterFunc(600*time.Millisecond, func() { conn.method(channel, &wire.ConnectionCloseOk{}) })
			}
			return closing
		}})
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 1}}, nil)
		plan.CloseTimeout, plan.EndTimeout = 100*time.Millisecond, c.end
		_, rec := runPlan(t, plan)
		if last := rec.connections[len(rec.connections)-1]; last.State != c.state {
			t.Errorf("end timeout %v: the connection is %s (%s), want %s", c.end, last.State, last.Text, c.state)
		}
	}
}

// The run is over for the user's second signal only; the first drains, in its bound, also with a mute broker.
func TestInterruptWithAMuteBroker(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		switch m.(type) {
		case *wire.QueueDeclare, *wire.BasicCancel, *wire.ChannelClose, *wire.ConnectionClose:
			return true // never answered
		}
		return false
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 5}}, []manifest.Consumer{{AckEvery: 1}})
	plan.DrainTimeout, plan.CloseTimeout = 300*time.Millisecond, 300*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	plan.Started = func() { time.AfterFunc(50*time.Millisecond, cancel) }
	rec := &memory{}
	out, err := Run(ctx, plan, rec)
	if err != nil || !out.Interrupted || out.Drained || out.Sent != 5 {
		t.Errorf("%+v, %v", out, err)
	}
	if got := rec.states(0); !slices.Equal(got, []event.ConnectionState{event.Connecting, event.Open, event.Closing, event.Lost}) {
		t.Errorf("states %v", got)
	}
}

// Acks that were withheld by the hundred thousand are sent in portions, all of them, though nothing more comes to be read;
// and a consumer that goes on does not make the connection forget one that is owing.
func TestManyWithheldAcks(t *testing.T) {
	noLeaks(t)
	const n = 100_000
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).declare("q2", nil)
	publish(t, ep, n)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1}, {AckEvery: 1, Prefetch: 1}})
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic"})
	plan.Consumers[1].Queues = []int{1}
	plan.Consumers[1].Connection = 0
	plan.Connections = 1
	held, out := runCongested(t, plan, &memory{}, n, n)
	if held != 0 || out.Received != n || out.Acked != n || *out.Queues[0].Ready != 0 {
		t.Errorf("%d acked while acks were withheld: %+v", held, *out)
	}
	if got := newAdmin(t, ep).count("q"); got != 0 {
		t.Errorf("%d messages are in the queue", got)
	}
}
