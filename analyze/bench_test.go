package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// load describes a generated run.
type load struct {
	name                 string
	producers, consumers int
	queues               int    // more than one: each message to all of them, as many consumers
	messages             uint64 // per producer
	rate                 bool   // with due times
	publishFirst         bool   // everything is sent before anything is received
	compression          string
}

// generate records a run whose batches, confirms and deliveries come as an engine brings them: sends in batches of 50,
// confirms of up to 200, deliveries up to 100 a read, 1 us a message.
func (l load) generate(t testing.TB) string {
	return l.generateIn(t, filepath.Join(t.TempDir(), "capture"))
}

func (l load) generateIn(t testing.TB, dir string) string {
	m := plan(l.producers, l.consumers)
	l.queues = max(l.queues, 1)
	if l.queues > 1 {
		spread(m, l.queues)
	}
	total := l.messages * uint64(l.producers)
	span := int64(total) * 1000
	m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+span+50*ms, epoch+3*span+100*ms
	if l.rate {
		for i := range m.Producers {
			m.Producers[i].Rate = manifest.Rate{Messages: 1, PerNS: 1000 * int64(l.producers)}
		}
	}
	r := recordInto(t, dir, m, capture.Options{Compression: l.compression, Memory: 256 << 20})
	g := generator{load: l, r: r, rng: rand.New(rand.NewPCG(1, 2)), sent: make([]uint64, l.producers), acked: make([]uint64, l.producers), got: make([]uint64, l.producers*l.queues)}
	for g.now = 0; ; g.now += 10_000 {
		if !g.step() {
			break
		}
	}
	for c := range l.consumers {
		r.ackAll(c, span+60*ms)
	}
	return r.close()
}

// spread has one queue for each consumer, and every message go to all of them.
func spread(m *manifest.Manifest, queues int) {
	m.Topology.Queues, m.Topology.Routes[0].Queues, m.Outcome.Queues = nil, nil, nil
	for q := range queues {
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: fmt.Sprintf("q-%d", q), Type: "classic", Declare: true})
		m.Topology.Routes[0].Queues = append(m.Topology.Routes[0].Queues, q)
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: q, Ready: ptr(int64(0)), Consumed: true, Drained: true})
		m.Consumers[q].Queues = []int{q}
	}
}

type generator struct {
	load
	r                *recording
	rng              *rand.Rand
	now              int64
	sent, acked, got []uint64
	due              []int64
	rows             []event.Delivery // recorded before the next ones are made
}

// step sends, confirms and delivers some messages; false when nothing is left.
func (g *generator) step() bool {
	busy := false
	for p := range g.producers {
		n := int(min(50, g.messages-g.sent[p]))
		if n > 0 {
			g.due = g.due[:0]
			for i := range n {
				g.due = append(g.due, g.now-int64(n-i)*100)
			}
			if !g.rate {
				g.due = nil
			}
			g.r.send(p, g.sent[p], n, g.now, g.due...)
			g.sent[p] += uint64(n)
			busy = true
		}
		if n := min(uint64(g.rng.IntN(200)), g.sent[p]-g.acked[p]); n > 0 {
			g.r.ack(p, g.acked[p], int(n), g.now+int64(g.rng.IntN(5000)))
			g.acked[p] += n
		}
		busy = busy || g.acked[p] < g.sent[p]
	}
	if g.consumers == 0 || g.publishFirst && busy {
		return busy
	}
	for p := range g.producers {
		for q := range g.queues {
			g.deliver(p, q)
			busy = busy || g.got[p*g.queues+q] < g.messages
		}
	}
	return busy
}

// deliver delivers some messages of a producer from a queue: to the queue's consumer, or where there is one queue to any.
func (g *generator) deliver(p, q int) {
	got, consumer := &g.got[p*g.queues+q], q
	n := min(uint64(g.rng.IntN(100)), g.sent[p]-*got)
	if g.queues == 1 {
		consumer = g.rng.IntN(g.consumers)
	}
	g.rows = g.rows[:0]
	for i := range n {
		g.rows = append(g.rows, event.Delivery{Seq: *got + i, Producer: uint16(p), Queue: uint16(q), Tag: g.r.m.Tag, Body: event.Intact, Size: 12, Due: event.None, DeliveryTag: *got + i + 1})
	}
	g.r.w.Deliveries(&event.Deliveries{Consumer: uint16(consumer), At: epoch + g.now + 7000, Rows: g.rows})
	g.r.deliveryTag[consumer] += n
	g.r.m.Outcome.Received += int64(n)
	*got += n
}

// BenchmarkRun analyzes runs of two million messages: join, integrity, exact percentiles. rows/s counts the rows of the
// capture once, though they are read twice.
func BenchmarkRun(b *testing.B) {
	for _, l := range []load{
		{producers: 1, consumers: 1, messages: 2_000_000, compression: "none"},
		{producers: 1, consumers: 1, messages: 2_000_000, compression: "lz4"},
		{producers: 4, consumers: 4, messages: 500_000, rate: true, compression: "none"},
		{producers: 1000, consumers: 10, messages: 2000, rate: true, compression: "none"},
		{producers: 1, consumers: 1, messages: 2_000_000, publishFirst: true, compression: "none"},
	} {
		b.Run(fmt.Sprintf("%dx%d,rate=%v,first=%v,%s", l.producers, l.consumers, l.rate, l.publishFirst, l.compression), func(b *testing.B) {
			dir := l.generate(b)
			var rows int64
			for b.Loop() {
				r, err := Run(context.Background(), []string{dir}, Options{Tmp: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				if r.Verdict != "PASS" {
					b.Fatalf("%v", r.Findings)
				}
				rows = r.Rows
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			b.ReportMetric(float64(mem.Sys)/(1<<20), "MiB-sys")
		})
	}
}
