package analyze

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// The same histories as recorded by several processes of one host, whose clocks began apart: the producers by one, the
// consumers by one or two others. The counts are those of all together, in whatever order the captures are given.
func TestRecordedApartAgainstReference(t *testing.T) {
	joined := 0
	for seed := range uint64(recordedHistories) {
		h := randomHistory(seed)
		if len(h.m.Consumers) == 0 {
			continue
		}
		joined++
		want := judgeByReference(h)
		rng := rand.New(rand.NewPCG(seed, 3))
		dirs := h.recordApart(t, 1+rng.IntN(2), rng)
		rng.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		got, err := Run(t.Context(), dirs, Options{Tmp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("seed %d in %d captures", seed, len(dirs))
		if !got.Complete || len(got.Clocks) > 0 {
			t.Fatalf("%s: complete %v, clocks %+v, %+v", what, got.Complete, got.Clocks, got.Findings)
		}
		names := map[string]int{}
		for i := range h.m.Topology.Queues {
			names[h.m.Topology.Queues[i].Name] = i
		}
		if len(dirs) > 2 { // of two deliveries in different files the one that was read first counts for the order
			forgive(t, what, &got.Counts, &want.counts)
			for i := range got.Queues {
				forgive(t, what, &got.Queues[i].Counts, &want.queues[names[got.Queues[i].Queue]])
			}
		}
		if got.Counts != want.counts {
			t.Errorf("%s: counts\n got %+v\nwant %+v", what, got.Counts, want.counts)
		}
		for _, q := range got.Queues {
			if q.Counts != want.queues[names[q.Queue]] {
				t.Errorf("%s: queue %s\n got %+v\nwant %+v", what, q.Queue, q.Counts, want.queues[names[q.Queue]])
			}
		}
		if len(dirs) == 2 {
			compareLatencies(t, what, &got.Latency, want)
		}
		if t.Failed() {
			return
		}
	}
	if joined == 0 {
		t.Error("no history had a consumer")
	}
}

// forgive makes equal what depends on which delivery came first: never is there a duplicate too many.
func forgive(t *testing.T, what string, got, want *result.Counts) {
	t.Helper()
	if got.Duplicates > want.Duplicates || got.Duplicates < want.Duplicates-want.Redelivered {
		t.Errorf("%s: %d duplicates, want %d", what, got.Duplicates, want.Duplicates)
	}
	got.Duplicates, got.OutOfOrder = want.Duplicates, want.OutOfOrder
}

// recordApart makes captures of a history: one of the producers, and some of the consumers, which take turns.
func (h *history) recordApart(t *testing.T, consuming int, rng *rand.Rand) (dirs []string) {
	const far = 0x0ff // tags further apart than damage in a body brings them
	for part := range 1 + consuming {
		ahead := rng.Int64N(1e12) - 5e11 // of this process's clock
		m := h.part(part, consuming)
		m.ID, m.Tag = fmt.Sprint("part ", part), h.m.Tag^uint16(part*far)
		m.ClockStart = event.Snapshot{ClockNS: epoch + ahead, WallNS: epoch + ahead, MonotonicNS: 1e9, BootID: "host"}
		for _, at := range []*int64{&m.Outcome.BarrierNS, &m.Outcome.PublishStopNS, &m.Outcome.DrainEndNS} {
			*at += ahead
		}
		dirs = append(dirs, h.rowsOf(part, consuming, ahead).record(record(t, m)))
	}
	return dirs
}

// taken is which part a consumer is recorded in, and its number there.
func taken(consumer, consuming int) (part, number int) {
	return 1 + consumer%consuming, consumer / consuming
}

// part is the manifest of one of the processes.
func (h *history) part(part, consuming int) *manifest.Manifest {
	m, o := *h.m, *h.m.Outcome
	m.Outcome, m.Producers, m.Consumers, o.Queues = &o, nil, nil, nil
	consumed := map[int]bool{}
	for c := range h.m.Consumers {
		if p, _ := taken(c, consuming); p == part {
			m.Consumers = append(m.Consumers, h.m.Consumers[c])
			consumed[h.m.Consumers[c].Queues[0]] = true
		}
	}
	for _, e := range h.m.Outcome.Queues { // of what nobody consumes, the producers' process knows
		if consumed[e.Queue] || part == 0 && !e.Consumed {
			o.Queues = append(o.Queues, e)
		}
	}
	if part == 0 {
		m.Producers, o.Received = h.m.Producers, 0
		return &m
	}
	m.Topology.Routes = nil
	o = manifest.Outcome{BarrierNS: o.BarrierNS, PublishStopNS: o.BarrierNS, DrainEndNS: o.DrainEndNS, StopReason: o.StopReason, Drained: o.Drained, Queues: o.Queues}
	for _, d := range h.deliveries {
		if p, _ := taken(d.consumer, consuming); p == part {
			o.Received++
		}
	}
	return &m
}

// rowsOf are the events of one of the processes, by its clock.
func (h *history) rowsOf(part, consuming int, ahead int64) *history {
	x := &history{m: h.m}
	if part == 0 {
		for _, s := range h.sends {
			if s.at != event.None {
				s.at += ahead
			}
			if s.due != event.None {
				s.due += ahead
			}
			x.sends = append(x.sends, s)
		}
		for _, s := range h.settlements {
			s.at += ahead
			x.settlements = append(x.settlements, s)
		}
	}
	for _, d := range h.deliveries {
		if p, number := taken(d.consumer, consuming); p == part {
			d.consumer, d.at = number, d.at+ahead
			x.deliveries = append(x.deliveries, d)
		}
	}
	return x
}
