package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// publisher sends batches of n messages through a recorder until Reserve does not let it.
type publisher struct {
	w     *Writer
	n     int
	sends event.Sends
	sent  int
}

func (p *publisher) batch(ctx context.Context) error {
	if err := p.w.Reserve(ctx, p.n); err != nil {
		return err
	}
	p.sends = event.Sends{First: uint64(p.sent), N: p.n, Sent: 1, Written: 2, Size: 12}
	p.w.Sends(&p.sends)
	p.sent += p.n
	return nil
}

// untilWaiting publishes until Reserve waits, with the disk blocked; it returns when it has given up.
func (p *publisher) untilWaiting(t *testing.T) {
	t.Helper()
	for range 1_000_000 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := p.batch(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("publishing never waits for a disk that stands still")
}

// While the disk stands still publishing waits, but every settlement of what was sent is recorded at once.
func TestDiskStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 1000
		d := newFaultyDisk()
		dir := t.TempDir()
		start := startManifest(4, window)
		w := create(t, dir, start, Options{disk: d, Memory: 4 << 20, Shards: 1, StallTimeout: time.Minute})
		release := d.block()
		p := publisher{w: w, n: 100}
		p.untilWaiting(t)
		before := time.Now()
		for first := 0; first < p.sent; first += 100 {
			w.Settlements(&event.Settlements{At: 3, Runs: []event.SettledRun{{First: uint64(first), N: 100, Kind: event.Ack}}})
		}
		if waited := time.Since(before); waited != 0 {
			t.Errorf("settlements waited for the disk %v", waited)
		}
		time.Sleep(3 * time.Second)
		done := make(chan error)
		go func() { done <- p.batch(t.Context()) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		// The wait that was given up, and the two seconds so far.
		if got := w.State(); !got.Waiting || got.Stalls != 1 || got.StallNS != int64(2*time.Second+time.Millisecond) || got.Lost != 0 {
			t.Errorf("state %+v", got)
		}
		release()
		if err := <-done; err != nil {
			t.Errorf("after the disk went on: %v", err)
		}
		final := startManifest(4, window)
		if err := w.Close(final); err != nil {
			t.Fatal(err)
		}
		r := final.Recording
		if r.Rows["sends"] != int64(p.sent) || r.Rows["settlements"] != int64(p.sent-100) {
			t.Errorf("rows %v of %d messages", r.Rows, p.sent)
		}
		rows := int64(0)
		for _, n := range r.Rows {
			rows += n
		}
		if got := w.State(); got.Waiting || got.Rows != rows || got.Bytes <= 0 || got.StallNS != r.StallNS {
			t.Errorf("state %+v of %d rows", got, rows)
		}
		// One millisecond of waiting that was given up, then two seconds: 3 s apart, so two spans.
		if len(r.Stalls) != 2 || r.StallNS != int64(2*time.Second+time.Millisecond) {
			t.Errorf("stalls %+v, %d ns", r.Stalls, r.StallNS)
		}
		for _, s := range r.Stalls {
			if s.ToNS <= s.FromNS {
				t.Errorf("span %+v", s)
			}
		}
		checkCapture(t, dir, final)
	})
}

// C070: on a disk that takes 10 MB a second a run goes as fast as that, and every row is there.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const messages, batch, rate = 400_000, 500, 10_000_000
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1000), Options{disk: d, Compression: "none", Memory: 8 << 20, Shards: 1})
		d.mu.Lock()
		d.rate = rate
		d.mu.Unlock()
		before := time.Now()
		p := publisher{w: w, n: batch}
		consumed := make(chan bool)
		go func() {
			defer close(consumed)
			got := event.Deliveries{At: 3, Rows: make([]event.Delivery, batch)}
			for range messages / batch {
				for w.Congested() { // as consumers do
					time.Sleep(time.Millisecond)
				}
				w.Deliveries(&got)
			}
		}()
		for p.sent < messages {
			if err := p.batch(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.Settlements(&event.Settlements{At: 3, Runs: []event.SettledRun{{First: p.sends.First, N: batch, Kind: event.Ack}}})
		}
		<-consumed
		final := startManifest(1, 1000)
		if err := w.Close(final); err != nil {
			t.Fatal(err)
		}
		elapsed, bytes := time.Since(before), int64(0)
		for _, n := range final.Recording.Files {
			bytes += n
		}
		if took := time.Duration(bytes * int64(time.Second) / rate); elapsed < took-time.Second || elapsed > took+time.Second {
			t.Errorf("%d bytes took %v at %d a second", bytes, elapsed, rate)
		}
		r := final.Recording
		if r.Rows["sends"] != messages || r.Rows["settlements"] != messages || r.Rows["deliveries"] != messages || r.Lost != nil {
			t.Errorf("rows %v, lost %v of %d messages", r.Rows, r.Lost, messages)
		}
		if r.StallNS < int64(time.Second) || r.StallNS > int64(elapsed) {
			t.Errorf("stalled %v of %v", time.Duration(r.StallNS), elapsed)
		}
		checkCapture(t, dir, final)
	})
}

// Past the timeout the recording fails for good, and says what would help; what had found room is still written when the
// disk goes on.
func TestStallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1000), Options{disk: d, Memory: 4 << 20, Shards: 1, StallTimeout: 7 * time.Second})
		release := d.block()
		p := publisher{w: w, n: 100}
		p.untilWaiting(t)
		before := time.Now()
		err := p.batch(t.Context())
		if waited := time.Since(before); waited != 7*time.Second {
			t.Errorf("waited %v", waited)
		}
		if err == nil || w.Err() != err || !strings.Contains(err.Error(), "has not followed for 7s") || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v, sticky %v", err, w.Err())
		}
		if again := p.batch(t.Context()); again != err {
			t.Errorf("the next one: %v", again)
		}
		if waited := time.Since(before); waited != 7*time.Second {
			t.Errorf("a failed recording still waits: %v", waited)
		}
		release()
		final := startManifest(1, 1000)
		if err := w.Close(final); err != nil {
			t.Errorf("nothing was lost, yet Close says %v", err)
		}
		if final.Recording.Rows["sends"] != int64(p.sent) || final.Recording.Lost != nil {
			t.Errorf("%+v of %d messages", final.Recording, p.sent)
		}
	})
}

// Deliveries that no consumer held back wait at the last; past the timeout they are counted as lost, never dropped in
// silence.
func TestDeliveriesOutrunTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1000), Options{disk: d, Memory: 4 << 20, Shards: 1, StallTimeout: 5 * time.Second})
		release := d.block()
		got := event.Deliveries{At: 1, Rows: make([]event.Delivery, 100)}
		deliver := func() time.Duration {
			before := time.Now()
			w.Deliveries(&got)
			return time.Since(before)
		}
		delivered := 0
		for !w.Congested() {
			if waited := deliver(); waited != 0 {
				t.Fatalf("waited %v before Congested said so", waited)
			}
			delivered += 100
		}
		limit := int64(w.pools.limit[schema.Deliveries]) * int64(w.pools.rows[schema.Deliveries])
		if room := limit - int64(delivered); room < limit/4 {
			t.Errorf("congested with room for %d of %d rows", room, limit)
		}
		var waited time.Duration
		for waited == 0 {
			waited = deliver()
			delivered += 100
		}
		if waited != 5*time.Second || w.Err() == nil {
			t.Errorf("waited %v, then %v", waited, w.Err())
		}
		for range 10 {
			if waited := deliver(); waited != 0 {
				t.Errorf("a failed recording still waits: %v", waited)
			}
			delivered += 100
		}
		release()
		final := startManifest(1, 1000)
		err := w.Close(final)
		if err == nil || err != w.Err() {
			t.Errorf("rows were lost, yet Close says %v", err)
		}
		if rows, lost := final.Recording.Rows["deliveries"], final.Recording.Lost["deliveries"]; rows != limit || rows+lost != int64(delivered) {
			t.Errorf("%d rows and %d lost of %d delivered; room for %d", rows, lost, delivered, limit)
		}
		if w.Congested() {
			t.Error("congested after everything was written")
		}
		checkCapture(t, dir, final)
	})
}

// Waiting for the last block with the shard's mutex held is no deadlock: the flusher goes around it.
func TestLastResortGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFaultyDisk()
		w := create(t, t.TempDir(), startManifest(1, 1000), Options{disk: d, Memory: 4 << 20, Shards: 2})
		release := d.block()
		time.AfterFunc(20*time.Second, release)
		const rows = 100_000
		for consumer := range 2 {
			w.Deliveries(&event.Deliveries{Consumer: uint16(consumer), Rows: make([]event.Delivery, rows)})
		}
		final := startManifest(1, 1000)
		if err := w.Close(final); err != nil {
			t.Fatal(err)
		}
		if final.Recording.Rows["deliveries"] != 2*rows || final.Recording.StallNS < int64(19*time.Second) {
			t.Errorf("%+v", final.Recording)
		}
	})
}

// Windows larger than all blocks do not stop publishing while the disk follows: nothing but the disk is waited for.
func TestWindowsLargerThanTheBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const producers, window, batch = 10, 100_000, 1000
		w := create(t, t.TempDir(), startManifest(producers, window), Options{Memory: MinMemory, Shards: 2})
		if blocks := w.pools.limit[schema.Settlements] * w.pools.rows[schema.Settlements]; blocks > producers*window/10 {
			t.Fatalf("blocks for %d settlements are no small ones", blocks)
		}
		for first := 0; first < window; first += batch {
			for p := range producers {
				if err := w.Reserve(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				w.Sends(&event.Sends{Producer: uint16(p), First: uint64(first), N: batch, Sent: 1, Written: 2})
			}
		}
		for p := range producers { // now all at once, more than the blocks hold: the flusher keeps up
			w.Settlements(&event.Settlements{Producer: uint16(p), At: 3, Runs: []event.SettledRun{{N: window, Kind: event.Ack}}})
		}
		final := startManifest(producers, window)
		if err := w.Close(final); err != nil {
			t.Fatal(err)
		}
		if r := final.Recording.Rows; r["sends"] != producers*window || r["settlements"] != producers*window {
			t.Errorf("rows %v", r)
		}
	})
}

// Batches that were reserved and never written, as when connections are lost, do not choke the recording.
func TestReservedAndNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := startManifest(2, 1000)
		start.Producers[0].Batch, start.Producers[1].Batch = 500, 500
		w := create(t, t.TempDir(), start, Options{Memory: MinMemory, Shards: 1})
		for range 100_000 {
			if err := w.Reserve(t.Context(), 500); err != nil {
				t.Fatal(err)
			}
		}
		if g := w.accounts.granted.Load(); g > 1000 {
			t.Errorf("%d rows are still expected of two producers with batches of 500", g)
		}
		if err := w.Close(start); err != nil {
			t.Fatal(err)
		}
	})
}

// Of a transaction each message leads to a settlement when it is committed, and to another if it may come back; no more than
// one transaction is open.
func TestRoomForTransactions(t *testing.T) {
	a := newAccounts([]manifest.Producer{{TxSize: 10, Batch: 5}, {TxSize: 100, Mandatory: true, Batch: 5}, {Batch: 5}})
	for producer := range uint16(3) { // the third awaits no answer
		for range 1000 {
			a.sent(&event.Sends{Producer: producer, N: 5, Sent: 1})
			a.settled(producer, 5)
		}
		if n := a.outstanding.Load(); n != 0 {
			t.Errorf("producer %d: %d settlements are still expected", producer, n)
		}
	}
	for range 1000 {
		a.sent(&event.Sends{Producer: 0, N: 5, Sent: 1})
		a.sent(&event.Sends{Producer: 1, N: 5, Sent: 1})
	}
	if n := a.outstanding.Load(); n != 10+2*100 {
		t.Errorf("%d settlements are expected of what can be open at a time, 10 messages with one and 100 with two", n)
	}
}

// A row is on disk before it is one flush interval old, however slowly rows come.
func TestFlushInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1), Options{})
		for i := range 20 {
			time.Sleep(time.Duration(i) * 137 * time.Millisecond)
			w.Sends(&event.Sends{First: uint64(i), N: 1, Sent: 1, Written: 1})
			w.Acks(&event.Acks{DeliveryTag: uint64(i)})
			time.Sleep(DefaultFlushInterval)
			synctest.Wait()
			rows := recovered(t, dir)
			if n := int64(i + 1); rows[schema.Sends] != n || rows[schema.Writes] != n || rows[schema.Acks] != n {
				t.Fatalf("after the interval %v of %d", rows, n)
			}
		}
		if err := w.Close(startManifest(1, 1)); err != nil {
			t.Fatal(err)
		}
	})
}

// Close does not wait for ever for a disk that takes nothing any more.
func TestCloseOfADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1), Options{disk: d, StallTimeout: 3 * time.Second})
		release := d.block()
		w.Acks(&event.Acks{At: 1})
		before := time.Now()
		err := w.Close(startManifest(1, 1))
		if waited := time.Since(before); waited != 3*time.Second || err == nil || !strings.Contains(err.Error(), "nothing for 3s") {
			t.Errorf("after %v: %v", waited, err)
		}
		if _, err := os.Stat(filepath.Join(dir, manifest.FinalName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a manifest: %v", err)
		}
		release() // or the flusher would outlive the test
		synctest.Wait()
	})
}

// Reserve ends with its context, and that does not harm the recording.
func TestReserveEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFaultyDisk()
		w := create(t, t.TempDir(), startManifest(1, 1000), Options{disk: d, Memory: 4 << 20, Shards: 1})
		release := d.block()
		p := publisher{w: w, n: 100}
		p.untilWaiting(t)
		reason := errors.New("the run ends")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		if err := p.batch(ctx); !errors.Is(err, reason) || w.Err() != nil {
			t.Errorf("%v, sticky %v", err, w.Err())
		}
		release()
		if err := w.Close(startManifest(1, 1000)); err != nil {
			t.Fatal(err)
		}
	})
}

// The list of stalls stays short, its total exact.
func TestStallsStayFew(t *testing.T) {
	var s stalls
	const n, long, apart = 10_000, int64(time.Millisecond), int64(100 * time.Millisecond)
	for i := range int64(n) {
		s.begin(i * apart)
		s.begin(i*apart + 1) // a second one waits as well
		s.end(i*apart + 2)
		s.end(i*apart + long)
	}
	if s.totalNS != n*long || len(s.spans) > maxSpans || len(s.spans) < maxSpans/4 {
		t.Errorf("total %d of %d, %d spans", s.totalNS, n*long, len(s.spans))
	}
	if first, last := s.spans[0], s.spans[len(s.spans)-1]; first.FromNS != 0 || last.ToNS != (n-1)*apart+long {
		t.Errorf("from %d to %d", first.FromNS, last.ToNS)
	}
	for i, span := range s.spans[1:] {
		if span.FromNS <= s.spans[i].ToNS {
			t.Errorf("spans %d and %d overlap", i, i+1)
		}
	}
}
