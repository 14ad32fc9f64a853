package analyze

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// The recordings of these tests are made by hand, through the real recorder, on a clock that begins here.
const epoch = int64(1_800_000_000_000_000_000)

const ms = int64(time.Millisecond)

// recording is a capture being made. Its engine counters follow the rows unless a test changes them.
type recording struct {
	t   testing.TB
	dir string
	m   *manifest.Manifest
	w   *capture.Writer
	o   capture.Options
	// deliveryTag counts by consumer.
	deliveryTag map[int]uint64
}

// plan is a run of p producers to one queue q with c consumers, closed loop, confirms on, manual acks, drained.
func plan(p, c int) *manifest.Manifest {
	m := &manifest.Manifest{
		ID: "test", Tag: 7, Tool: manifest.Tool{Name: "leveret", Version: "test"},
		Broker:     manifest.Broker{Product: "RabbitMQ", Version: "3.10.8", URI: "amqp://guest@127.0.0.1/"},
		ClockStart: event.Snapshot{ClockNS: epoch, WallNS: epoch},
		Topology: manifest.Topology{
			Queues: []manifest.Queue{{Name: "q", Type: "classic", Declare: true}},
			Routes: []manifest.Route{{RoutingKey: "q", Queues: []int{0}, Known: true}},
		},
		Connections: p + c,
		Outcome: &manifest.Outcome{
			BarrierNS: epoch, PublishStopNS: epoch + 1000*ms, DrainEndNS: epoch + 1100*ms,
			StopReason: "all messages sent", Drained: true,
			Queues: []manifest.QueueEnd{{Queue: 0, Ready: ptr(int64(0)), Consumed: c > 0, Drained: c > 0}},
		},
	}
	for i := range p {
		m.Producers = append(m.Producers, manifest.Producer{Connection: i, Size: 12, Confirm: 100, Batch: 64})
	}
	for i := range c {
		m.Consumers = append(m.Consumers, manifest.Consumer{Connection: p + i, Queues: []int{0}, AckEvery: 1})
	}
	return m
}

func ptr[T any](v T) *T { return &v }

func record(t testing.TB, m *manifest.Manifest) *recording {
	return recordWith(t, m, capture.Options{Shards: 1, Compression: "none"})
}

func recordWith(t testing.TB, m *manifest.Manifest, o capture.Options) *recording {
	t.Helper()
	return recordInto(t, filepath.Join(t.TempDir(), "capture"), m, o)
}

func recordInto(t testing.TB, dir string, m *manifest.Manifest, o capture.Options) *recording {
	t.Helper()
	r := &recording{t: t, dir: dir, m: m, o: o, deliveryTag: map[int]uint64{}}
	w, err := capture.Create(r.dir, m, event.NewClock(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.w = w
	return r
}

// send records messages first..first+n-1 of a producer, sent together at epoch+at.
func (r *recording) send(p int, first uint64, n int, at int64, due ...int64) {
	r.sendTo(p, first, n, at, 0, due...)
}

func (r *recording) sendTo(p int, first uint64, n int, at int64, route uint16, due ...int64) {
	if err := r.w.Reserve(context.Background(), n); err != nil {
		r.t.Fatal(err)
	}
	s := &event.Sends{Producer: uint16(p), First: first, N: n, Sent: epoch + at, Written: epoch + at + 1000, Bytes: n * 40, Size: 12, Route: route}
	for _, d := range due {
		s.Due = append(s.Due, epoch+d)
	}
	r.w.Sends(s)
	r.m.Outcome.Sent += int64(n)
}

// settle records that one frame settled messages first..first+n-1.
func (r *recording) settle(kind event.SettlementKind, p int, first uint64, n int, at int64) {
	frame := uint32(n)
	if kind == event.Return {
		frame = 0
	}
	r.w.Settlements(&event.Settlements{Producer: uint16(p), At: epoch + at, Runs: []event.SettledRun{{First: first, N: uint32(n), Kind: kind, FrameMessages: frame}}})
	switch kind {
	case event.Ack:
		r.m.Outcome.Confirmed += int64(n)
	case event.Commit:
		r.m.Outcome.Committed += int64(n)
	case event.Nack:
		r.m.Outcome.Nacked += int64(n)
	case event.Return:
		r.m.Outcome.Returned += int64(n)
	}
}

func (r *recording) ack(p int, first uint64, n int, at int64) { r.settle(event.Ack, p, first, n, at) }

// receive records intact deliveries of one producer's messages, one read call each.
func (r *recording) receive(consumer, queue, p int, at int64, seqs ...uint64) {
	for _, seq := range seqs {
		r.deliver(consumer, at, event.Delivery{Queue: uint16(queue), Producer: uint16(p), Seq: seq, Tag: r.m.Tag, Body: event.Intact, Size: 12, Due: event.None})
	}
}

func (r *recording) deliver(consumer int, at int64, d event.Delivery) {
	r.deliveryTag[consumer]++
	d.DeliveryTag = r.deliveryTag[consumer]
	r.w.Deliveries(&event.Deliveries{Consumer: uint16(consumer), At: epoch + at, Rows: []event.Delivery{d}})
	r.m.Outcome.Received++
}

// ackAll records that a consumer acked everything it received.
func (r *recording) ackAll(consumer int, at int64) {
	n := r.deliveryTag[consumer]
	r.w.Acks(&event.Acks{Consumer: uint16(consumer), At: epoch + at, DeliveryTag: n, Messages: uint32(n), Multiple: true})
	r.m.Outcome.Acked += int64(n)
}

func (r *recording) close() string {
	r.t.Helper()
	if err := r.w.Close(r.m); err != nil {
		r.t.Fatal(err)
	}
	return r.dir
}

func analyzed(t testing.TB, dirs ...string) *result.Result {
	t.Helper()
	return analyzedIn(t, 0, dirs...)
}

// analyzedIn is with intervals of a length.
func analyzedIn(t testing.TB, interval int64, dirs ...string) *result.Result {
	t.Helper()
	r, err := Run(context.Background(), dirs, Options{Tmp: t.TempDir(), IntervalNS: interval})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// codes are the findings but the notes that every such recording has.
func codes(r *result.Result) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Code != "closed_loop" {
			out = append(out, f.Code)
		}
	}
	slices.Sort(out)
	return out
}

func finding(t testing.TB, r *result.Result, code string) result.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Code == code {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", code, r.Findings)
	return result.Finding{}
}

func seqs(from, to uint64) (s []uint64) {
	for ; from <= to; from++ {
		s = append(s, from)
	}
	return s
}
