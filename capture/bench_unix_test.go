//go:build unix

package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// step is one batch of a made-up run and what follows from it.
type step struct {
	sends   event.Sends
	settled event.Settlements
	got     event.Deliveries
	acked   event.Acks
}

// script makes a run that has what a real one has: producers in turn, batches of many sizes, confirms in frames of
// several, deliveries and acks by read call. With batch 1 and timed every message has times of its own, as at a
// low rate.
func script(messages, batch int, timed bool) []step {
	state := uint64(1)
	random := func(n int) int { // xorshift: the same run every time
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return int(state>>33) % n
	}
	const start = 1_795_000_000_000_000_000
	var seq [4]uint64
	tag, now := uint64(0), int64(start)
	var steps []step
	for messages > 0 {
		p := uint16(random(len(seq)))
		n := 1 + random(batch)
		now += int64(n) * 10_000
		sent := now + int64(random(9_000))
		st := step{
			sends:   event.Sends{Producer: p, First: seq[p], N: n, Sent: sent, Written: sent + 10_000 + int64(random(9_000)), Bytes: 60 * n, Size: 12},
			settled: event.Settlements{Producer: p, At: sent + 900_000 + int64(random(500_000))},
			got:     event.Deliveries{At: sent + 950_000 + int64(random(500_000))},
		}
		for done := 0; done < n; {
			k := min(n-done, 1+random(40))
			st.settled.Runs = append(st.settled.Runs, event.SettledRun{First: seq[p] + uint64(done), N: uint32(k), Kind: event.Ack, FrameMessages: uint32(k)})
			done += k
		}
		for range n {
			tag++
			d := event.Delivery{Seq: seq[p], DeliveryTag: tag, Due: event.None, Size: 12, Tag: 777, Producer: p, Body: event.Intact}
			if timed {
				d.Due = start + int64(seq[p])*1_000_000
				st.sends.Due = append(st.sends.Due, d.Due)
			}
			st.got.Rows = append(st.got.Rows, d)
			seq[p]++
		}
		st.acked = event.Acks{At: st.got.At + 5_000 + int64(random(5_000)), DeliveryTag: tag, Messages: uint32(n)}
		steps = append(steps, st)
		messages -= n
	}
	return steps
}

func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRecordRun records whole runs into real files: the process's CPU time for each row, user and system, calls,
// writer and files included, and what a message (a row each for sent, confirmed, received; one a write and one an ack) takes
// on disk.
func BenchmarkRecordRun(b *testing.B) {
	for _, run := range []struct {
		name  string
		batch int
		timed bool
	}{{"closed-loop-batches", 200, false}, {"rate-single-messages", 1, true}} {
		// Short enough to stay in the processor's cache, as an engine's buffers do; played again and again.
		steps := script(1<<14, run.batch, run.timed)
		for _, c := range []string{"none", "lz4", "zstd"} {
			b.Run(fmt.Sprintf("%s/%s", run.name, c), func(b *testing.B) { benchmarkRun(b, c, steps) })
		}
	}
}

func benchmarkRun(b *testing.B, compression string, steps []step) {
	var rows, sent, bytes int64
	before := cpu()
	for b.Loop() {
		final := startManifest(4, 1000)
		w := create(b, filepath.Join(b.TempDir(), "c"), startManifest(4, 1000), Options{Compression: compression})
		for i := range 64 * len(steps) {
			st := &steps[i%len(steps)]
			if err := w.Reserve(context.Background(), st.sends.N); err != nil {
				b.Fatal(err)
			}
			w.Sends(&st.sends)
			w.Settlements(&st.settled)
			w.Deliveries(&st.got)
			w.Acks(&st.acked)
		}
		if err := w.Close(final); err != nil {
			b.Fatal(err)
		}
		for _, n := range final.Recording.Files {
			bytes += n
		}
		for _, n := range final.Recording.Rows {
			rows += n
		}
		sent += final.Recording.Rows[schema.Sends.String()]
	}
	b.ReportMetric(float64(cpu()-before)/float64(rows), "cpu-ns/row")
	b.ReportMetric(float64(bytes)/float64(sent), "disk-B/message")
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
