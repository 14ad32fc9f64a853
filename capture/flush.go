package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"sync/atomic"
	"time"

	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// writtenDisk is the flusher's side: the files of a capture. Only the flusher's goroutine uses it between create and the
// end of flush.
type writtenDisk struct {
	arrows  []*arrowFile
	journal journalFile
	encoder *schema.BatchEncoder
	batches atomic.Int64 // written or given up, for Close to see that it goes on
	rows    atomic.Int64 // written
	bytes   atomic.Int64 // likewise, of the Arrow files' batches
}

// arrowFile is one Arrow file as far as it is written.
type arrowFile struct {
	name   string
	kind   schema.Kind
	shard  uint16
	file   file
	size   int64
	rows   int64
	blocks []schema.Block // for the footer
}

type journalFile struct {
	file     file
	size     int64
	sequence uint64
	record   [schema.RecordSize]byte // scratch
}

// create makes the directory, start.json, and every file with its head, so that a kind without rows has a file too. What
// it made is removed again if it fails.
func (d *writtenDisk) create(w *Writer, c schema.Compression) (err error) {
	d.encoder = schema.NewBatchEncoder(c)
	made, err := emptyDir(w.dir)
	if err != nil {
		return err
	}
	var names []string
	defer func() {
		if err != nil {
			d.discard(w, names, made)
		}
	}()
	names = append(names, manifest.StartName)
	if err := writeManifest(w.options.disk, w.path(manifest.StartName), &w.start); err != nil {
		return err
	}
	names = append(names, manifest.JournalName)
	if d.journal.file, err = w.options.disk.create(w.path(manifest.JournalName)); err != nil {
		return explain(err)
	}
	header := schema.AppendJournalHeader(nil, schema.JournalHeader{Version: manifest.FormatVersion, Tag: w.start.Tag, ID: w.start.ID})
	n, err := d.journal.file.Write(header)
	d.journal.size = int64(n)
	if err != nil {
		return explain(err)
	}
	for _, k := range w.kinds() {
		for shard := range w.shardsOf(k) {
			a := &arrowFile{name: schema.FileName(k, uint16(shard)), kind: k, shard: uint16(shard)}
			names = append(names, a.name)
			if a.file, err = w.options.disk.create(w.path(a.name)); err != nil {
				return explain(err)
			}
			d.arrows = append(d.arrows, a)
			if err := a.write(schema.FileHead(k, w.start.ID, w.start.Tag)); err != nil {
				return explain(err)
			}
		}
	}
	if w.options.Fsync {
		return d.sync(w)
	}
	return nil
}

// kinds are those that the capture has files of.
func (w *Writer) kinds() []schema.Kind {
	return slices.DeleteFunc(slices.Clone(schema.Kinds[:]), func(k schema.Kind) bool {
		return k.OfBroker() && w.start.Management == nil || k == schema.Churn && w.start.Churn == nil
	})
}

func (w *Writer) shardsOf(k schema.Kind) int {
	if k >= schema.Connections { // what comes rarely
		return 1
	}
	return w.options.Shards
}

// discard removes what create made.
func (d *writtenDisk) discard(w *Writer, names []string, dir bool) {
	d.close()
	for _, name := range names {
		w.options.disk.remove(w.path(name))
	}
	if dir {
		os.Remove(w.dir)
	}
}

// close closes every file that is open.
func (d *writtenDisk) close() error {
	var errs []error
	for _, a := range d.arrows {
		errs = append(errs, a.file.Close())
	}
	if d.journal.file != nil {
		errs = append(errs, d.journal.file.Close())
	}
	return errors.Join(errs...)
}

// sync makes all that was written durable.
func (d *writtenDisk) sync(w *Writer) error {
	errs := []error{d.journal.file.Sync()}
	for _, a := range d.arrows {
		errs = append(errs, a.file.Sync())
	}
	return errors.Join(append(errs, w.options.disk.syncDir(w.dir))...)
}

func (a *arrowFile) write(b []byte) error {
	n, err := a.file.Write(b)
	a.size += int64(n)
	return err
}

// flush is the flusher's goroutine: it writes blocks in the order in which they were handed over, until the end mark.
func (w *Writer) flush() {
	defer close(w.done)
	pprof.Do(context.Background(), pprof.Labels("leveret", "recorder"), func(context.Context) {
		ticker := time.NewTicker(max(w.options.FlushInterval/8, time.Millisecond))
		defer ticker.Stop()
		lookAt := time.Now().Add(w.options.FlushInterval)
		for {
			select {
			case b := <-w.queue:
				if b == nil {
					w.finish()
					return
				}
				w.flushBlock(b)
			case <-ticker.C:
				w.sweep(w.clock.Now() - int64(w.options.FlushInterval)*3/4)
				if now := time.Now(); now.After(lookAt) {
					w.look()
					lookAt = now.Add(w.options.FlushInterval)
				}
			}
		}
	})
}

// look makes sure that the files are still where they were made: a system writes on into files that nobody can find any more.
func (w *Writer) look() {
	if w.broken.Load() {
		return
	}
	err := w.options.disk.present(w.path(manifest.JournalName), w.disk.journal.file)
	for _, a := range w.disk.arrows {
		if err == nil {
			err = w.options.disk.present(w.path(a.name), a.file)
		}
	}
	if err != nil {
		w.broken.Store(true)
		w.fail(gone(err))
	}
}

// flushBlock writes one block and frees it. When the recording is broken its rows are lost, and counted.
func (w *Writer) flushBlock(b *block) {
	if !w.broken.Load() {
		if err := w.disk.append(b, w.options.Fsync); err != nil {
			w.broken.Store(true)
			w.fail(explain(err))
		}
	}
	if w.broken.Load() {
		w.lose(b.slot.kind, b.rows)
	}
	w.disk.batches.Add(1)
	w.pools.giveBack(b.slot.kind, b)
}

// append writes the rows of a block as one batch, and then the journal's record of it.
func (d *writtenDisk) append(b *block, durable bool) error {
	a := d.file(b.slot)
	batch, err := d.encoder.Encode(b.slot.kind, b.rows, b.filled())
	if err != nil {
		return fmt.Errorf("write %s: %w", a.name, err)
	}
	r := schema.Record{
		Sequence: d.journal.sequence,
		Kind:     a.kind, Shard: a.shard, Batch: uint32(len(a.blocks)),
		Offset: a.size, Length: uint32(batch.Length), Rows: uint32(b.rows),
		MinTime: batch.MinTime, MaxTime: batch.MaxTime, Checksum: batch.Checksum,
	}
	for _, part := range batch.Parts {
		if len(part) == 0 {
			continue
		}
		if err := a.write(part); err != nil {
			return err
		}
	}
	if durable {
		if err := a.file.Sync(); err != nil {
			return err
		}
	}
	if err := d.journal.append(r); err != nil {
		return err
	}
	if durable {
		if err := d.journal.file.Sync(); err != nil {
			return err
		}
	}
	a.rows += int64(b.rows)
	d.rows.Add(int64(b.rows))
	d.bytes.Add(batch.Length)
	a.blocks = append(a.blocks, schema.Block{Offset: r.Offset, Metadata: batch.Metadata, Body: batch.Length - int64(batch.Metadata)})
	return nil
}

func (j *journalFile) append(r schema.Record) error {
	n, err := j.file.Write(schema.AppendRecord(j.record[:0], r))
	j.size += int64(n)
	j.sequence++
	return err
}

func (d *writtenDisk) file(s *slot) *arrowFile {
	for _, a := range d.arrows {
		if a.kind == s.kind && a.shard == s.shard {
			return a
		}
	}
	panic("a slot without a file") // create makes one for each
}

// sweep hands over the blocks whose first row came before the given time. A shard whose mutex is taken is left for the
// next time: its holder may be waiting for this goroutine.
func (w *Writer) sweep(before int64) {
	for i := range w.publish {
		if sh := &w.publish[i]; sh.TryLock() {
			w.handOld(&sh.sends, before)
			w.handOld(&sh.writes, before)
			sh.Unlock()
		}
	}
	for _, shards := range [][]shard{w.settlements, w.deliveries, w.acks} {
		for i := range shards {
			w.sweepShard(&shards[i], before)
		}
	}
	w.sweepShard(&w.connections, before)
	w.sweepShard(&w.self, before)
	w.sweepShard(&w.churn, before)
	for i := range w.broker {
		w.sweepShard(&w.broker[i], before)
	}
}

func (w *Writer) sweepShard(sh *shard, before int64) {
	if sh.TryLock() {
		w.handOld(&sh.slot, before)
		sh.Unlock()
	}
}

func (w *Writer) handOld(s *slot, before int64) {
	if s.cur != nil && s.cur.rows > 0 && s.cur.since <= before {
		w.hand(s)
	}
}
