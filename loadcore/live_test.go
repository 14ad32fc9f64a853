package loadcore

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

const ms = int64(time.Millisecond)

// liveOf is a Live of so many lanes before anything has happened.
func liveOf(producers, consumers int) *Live {
	plan := oneQueue(Endpoint{}, "q", make([]manifest.Producer, producers), make([]manifest.Consumer, consumers))
	return NewLive(plan, NoRecord{})
}

func wrote(l *Live, producer uint16, first uint64, n int, sent int64) {
	l.Sends(&event.Sends{Producer: producer, First: first, N: n, Sent: sent, Written: sent})
}

// arrived delivers intact messages of the run itself.
func arrived(l *Live, consumer, producer uint16, at int64, seqs ...uint64) {
	d := event.Deliveries{Consumer: consumer, At: at}
	for _, seq := range seqs {
		d.Rows = append(d.Rows, event.Delivery{Seq: seq, Producer: producer, Tag: l.tag, Body: event.Intact, Due: event.None})
	}
	l.Deliveries(&d)
}

func acked(l *Live, producer uint16, at int64, runs ...event.SettledRun) {
	for i := range runs {
		if runs[i].Kind == 0 {
			runs[i].Kind = event.Ack
		}
		if runs[i].FrameMessages == 0 && runs[i].Kind != event.Return {
			runs[i].FrameMessages = runs[i].N
		}
	}
	l.Settlements(&event.Settlements{Producer: producer, At: at, Runs: runs})
}

// near allows what the histogram does: at most 0.1 %, or 512 ns, too much.
func near(got, want int64) bool { return got >= want && got-want <= max(want/1000, 512) }

// check compares a distribution with its exact values: count, least, the percentiles 50, 75, 95, 99, and greatest.
func check(t *testing.T, what string, q LiveLatency, count int64, values ...int64) {
	t.Helper()
	if q.Count != count || q.MinNS != values[0] || !near(q.P50NS, values[1]) || !near(q.P75NS, values[2]) ||
		!near(q.P95NS, values[3]) || !near(q.P99NS, values[4]) || q.MaxNS != values[5] {
		t.Errorf("%s: %+v, want %d of %v", what, q, count, values)
	}
}

// W19: sends at 0, 1, 2 and 3 ms, and one multiple ack for all of them at 5 ms: 5, 4, 3 and 2 ms.
func TestLiveConfirmLatencyOfAMultipleAck(t *testing.T) {
	l := liveOf(1, 1)
	for i := range uint64(4) {
		wrote(l, 0, i, 1, int64(i)*ms)
	}
	acked(l, 0, 5*ms, event.SettledRun{First: 0, N: 4})
	f := l.Interval()
	check(t, "confirm", f.Confirm, 4, 2*ms, 3*ms, 4*ms, 5*ms, 5*ms, 5*ms)
	if f.Confirm.SumNS != float64(14*ms) || f.Sent != 4 || f.Confirmed != 4 || f.Delivery.Count != 0 {
		t.Errorf("%+v", f)
	}
	if want := (LiveFrames{Count: 1, Messages: 4, P50: 4, P75: 4, P95: 4, P99: 4, Max: 4}); f.ConfirmFrames != want {
		t.Errorf("frames %+v, want %+v", f.ConfirmFrames, want)
	}
}

// A thousand messages of 1 to 1000 ms: percentile p is 10 p ms.
func TestLivePercentilesAreAtTheNearestRank(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 1000, 0)
	for i := range uint64(1000) {
		arrived(l, 0, 0, int64(i*7919%1000+1)*ms, i)
	}
	check(t, "delivery", l.Interval().Delivery, 1000, ms, 500*ms, 750*ms, 950*ms, 990*ms, 1000*ms)

	wrote(l, 0, 1000, 7, 0) // ceil(0.75*7) = 6
	for i := range uint64(7) {
		arrived(l, 0, 0, int64(i+1)*ms, 1000+i)
	}
	check(t, "seven", l.Interval().Delivery, 7, ms, 4*ms, 6*ms, 7*ms, 7*ms, 7*ms)
}

// Nacks and returns are counted and have no latency; nor has what others sent, what is damaged, or what comes again.
func TestLiveMeasuresOnlyAnswersToItsOwnMessages(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 10, ms)
	acked(l, 0, 3*ms, event.SettledRun{First: 0, N: 2, Kind: event.Nack}, event.SettledRun{First: 3, N: 1, Kind: event.Return},
		event.SettledRun{First: 4, N: 2, Kind: event.Commit}, event.SettledRun{First: 2, N: 1})
	mine := event.Delivery{Seq: 5, Tag: l.tag, Body: event.Intact, Due: event.None}
	foreign, damaged, again, nobody := mine, mine, mine, mine
	foreign.Tag++
	damaged.Body = event.Corrupt
	again.Redelivered = true
	nobody.Producer = 1
	l.Deliveries(&event.Deliveries{At: 9 * ms, Rows: []event.Delivery{foreign, damaged, mine, again, nobody}})
	f := l.Interval()
	if f.Nacked != 2 || f.Returned != 1 || f.Committed != 2 || f.Confirmed != 1 || f.Received != 5 {
		t.Errorf("%+v", f)
	}
	check(t, "confirm", f.Confirm, 3, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms)
	check(t, "delivery", f.Delivery, 1, 8*ms, 8*ms, 8*ms, 8*ms, 8*ms, 8*ms)
	if f.ConfirmFrames.Count != 1 {
		t.Errorf("%+v", f.ConfirmFrames)
	}
}

// A batch that was not sent takes its place in the sequence.
func TestLiveBatchesThatWereNotSent(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 2, ms)
	wrote(l, 0, 2, 3, event.None)
	wrote(l, 0, 5, 1, 4*ms)
	arrived(l, 0, 0, 6*ms, 0, 1, 5)
	f := l.Interval()
	check(t, "delivery", f.Delivery, 3, 2*ms, 5*ms, 5*ms, 5*ms, 5*ms, 5*ms)
	if f.Sent != 3 {
		t.Errorf("%d sent", f.Sent)
	}
}

// Messages 4 to 6 are in doubt and sent again at 50 ms: each was sent once, and its latencies count from the first time, as in the
// record. What was sent meanwhile keeps its own.
func TestLiveMessagesThatAreSentAgain(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 4, 1*ms)
	wrote(l, 0, 4, 3, 2*ms)
	wrote(l, 0, 7, 1, 3*ms)
	wrote(l, 0, 4, 3, 50*ms)
	arrived(l, 0, 0, 53*ms, 7)
	acked(l, 0, 60*ms, event.SettledRun{First: 4, N: 3})
	wrote(l, 0, 8, 1, 61*ms)
	f := l.Interval()
	check(t, "confirm", f.Confirm, 3, 58*ms, 58*ms, 58*ms, 58*ms, 58*ms, 58*ms)
	check(t, "delivery", f.Delivery, 1, 50*ms, 50*ms, 50*ms, 50*ms, 50*ms, 50*ms)
	if f.Sent != 9 {
		t.Errorf("%d sent, want 9", f.Sent)
	}
}

// A broker may answer before the write call has returned, and so before the batch is recorded: such messages are counted when
// their latency is.
func TestLiveAnswersBeforeTheBatchIsRecorded(t *testing.T) {
	l := liveOf(1, 2)
	arrived(l, 0, 0, 3*ms, 0, 1)
	acked(l, 0, 4*ms, event.SettledRun{First: 0, N: 4})
	arrived(l, 1, 0, 5*ms, 2)
	if f := l.Interval(); f.Received+f.Confirmed != 0 || f.Delivery != (LiveLatency{}) || f.Confirm.Count != 0 {
		t.Errorf("before: %+v", f)
	}
	wrote(l, 0, 0, 2, 1*ms) // messages 2 and 3 are still to come
	half := l.Interval()
	if half.Received != 2 || half.Confirmed != 2 {
		t.Errorf("half: %+v", half)
	}
	check(t, "delivery", half.Delivery, 2, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms)
	wrote(l, 0, 2, 2, 2*ms)
	f := l.Interval()
	check(t, "delivery", f.Delivery, 1, 3*ms, 3*ms, 3*ms, 3*ms, 3*ms, 3*ms)
	check(t, "confirm", f.Confirm, 2, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms, 2*ms)
	total := l.Total()
	check(t, "all confirms", total.Confirm, 4, 2*ms, 2*ms, 3*ms, 3*ms, 3*ms, 3*ms)
	if total.Delivery.Missed != 0 || total.Delivery.Count != 3 || len(l.producers[0].early) != 0 {
		t.Errorf("%+v", total)
	}
}

// What is overwritten in the ring has no latency, and is counted: a figure without the longest ones would flatter.
func TestLiveCountsWhatWasOverwritten(t *testing.T) {
	l := liveOf(event.MaxProducers, 1) // the smallest rings
	for i := range uint64(liveRunsMin + 2) {
		wrote(l, 7, 2*i, 2, int64(i)*ms)
	}
	arrived(l, 0, 7, 100*ms, 0, 1, 2, 3, 4, 5)
	acked(l, 7, 100*ms, event.SettledRun{First: 3, N: 3})
	f := l.Interval()
	if f.Delivery.Count != 2 || f.Delivery.Missed != 4 || !f.Delivery.Biased() || f.Delivery.MinNS != 98*ms {
		t.Errorf("delivery %+v", f.Delivery)
	}
	if f.Confirm.Count != 2 || f.Confirm.Missed != 1 {
		t.Errorf("confirm %+v", f.Confirm)
	}
	// More early answers than are kept: those beyond have no latency either.
	for i := range uint64(liveRunsMin) {
		arrived(l, 0, 8, int64(i), 2*i)
	}
	if f = l.Interval(); f.Delivery.Missed != liveRunsMin-liveRunsMin/4 {
		t.Errorf("early ones missed: %d", f.Delivery.Missed)
	}
	if size := len(l.producers[7].runs); size != liveRunsMin {
		t.Errorf("%d runs kept", size)
	}
}

func TestLiveRingsAreBounded(t *testing.T) {
	for producers, each := range map[int]uint32{1: liveRunsEach, 16: liveRunsEach, 17: liveRunsEach / 2, 1000: 2048, event.MaxProducers: 32} {
		var p liveProducer
		p.bound(producers)
		if p.most != each || int(p.most)*producers > liveRuns {
			t.Errorf("%d producers: %d runs each, want %d", producers, p.most, each)
		}
	}
}

// A process without producers has only what the bodies say; a message from the future shows that the clocks differ.
func TestLiveOfConsumersAloneCountsFromTheDueTime(t *testing.T) {
	l := liveOf(0, 1)
	row := event.Delivery{Tag: 99, Producer: 3, Body: event.Intact, Due: 10 * ms}
	early, closed := row, row
	early.Due = 30 * ms
	closed.Due = event.None
	l.Deliveries(&event.Deliveries{At: 25 * ms, Rows: []event.Delivery{row, early, closed}})
	f := l.Interval()
	check(t, "delivery", f.Delivery, 1, 15*ms, 15*ms, 15*ms, 15*ms, 15*ms, 15*ms)
	if f.Delivery.Skewed != 1 || !f.Delivery.Biased() || f.Received != 3 || l.Origin() != FromDue || liveOf(1, 0).Origin() != FromSent {
		t.Errorf("%+v", f)
	}
}

// Nine frames: three single acks in a row, one multiple over two runs, a multiple of one, four singles; nacks between them.
func TestLiveCountsConfirmFrames(t *testing.T) {
	l := liveOf(1, 0)
	wrote(l, 0, 0, 100, 0)
	acked(l, 0, ms,
		event.SettledRun{First: 0, N: 3, FrameMessages: 1},
		event.SettledRun{First: 3, N: 2, FrameMessages: 7},
		event.SettledRun{First: 6, N: 5, FrameMessages: 7},
		event.SettledRun{First: 11, N: 4, Kind: event.Nack, FrameMessages: 4},
		event.SettledRun{First: 15, N: 1, FrameMessages: 1},
		event.SettledRun{First: 16, N: 4, FrameMessages: 1})
	if f, want := l.Interval().ConfirmFrames, (LiveFrames{Count: 9, Messages: 15, P50: 1, P75: 1, P95: 7, P99: 7, Max: 7}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}

func TestLiveWatchesAreIndependent(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 4, 0)
	arrived(l, 0, 0, ms, 0)
	w := l.Watch() // from here on
	arrived(l, 0, 0, 2*ms, 1)
	if f := l.Interval(); f.Received != 2 || f.Delivery.Count != 2 || f.Sent != 4 {
		t.Errorf("interval %+v", f)
	}
	arrived(l, 0, 0, 3*ms, 2)
	if f := w.Interval(); f.Received != 2 || f.Delivery.Count != 2 || f.Delivery.MaxNS != 3*ms || f.Sent != 0 || f.SpanNS <= 0 {
		t.Errorf("watch %+v", f)
	}
	if f := w.Interval(); f.Received != 0 || f.Delivery != (LiveLatency{}) {
		t.Errorf("empty watch %+v", f)
	}
	if f := l.Total(); f.Received != 3 || f.Delivery.Count != 3 || f.Sent != 4 {
		t.Errorf("total %+v", f)
	}
	delivery, confirm := l.Buckets([]int64{ms / 2, 5 * ms / 2, 10 * ms})
	if !slices.Equal(delivery.AtMost, []uint64{0, 2, 3}) || delivery.Count != 3 || delivery.SumNS != float64(6*ms) || confirm.Count != 0 {
		t.Errorf("buckets %+v %+v", delivery, confirm)
	}
}

// An hour is the end of the histogram; the greatest is exact beyond it.
func TestLiveLatencyBeyondTheHistogram(t *testing.T) {
	l := liveOf(1, 1)
	wrote(l, 0, 0, 1, 0)
	two := int64(2 * time.Hour)
	arrived(l, 0, 0, two, 0)
	if q := l.Interval().Delivery; q.MaxNS != two || q.Count != 1 || q.P99NS < liveGreatestNS {
		t.Errorf("%+v", q)
	}
}

func TestLiveAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	l := liveOf(2, 1)
	sends := event.Sends{Producer: 1, N: 256}
	settled := event.Settlements{Producer: 1, Runs: []event.SettledRun{{N: 250, Kind: event.Ack, FrameMessages: 250}, {N: 6, Kind: event.Nack, FrameMessages: 6}}}
	received := event.Deliveries{Rows: make([]event.Delivery, 256)}
	batch := func() {
		sends.Sent += ms
		for i := range received.Rows { // half of the deliveries come before the batch is known
			received.Rows[i] = event.Delivery{Seq: sends.First + uint64(i), Producer: 1, Tag: l.tag, Body: event.Intact}
		}
		received.At = sends.Sent + ms/2
		all := received.Rows
		received.Rows = all[:128]
		l.Deliveries(&received)
		l.Sends(&sends)
		received.Rows = all[128:]
		l.Deliveries(&received)
		received.Rows = all
		settled.At = received.At
		settled.Runs[0].First, settled.Runs[1].First = sends.First, sends.First+250
		l.Settlements(&settled)
		sends.First += 256
	}
	if allocs := testing.AllocsPerRun(1000, batch); allocs != 0 {
		t.Errorf("%v allocations a batch", allocs)
	}
	if f := l.Total(); f.Received != 1001*256 || f.Delivery.Count != 1001*256 || f.Delivery.Missed != 0 || f.Confirm.Count != 1001*250 || f.Nacked != 1001*6 {
		t.Errorf("%+v", f)
	}
}

// A whole run, looked at while it goes on: the figures are those of the record, to the histogram's precision.
func TestLiveAgreesWithTheRecord(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 50, Limit: 4000, Batch: 7}, {Size: 12, Confirm: 50, Limit: 4000, Batch: 64}},
		[]manifest.Consumer{{AutoAck: true}, {AckEvery: 10}})
	rec := &memory{}
	live := NewLive(plan, rec)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var looking sync.WaitGroup
	done := make(chan struct{})
	seen := LiveFigures{}
	looking.Go(func() {
		for {
			f := live.Interval()
			seen.count(&f)
			seen.Delivery.Count += f.Delivery.Count
			select {
			case <-done:
				f = live.Interval()
				seen.count(&f)
				seen.Delivery.Count += f.Delivery.Count
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	out, err := Run(ctx, plan, live)
	close(done)
	looking.Wait()
	if err != nil {
		t.Fatal(err)
	}
	total := live.Total()
	if seen.Sent != 8000 || seen.Received != 8000 || seen.Confirmed != 8000 || seen.Delivery.Count != 8000 || out.Sent != 8000 {
		t.Errorf("in intervals %+v, outcome %+v", seen, *out)
	}
	delivery, confirm := exactLatencies(t, rec)
	for _, c := range []struct {
		what  string
		got   LiveLatency
		exact []int64
	}{{"delivery", total.Delivery, delivery}, {"confirm", total.Confirm, confirm}} {
		slices.Sort(c.exact)
		rank := func(p int) int64 { return c.exact[(p*len(c.exact)+99)/100-1] }
		check(t, c.what, c.got, 8000, c.exact[0], rank(50), rank(75), rank(95), rank(99), c.exact[len(c.exact)-1])
		if c.got.Missed != 0 || c.got.Skewed != 0 || math.Abs(c.got.SumNS-sum(c.exact)) > 1 {
			t.Errorf("%s: %+v, want the sum %v", c.what, c.got, sum(c.exact))
		}
	}
}

// exactLatencies joins what was recorded: delivery and confirm latencies of a run in which all was answered once.
func exactLatencies(t *testing.T, rec *memory) (delivery, confirm []int64) {
	t.Helper()
	sent := rec.sent(t)
	for i := range rec.deliveries {
		for _, r := range rec.deliveries[i].Rows {
			delivery = append(delivery, rec.deliveries[i].At-sent[message{r.Producer, r.Seq}].Sent)
		}
	}
	for id, at := range rec.settled(t, event.Ack) {
		confirm = append(confirm, at-sent[id].Sent)
	}
	return delivery, confirm
}

func sum(values []int64) (total float64) {
	for _, v := range values {
		total += float64(v)
	}
	return total
}
