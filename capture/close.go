package capture

import (
	"errors"
	"fmt"
	"math"
	"time"

	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// Close ends the recording: it writes what is still in memory, the footers, the end of the journal and, last, final as
// manifest.json. Of final it sets FormatVersion, Recording and, where it is nil, ClockEnd. No other call may come while
// or after it runs; rows of such calls are lost, and counted.
//
// An error says that the capture is not complete; what was written can be analyzed all the same. Then there is no
// manifest, except where the disk stood still, came back, and all that is missing are rows that found no room meanwhile:
// the manifest counts them, and the error is the recording's own (Err). Close waits for a disk that stands still no
// longer than StallTimeout without progress.
func (w *Writer) Close(final *manifest.Manifest) error {
	w.closeOnce.Do(func() { w.closeErr = w.end(final) })
	return w.closeErr
}

func (w *Writer) end(final *manifest.Manifest) error {
	w.closing.Store(true)
	w.handAll()
	w.queue <- nil
	if err := w.awaitFlusher(); err != nil {
		return err // the files stay open: the flusher may still be writing them
	}
	err := w.disk.close()
	if w.broken.Load() {
		return errors.Join(w.Err(), err)
	}
	if err != nil {
		return fmt.Errorf("recording into %s: close: %w", w.dir, explain(err))
	}
	final.FormatVersion = manifest.FormatVersion
	final.Recording = w.recording()
	if final.ClockEnd == nil {
		now := w.clock.Snapshot()
		final.ClockEnd = &now
	}
	if err := writeManifest(w.options.disk, w.path(manifest.FinalName), final); err != nil {
		return fmt.Errorf("recording into %s: %w", w.dir, err)
	}
	if len(final.Recording.Lost) > 0 {
		return w.Err()
	}
	return nil
}

// handAll gives the flusher whatever the shards hold.
func (w *Writer) handAll() {
	const any = math.MaxInt64
	for i := range w.publish {
		sh := &w.publish[i]
		sh.Lock()
		w.handOld(&sh.sends, any)
		w.handOld(&sh.writes, any)
		sh.Unlock()
	}
	for _, shards := range [][]shard{w.settlements, w.deliveries, w.acks} {
		for i := range shards {
			shards[i].Lock()
			w.handOld(&shards[i].slot, any)
			shards[i].Unlock()
		}
	}
	for _, sh := range []*shard{&w.connections, &w.self, &w.churn, &w.broker[0], &w.broker[1], &w.broker[2]} {
		sh.Lock()
		w.handOld(&sh.slot, any)
		sh.Unlock()
	}
}

// awaitFlusher waits until the flusher has ended, as long as it makes progress.
func (w *Writer) awaitFlusher() error {
	before := w.disk.batches.Load()
	for {
		timeout := time.NewTimer(w.options.StallTimeout)
		select {
		case <-w.done:
			timeout.Stop()
			return nil
		case <-timeout.C:
		}
		now := w.disk.batches.Load()
		if now == before {
			w.fail(fmt.Errorf("the disk has taken nothing for %v while the recording was closed", w.options.StallTimeout))
			return w.Err()
		}
		before = now
	}
}

// finish ends the files; it runs as the last act of the flusher.
func (w *Writer) finish() {
	if w.broken.Load() {
		return
	}
	if err := w.disk.foot(w); err != nil {
		w.broken.Store(true)
		w.fail(explain(err))
	}
}

func (d *writtenDisk) foot(w *Writer) error {
	for _, a := range d.arrows {
		if err := a.write(schema.FileFoot(a.kind, w.start.ID, w.start.Tag, a.blocks)); err != nil {
			return err
		}
	}
	if err := d.journal.append(schema.Record{End: true, Sequence: d.journal.sequence}); err != nil {
		return err
	}
	if w.options.Fsync {
		return d.sync(w)
	}
	return nil
}

// recording is what the manifest says of the files. The flusher has ended.
func (w *Writer) recording() *manifest.Recording {
	r := &manifest.Recording{
		Compression: w.options.Compression,
		Rows:        map[string]int64{},
		Files:       map[string]int64{manifest.JournalName: w.disk.journal.size},
	}
	for _, a := range w.disk.arrows {
		r.Rows[a.kind.String()] += a.rows
		r.Files[a.name] = a.size
	}
	for _, k := range schema.Kinds {
		if n := w.lost[k].Load(); n > 0 {
			if r.Lost == nil {
				r.Lost = map[string]int64{}
			}
			r.Lost[k.String()] = n
		}
	}
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	r.Stalls = append([]manifest.Stall(nil), w.pools.stalls.spans...)
	r.StallNS = w.pools.stalls.totalNS
	return r
}
