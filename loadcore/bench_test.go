package loadcore

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Benchmarks come in pairs that end in /leveret and /amqp091-go: the same work by this package, stamped, checked and
// recorded, and by the usual client, which does none of that. `make bench` runs them in turn and prints the ratios.
const (
	ours  = "leveret"
	peers = "amqp091-go"
)

// meter measures what an amount of messages costs the process.
type meter struct {
	begun   time.Time
	cpu     int64
	mallocs uint64
}

func newMeter() *meter {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return &meter{mallocs: mem.Mallocs, cpu: cpuTime(), begun: time.Now()}
}

// report gives everything by message, and not by operation, which may be a batch here and a message there.
func (m *meter) report(b *testing.B, messages int64) {
	elapsed, cpu := time.Since(m.begun), cpuTime()-m.cpu
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	n := float64(messages)
	b.ReportMetric(0, "ns/op") // leaves it out
	b.ReportMetric(float64(elapsed.Nanoseconds())/n, "ns/msg")
	b.ReportMetric(float64(cpu)/n, "cpu-ns/msg")
	b.ReportMetric(float64(mem.Mallocs-m.mallocs)/n, "allocs/msg")
}

// recorder makes a capture with default settings for a plan's lanes.
func recorder(b *testing.B, plan *Plan) (rec *capture.Writer, end func()) {
	b.Helper()
	start := &manifest.Manifest{
		FormatVersion: manifest.FormatVersion, ID: "bench", Tag: plan.Tag, Topology: *plan.Topology,
		Connections: plan.Connections, Producers: plan.Producers, Consumers: plan.Consumers, ClockStart: plan.Clock.Snapshot(),
	}
	w, err := capture.Create(filepath.Join(b.TempDir(), "capture"), start, plan.Clock, capture.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return w, func() {
		final := *start
		if err := w.Close(&final); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPublishNoSocket is all of publishing but the socket: messages stamped with identity and CRC, encoded, recorded
// to files; with confirms, the confirms taken and recorded as well. The peer encodes the same messages.
func BenchmarkPublishNoSocket(b *testing.B) {
	for _, c := range []struct {
		name string
		spec manifest.Producer
	}{
		{"12B", manifest.Producer{Size: 12}},
		{"12B-window=1000", manifest.Producer{Size: 12, Confirm: 1000}},
		{"24B-rate", manifest.Producer{Size: 24, Rate: manifest.Rate{Messages: 1, PerNS: 1}}},
		{"1024B", manifest.Producer{Size: 1024}},
		{"12B-header-stamp", manifest.Producer{Size: 12, Stamp: manifest.StampHeader}},
		{"12B-perftest-stamp", manifest.Producer{Size: 12, Stamp: manifest.StampPerfTest}},
		{"12B-tx=1000", manifest.Producer{Size: 12, TxSize: 1000}},
	} {
		c.spec.Batch = 256
		b.Run(c.name+"/"+ours, func(b *testing.B) { publishNoSocket(b, c.spec) })
		if c.spec.Confirm == 0 && c.spec.Rate.Messages == 0 && c.spec.Stamp == "" && c.spec.TxSize == 0 {
			b.Run(c.name+"/"+peers, func(b *testing.B) { peerPublishNoSocket(b, c.spec.Size) })
		}
	}
}

func publishNoSocket(b *testing.B, spec manifest.Producer) {
	e, _ := bare([]manifest.Producer{spec}, nil)
	rec, end := recorder(b, e.plan)
	e.rec = rec
	p := e.producers[0]
	p.sched = newSchedule(manifest.Rate{Messages: 1, PerNS: 0}, 1, 0) // everything is due
	var acks []byte
	commitOk := wire.AppendMethod(nil, 1, &wire.TxCommitOk{})
	m := newMeter()
	for b.Loop() {
		n := p.take()
		if !p.reserve(n) {
			b.Fatal(rec.Err())
		}
		p.stamp(n)
		if !p.send(n) {
			b.Fatal("not sent")
		}
		if p.win != nil { // one multiple ack keeps the window open
			acks = wire.AppendAck(acks[:0], 1, p.win.head.Load()-1, true)
			if err := e.conn(0).feed(acks); err != nil {
				b.Fatal(err)
			}
		}
		if p.tx != nil && p.tx.committing.Load() {
			if err := e.conn(0).feed(commitOk); err != nil {
				b.Fatal(err)
			}
		}
	}
	m.report(b, int64(p.seq))
	end()
}

func peerPublishNoSocket(b *testing.B, size int) {
	socket, ch := peerOnPipe(b)
	socket.discard.Store(true)
	body := make([]byte, size)
	m := newMeter()
	messages := int64(0)
	for b.Loop() {
		for range pathBatch {
			if err := ch.PublishWithContext(context.Background(), "", "q", false, false, amqp.Publishing{Body: body}); err != nil {
				b.Fatal(err)
			}
		}
		messages += pathBatch
	}
	m.report(b, messages)
}

// BenchmarkConsumeNoSocket is all of consuming but the socket: deliveries parsed, identity and CRC checked, recorded to files,
// acked where the name says so. The peer parses the same frames, hands the messages to a loop that drops them, and acks
// as often.
func BenchmarkConsumeNoSocket(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
		spec manifest.Consumer
	}{
		{"12B-autoack", 12, manifest.Consumer{AutoAck: true, AckEvery: 1}},
		{"12B-ack-every-100", 12, manifest.Consumer{AckEvery: 100}},
		{"12B-single-acks", 12, manifest.Consumer{AckEvery: 1}},
		{"1024B-autoack", 1024, manifest.Consumer{AutoAck: true, AckEvery: 1}},
	} {
		b.Run(c.name+"/"+ours, func(b *testing.B) { consumeNoSocket(b, c.size, c.spec) })
		b.Run(c.name+"/"+peers, func(b *testing.B) { peerConsumeNoSocket(b, c.size, c.spec) })
	}
}

func consumeNoSocket(b *testing.B, size int, spec manifest.Consumer) {
	e, _ := bare(nil, []manifest.Consumer{spec})
	rec, end := recorder(b, e.plan)
	e.rec = rec
	conn, s := e.conn(0), e.consumers[0]
	frames := deliveries(nil, 1, pathBatch, size)
	m := newMeter()
	messages := int64(0)
	for b.Loop() {
		s.tag, s.acked = 0, 0 // the same tags once more
		if err := conn.feed(frames); err != nil {
			b.Fatal(err)
		}
		conn.out.drop()
		messages += pathBatch
	}
	m.report(b, messages)
	end()
}

func peerConsumeNoSocket(b *testing.B, size int, spec manifest.Consumer) {
	socket, ch := peerOnPipe(b)
	messages, err := ch.Consume("q", "0", spec.AutoAck, false, false, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	frames := deliveries(nil, 1, pathBatch, size)
	socket.feedReader()
	m := newMeter()
	received := int64(0)
	for b.Loop() {
		// Not more than this at a time: the peer's queue between reader and loop has no limit.
		socket.feed <- frames
		for range pathBatch {
			d := <-messages
			if received++; !spec.AutoAck && received%int64(spec.AckEvery) == 0 {
				if err := d.Ack(spec.AckEvery > 1); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	m.report(b, received)
	close(socket.feed)
}

// BenchmarkTakeConfirms is what single acks cost the publishing side, not recorded.
func BenchmarkTakeConfirms(b *testing.B) {
	e, rec := bare([]manifest.Producer{{Size: 12, Confirm: 1000}}, nil)
	c, p := e.conn(0), e.producers[0]
	var frames []byte
	m := newMeter()
	for b.Loop() {
		first := p.win.head.Load()
		p.win.publish(pathBatch)
		frames = frames[:0]
		for tag := first; tag < first+pathBatch; tag++ {
			frames = wire.AppendAck(frames, 1, tag, false)
		}
		if err := c.feed(frames); err != nil {
			b.Fatal(err)
		}
	}
	m.report(b, rec.settled)
}

// BenchmarkStamp is what identity and checksum cost: put into a body (the engine's template, and a whole body hashed) and
// checked.
func BenchmarkStamp(b *testing.B) {
	for _, size := range []int{12, 1024} {
		name := map[int]string{12: "12B", 1024: "1024B"}[size]
		body := make([]byte, size)
		st := newStamper(1, 0, size, false)
		seq := uint64(0)
		b.Run("patch-"+name, func(b *testing.B) {
			for b.Loop() {
				st.put(body[:min(size, StampDueSize)], seq, 0)
				seq++
			}
		})
		b.Run("hash-"+name, func(b *testing.B) {
			for b.Loop() {
				PutStamp(body, Stamp{Tag: 1, Seq: seq, Due: event.None})
				seq++
			}
		})
		b.Run("check-"+name, func(b *testing.B) {
			PutStamp(body, Stamp{Tag: 1, Seq: seq, Due: event.None})
			for b.Loop() {
				if _, what := ReadStamp(body); what != event.Intact {
					b.Fatal(what)
				}
			}
		})
	}
}
