package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// oneMissing is a run of ten messages, confirmed, of which the last never comes and, where a message is again, the first comes twice.
// Connections that are named were away from 100 to 110 ms.
func oneMissing(t *testing.T, m *manifest.Manifest, again bool, away ...uint32) *result.Result {
	t.Helper()
	for range away {
		m.Outcome.Recoveries = append(m.Outcome.Recoveries, manifest.Recovery{LostNS: epoch + 100*ms, RecoveredNS: epoch + 110*ms})
	}
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 5*ms, seqs(0, 8)...)
	for _, c := range away {
		r.w.Connection(&event.Connection{At: epoch + 100*ms, Connection: c, State: event.Lost, Producer: event.NoLane, Consumer: event.NoLane})
		r.w.Connection(&event.Connection{At: epoch + 110*ms, Connection: c, State: event.Recovered, Producer: event.NoLane, Consumer: event.NoLane})
	}
	if again {
		r.deliver(0, 120*ms, event.Delivery{Tag: m.Tag, Body: event.Intact, Size: 12, Due: event.None, Redelivered: true})
	}
	r.ackAll(0, 200*ms)
	return analyzed(t, r.close())
}

// What may have removed a message, and what cannot have.
func TestWhatRulesExplain(t *testing.T) {
	quorum := func(version string, limit any) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Broker.Version, m.Topology.Queues[0].Type, m.Topology.Queues[0].Durable = version, "quorum", true
			m.Producers[0].Persistent = true
			if limit != nil {
				m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-delivery-limit", Value: limit}}
			}
		}
	}
	expires := func(change func(*manifest.Consumer)) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-expires", Value: int64(1)}}
			change(&m.Consumers[0])
		}
	}
	expiring := func(kind, ms string) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Topology.Queues[0].Type = kind
			m.Producers[0].Properties = &manifest.Properties{Expiration: ms}
		}
	}
	restarted := func(durable, persistent bool, kind string) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Topology.Queues[0].Type, m.Topology.Queues[0].Durable, m.Producers[0].Persistent = kind, durable, persistent
		}
	}
	for _, c := range []struct {
		name   string
		change func(*manifest.Manifest)
		again  bool
		away   []uint32
		rule   string // "": the message is lost
	}{
		// A message is dropped once it has gone back more often than the limit, and it can do so once a loss.
		{"fewer losses than the default delivery limit", quorum("4.0.5", nil), true, []uint32{1}, ""},
		{"fewer losses than a delivery limit", quorum("4.0.5", int64(2)), true, []uint32{1}, ""},
		{"as many losses as a delivery limit", quorum("4.0.5", int64(1)), true, []uint32{1}, "x-delivery-limit=1"},
		{"redelivered, and nobody knows why", quorum("4.0.5", nil), true, nil, "the delivery limit that quorum queues have by default"},

		// A queue is unused while no consumer is subscribed to it.
		{"expiry of a queue in use", expires(func(*manifest.Consumer) {}), false, nil, ""},
		{"expiry before the consumer begins", expires(func(c *manifest.Consumer) { c.StartDelayNS = 2 * ms }), false, nil, "x-expires=1"},
		{"expiry of a queue that is polled", expires(func(c *manifest.Consumer) { c.Polling = true }), false, nil, "x-expires=1"},
		{"expiry after the consumer leaves", expires(func(c *manifest.Consumer) { c.ExitWhen = manifest.ExitIdle }), false, nil, "x-expires=1"},
		{"expiry while the consumer is away", expires(func(*manifest.Consumer) {}), false, []uint32{1}, "x-expires=1"},

		// The run lasts 1.1 s: 2,200 ms twice over.
		{"messages expire", expiring("classic", "2199"), false, nil, "expiration of its messages, 2199 ms"},
		{"messages would expire later", expiring("classic", "2200"), false, nil, ""},
		{"a stream keeps what expires", expiring("stream", "1"), false, nil, ""},

		{"restart, transient messages", restarted(true, false, "classic"), false, []uint32{0, 1}, "messages not persistent: connections were lost"},
		{"restart, persistent messages", restarted(true, true, "classic"), false, []uint32{0, 1}, ""},
		{"restart, queue that makes them persistent", restarted(true, false, "quorum"), false, []uint32{0, 1}, ""},
		{"no restart, transient messages", restarted(true, false, "classic"), false, []uint32{0}, ""},
		{"restart, transient queue", restarted(false, true, "classic"), false, []uint32{0, 1}, "not durable: connections were lost"},
		{"no restart, transient queue", restarted(false, true, "classic"), false, []uint32{0}, ""},
	} {
		m := plan(1, 1)
		c.change(m)
		got := oneMissing(t, m, c.again, c.away...)
		if c.rule == "" {
			if got.Verdict != result.Fail || got.Counts.Lost != 1 || got.Counts.RemovedByRule != 0 {
				t.Errorf("%s: %s %+v", c.name, got.Verdict, got.Counts)
			}
			continue
		}
		if got.Verdict != result.Pass || got.Counts.Lost != 0 || got.Counts.RemovedByRule != 1 {
			t.Errorf("%s: %s %+v", c.name, got.Verdict, got.Counts)
			continue
		}
		if f := finding(t, got, "removed_by_rule"); !strings.Contains(f.Text, c.rule) {
			t.Errorf("%s: %s", c.name, f.Text)
		}
	}
}

// How far a queue can have filled up does not depend on what went to others: ten messages to q, twice over 20, and 90 elsewhere.
func TestLimitBesideOtherQueues(t *testing.T) {
	for limit, lost := range map[int64]int64{19: 0, 20: 1} {
		m := plan(1, 1)
		zero := int64(0)
		m.Topology.Queues[0].ReadyAtStart, m.Topology.Queues[0].Arguments = &zero, []manifest.Arg{{Key: "x-max-length", Value: limit}}
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "other", Type: "classic", Declare: true, ReadyAtStart: &zero})
		m.Topology.Routes = append(m.Topology.Routes, manifest.Route{RoutingKey: "other", Queues: []int{1}, Known: true})
		m.Consumers[0].Queues = []int{0, 1}
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: 1, Ready: &zero, Consumed: true, Drained: true})
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.sendTo(0, 10, 90, ms, 1)
		r.ack(0, 0, 100, 2*ms)
		r.receive(0, 0, 0, 5*ms, seqs(0, 8)...)
		r.receive(0, 1, 0, 5*ms, seqs(10, 99)...)
		r.ackAll(0, 6*ms)
		if got := analyzed(t, r.close()); got.Counts.Lost != lost || got.Counts.RemovedByRule != 1-lost {
			t.Errorf("limit %d: %s %+v", limit, got.Verdict, got.Counts)
		}
	}
}

// What was in a queue when the first of several captures began is what was there before the run, in whatever order they are given: five
// messages of others at the start, and those and ten of the run's when the second capture begins, which nobody takes out.
func TestReadyBeforeTheFirstCapture(t *testing.T) {
	capture := func(id string, tag uint16, begins, ready int64) string {
		m := plan(1, 0)
		m.ID, m.Tag = id, tag
		m.ClockStart.BootID, m.ClockStart.MonotonicNS = "b", 1
		m.Outcome.BarrierNS = epoch + begins
		m.Topology.Queues[0].ReadyAtStart, m.Outcome.Queues[0].Ready = &ready, ptr(int64(15))
		r := record(t, m)
		if begins == 0 {
			r.send(0, 0, 10, 0)
			r.ack(0, 0, 10, ms)
		}
		return r.close()
	}
	first, second := capture("one", 7, 0, 5), capture("two", 8, 500*ms, 15)
	for _, dirs := range [][]string{{first, second}, {second, first}} {
		if got := analyzed(t, dirs...); got.Counts.QueuedAtStop != 10 {
			t.Errorf("%+v", got.Counts)
		}
	}
}

// A stream's subscription got a message of one producer: what any other sent after that lies behind it. Of ten messages, none of which
// came, five were sent before and five after.
func TestSubscriptionThatMissesAProducer(t *testing.T) {
	m := plan(2, 1)
	m.Topology.Queues[0].Type, m.Topology.Queues[0].Durable = "stream", true
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.send(1, 0, 5, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	r.send(1, 5, 5, 3*ms)
	r.ack(1, 0, 10, 4*ms)
	r.ackAll(0, 5*ms)
	dir := r.close()
	got := analyzed(t, dir)
	checkCounts(t, got.Counts, result.Counts{Sent: 20, Confirmed: 20, Received: 10, ReceivedUnique: 10, Missing: 5, Lost: 5})
	checkVerdict(t, got, result.Fail, "lost")
	if f := finding(t, got, "lost"); f.First[0].Producer != 1 || f.First[0].Sequence != 5 {
		t.Errorf("%+v", f)
	}
	rows, _ := exported(t, All(RowsMessages), Options{}, dir)
	outcomes := map[any]int{}
	for _, row := range rows.rows {
		outcomes[row["integrity"]]++
	}
	if outcomes["delivered"] != 10 || outcomes["lost"] != 5 || outcomes["before_subscription"] != 5 {
		t.Errorf("%v", outcomes)
	}
}

// Of a stream with very many subscriptions a finding names no more messages than of a queue.
func TestSpansOfManySubscriptions(t *testing.T) {
	const consumers = 40
	m := plan(1, consumers)
	m.Topology.Queues[0].Type, m.Topology.Queues[0].Durable = "stream", true
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	for c := range consumers {
		r.receive(c, 0, 0, 2*ms, 0, 3, 4, 5, 6, 7, 8, 9) // 1 and 2 are missing
		r.ackAll(c, 3*ms)
	}
	f := finding(t, analyzed(t, r.close()), "lost")
	if n := strings.Count(f.Text, "producer 0 sequence"); f.Count != 2*consumers || n != 3 || !strings.Contains(f.Text, "...") {
		t.Errorf("%d spans: %s", n, f.Text)
	}
}

// A run none of whose transactions was committed has put nothing into the broker.
func TestNothingCommitted(t *testing.T) {
	m := plan(1, 1)
	m.Producers[0].Confirm, m.Producers[0].TxSize = 0, 100
	r := record(t, m)
	r.send(0, 0, 10, 0)
	checkVerdict(t, analyzed(t, r.close()), result.Inconclusive, "nothing_to_judge", "uncommitted_at_stop")
}

// What is missing from a queue went with a loss of its own consumers, if with any: that of the producer, later, explains nothing. Of three
// messages that never came the first was sent before the consumer, with automatic acks, was away from 120 to 150 ms, the second after that,
// and the third after the producer was away from 350 to 360 ms.
func TestLossOfOthersExplainsNothing(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Queues[0].Durable, m.Producers[0].Persistent, m.Consumers[0].AutoAck = true, true, true
	for _, at := range []int64{120, 350} {
		m.Outcome.Recoveries = append(m.Outcome.Recoveries, manifest.Recovery{LostNS: epoch + at*ms, RecoveredNS: epoch + (at+10)*ms})
	}
	r := record(t, m)
	state := func(at int64, connection uint32, s event.ConnectionState) {
		r.w.Connection(&event.Connection{At: epoch + at*ms, Connection: connection, State: s, Producer: event.NoLane, Consumer: event.NoLane})
	}
	for i, at := range []int64{100, 200, 400} {
		r.send(0, uint64(2*i), 2, at*ms)
		r.ack(0, uint64(2*i), 2, (at+1)*ms)
		r.receive(0, 0, 0, (at+2)*ms, uint64(2*i+1))
	}
	state(120, 1, event.Lost)
	state(150, 1, event.Recovered)
	state(350, 0, event.Lost)
	state(360, 0, event.Recovered)
	got := analyzed(t, r.close())
	if c := got.Counts; c.Lost != 2 || c.RemovedByRule != 1 || got.Verdict != result.Fail {
		t.Errorf("%s %+v", got.Verdict, c)
	}
	if f := finding(t, got, "lost"); f.First[0].Sequence != 2 {
		t.Errorf("%+v", f)
	}
}
