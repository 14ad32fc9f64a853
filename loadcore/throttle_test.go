package loadcore

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Reading goes on a little before a consumer runs dry, at once for one that is dry or whose work is over, and in any case
// after five seconds.
func TestThrottleResumes(t *testing.T) {
	e, _ := bare(nil, []manifest.Consumer{{AutoAck: true, Work: []manifest.WorkStage{{WorkNS: 10 * milli}}}, {AutoAck: true, Work: []manifest.WorkStage{{WorkNS: 10 * milli}}}})
	c, a, b := e.conn(0), e.consumers[0], e.consumers[1]
	if c.throttle == nil {
		t.Fatal("nothing is throttled")
	}
	const start = 1000 * milli
	for _, s := range e.consumers {
		s.work.catchUp(start, 0)
	}
	for _, step := range []struct {
		a, b uint64 // messages that have come
		want int64  // ms after start
	}{
		{3, 3, 20},        // 30 ms of work, 10 before its end
		{3, 5, 20},        // the one who runs dry first
		{0, 5, -10},       // who has nothing need not wait
		{0, 1000, 10},     // unless 1000 messages are in front of the other: until it is one less
		{100, 3000, 5000}, // 20 s
		{1000, 1000, 5000},
	} {
		c.throttle.last = start
		a.tag, b.tag = step.a, step.b
		if got := (c.throttle.resume() - start) / milli; got != step.want {
			t.Errorf("%d and %d messages: after %d ms, want %d", step.a, step.b, got, step.want)
		}
	}
	a.lifted.Store(true)
	b.finished.Store(true)
	if got := c.throttle.resume(); got != math.MinInt64 {
		t.Errorf("when all work is over: %d", got)
	}
}

// Steps get larger while reads are filled and the work on them does not last, and smaller where it lasts long.
func TestThrottleStep(t *testing.T) {
	e, _ := bare(nil, []manifest.Consumer{{AutoAck: true, Work: []manifest.WorkStage{{WorkNS: milli}}}})
	th, s := e.conn(0).throttle, e.consumers[0]
	s.work.catchUp(0, 0)
	var steps []int
	for _, read := range []struct {
		n   int
		tag uint64
	}{{512, 1}, {1024, 2}, {1024, 2}, {2048, 500}, {2048, 500}, {2048, 500}, {2048, 500}, {100, 0}} {
		s.tag = read.tag
		th.took(read.n, 0)
		steps = append(steps, th.step)
	}
	// The fourth read brings half a second of work. A read that is not filled asks for no more.
	if got := fmt.Sprint(steps); got != "[1024 2048 2048 1024 512 512 512 512]" {
		t.Errorf("steps %s", got)
	}
}

// An answer that comes after nobody waits for it any more is no answer to the next question.
func TestLateAnswers(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		if _, ok := m.(*wire.BasicCancel); ok {
			time.Sleep(150 * time.Millisecond) // as do all answers behind it
		}
		if d, ok := m.(*wire.QueueDeclare); ok {
			time.Sleep(150 * time.Millisecond)
			c.method(channel, &wire.QueueDeclareOk{Queue: d.Queue, MessageCount: 3, ConsumerCount: 1})
			return true
		}
		return false
	}})
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1}})
	plan.Time, plan.DrainTimeout = 10*time.Millisecond, 20*time.Millisecond
	out, rec := runPlan(t, plan)
	if got := fmt.Sprint(rec.states(0)); got != "[connecting open closing closed]" || len(out.Failures) > 0 || out.Drained {
		t.Errorf("states %s: %+v", got, *out)
	}
	if out.Queues[0].Ready == nil || *out.Queues[0].Ready != 3 {
		t.Errorf("%+v", out.Queues)
	}
}

// What a consumer is asked to do that no broker would let it, or that would wait for ever, is refused before connecting.
func TestConsumersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		consumer manifest.Consumer
		kind     string
		want     string
	}{
		{manifest.Consumer{Prefetch: 10, AckEvery: 20}, "classic", "--multi-ack-every=20 with --qos=10: the broker would wait for acks and the consumer for messages; want --multi-ack-every of at most --qos"}, // C081
		{manifest.Consumer{GlobalPrefetch: 10, AckEvery: 20}, "classic", "--multi-ack-every=20 with --global-qos=10: the broker would wait for acks and the consumer for messages; want --multi-ack-every of at most --global-qos"},
		{manifest.Consumer{Prefetch: 10, TxSize: 11}, "classic", "--ctxsize=11 with --qos=10: acks count when they are committed, so the broker would wait for the commit and the consumer for messages; want --ctxsize of at most --qos"},
		{manifest.Consumer{Prefetch: 10, TxSize: 11, Polling: true}, "classic", ""},
		{manifest.Consumer{GlobalPrefetch: 5}, "quorum", "--global-qos=5: queue q is a quorum queue, which has no prefetch of a whole channel; use --qos"},
		{manifest.Consumer{AutoAck: true}, "quorum", ""},
		{manifest.Consumer{AutoAck: true, Prefetch: 10}, "stream", "--autoack: queue q is a stream, whose consumers have to ack; leave it out, and give --qos"},
		{manifest.Consumer{}, "stream", "--qos=0: queue q is a stream, whose consumers need a prefetch; give --qos 200, say"},
		{manifest.Consumer{Polling: true}, "stream", "--polling: queue q is a stream, which basic.get cannot read; leave it out"},
		{manifest.Consumer{Prefetch: 10}, "stream", ""},
		{manifest.Consumer{ExitWhen: "bored"}, "classic", "--exit-when=bored: want idle or empty"},
		{manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: -1}}}, "classic", "--consumer-latency: -1ns a message: want 0 to 24h0m0s"},
		{manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: 1, ForNS: 1}, {WorkNS: 1}}}, "classic", "--variable-latency: stage 2 lasts 0s: want more than 0, and at most 2501h59m59.254740992s"},
		{manifest.Consumer{Rate: manifest.Rate{Messages: 5}}, "classic", "--consumer-rate: 5 messages in 0 ns is no rate"},
	} {
		plan := oneQueue(Endpoint{Host: "localhost"}, "q", nil, []manifest.Consumer{c.consumer})
		plan.Topology.Queues[0].Type = c.kind
		got := ""
		if err := plan.withDefaults().Validate(); err != nil {
			got = err.Error()
		}
		if want := c.want; got != want && got != "consumer 0: "+want {
			t.Errorf("%+v of a %s queue: %s\nwant %s", c.consumer, c.kind, got, want)
		}
	}
}

func TestExclusiveQueuesThatAreRefused(t *testing.T) {
	plan := exclusivePlan(Endpoint{Host: "localhost"}, confirmed(12, 1))
	if err := plan.withDefaults().Validate(); err != nil {
		t.Error(err)
	}
	plan.Consumers[1].Connection, plan.Connections = 2, 3
	if err := plan.withDefaults().Validate(); err == nil || err.Error() != "--exclusive: queue mine has consumers on connections 1 and 2, and an exclusive queue is for one connection" {
		t.Errorf("%v", err)
	}
	plan.Consumers = nil
	if err := plan.withDefaults().Validate(); err == nil || err.Error() != "--exclusive: queue mine has no consumer: an exclusive queue is declared on the connection of its consumers, so give it one (--consumers), or leave --exclusive out" {
		t.Errorf("%v", err)
	}
}

// -z 60 ends in time: the time, the drain and the closing together, whatever is left in the queue.
func TestRunEndsInTime(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {}}) // takes all and never confirms
	work := []manifest.WorkStage{{WorkNS: int64(time.Hour)}}
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10}}, []manifest.Consumer{{AckEvery: 1, Work: work}, {AutoAck: true, Work: work}, {AckEvery: 1, Polling: true}})
	plan.Time, plan.DrainTimeout, plan.CloseTimeout = 100*time.Millisecond, 200*time.Millisecond, 400*time.Millisecond
	out, rec := runPlan(t, plan)
	if out.StopReason != StopTime || out.Drained {
		t.Errorf("%+v", *out)
	}
	last := rec.connections[len(rec.connections)-1]
	if span := last.At - out.BarrierNS; span > int64(20*time.Second) { // that it ends at all: far over 700 ms, for a busy machine
		t.Errorf("the last connection was %v %d ns after the barrier", last.State, span)
	}
	if last.State != event.Closed && last.State != event.Lost {
		t.Errorf("the last event is %v", last.State)
	}
}

// While reading waits for the work our heartbeats go out, and a broker that we do not listen to is not taken for silent, though
// it has been for longer than two intervals.
func TestHeartbeatsOfAThrottledConsumer(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		noLeaks(t)
		var beats atomic.Int64
		s := &stub{limits: wire.Limits{FrameMax: 131072, ChannelMax: 100, Heartbeat: 1}}
		s.onHeartbeat = func() { beats.Add(1) }
		s.onMethod = func(c *stubConn, channel uint16, m wire.Method) bool {
			if _, ok := m.(*wire.BasicConsume); ok {
				c.method(channel, &wire.BasicConsumeOk{ConsumerTag: "0"})
				c.send(deliveries(nil, 1, 1000, 12))
				return true
			}
			return false
		}
		ep := startStub(t, s)
		plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AutoAck: true, Work: []manifest.WorkStage{{WorkNS: int64(time.Hour)}}}})
		plan.Heartbeat, plan.Time, plan.DrainTimeout = time.Second, 2300*time.Millisecond, 50*time.Millisecond
		set(plan)
		out, _ := runPlan(t, plan)
		if len(out.Failures) > 0 || out.Received != 1000 || out.Queues[0].UnworkedAtStop != 1000 || beats.Load() == 0 {
			t.Errorf("%d heartbeats: %+v", beats.Load(), *out)
		}
	})
}
