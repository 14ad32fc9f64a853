//go:build long

package loadcore

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/broker"
	"leveret/loadcore/hostile"
)

// FuzzBroker's runs for ten minutes, drawn by chance: some are a few steps long, some many, some are what a step left of another.
func TestHostileBrokersForTenMinutes(t *testing.T) {
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	var runs, began, failed, drained atomic.Int64
	end := time.Now().Add(10 * time.Minute)
	for worker := range uint64(8) { // they wait for deadlines, mostly
		rng := rand.New(rand.NewPCG(seed, worker))
		all.Go(func() {
			data, over := []byte(nil), true
			defer func() {
				if !over { // FailNow ends the goroutine
					t.Logf("program %q", data)
				}
			}()
			for time.Now().Before(end) && !t.Failed() {
				data, over = drawn(rng), false
				out := playBroker(t, b, data)
				over = true
				if t.Failed() {
					t.Logf("program %q", data)
				}
				runs.Add(1)
				if out.BarrierNS != event.None {
					began.Add(1)
				}
				if len(out.Failures) > 0 {
					failed.Add(1)
				}
				if out.Drained {
					drained.Add(1)
				}
			}
		})
	}
	most := uint64(0)
	for time.Now().Before(end) && !t.Failed() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapInuse)
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
	t.Logf("%d runs, of which %d began, %d had failures and %d were drained; at most %d MiB of heap in use, %d goroutines at the end", runs.Load(), began.Load(), failed.Load(), drained.Load(), most>>20, runtime.NumGoroutine())
	if most > 512<<20 || runtime.NumGoroutine() > 500 {
		t.Errorf("%d bytes of heap, %d goroutines", most, runtime.NumGoroutine())
	}
}

// drawn is a program of up to six steps, most of them in the first frames of a connection.
func drawn(rng *rand.Rand) []byte {
	data := []byte{byte(rng.Uint32())}
	names := hostile.Doings()
	for range 1 + rng.IntN(6) {
		frame := 1 + rng.IntN(12)
		if rng.IntN(4) == 0 {
			frame = 1 + rng.IntN(64)
		}
		data = hostile.Step(data, rng.IntN(2)+rng.IntN(2)*rng.IntN(2), frame, names[rng.IntN(len(names))], byte(rng.Uint32()), byte(rng.Uint32()))
	}
	return data
}
