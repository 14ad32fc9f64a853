package loadcore

import (
	"fmt"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// eachDrive runs a test in every way that connections can be driven.
func eachDrive(t *testing.T, test func(t *testing.T, set func(*Plan))) {
	for _, c := range []struct {
		name      string
		drive     Drive
		noPolling bool
	}{{"dedicated", DriveDedicated, false}, {"shared", DriveShared, false}, {"shared without polling", DriveShared, true}} {
		t.Run(c.name, func(t *testing.T) { test(t, func(p *Plan) { p.Drive, p.noPolling = c.drive, c.noPolling }) })
	}
}

// C082: the consumer that leaves an empty queue acks the last incomplete group, too.
func TestExitWhenEmpty(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		noLeaks(t)
		ep := embedded(t, broker.Options{})
		publish(t, ep, 15)
		plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 10, ExitWhen: manifest.ExitEmpty}})
		set(plan)
		out, _ := runPlan(t, plan)
		if out.Received != 15 || out.Acked != 15 || out.StopReason != StopEmpty || out.Ends[manifest.EndConsumerEmpty] != 1 || !out.Drained || len(out.Failures) > 0 {
			t.Errorf("%+v", *out)
		}
		if span := out.DrainEndNS - out.BarrierNS; span < int64(exitAfter) {
			t.Errorf("over after %d ns, before anybody could be idle", span)
		}
		if got := newAdmin(t, ep).count("q"); got != 0 {
			t.Errorf("%d messages are in the queue", got)
		}
	})
}

// A consumer that has something left to work on is not idle, though nothing comes; the other one leaves.
func TestExitWhenIdle(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	publish(t, ep, 30)
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{
		{AckEvery: 10, Prefetch: 10, ExitWhen: manifest.ExitEmpty, Work: []manifest.WorkStage{{WorkNS: int64(time.Hour)}}},
		{AckEvery: 10, Prefetch: 10, ExitWhen: manifest.ExitIdle}})
	plan.Time, plan.DrainTimeout = 4*time.Second, 100*time.Millisecond
	out, _ := runPlan(t, plan)
	if out.Ends[manifest.EndConsumerIdle] != 1 || out.Ends[manifest.EndConsumerEmpty] != 0 || out.StopReason != StopTime || out.Acked != 20 || out.Queues[0].UnackedAtStop != 10 {
		t.Errorf("%+v", *out)
	}
}

// C068: a publisher whose limit is lower than the consumer's: the run ends once all has come, and says what was missed.
func TestConsumerLimitAboveWhatIsSent(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 1, Limit: 10}}, []manifest.Consumer{{AckEvery: 1, Limit: 20}})
	out, _ := runPlan(t, plan)
	if out.Received != 10 || !out.Drained || out.StopReason != "all messages sent; 1 of 1 consumers have not reached their message limit" {
		t.Errorf("%+v", *out)
	}
}

// Consumers that leave when idle are waited for, though the producers have sent all.
func TestProducersDoneBeforeConsumersLeave(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 100)}, []manifest.Consumer{{AckEvery: 7, ExitWhen: manifest.ExitIdle}})
	out, _ := runPlan(t, plan)
	if out.Acked != 100 || !out.Drained || out.Ends[manifest.EndConsumerIdle] != 1 || out.Ends[manifest.EndProducerLimit] != 1 {
		t.Errorf("%+v", *out)
	}
	if out.PublishStopNS-out.BarrierNS > int64(exitAfter) {
		t.Errorf("publishing stopped %d ns after the barrier", out.PublishStopNS-out.BarrierNS)
	}
}

// basic.get brings everything, one message at a time, with each way to ack.
func TestPolling(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		for _, c := range []manifest.Consumer{{AckEvery: 1}, {AckEvery: 7}, {AutoAck: true}} {
			ep := embedded(t, broker.Options{})
			noLeaks(t)
			c.Polling = true
			plan := oneQueue(ep, "q", []manifest.Producer{confirmed(24, 500)}, []manifest.Consumer{c})
			set(plan)
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 500)
			if !c.AutoAck && out.Acked != 500 {
				t.Errorf("%+v: acked %d", c, out.Acked)
			}
			for _, d := range rec.deliveries {
				if len(d.Rows) != 1 || d.At < out.BarrierNS {
					t.Fatalf("%+v: %d messages of one read, %d ns after the barrier", c, len(d.Rows), d.At-out.BarrierNS)
				}
			}
		}
	})
}

// The interval counts from each answer, by queue: two queues, 100 ms, half a second of it.
func TestPollingInterval(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).declare("q2", nil)
	publish(t, ep, 100)
	const interval = 100 * time.Millisecond
	plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Polling: true, PollIntervalNS: int64(interval)}})
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic"})
	plan.Consumers[0].Queues = []int{0, 1}
	plan.Time = 550 * time.Millisecond
	out, rec := runPlan(t, plan)
	// At the barrier, and every 100 ms or more after that; the last one may fall into the end.
	if out.Received < 1 || out.Received > 7 {
		t.Errorf("%d messages in %v, one every %v", out.Received, plan.Time, interval)
	}
	for i := 1; i < len(rec.deliveries); i++ {
		if gap := rec.deliveries[i].At - rec.deliveries[i-1].At; gap < int64(interval) {
			t.Errorf("polled again after %d ns", gap)
		}
	}
	if len(out.Queues) != 2 || *out.Queues[0].Ready != 100-out.Received {
		t.Errorf("%+v", out.Queues)
	}
}

// Nack without requeue empties the queue; with requeue messages come again, and the drain does not wait for ever.
func TestNack(t *testing.T) {
	for _, every := range []int{1, 10} {
		t.Run(fmt.Sprint("every ", every), func(t *testing.T) {
			noLeaks(t)
			ep := embedded(t, broker.Options{})
			plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 205)}, []manifest.Consumer{{AckEvery: every, Nack: true}})
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 205)
			if out.Acked != 205 {
				t.Errorf("acked %d", out.Acked)
			}
			publish(t, ep, 50)
			plan = oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: every, Prefetch: 10, Nack: true, Requeue: true}})
			plan.Time = 200 * time.Millisecond
			out, _ = runPlan(t, plan)
			if out.Received <= 50 || out.Drained || out.DrainNote != "queue q: its consumers put messages back (nack with requeue), so that it never gets empty" {
				t.Errorf("%+v", *out)
			}
			if got := newAdmin(t, ep).count("q"); got != 50 {
				t.Errorf("%d messages are in the queue", got)
			}
		})
	}
}

// A consumer that begins later leaves a backlog, and is waited for though all is sent; one that never comes to it says so.
func TestStartDelay(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	const delay = 300 * time.Millisecond
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 100)}, []manifest.Consumer{{AckEvery: 1, StartDelayNS: int64(delay)}})
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 100)
	if first := rec.deliveries[0].At - out.BarrierNS; first < int64(delay) {
		t.Errorf("the first message came %d ns after the barrier", first)
	}
	plan = oneQueue(ep, "q", []manifest.Producer{confirmed(12, 100)}, []manifest.Consumer{{AckEvery: 1, StartDelayNS: int64(time.Hour)}})
	plan.Time = 100 * time.Millisecond
	out, _ = runPlan(t, plan)
	if out.Received != 0 || out.Drained || out.DrainNote != "queue q: its consumers had not begun when the run stopped" || *out.Queues[0].Ready != 100 {
		t.Errorf("%+v", *out)
	}
}

// Two subscriptions of a channel share its limit: 5 messages are out, though each of them could have 4.
func TestGlobalPrefetch(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).declare("q2", nil)
	publish(t, ep, 100)
	plan := oneQueue(ep, "q2", []manifest.Producer{confirmed(12, 100)}, nil)
	runPlan(t, plan)
	plan = oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Prefetch: 4, GlobalPrefetch: 5, Work: []manifest.WorkStage{{WorkNS: int64(time.Hour)}}}})
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic"})
	plan.Consumers[0].Queues = []int{0, 1}
	plan.Time, plan.DrainTimeout = 300*time.Millisecond, 50*time.Millisecond
	out, _ := runPlan(t, plan)
	if out.Received != 5 || out.Acked != 0 || out.Queues[0].UnackedAtStop+out.Queues[1].UnackedAtStop != 5 {
		t.Errorf("%+v", *out)
	}
}

// Work of a millisecond with manual acks: the broker never has more than the prefetch outstanding, and all is acked.
func TestWorkWithholdsAcks(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		noLeaks(t)
		ep := embedded(t, broker.Options{})
		publish(t, ep, 200)
		plan := oneQueue(ep, "q", nil, []manifest.Consumer{{AckEvery: 1, Prefetch: 5, Limit: 200, Work: []manifest.WorkStage{{WorkNS: 1_000_000}}}})
		set(plan)
		out, rec := runPlan(t, plan)
		if out.Received != 200 || out.Acked != 200 || out.StopReason != StopReceived {
			t.Errorf("%+v", *out)
		}
		first, last := rec.deliveries[0].At, rec.acks[len(rec.acks)-1].At
		if last-first < 199_000_000 {
			t.Errorf("200 messages of a millisecond were worked on in %d ns", last-first)
		}
		received, acked := map[int64]int64{}, int64(0)
		for _, d := range rec.deliveries {
			received[d.At] += int64(len(d.Rows))
		}
		if len(rec.acks) < 20 {
			t.Errorf("%d acks only", len(rec.acks))
		}
		for _, a := range rec.acks {
			acked += int64(a.Messages)
		}
		if acked != 200 {
			t.Errorf("%d acked in the record", acked)
		}
	})
}

// C084, a tenth of it: with automatic acks and 100 a second most of 1000 messages have not been worked on when the run stops.
// The broker has handed them out: they are received, and not lost.
func TestAutomaticAcksWithARate(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		noLeaks(t)
		ep := embedded(t, broker.Options{})
		plan := oneQueue(ep, "q", []manifest.Producer{confirmed(1000, 1000)}, []manifest.Consumer{{AutoAck: true, Rate: manifest.Rate{Messages: 100, PerNS: 1e9}}})
		plan.DrainTimeout, plan.CloseTimeout = 700*time.Millisecond, 4*time.Second
		plan.Heartbeat = time.Second
		set(plan)
		out, rec := runPlan(t, plan)
		complete(t, out, rec, 1000)
		unworked := out.Queues[0].UnworkedAtStop
		// 700 ms at 100 a second; a busy machine is given a fifth of a second of them.
		if unworked < 500 || unworked > 1000-50 {
			t.Errorf("%d not worked on", unworked)
		}
		// Until the drain was over reading kept step: messages came in small groups.
		early := 0
		for _, d := range rec.deliveries {
			if d.At < out.PublishStopNS+int64(400*time.Millisecond) {
				early += len(d.Rows)
			}
		}
		if early > 300 {
			t.Errorf("%d messages were read at once", early)
		}
		if len(out.Failures) > 0 || *out.Queues[0].Ready != 0 {
			t.Errorf("%+v", *out)
		}
	})
}

// Many consumers of one connection with work, in the shared drive: few goroutines, and all of them get on.
func TestManyConsumersWithWork(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(24, 2000)}, make([]manifest.Consumer, 200))
	for i := range plan.Consumers {
		plan.Consumers[i] = manifest.Consumer{Connection: 1 + i%10, Queues: []int{0}, AckEvery: 1, Prefetch: 2, Work: []manifest.WorkStage{{WorkNS: 5_000_000}}}
	}
	plan.Connections, plan.Drive = 11, DriveShared
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 2000)
	if out.Acked != 2000 {
		t.Errorf("%+v", *out)
	}
}

// A consumer of two queues with automatic acks and work: what was not worked on is told apart by queue.
func TestUnworkedByQueue(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	newAdmin(t, ep).declare("q2", nil)
	zero := int64(0)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 30), confirmed(12, 20)}, []manifest.Consumer{{AutoAck: true, Work: []manifest.WorkStage{{WorkNS: int64(time.Hour)}}}})
	plan.Topology.Queues = append(plan.Topology.Queues, manifest.Queue{Name: "q2", Type: "classic", ReadyAtStart: &zero})
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{RoutingKey: "q2", Queues: []int{1}, Known: true})
	plan.Producers[1].Route = 1
	plan.Consumers[0].Queues = []int{0, 1}
	plan.DrainTimeout = 100 * time.Millisecond
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 50)
	if out.Queues[0].UnworkedAtStop != 30 || out.Queues[1].UnworkedAtStop != 20 {
		t.Errorf("%+v", out.Queues)
	}
}

// The paths of consumers that do more than ack allocate nothing either.
func TestConsumePathsAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	for _, spec := range []manifest.Consumer{
		{AckEvery: 1, Nack: true, Requeue: true},
		{AckEvery: 10, Work: []manifest.WorkStage{{WorkNS: 1, ForNS: 1000}, {WorkNS: 2, ForNS: 1000}}},
		{AutoAck: true, Rate: manifest.Rate{Messages: 1e9, PerNS: 1e9}},
	} {
		e, rec := bare(nil, []manifest.Consumer{spec})
		var err error
		if e.pacer, err = newPacer(e.clock); err != nil {
			t.Fatal(err)
		}
		c, s := e.conn(0), e.consumers[0]
		e.barrier.Store(e.clock.Now())
		frames := deliveries(nil, 1, pathBatch, 12)
		allocs := testing.AllocsPerRun(100, func() {
			s.tag, s.acked = 0, 0
			if s.work != nil {
				s.work.done = 0
			}
			if err := c.feed(frames); err != nil {
				t.Fatal(err)
			}
			c.out.drop()
		})
		if allocs != 0 || rec.delivered != 101*pathBatch {
			t.Errorf("%+v: %v allocations, %d recorded", spec, allocs, rec.delivered)
		}
		e.pacer.close()
	}
}

// Limits that fit each other: the consumers have left with all that was sent, and the queue is drained, also one that was
// deleted with the last of them.
func TestDrainedByConsumersAtTheirLimit(t *testing.T) {
	for _, autoDelete := range []bool{false, true} {
		for _, c := range []manifest.Consumer{{AckEvery: 1, Prefetch: 10}, {AutoAck: true}, {AckEvery: 7, Polling: true}} {
			ep := embedded(t, broker.Options{})
			newAdmin(t, ep).ask(&wire.QueueDeclare{Queue: "limited", AutoDelete: autoDelete}, wire.QueueDeclareOkID)
			noLeaks(t)
			c.Limit = 500
			plan := oneQueue(ep, "limited", []manifest.Producer{confirmed(24, 500)}, []manifest.Consumer{c})
			plan.Topology.Queues[0].AutoDelete = autoDelete
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 500)
			if c.AutoAck { // how many come beyond the limit is the broker's choice
				continue
			}
			plan = oneQueue(ep, "q", []manifest.Producer{confirmed(24, 510)}, []manifest.Consumer{c})
			if out, _ = runPlan(t, plan); out.Drained {
				t.Errorf("%+v: %+v", c, *out)
			}
		}
	}
}

// Transactions of acks: what is acked counts when it is committed, the tail too, and reading goes on meanwhile.
func TestTransactionsOfAcks(t *testing.T) {
	eachDrive(t, func(t *testing.T, set func(*Plan)) {
		for _, c := range []manifest.Consumer{
			{AckEvery: 1, Prefetch: 50, TxSize: 10}, {AckEvery: 4, Prefetch: 50, TxSize: 10}, {AckEvery: 7, TxSize: 3}, {AutoAck: true, TxSize: 10},
			{AckEvery: 1, Polling: true, TxSize: 5}, {AckEvery: 10, Nack: true, TxSize: 10}, {AckEvery: 1, Prefetch: 50, TxSize: 50, Work: []manifest.WorkStage{{WorkNS: 10_000}}},
		} {
			ep := embedded(t, broker.Options{})
			noLeaks(t)
			plan := oneQueue(ep, "q", []manifest.Producer{confirmed(24, 503)}, []manifest.Consumer{c})
			set(plan)
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 503)
			if !c.AutoAck && (out.Acked != 503 || out.Queues[0].UnackedAtStop != 0) {
				t.Errorf("%+v: %+v", c, *out)
			}
			if got := newAdmin(t, ep).count("q"); got != 0 {
				t.Errorf("%+v: %d messages are in the queue", c, got)
			}
		}
	})
}

// One commit is under way at a time, and covers as many messages as it should.
func TestOneCommitAtATime(t *testing.T) {
	e, _ := bare(nil, []manifest.Consumer{{AckEvery: 4, TxSize: 10}})
	c, s := e.conn(0), e.consumers[0]
	s.tx.frame = wire.AppendMethod(nil, 1, &wire.TxCommit{})
	if err := c.feed(deliveries(nil, 1, 33, 12)); err != nil {
		t.Fatal(err)
	}
	ok := wire.AppendMethod(nil, 1, &wire.TxCommitOk{})
	var acked []int64
	for range 4 {
		if s.owes() {
			t.Error("something is owed while a commit is under way, or before the group is whole")
		}
		acked = append(acked, s.count.acked.Load(), int64(s.acked))
		if s.tx.committing {
			if err := c.feed(ok); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Groups of 4 acks, commits after 10, 20 and 30 messages: 8, 20 and 28 acked; 32 are acked and not committed.
	if got := fmt.Sprint(acked); got != "[0 8 8 20 20 28 28 32]" {
		t.Errorf("committed and acked: %s", got)
	}
	if err := c.feed(ok); err == nil {
		t.Error("a commit-ok that nobody asked for is taken")
	}
}
