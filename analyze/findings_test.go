package analyze

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// A bit flipped anywhere in a body, the stamp's every byte included: one corrupt message; it is told which it was
// wherever producer and sequence came through, and then it is not lost as well.
func TestFlipInEveryByte(t *testing.T) {
	for _, size := range []int{12, 24, 64} {
		for flip := range 2 * size {
			at, mask := flip/2, byte(0x10)>>(flip%2*4)
			body := make([]byte, size)
			loadcore.PutStamp(body, loadcore.Stamp{Tag: 7, Producer: 1, Seq: 5, Due: event.None})
			body[at] ^= mask
			stamp, state := loadcore.ReadStamp(body)
			if state != event.Corrupt {
				t.Fatalf("byte %d of %d: the flip goes unnoticed", at, size)
			}
			r := record(t, plan(2, 1))
			for p := range 2 {
				r.send(p, 0, 10, 0)
				r.ack(p, 0, 10, ms)
			}
			r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
			r.receive(0, 0, 1, 2*ms, seqs(0, 4)...)
			r.deliver(0, 3*ms, event.Delivery{Tag: stamp.Tag, Producer: stamp.Producer, Seq: stamp.Seq, Body: state, Due: event.None})
			r.receive(0, 0, 1, 4*ms, seqs(6, 9)...)
			r.ackAll(0, 5*ms)
			got := analyzed(t, r.close())
			want := result.Counts{Sent: 20, Confirmed: 20, Received: 20, ReceivedUnique: 19, Corrupt: 1}
			findings := []string{"corrupt"}
			// Bits 12 to 63 of the stamp are producer and sequence: all but byte 0 and the upper half of byte 1.
			if at >= 1 && at < 8 && (at > 1 || mask < 0x10) {
				want.CorruptUnattributed, want.Missing, want.Lost = 1, 1, 1
				findings = append(findings, "lost")
			}
			checkCounts(t, got.Counts, want)
			checkVerdict(t, got, result.Fail, findings...)
			if f := finding(t, got, "corrupt"); f.First[0].Claimed != (want.Lost > 0) {
				t.Errorf("%+v", f)
			}
			if want.Lost > 0 && !strings.Contains(finding(t, got, "lost").Text, "1 message lost, of which up to 1 may be the corrupt ones") {
				t.Error(finding(t, got, "lost").Text)
			}
			if t.Failed() {
				t.Fatalf("byte %d of %d", at, size)
			}
		}
	}
}

// A bad checksum is foreign only on a queue that no message of the run reaches.
func TestCorruptOnAQueueOfOthers(t *testing.T) {
	m := plan(1, 2)
	m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "theirs", Type: "classic"})
	m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: 1, Consumed: true, Drained: true})
	m.Consumers[1].Queues = []int{1}
	r := record(t, m)
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	r.receive(0, 0, 0, 2*ms, 0)
	r.deliver(1, 2*ms, event.Delivery{Queue: 1, Body: event.Corrupt, Producer: 77, Seq: 3, Tag: 5, Due: event.None})
	r.deliver(1, 2*ms, event.Delivery{Queue: 1, Body: event.Unstamped, Due: event.None})
	r.ackAll(0, 3*ms)
	r.ackAll(1, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "foreign")
	checkCounts(t, got.Counts, result.Counts{Sent: 1, Confirmed: 1, Received: 3, ReceivedUnique: 1, Foreign: 2})
}

// Everything that the embedded broker can do to messages, together.
func TestFaultsTogether(t *testing.T) {
	r := record(t, plan(1, 1))
	const n = 20_000
	r.send(0, 0, n, 0)
	r.ack(0, 0, n, ms)
	for i := uint64(0); i < n; i++ {
		switch {
		case i >= 1000 && i < 8000 && i%1000 == 0: // 7 dropped
			continue
		case i > 10_000 && i <= 10_005: // 5 duplicated
			r.receive(0, 0, 0, 2*ms, i)
		case i >= 12_000 && i < 12_003: // 3 corrupt, identity whole
			r.deliver(0, 2*ms, event.Delivery{Tag: 7, Seq: i, Body: event.Corrupt, Due: event.None})
			continue
		case i == 15_000 || i == 16_000: // 2 reordered: delivered after the next one
			r.receive(0, 0, 0, 2*ms, i+1, i)
			i++
			continue
		}
		r.receive(0, 0, 0, 2*ms, i)
	}
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "lost", "duplicate", "corrupt", "out_of_order")
	checkCounts(t, got.Counts, result.Counts{Sent: n, Confirmed: n, Received: n - 7 + 5, ReceivedUnique: n - 7 - 3,
		Missing: 7, Lost: 7, Duplicates: 5, Corrupt: 3, OutOfOrder: 2})
	for code, seq := range map[string]int64{"lost": 1000, "duplicate": 10_001, "corrupt": 12_000, "out_of_order": 15_000} {
		f := finding(t, got, code)
		if f.First[0].Sequence != seq || f.First[0].SentNS == nil || *f.First[0].SentNS != epoch || f.First[0].DueNS != nil {
			t.Errorf("%s: first is %+v", code, f.First[0])
		}
		if (f.First[0].ReceivedNS == nil) != (code == "lost") {
			t.Errorf("%s: received %v", code, f.First[0].ReceivedNS)
		}
	}
}

// What a message that did not arrive is called.
func TestNamesOfAbsence(t *testing.T) {
	arg := func(key string, v any) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: key, Value: v}}
		}
	}
	type change = func(*manifest.Manifest)
	failed := manifest.Failure{AtNS: epoch, Consumer: ptr(0), Text: "gone"}
	tests := []struct {
		name     string
		change   change
		unacked  bool
		want     result.Counts
		verdict  result.Verdict
		findings []string
	}{
		{"lost", func(*manifest.Manifest) {}, false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost"}},
		{"never confirmed", func(*manifest.Manifest) {}, true, result.Counts{Missing: 1, MissingUnconfirmed: 1, Unconfirmed: 1}, result.Inconclusive, []string{"missing_unconfirmed", "unconfirmed_at_stop"}},
		{"without confirms", func(m *manifest.Manifest) { m.Producers[0].Confirm = 0 }, true, result.Counts{Missing: 1}, result.Inconclusive, []string{"missing"}},
		{"TTL", arg("x-message-ttl", int64(1000)), false, result.Counts{Missing: 1, RemovedByRule: 1}, result.Pass, []string{"removed_by_rule"}},
		{"TTL, never confirmed", arg("x-message-ttl", int64(1000)), true, result.Counts{Missing: 1, RemovedByRule: 1, Unconfirmed: 1}, result.Pass, []string{"removed_by_rule", "unconfirmed_at_stop"}},
		{"length in bytes", arg("x-max-length-bytes", int64(1000)), false, result.Counts{Missing: 1, RemovedByRule: 1}, result.Pass, []string{"removed_by_rule"}},
		{"a limit that refuses does not remove", func(m *manifest.Manifest) {
			m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}, {Key: "x-overflow", Value: "reject-publish"}}
		}, false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost"}},
		{"a delivery limit explains nothing where nothing was redelivered", arg("x-delivery-limit", int64(2)), false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost"}},
		{"auto-delete explains nothing while a consumer is there", func(m *manifest.Manifest) { m.Topology.Queues[0].AutoDelete = true }, false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost"}},
		{"auto-delete, all consumers gone early", func(m *manifest.Manifest) {
			m.Topology.Queues[0].AutoDelete = true
			m.Outcome.Failures = []manifest.Failure{failed}
		}, false, result.Counts{Missing: 1, RemovedByRule: 1}, result.Inconclusive, []string{"removed_by_rule", "ended_early"}},
		{"quorum queue with a consumer lost", func(m *manifest.Manifest) {
			m.Broker.Version = "4.0.5"
			m.Topology.Queues[0].Type = "quorum"
			m.Outcome.Failures = []manifest.Failure{failed}
		}, false, result.Counts{Missing: 1, RemovedByRule: 1}, result.Inconclusive, []string{"removed_by_rule", "ended_early"}},
		{"quorum queue with a consumer lost, before there was a default limit", func(m *manifest.Manifest) {
			m.Topology.Queues[0].Type = "quorum"
			m.Outcome.Failures = []manifest.Failure{failed}
		}, false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost", "ended_early"}},
		{"queues unknown", func(m *manifest.Manifest) { m.Topology.Predeclared = true; m.Topology.Routes[0].Known = false }, false, result.Counts{}, result.Inconclusive, []string{"expected_queues_unknown"}},
		{"not drained, automatic acks (C084)", func(m *manifest.Manifest) {
			m.Consumers[0].AutoAck = true
			m.Outcome.Drained, m.Outcome.Queues[0].Drained = false, false
		}, false, result.Counts{DiscardedAtStop: 1}, result.Inconclusive, []string{"not_drained"}},
		{"not drained, nothing known of the queue", func(m *manifest.Manifest) {
			m.Outcome.Drained, m.Outcome.Queues = false, nil
		}, false, result.Counts{QueuedAtStop: 1}, result.Inconclusive, []string{"not_drained"}},
		{"drained as a whole", func(m *manifest.Manifest) { m.Outcome.Queues = nil }, false, result.Counts{Missing: 1, Lost: 1}, result.Fail, []string{"lost"}},
		{"unacked", func(m *manifest.Manifest) {
			m.Outcome.Drained, m.Outcome.Queues[0].Drained, m.Outcome.Queues[0].UnackedAtStop = false, false, 3
		}, false, result.Counts{QueuedAtStop: 1, UnackedAtStop: 3}, result.Inconclusive, []string{"not_drained"}},
	}
	for _, tt := range tests {
		m := plan(1, 1)
		tt.change(m)
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 7, ms)
		r.ack(0, 8, 2, ms)
		if !tt.unacked {
			r.ack(0, 7, 1, ms)
		}
		if m.Producers[0].Confirm == 0 { // no answers then
			r = record(t, m)
			m.Outcome.Sent, m.Outcome.Confirmed = 0, 0
			r.send(0, 0, 10, 0)
		}
		r.receive(0, 0, 0, 2*ms, seqs(0, 6)...)
		r.receive(0, 0, 0, 2*ms, 8, 9)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		tt.want.Sent, tt.want.Received, tt.want.ReceivedUnique = 10, 9, 9
		if m.Producers[0].Confirm > 0 {
			tt.want.Confirmed = 10 - tt.want.Unconfirmed
		}
		checkCounts(t, got.Counts, tt.want)
		checkVerdict(t, got, tt.verdict, tt.findings...)
		if t.Failed() {
			t.Fatal(tt.name)
		}
	}
}

// A repeat with the redelivered flag is legal, unless the first delivery was its own ack.
func TestRedeliveries(t *testing.T) {
	for _, automatic := range []bool{false, true} {
		m := plan(1, 1)
		m.Consumers[0].AutoAck = automatic
		r := record(t, m)
		r.send(0, 0, 3, 0)
		r.ack(0, 0, 3, ms)
		r.receive(0, 0, 0, 2*ms, 0, 1, 2)
		r.deliver(0, 3*ms, event.Delivery{Tag: 7, Seq: 1, Body: event.Intact, Redelivered: true, Due: event.None})
		r.ackAll(0, 4*ms)
		got := analyzed(t, r.close())
		want := result.Counts{Sent: 3, Confirmed: 3, Received: 4, ReceivedUnique: 3, Redelivered: 1}
		if automatic {
			want.Duplicates = 1
			checkVerdict(t, got, result.Fail, "redelivered", "duplicate")
		} else {
			checkVerdict(t, got, result.Pass, "redelivered")
		}
		checkCounts(t, got.Counts, want)
	}
}

// A queue that nobody consumed: what the broker counted in it is queued; where that is less, nobody knows why.
func TestQueueWithoutConsumer(t *testing.T) {
	m := plan(1, 0)
	m.Topology.Queues[0].ReadyAtStart = ptr(int64(5))
	m.Outcome.Queues[0].Ready = ptr(int64(12))
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge", "unaccounted")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, QueuedAtStop: 7})
	if f := finding(t, got, "unaccounted"); f.Count != 3 {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(got.LatencyNote, "no consumers were recorded") || got.Latency.Delivery.Service != nil {
		t.Error(got.LatencyNote)
	}
}

// The record does not agree with what the engine counted itself: the recorder has lost rows.
func TestRowsAgainstCounters(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 8)...)
	r.ackAll(0, 3*ms)
	r.m.Outcome.Received++
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "recorder_lost_rows")
	// The tenth message is not called lost: its row may be the one that is missing.
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 9, ReceivedUnique: 9})
	if f := finding(t, got, "recorder_lost_rows"); f.Count != 1 || !strings.Contains(f.Text, "received 10, rows say 9") {
		t.Errorf("%+v", f)
	}
}

// What connections go through is told with its length.
func TestConnectionStates(t *testing.T) {
	m := plan(1, 1)
	m.Broker.Embedded = true
	m.Broker.TLSVerified = ptr(false)
	m.Outcome.Interrupted = true
	m.Notes = []string{"a note of the run"}
	r := record(t, m)
	state := func(conn uint32, s event.ConnectionState, at int64, consumer uint32, text string) {
		r.w.Connection(&event.Connection{At: epoch + at, Connection: conn, State: s, Producer: event.NoLane, Consumer: consumer, Text: text})
	}
	state(0, event.Open, 0, event.NoLane, "")
	state(1, event.Open, 0, event.NoLane, "")
	state(0, event.Blocked, 100*ms, event.NoLane, "low on memory")
	state(0, event.Open, 350*ms, event.NoLane, "")
	state(1, event.ConsumerCancelled, 400*ms, 0, "")
	state(1, event.Lost, 500*ms, event.NoLane, "reset by peer")
	// All has been received by then: that the broker did not answer the closing changes nothing.
	state(0, event.Closing, m.Outcome.DrainEndNS-epoch, event.NoLane, "")
	state(0, event.Lost, m.Outcome.DrainEndNS-epoch+ms, event.NoLane, "no connection.close-ok")
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	r.receive(0, 0, 0, 2*ms, 0)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "blocked", "ended_early", "embedded_broker", "tls_not_verified", "interrupted")
	if f := finding(t, got, "blocked"); f.Count != 1 || !strings.Contains(f.Text, "0.250 s in all over the connections: low on memory") {
		t.Errorf("%+v", f)
	}
	if f := finding(t, got, "ended_early"); f.Count != 2 || !strings.Contains(f.Text, "consumer 0: consumer cancelled") || !strings.Contains(f.Text, "connection 1: lost reset by peer") {
		t.Errorf("%+v", f)
	}
	want := []result.Span{
		{FromNS: epoch + 100*ms, ToNS: epoch + 350*ms, Kind: "blocked", Text: "connection 0: low on memory"},
		{FromNS: epoch + 500*ms, ToNS: epoch + 1000*ms, Kind: "lost", Text: "connection 1: reset by peer"},
	}
	if len(got.Spans) != 2 || got.Spans[0] != want[0] || got.Spans[1] != want[1] {
		t.Errorf("%+v", got.Spans)
	}
	if len(got.Notes) != 1 || got.Notes[0] != "a note of the run" || !got.Broker.Embedded {
		t.Errorf("%q", got.Notes)
	}
}

// C030: less load than was asked for.
func TestC030GeneratorLimit(t *testing.T) {
	m := plan(2, 0)
	m.Topology.Queues, m.Topology.Routes[0].Queues, m.Outcome.Queues = nil, nil, nil
	for i := range m.Producers {
		m.Producers[i].Rate = manifest.Rate{Messages: 100, PerNS: 1000 * ms}
	}
	m.Producers[1].Limit = 50 // it has sent all it was asked for
	r := record(t, m)
	for i := range uint64(80) {
		r.send(0, i, 1, int64(i)*12*ms, int64(i)*10*ms)
	}
	for i := range uint64(50) {
		r.send(1, i, 1, int64(i)*10*ms, int64(i)*10*ms)
	}
	for i := range uint64(20) {
		r.leaveUnsent(0, 80+i, int64(80+i)*10*ms)
	}
	got := analyzed(t, r.close())
	f := finding(t, got, "generator_limit")
	if !strings.Contains(f.Text, "target 150 msg/s, achieved 130 msg/s") {
		t.Error(f.Text)
	}
	if !got.Config.OpenLoop || *got.Config.RateTotal != 200 {
		t.Errorf("%+v", got.Config)
	}
}

// The examples of a finding are found again when their times were given up long before.
func TestExamplesOfFinishedMessages(t *testing.T) {
	r := record(t, plan(1, 1))
	for i := range uint64(20) {
		r.send(0, i*100, 100, int64(i)*10*ms)
		r.ack(0, i*100, 100, int64(i)*10*ms+ms)
		r.receive(0, 0, 0, int64(i)*10*ms+2*ms, seqs(i*100, i*100+99)...)
	}
	r.receive(0, 0, 0, 900*ms, 150)
	r.ackAll(0, 950*ms)
	got := analyzed(t, r.close())
	f := finding(t, got, "duplicate")
	if f.First[0].Sequence != 150 || f.First[0].SentNS == nil || *f.First[0].SentNS != epoch+10*ms || *f.First[0].ReceivedNS != epoch+900*ms || *f.First[0].Consumer != 0 {
		t.Errorf("%+v", f.First[0])
	}
}

// Two captures that stamp with one tag cannot be told apart, and the report says so.
func TestTagClash(t *testing.T) {
	a, b := record(t, plan(1, 1)), record(t, plan(1, 1))
	for _, r := range []*recording{a, b} {
		r.send(0, 0, 1, 0)
		r.ack(0, 0, 1, ms)
		r.receive(0, 0, 0, 2*ms, 0)
		r.ackAll(0, 3*ms)
	}
	got := analyzed(t, a.close(), b.close())
	if f := finding(t, got, "tag_clash"); f.Severity != result.SeverityInconclusive {
		t.Errorf("%+v", f)
	}
}

// Findings of different weight: the worst stand first.
func TestWorstFirst(t *testing.T) {
	m := plan(1, 1)
	m.Outcome.Interrupted = true
	m.Outcome.Failures = []manifest.Failure{{Text: "x"}}
	r := record(t, m)
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 2*ms, 0, 0)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	var order []string
	for _, f := range got.Findings {
		order = append(order, fmt.Sprintf("%s %s", f.Severity, f.Code))
	}
	want := "fail lost, fail duplicate, inconclusive ended_early, warning interrupted, note closed_loop"
	if s := strings.Join(order, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// A stream gives every subscription all messages, from the first one it got.
func TestStreamSubscriptions(t *testing.T) {
	m := plan(1, 3)
	m.Topology.Queues[0].Type = "stream"
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	r.receive(1, 0, 0, 2*ms, 4, 5, 7, 8, 9) // joined late, and 6 is missing
	// the third got nothing: nothing says from where on it should have
	r.ackAll(0, 3*ms)
	r.ackAll(1, 3*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "lost", "subscription_empty")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 15, ReceivedUnique: 15, Missing: 1, Lost: 1})
	if f := finding(t, got, "lost"); f.First[0].Sequence != 6 {
		t.Errorf("%+v", f)
	}
}

// What is missing from a queue that was there before may have been removed by rules that nobody knows of.
func TestMissingFromAQueueThatWasFound(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Predeclared, m.Topology.Queues[0].Declare = true, false
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 8)...)
	r.ackAll(0, 3*ms)
	dir := r.close()
	got := analyzed(t, dir)
	checkVerdict(t, got, result.Inconclusive, "missing")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 9, ReceivedUnique: 9, Missing: 1})
	if rows, _ := exported(t, All(RowsMessages), Options{}, dir); rows.rows[9]["seq"] != int64(9) || rows.rows[9]["integrity"] != "missing" {
		t.Errorf("%v", rows.rows[9])
	}
}

// A stream without a subscription has its messages all the same: they are not unroutable.
func TestStreamThatNobodyReads(t *testing.T) {
	m := plan(1, 0)
	m.Topology.Queues[0].Type = "stream"
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Inconclusive, "nothing_to_judge")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, QueuedAtStop: 10})
}

// Producers of several captures are told apart by their tags, queues are one where they have one name.
func TestSeveralProducingCaptures(t *testing.T) {
	a, b := plan(1, 0), plan(1, 1)
	b.ID, b.Tag = "b", 9
	b.ClockStart.BootID, b.ClockStart.MonotonicNS = "host", 5
	a.ClockStart.BootID, a.ClockStart.MonotonicNS = "host", 5
	ra, rb := record(t, a), record(t, b)
	ra.send(0, 0, 5, 0)
	ra.ack(0, 0, 5, ms)
	rb.send(0, 0, 5, 0)
	rb.ack(0, 0, 5, ms)
	for i := range uint64(5) {
		rb.receive(0, 0, 0, 2*ms, i)
		if i != 3 {
			rb.deliver(0, 2*ms, event.Delivery{Tag: 7, Seq: i, Body: event.Intact, Due: event.None})
		}
	}
	rb.ackAll(0, 3*ms)
	got := analyzed(t, ra.close(), rb.close())
	checkVerdict(t, got, result.Fail, "lost")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 9, ReceivedUnique: 9, Missing: 1, Lost: 1})
	if len(got.Queues) != 1 || got.Config.Producers != 2 || got.Config.Queues != 1 {
		t.Errorf("%+v %+v", got.Queues, got.Config)
	}
	alone := analyzed(t, rb.dir)
	checkVerdict(t, alone, result.Pass, "foreign")
	if alone.Counts.Foreign != 4 {
		t.Errorf("%+v", alone.Counts)
	}
}

// A queue with a length limit is deleted in the run: the broker cancels its consumer, and that is named before the limit.
func TestCancelledConsumerIsNamedBeforeRules(t *testing.T) {
	for _, x := range []struct {
		queue string // whose consumer is cancelled
		want  bool
	}{
		{"q", true},
		{"other", false},
	} {
		m := plan(1, 1)
		m.Topology.Queues[0].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}}
		m.Outcome.Drained, m.Outcome.Queues[0].Drained, m.Outcome.Queues[0].Ready = false, false, nil
		m.Outcome.Failures = []manifest.Failure{{AtNS: epoch + 500*ms, Consumer: ptr(0), Text: "the broker cancelled the consumer of queue " + x.queue}}
		r := record(t, m)
		r.send(0, 0, 10, 0)
		r.ack(0, 0, 10, ms)
		r.receive(0, 0, 0, 2*ms, seqs(0, 8)...)
		r.ackAll(0, 3*ms)
		r.w.Connection(&event.Connection{At: epoch + 500*ms, Connection: 1, State: event.ConsumerCancelled, Producer: event.NoLane, Consumer: 0,
			Text: "the broker cancelled the consumer of queue " + x.queue})
		text := finding(t, analyzed(t, r.close()), "removed_by_rule").Text
		cancelled, limit := strings.Index(text, "the broker cancelled a consumer of it 0.500 s after the start, as it does when a queue is deleted; else"), strings.Index(text, "x-max-length=10")
		if limit < 0 || x.want != (cancelled >= 0) || cancelled > limit {
			t.Errorf("%s: %s", x.queue, text)
		}
	}
}

// Where that could not be proved, it is said why; a record of before that was asked for says nothing.
func TestNotProvedToHaveArrived(t *testing.T) {
	for _, note := range []string{"", "producer 0: it could not be proved in time that its messages have arrived"} {
		m := plan(1, 0)
		m.Producers[0].Confirm = 0
		m.Outcome.Drained, m.Outcome.DrainNote = note == "", note
		m.Outcome.Queues[0].Ready = ptr(int64(20))
		r := record(t, m)
		r.send(0, 0, 20, 0)
		got := analyzed(t, r.close())
		if note == "" {
			checkVerdict(t, got, result.Inconclusive, "nothing_to_judge")
			continue
		}
		checkVerdict(t, got, result.Inconclusive, "nothing_to_judge", "arrived_late")
		if text := finding(t, got, "arrived_late").Text; !strings.HasSuffix(text, "it is not known when the broker had taken all of them: "+note) {
			t.Error(text)
		}
	}
}

// Twenty messages without confirms in a second, and the broker has them all after four: it took five a second.
func TestArrivedLate(t *testing.T) {
	for _, x := range []struct {
		arrived int64 // milliseconds after the start
		confirm int
		rate    float64
		late    bool
	}{{4000, 0, 5, true}, {2000, 0, 10, true}, {1999, 0, 20 / 1.999, false}, {4000, 100, 0, false}, {0, 0, 0, false}} {
		m := plan(1, 0)
		m.Producers[0].Confirm = x.confirm
		m.Outcome.DrainEndNS = epoch + 5000*ms
		if x.arrived > 0 {
			m.Outcome.ArrivedNS = ptr(epoch + x.arrived*ms)
		}
		m.Outcome.Queues[0].Ready = ptr(int64(20))
		r := record(t, m)
		r.send(0, 0, 20, 0)
		if x.confirm > 0 {
			r.ack(0, 0, 20, ms)
		}
		got := analyzed(t, r.close())
		codes := []string{"nothing_to_judge"}
		if x.late {
			codes = append(codes, "arrived_late")
		}
		checkVerdict(t, got, result.Inconclusive, codes...)
		if x.rate == 0 {
			if got.Rates.Arrived != nil || got.Rates.ArrivedNS != nil {
				t.Errorf("%+v: %v in %v", x, *got.Rates.Arrived, *got.Rates.ArrivedNS)
			}
			continue
		}
		if math.Abs(*got.Rates.Arrived-x.rate) > 1e-9 || *got.Rates.ArrivedNS != x.arrived*ms {
			t.Errorf("%+v: %v in %v", x, *got.Rates.Arrived, *got.Rates.ArrivedNS)
		}
		if x.rate == 5 {
			if text := finding(t, got, "arrived_late").Text; !strings.Contains(text, "only 3.000 s after publishing stopped") || !strings.Contains(text, "5 a second") {
				t.Error(text)
			}
		}
	}
}
