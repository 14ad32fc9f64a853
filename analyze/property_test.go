package analyze

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Random histories, recorded and analyzed: every count and every percentile as the reference has them.
func TestAgainstReference(t *testing.T) {
	for seed := range uint64(recordedHistories) {
		h := randomHistory(seed)
		want := judgeByReference(h)
		got, err := Run(t.Context(), []string{h.record(record(t, h.m))}, Options{Tmp: t.TempDir(), By: []string{ByProducer, ByQueue, ByConsumer, BySize, ByPriority}})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Complete {
			t.Fatalf("seed %d: not complete: %+v", seed, got.Findings)
		}
		compare(t, fmt.Sprintf("seed %d", seed), got, want)
		compareMembers(t, fmt.Sprintf("seed %d", seed), got, want)
		if t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, what string, got *result.Result, want *reference) {
	t.Helper()
	if got.Counts != want.counts {
		t.Errorf("%s: counts\n got %+v\nwant %+v", what, got.Counts, want.counts)
	}
	for q := range want.queues {
		if got.Queues[q].Counts != want.queues[q] {
			t.Errorf("%s: queue %d\n got %+v\nwant %+v", what, q, got.Queues[q].Counts, want.queues[q])
		}
	}
	compareLatencies(t, what, &got.Latency, want)
	checkCurve(t, got)
	fails := want.counts.Lost + want.counts.Duplicates + want.counts.Corrupt + want.counts.OutOfOrder
	if fails > 0 && got.Verdict != result.Fail {
		t.Errorf("%s: %s with %+v", what, got.Verdict, want.counts)
	}
}

func compareLatencies(t *testing.T, what string, got *result.Latencies, want *reference) {
	t.Helper()
	for g, name := range groupNames {
		compareDistribution(t, fmt.Sprintf("%s: %v", what, name), got.Pick(name[0], name[1]), want, g)
	}
}

// compareMembers holds what each producer, queue and consumer has against the reference.
func compareMembers(t *testing.T, what string, got *result.Result, want *reference) {
	t.Helper()
	seen := map[string]bool{}
	sums := map[string]int64{}
	for _, g := range got.Groupings {
		for _, m := range g.Members {
			member := want.members[m.Name]
			if member == nil {
				member = &reference{}
			}
			seen[m.Name] = true
			sums[g.By] += m.Messages
			compareLatencies(t, what+": "+m.Name, &m.Latency, member)
		}
	}
	for name := range want.members {
		if !seen[name] {
			t.Errorf("%s: %s is in no grouping", what, name)
		}
	}
	if c := got.Counts; sums[ByProducer] != c.Sent || sums[BySize] != c.Sent || sums[ByPriority] != c.Sent || sums[ByQueue] != c.Received || sums[ByConsumer] != c.Received {
		t.Errorf("%s: messages by member are %v, of %d sent, %d received", what, sums, c.Sent, c.Received)
	}
}

func compareDistribution(t *testing.T, what string, d *result.Distribution, want *reference, g int) {
	t.Helper()
	values := want.values[g]
	if d == nil {
		if len(values) > 0 || want.censored[g] > 0 {
			t.Errorf("%s: none, want %d values, %d censored", what, len(values), want.censored[g])
		}
		return
	}
	if d.Count != int64(len(values)) || d.Censored != want.censored[g] {
		t.Errorf("%s: %d values, %d censored, want %d, %d", what, d.Count, d.Censored, len(values), want.censored[g])
		return
	}
	for p, v := range map[int64]*int64{50_000: d.P50NS, 75_000: d.P75NS, 95_000: d.P95NS, 99_000: d.P99NS, 99_900: d.P999NS, 99_990: d.P9999NS} {
		if w := want.percentile(g, p); (w == nil) != (v == nil) || w != nil && *w != *v {
			t.Errorf("%s: p%d", what, p)
		}
	}
	if len(values) > 0 && (*d.MinNS != values[0] || *d.MaxNS != values[len(values)-1]) {
		t.Errorf("%s: from %d to %d, want %d to %d", what, *d.MinNS, *d.MaxNS, values[0], values[len(values)-1])
	}
}

// answerLog keeps what the ledger hands out.
type answerLog struct {
	t        *timeline
	values   [groups][]int64
	censored [groups]int64
	backlog  int64
}

func (a *answerLog) take(service int, at, sent, due []int64) {
	for i := range sent {
		from := sent[i]
		if due != nil && due[i] != event.None {
			from = due[i]
		}
		if n, _, _ := a.t.find(from); n < 0 || n >= a.t.run {
			continue
		}
		a.values[service] = append(a.values[service], at[i]-sent[i])
		if due != nil && due[i] != event.None {
			a.values[service+1] = append(a.values[service+1], at[i]-due[i])
		}
	}
}

func (a *answerLog) Confirmed(at, sent, due []int64) { a.take(confirmService, at, sent, due) }
func (a *answerLog) Of(integrity.Party)              {}
func (a *answerLog) Committed(at, sent, due []int64) { a.take(commitService, at, sent, due) }
func (a *answerLog) Delivered(at, sent, due []int64) {
	a.backlog -= int64(len(at))
	a.take(deliveryService, at, sent, due)
}
func (a *answerLog) Expected(at []int64, n int) { a.backlog += int64(len(at) * n) }
func (a *answerLog) miss(service int, sent, due int64) {
	from := sent
	if due != event.None {
		from = due
	}
	if n, _, _ := a.t.find(from); n < 0 || n >= a.t.run {
		return
	}
	a.censored[service]++
	if due != event.None {
		a.censored[service+1]++
	}
}
func (a *answerLog) Unconfirmed(sent, due int64) { a.miss(confirmService, sent, due) }
func (a *answerLog) Uncommitted(sent, due int64) { a.miss(commitService, sent, due) }
func (a *answerLog) Undelivered(sent, due int64) { a.miss(deliveryService, sent, due) }
func (a *answerLog) Unsent(due int64, answer integrity.Answer, queues int) {
	if n, _, _ := a.t.find(due); n < 0 || n >= a.t.run {
		return
	}
	switch answer {
	case integrity.AwaitsConfirm:
		a.censored[confirmResponse]++
	case integrity.AwaitsCommit:
		a.censored[commitResponse]++
	}
	a.censored[deliveryResponse] += int64(queues)
}

// The same histories shown to the ledger in any order that keeps the order within each kind: cut into chunks, answers
// before their sends, and with so little memory that times go to the temporary file and back.
func TestLedgerInAnyOrder(t *testing.T) {
	spilled := 0
	for seed := range uint64(shownHistories) {
		h := randomHistory(seed)
		want := judgeByReference(h)
		rng := rand.New(rand.NewPCG(seed, 5))
		tl, err := newTimeline(h.m.Outcome.BarrierNS, h.m.Outcome.PublishStopNS, h.m.Outcome.DrainEndNS, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		log := &answerLog{t: tl}
		producers := 1 + rng.IntN(2)*5000 // both sizes of pages
		l := integrity.NewLedger(integrity.NewExpected([]*manifest.Manifest{h.m}, []uint16{h.m.Tag}), log,
			integrity.Options{MemoryBytes: 1, Tmp: t.TempDir(), Producers: producers, Examples: DefaultFindings})
		h.show(l, rng)
		f := &integrity.Facts{DeliveriesWhole: true, SendsWhole: true, PublishStopNS: h.m.Outcome.PublishStopNS, Purges: h.purges}
		l.Finish(f)
		j := l.Judge(f)
		if l.SpilledBytes() > 0 {
			spilled++
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if j.Counts != want.counts {
			t.Errorf("seed %d: counts\n got %+v\nwant %+v", seed, j.Counts, want.counts)
		}
		for g := range log.values {
			slices.Sort(log.values[g])
			if !slices.Equal(log.values[g], want.values[g]) || log.censored[g] != want.censored[g] {
				t.Errorf("seed %d: %v: %d values, %d censored, want %d, %d", seed, groupNames[g], len(log.values[g]), log.censored[g], len(want.values[g]), want.censored[g])
			}
		}
		if t.Failed() {
			return
		}
	}
	if spilled == 0 {
		t.Error("nothing went to the temporary file: this tests less than it says")
	}
}

// show gives the ledger the rows of a history in chunks of random sizes.
func (h *history) show(l *integrity.Ledger, rng *rand.Rand) {
	sends, settlements, deliveries := h.sends, h.settlements, h.deliveries
	for len(sends)+len(settlements)+len(deliveries) > 0 {
		switch n := 1 + rng.IntN(40); rng.IntN(3) {
		case 0:
			k := min(n, len(sends))
			l.Sends(sendRows(sends[:k]))
			sends = sends[k:]
		case 1:
			k := min(n, len(settlements))
			l.Settlements(settlementRows(settlements[:k]))
			settlements = settlements[k:]
		case 2:
			k := min(n, len(deliveries))
			l.Deliveries(deliveryRows(deliveries[:k]))
			deliveries = deliveries[k:]
		}
	}
}

func sendRows(es []sendEvent) *integrity.SendRows {
	r := &integrity.SendRows{}
	for _, e := range es {
		r.Producer, r.Seq, r.Route = append(r.Producer, uint16(e.producer)), append(r.Seq, e.seq), append(r.Route, uint16(e.route))
		r.Sent, r.Due = append(r.Sent, e.at), append(r.Due, e.due)
	}
	return r
}

func settlementRows(es []settleEvent) *integrity.SettlementRows {
	r := &integrity.SettlementRows{}
	for _, e := range es {
		r.Producer, r.Seq = append(r.Producer, uint16(e.producer)), append(r.Seq, e.seq)
		r.Kind, r.At = append(r.Kind, uint8(e.kind)), append(r.At, e.at)
	}
	return r
}

func deliveryRows(es []deliveryEvent) *integrity.DeliveryRows {
	r := &integrity.DeliveryRows{}
	for _, e := range es {
		r.Consumer, r.Queue, r.Tag = append(r.Consumer, uint16(e.consumer)), append(r.Queue, e.d.Queue), append(r.Tag, e.d.Tag)
		r.Producer, r.Seq, r.Received = append(r.Producer, e.d.Producer), append(r.Seq, e.d.Seq), append(r.Received, e.at)
		flag := uint8(0)
		if e.d.Redelivered {
			flag = 1
		}
		r.Body, r.Redelivered = append(r.Body, uint8(e.d.Body)), append(r.Redelivered, flag)
	}
	return r
}
