package analyze

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// The same histories as recorded by several processes of one host, whose clocks began apart: the producers by one or two, the
// consumers by one or two others. The counts and latencies are those of all together, in whatever order the captures are given.
func TestRecordedApartAgainstReference(t *testing.T) {
	joined, published := 0, 0
	for seed := range uint64(recordedHistories) {
		h := randomHistory(seed)
		if len(h.m.Consumers) == 0 {
			continue
		}
		joined++
		rng := rand.New(rand.NewPCG(seed, 3))
		p := portions{publishing: min(1+rng.IntN(2), len(h.m.Producers)), consuming: 1 + rng.IntN(2)}
		published += p.publishing - 1
		want := judge(h, p.publishing > 1)
		dirs := h.recordApart(t, p, rng)
		rng.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		got, err := Run(t.Context(), dirs, Options{Tmp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("seed %d in %+v", seed, p)
		if !got.Complete || len(got.Clocks) > 0 {
			t.Fatalf("%s: complete %v, clocks %+v, %+v", what, got.Complete, got.Clocks, got.Findings)
		}
		if got.Counts != want.counts {
			t.Errorf("%s: counts\n got %+v\nwant %+v", what, got.Counts, want.counts)
		}
		compareQueues(t, what, got, want)
		compareLatencies(t, what, &got.Latency, want)
		if t.Failed() {
			return
		}
	}
	if joined == 0 || published == 0 {
		t.Errorf("%d histories had a consumer, %d were published by two", joined, published)
	}
}

// compareQueues holds the counts of each queue against the reference, by the names of the queues.
func compareQueues(t *testing.T, what string, got *result.Result, want *reference) {
	t.Helper()
	for _, q := range got.Queues {
		for i := range want.queues {
			if want.h.m.Topology.Queues[i].Name == q.Queue && q.Counts != want.queues[i] {
				t.Errorf("%s: queue %s\n got %+v\nwant %+v", what, q.Queue, q.Counts, want.queues[i])
			}
		}
	}
}

// portions says by how many processes a history is recorded: those of producers come first. Producers, and consumers, take turns.
type portions struct{ publishing, consuming int }

// producer is the part that a producer is recorded in, and its number there; consumer likewise.
func (p portions) producer(n int) (part, number int) { return n % p.publishing, n / p.publishing }
func (p portions) consumer(n int) (part, number int) {
	return p.publishing + n%p.consuming, n / p.consuming
}

// tag of a part: further from the others than damage in a body brings it.
func (p portions) tag(h *history, part int) uint16 {
	return h.m.Tag ^ []uint16{0, 0x0ff, 0xff0, 0xf0f}[part]
}

// recordApart makes captures of a history.
func (h *history) recordApart(t *testing.T, p portions, rng *rand.Rand) (dirs []string) {
	for part := range p.publishing + p.consuming {
		ahead := rng.Int64N(1e12) - 5e11 // of this process's clock
		m := h.part(part, p)
		m.ID, m.Tag = fmt.Sprint("part ", part), p.tag(h, part)
		m.ClockStart = event.Snapshot{ClockNS: epoch + ahead, WallNS: epoch + ahead, MonotonicNS: 1e9, BootID: "host"}
		for _, at := range []*int64{&m.Outcome.BarrierNS, &m.Outcome.PublishStopNS, &m.Outcome.DrainEndNS} {
			*at += ahead
		}
		x := h.rowsOf(part, p, ahead)
		x.tally(m.Outcome)
		dirs = append(dirs, x.record(record(t, m)))
	}
	return dirs
}

// part is the manifest of one of the processes.
func (h *history) part(part int, p portions) *manifest.Manifest {
	m, o := *h.m, *h.m.Outcome
	m.Outcome, m.Producers, m.Consumers, o.Queues = &o, nil, nil, nil
	for n := range h.m.Producers {
		if of, _ := p.producer(n); of == part {
			m.Producers = append(m.Producers, h.m.Producers[n])
		}
	}
	consumed := map[int]bool{}
	for n := range h.m.Consumers {
		if of, _ := p.consumer(n); of == part {
			m.Consumers = append(m.Consumers, h.m.Consumers[n])
			consumed[h.m.Consumers[n].Queues[0]] = true
		}
	}
	for _, e := range h.m.Outcome.Queues { // of what nobody consumes, the first process knows
		if consumed[e.Queue] || part == 0 && !e.Consumed {
			o.Queues = append(o.Queues, e)
		}
	}
	if part >= p.publishing {
		m.Topology.Routes = nil
		o.PublishStopNS = o.BarrierNS
	}
	return &m
}

// rowsOf are the events of one of the processes, by its clock.
func (h *history) rowsOf(part int, p portions, ahead int64) *history {
	x := &history{m: h.m}
	if part == 0 {
		x.purges = map[string][]int64{}
		for q, times := range h.purges {
			for _, at := range times {
				x.purges[q] = append(x.purges[q], at+ahead)
			}
		}
	}
	for _, s := range h.sends {
		of, number := p.producer(s.producer)
		if of != part {
			continue
		}
		if s.at != event.None {
			s.at += ahead
		}
		if s.due != event.None {
			s.due += ahead
		}
		s.producer = number
		x.sends = append(x.sends, s)
	}
	for _, s := range h.settlements {
		if of, number := p.producer(s.producer); of == part {
			s.producer, s.at = number, s.at+ahead
			x.settlements = append(x.settlements, s)
		}
	}
	for _, d := range h.deliveries {
		of, number := p.consumer(d.consumer)
		if of != part {
			continue
		}
		if int(d.d.Producer) < len(h.m.Producers) { // else one that none of the processes has, of whatever number
			from, n := p.producer(int(d.d.Producer))
			d.d.Producer, d.d.Tag = uint16(n), d.d.Tag^h.m.Tag^p.tag(h, from)
		}
		if d.d.Due != event.None {
			d.d.Due += ahead
		}
		d.consumer, d.at = number, d.at+ahead
		x.deliveries = append(x.deliveries, d)
	}
	return x
}
