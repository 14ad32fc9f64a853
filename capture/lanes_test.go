package capture

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// Sends, settlements and deliveries of many lanes at once: every row is there, in order within its lane.
func TestConcurrentLanes(t *testing.T) {
	const lanes, batches, batch = 8, 100, 37
	dir := t.TempDir()
	w := create(t, dir, startManifest(lanes, 100), Options{Memory: MinMemory, FlushInterval: 5 * time.Millisecond, Shards: 2})
	var wg sync.WaitGroup
	var self atomic.Int64 // intervals that found room
	for lane := range lanes {
		wg.Go(func() {
			for i := range batches {
				if err := w.Reserve(context.Background(), batch); err != nil {
					t.Error(err)
					return
				}
				w.Sends(&event.Sends{Producer: uint16(lane), First: uint64(i * batch), N: batch, Sent: int64(i), Written: int64(i)})
				w.Settlements(&event.Settlements{Producer: uint16(lane), At: int64(i), Runs: []event.SettledRun{{First: uint64(i * batch), N: batch, Kind: event.Ack, FrameMessages: batch}}})
			}
		})
		wg.Go(func() {
			rows := make([]event.Delivery, batch)
			for i := range batches {
				for j := range rows {
					rows[j] = event.Delivery{Seq: uint64(i*batch + j), Producer: uint16(lane), Due: event.None, Body: event.Intact}
				}
				w.Deliveries(&event.Deliveries{Consumer: uint16(lane), At: int64(i), Rows: rows})
				w.Acks(&event.Acks{Consumer: uint16(lane), At: int64(i), Messages: batch})
				w.Connection(&event.Connection{At: int64(i), Text: "x"})
				if w.Self(&event.Self{At: int64(i), SpanNS: 1}) {
					self.Add(1)
				}
				w.Congested()
			}
		})
	}
	wg.Wait()
	final := startManifest(lanes, 100)
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[schema.Kind]int64{schema.Sends: lanes * batches * batch, schema.Settlements: lanes * batches * batch,
		schema.Deliveries: lanes * batches * batch, schema.Writes: lanes * batches, schema.Acks: lanes * batches, schema.Connections: lanes * batches, schema.Self: self.Load()} {
		if n := rowsOf(t, dir, k, nil); n != want {
			t.Errorf("%s: %d rows, want %d", k, n, want)
		}
	}
	var next [lanes]uint64
	rowsOf(t, dir, schema.Sends, func(rec arrow.Record) {
		producers, seqs := rec.Column(schema.SendsProducer).(*array.Uint16).Uint16Values(), rec.Column(schema.SendsSeq).(*array.Uint64).Uint64Values()
		for i, p := range producers {
			if seqs[i] != next[p] {
				t.Fatalf("producer %d: sequence %d, want %d", p, seqs[i], next[p])
			}
			next[p]++
		}
	})
	checkCapture(t, dir, final)
}

// A batch of any size is recorded without an allocation, the flusher's work included.
func TestRecordAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates; the run without it holds this")
	}
	for _, c := range []string{"none", "lz4", "zstd"} {
		w := create(t, t.TempDir(), startManifest(1, 1000), Options{Compression: c, Shards: 1})
		const n = 500
		sends := event.Sends{N: n, Sent: 1, Written: 2, Size: 12}
		settled := event.Settlements{At: 1, Runs: []event.SettledRun{{N: n, Kind: event.Ack, FrameMessages: n}}}
		got := event.Deliveries{At: 1, Rows: make([]event.Delivery, n)}
		acks := event.Acks{At: 1, Messages: 1}
		conn := event.Connection{At: 1, Text: "x"}
		self := event.Self{At: 1, SpanNS: 1}
		ctx := t.Context()
		for name, call := range map[string]func(){
			"Reserve and Sends": func() {
				w.Reserve(ctx, n)
				w.Sends(&sends)
			},
			"TryReserve and Sends": func() {
				w.TryReserve(n)
				w.Sends(&sends)
			},
			"Settlements": func() { w.Settlements(&settled) },
			"Deliveries":  func() { w.Deliveries(&got) },
			"Acks":        func() { w.Acks(&acks) },
			"Connection":  func() { w.Connection(&conn) },
			"Self":        func() { w.Self(&self) },
			"Congested":   func() { w.Congested() },
		} {
			for range 400 { // until buffers have grown
				call()
			}
			// So few rows that no call waits for the disk, which takes a timer.
			if allocs := testing.AllocsPerRun(100, call); allocs > 0 {
				t.Errorf("%s: %s: %v allocations a batch of %d", c, name, allocs, n)
			}
		}
		if err := w.Close(startManifest(1, 1000)); err != nil {
			t.Fatal(err)
		}
	}
}
