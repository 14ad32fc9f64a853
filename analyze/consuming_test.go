package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// again records that a consumer was given a message once more, with the redelivered flag.
func (r *recording) again(consumer int, at int64, seqs ...uint64) {
	for _, seq := range seqs {
		r.deliver(consumer, at, event.Delivery{Tag: r.m.Tag, Seq: seq, Body: event.Intact, Redelivered: true, Size: 12, Due: event.None})
	}
}

// A consumer that gives every message back: they come again and again, in any order, and the queue is never empty. None is
// lost, duplicated or out of order, and the verdict says why it knows no more.
func TestNackWithRequeue(t *testing.T) {
	for _, claims := range []bool{false, true} { // whether the engine thought it drained makes no difference
		m := plan(1, 1)
		m.Consumers[0].Nack, m.Consumers[0].Requeue = true, true
		m.Outcome.Drained, m.Outcome.Queues[0].Drained = claims, claims
		m.Outcome.Queues[0].Ready = ptr(int64(10))
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, 0, 1, 2, 3, 6, 5, 7, 8, 9)
		for at := int64(3); at < 6; at++ {
			r.again(0, at*ms, 9, 8, 7, 0, 1, 2, 3)
		}
		r.ackAll(0, 7*ms)
		got := analyzed(t, r.close())
		checkVerdict(t, got, result.Inconclusive, "not_drained", "redelivered", "order_not_judged")
		checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 30, ReceivedUnique: 9, Redelivered: 21, QueuedAtStop: 1})
		if f := finding(t, got, "not_drained"); !strings.Contains(f.Text, "give every message back, nack with requeue") {
			t.Error(f.Text)
		}
		if f := finding(t, got, "redelivered"); f.Severity != result.SeverityNote || !strings.Contains(f.Text, "consumers give messages back") {
			t.Errorf("%+v", f)
		}
		if f := finding(t, got, "order_not_judged"); !strings.Contains(f.Text, "q (consumers give messages back)") {
			t.Error(f.Text)
		}
		if mode := got.Config.AckMode; mode != "nack, single, requeue" {
			t.Error(mode)
		}
	}
}

// A message given back comes again with the flag set; without it, the broker had it twice.
func TestRepeatWithoutTheFlag(t *testing.T) {
	m := plan(1, 1)
	m.Consumers[0].Nack, m.Consumers[0].Requeue = true, true
	r := record(t, m)
	r.send(0, 0, 3, 0)
	r.ack(0, 0, 3, ms)
	r.receive(0, 0, 0, 2*ms, 0, 1, 2, 1)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "duplicate", "not_drained", "order_not_judged")
	if got.Counts.Duplicates != 1 {
		t.Errorf("%+v", got.Counts)
	}
}

// A consumer that refuses for good consumes.
func TestNackWithoutRequeue(t *testing.T) {
	m := plan(1, 1)
	m.Consumers[0].Nack, m.Consumers[0].AckEvery = true, 5
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 10, ReceivedUnique: 10})
	if mode := got.Config.AckMode; mode != "nack, multiple every 5, no requeue" {
		t.Error(mode)
	}
}

// C083: a quorum queue has dropped what was given back too often. Each message was received, so none is missing, and the
// limit is named.
func TestC083DeliveryLimit(t *testing.T) {
	for _, drained := range []bool{true, false} {
		m := plan(1, 1)
		m.Consumers[0].Nack, m.Consumers[0].Requeue = true, true
		m.Topology.Queues[0].Type = "quorum"
		m.Outcome.Drained, m.Outcome.Queues[0].Drained = drained, drained
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
		for at := range int64(20) {
			r.again(0, (3+at)*ms, seqs(0, 9)...)
		}
		r.ackAll(0, 30*ms)
		got := analyzed(t, r.close())
		if drained {
			checkVerdict(t, got, result.Pass, "redelivered", "order_not_judged")
		} else {
			checkVerdict(t, got, result.Inconclusive, "not_drained", "redelivered", "order_not_judged")
		}
		checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 210, ReceivedUnique: 10, Redelivered: 200})
		if f := finding(t, got, "redelivered"); !strings.Contains(f.Text, "delivery limit (20 by default") {
			t.Error(f.Text)
		}
	}
}

// C082, C084, C068: consumers that stop by a limit leave the rest, which is queued; what they had been given beyond it goes to
// another with the flag set.
func TestConsumersThatStop(t *testing.T) {
	m := plan(1, 2)
	m.Consumers[0].Limit, m.Consumers[1].Limit = 15, 10
	m.Outcome.Drained, m.Outcome.Queues[0].Drained, m.Outcome.Queues[0].Ready = false, false, ptr(int64(5))
	r := record(t, m)
	r.send(0, 0, 30, 0)
	r.ack(0, 0, 30, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 17)...) // 15, 16 and 17 are not acked
	r.again(1, 3*ms, 15, 16, 17)
	r.receive(1, 0, 0, 4*ms, seqs(18, 24)...)
	r.w.Acks(&event.Acks{Consumer: 0, At: epoch + 5*ms, DeliveryTag: 15, Messages: 15})
	m.Outcome.Acked = 15
	r.ackAll(1, 5*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "not_drained", "redelivered")
	checkCounts(t, got.Counts, result.Counts{Sent: 30, Confirmed: 30, Received: 28, ReceivedUnique: 25, Redelivered: 3, QueuedAtStop: 5})
	if f := finding(t, got, "not_drained"); !strings.Contains(f.Text, "5 ready, its consumers stop after a number of messages") {
		t.Error(f.Text)
	}
	if !strings.HasPrefix(got.Config.Consuming, "stops after 15 messages") || !strings.HasSuffix(got.Config.Consuming, "(consumers differ)") {
		t.Error(got.Config.Consuming)
	}
}

// A queue that was deleted while the run went on: the broker cancelled its consumers, and afterwards nobody could ask. What
// was in it is not said to be queued.
func TestDeletedQueue(t *testing.T) {
	for _, autoDelete := range []bool{false, true} {
		m := plan(1, 2)
		m.Topology.Queues[0].AutoDelete = autoDelete
		m.Outcome.Drained, m.Outcome.Queues[0].Drained, m.Outcome.Queues[0].Ready = false, false, nil
		for c := range 2 {
			m.Outcome.Failures = append(m.Outcome.Failures, manifest.Failure{AtNS: epoch + 3*ms, Connection: 1 + c, Consumer: ptr(c), Text: "the broker cancelled it"})
		}
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 5)...)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		want := result.Counts{Sent: 10, Confirmed: 10, Received: 6, ReceivedUnique: 6}
		code := "unaccounted"
		if autoDelete { // it goes with its last consumer
			want.Missing, want.RemovedByRule = 4, 4
			code = "removed_by_rule"
		}
		checkVerdict(t, got, result.Inconclusive, "not_drained", "ended_early", code)
		checkCounts(t, got.Counts, want)
		if f := finding(t, got, code); f.Count != 4 {
			t.Errorf("%+v", f)
		}
		if b := got.Intervals[len(got.Intervals)-1].BacklogEnd; *b != 0 {
			t.Errorf("%d on the backlog of a queue that is gone", *b)
		}
	}
}

// Streams: each subscription is judged from the first offset that it got; what lies before is no backlog either.
func TestStreamOffsets(t *testing.T) {
	m := plan(1, 3)
	m.Topology.Queues[0].Type = "stream"
	for i, offset := range []string{"first", "first", "next"} {
		m.Consumers[i].Arguments = []manifest.Arg{{Key: "x-stream-offset", Value: offset}}
		m.Consumers[i].Prefetch = 200
	}
	m.Consumers[2].StartDelayNS = 10 * ms
	r := record(t, m)
	const n = 10_000
	r.send(0, 0, n, 0)
	r.ack(0, 0, n, ms)
	for c := range 2 {
		r.receive(c, 0, 0, 20*ms, seqs(0, n-1)...)
		r.ackAll(c, 30*ms)
	}
	r.receive(2, 0, 0, 20*ms, seqs(7000, n-1)...)
	r.ackAll(2, 30*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: n, Confirmed: n, Received: 23_000, ReceivedUnique: 23_000})
	if q := got.Queues[0].Counts; q.Sent != n || q.Confirmed != n || q.Received != 23_000 {
		t.Errorf("%+v", q)
	}
	if got.Config.FanOut != 1 {
		t.Errorf("fan-out %d", got.Config.FanOut)
	}
	if b := got.Intervals[len(got.Intervals)-1].BacklogEnd; *b != 0 {
		t.Errorf("%d on the backlog", *b)
	}
}

// What of the latency is the plan's own doing is said beside it.
func TestLatencyRemarks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*manifest.Consumer)
		want   string
	}{
		{"plain", func(*manifest.Consumer) {}, ""},
		{"a rate with automatic acks", func(c *manifest.Consumer) { c.AutoAck, c.Rate = true, manifest.Rate{Messages: 10, PerNS: 1e9} }, "includes the wait in the client"},
		{"work with automatic acks", func(c *manifest.Consumer) { c.AutoAck, c.Work = true, []manifest.WorkStage{{WorkNS: 1}} }, "includes the wait in the client"},
		{"no work", func(c *manifest.Consumer) { c.AutoAck, c.Work = true, []manifest.WorkStage{{}} }, ""},
		{"a rate with manual acks", func(c *manifest.Consumer) { c.Rate = manifest.Rate{Messages: 10, PerNS: 1e9} }, "the wait in the queue for them"},
		{"polling", func(c *manifest.Consumer) { c.Polling, c.PollIntervalNS = true, 100*ms }, "wait 100ms after each answer"},
		{"start delay", func(c *manifest.Consumer) { c.StartDelayNS = 2000 * ms }, "begin up to 2s after the start"},
	} {
		m := plan(1, 1)
		tt.change(&m.Consumers[0])
		r := record(t, m)
		r.send(0, 0, 1, 0)
		r.ack(0, 0, 1, ms)
		r.receive(0, 0, 0, 2*ms, 0)
		r.ackAll(0, 3*ms)
		if m.Consumers[0].AutoAck {
			m.Outcome.Acked = 1
		}
		got := analyzed(t, r.close())
		text := strings.Join(got.LatencyRemarks, " ")
		if (tt.want == "") != (text == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}

// C084: what had come to a slow consumer with automatic acks, and was never worked on, is discarded at the stop. It was
// received, so that it is neither missing nor queued.
func TestC084Unworked(t *testing.T) {
	m := plan(1, 1)
	m.Consumers[0].AutoAck, m.Consumers[0].Work = true, []manifest.WorkStage{{WorkNS: 100 * ms}}
	m.Outcome.Queues[0].UnworkedAtStop = 40
	r := record(t, m)
	r.send(0, 0, 50, 0)
	r.ack(0, 0, 50, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 49)...)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "discarded_at_stop")
	checkCounts(t, got.Counts, result.Counts{Sent: 50, Confirmed: 50, Received: 50, ReceivedUnique: 50, DiscardedAtStop: 40})
}

// Acks whose transaction was not committed are sent and do not hold: the rows tell of more than the engine counts.
func TestAcksThatWereNotCommitted(t *testing.T) {
	m := plan(1, 1)
	m.Consumers[0].TxSize = 5
	r := record(t, m)
	r.send(0, 0, 12, 0)
	r.ack(0, 0, 12, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 11)...)
	r.ackAll(0, 3*ms)
	m.Outcome.Acked, m.Outcome.Queues[0].UnackedAtStop = 10, 2
	m.Outcome.Drained, m.Outcome.Queues[0].Drained = false, false
	m.Outcome.Ends = map[string]int{manifest.EndConsumerIdle: 1}
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "not_drained")
	checkCounts(t, got.Counts, result.Counts{Sent: 12, Confirmed: 12, Received: 12, ReceivedUnique: 12, UnackedAtStop: 2})
	if got.Ends["consumer idle"] != 1 {
		t.Errorf("%v", got.Ends)
	}
}
