package analyze

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// byTime puts the batches of all captures into the order in which they are joined: sends by their first time, answers
// by their last, so that a send is read before its answer wherever the clocks agree, and little is under way at a time.
// The batches of one file keep their order: within it, rows of one consumer are in the order of reception.
func byTime(captures []*source) []*batch {
	var all []*batch
	for _, c := range captures {
		var f *file
		running := int64(0)
		for _, b := range c.batches {
			b.order = b.maxTime
			if b.kind == schema.Sends {
				b.order = b.minTime
			}
			if b.file == f {
				b.order = max(b.order, running)
			}
			f, running = b.file, b.order
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b *batch) int {
		if n := cmp.Compare(a.order, b.order); n != 0 {
			return n
		}
		return cmp.Compare(sendsFirst(a), sendsFirst(b))
	})
	return all
}

func sendsFirst(b *batch) int {
	if b.kind == schema.Sends {
		return 0
	}
	return 1
}

// rows is one decoded batch. The record and everything in it is valid until the visitor returns, or, where it holds it, until it
// releases it.
type rows struct {
	batch *batch
	rec   arrow.Record
	buf   []byte
	err   error // the batch is damaged
	ready chan struct{}
	// held: the visitor keeps the batch, and releases it.
	held  bool
	spare chan<- []byte
}

// columns are those that are decoded of each kind; all, of kinds that are not in it. To read a column that is left out panics.
type columns map[schema.Kind][]int

// feed shows batches in their order to visit, decoded ahead on all processors. A batch that is not what its checksum
// says is marked bad, and shown no more. It ends early with ctx's error or visit's.
func feed(ctx context.Context, batches []*batch, wanted columns, visit func(*rows) error) error {
	workers := max(1, min(runtime.GOMAXPROCS(0), 8))
	jobs := make(chan *rows, workers)      // to be decoded, by any worker
	ordered := make(chan *rows, 2*workers) // the same, to be visited in order; bounds what is decoded ahead
	spare := make(chan []byte, 4*workers)
	stop := make(chan struct{})
	finished := make(chan struct{})
	mem := &recycler{}
	go dispatch(batches, spare, jobs, ordered, stop)
	for range workers {
		go func() {
			work(jobs, wanted, spare, mem)
			finished <- struct{}{}
		}()
	}
	err := consume(ctx, ordered, visit)
	close(stop)
	for r := range ordered { // release what was decoded and not visited
		<-r.ready
		r.release()
	}
	for range workers {
		<-finished
	}
	return err
}

func dispatch(batches []*batch, spare chan<- []byte, jobs, ordered chan<- *rows, stop <-chan struct{}) {
	defer close(jobs)
	defer close(ordered)
	for _, b := range batches {
		if b.bad {
			continue
		}
		r := &rows{batch: b, ready: make(chan struct{}), spare: spare}
		select {
		case ordered <- r:
			jobs <- r // the workers take every job, also after stop
		case <-stop:
			return
		}
	}
}

// work decodes. Buffers that were released come back by spare and mem. Decoders hold state and belong to one goroutine.
func work(jobs <-chan *rows, wanted columns, spare <-chan []byte, mem memory.Allocator) {
	decoders := map[schema.Head]*schema.Decoder{}
	for r := range jobs {
		var buf []byte
		select {
		case buf = <-spare:
		default:
		}
		head := r.batch.file.head
		d := decoders[head]
		if d == nil {
			d = schema.NewDecoder(head, mem)
			if only := wanted[head.Kind]; only != nil {
				d.Only(only...)
			}
			decoders[head] = d
		}
		if r.buf, r.err = r.batch.read(buf); r.err == nil {
			r.rec, r.err = d.Decode(r.buf)
		}
		if r.err == nil && r.batch.capture.shift != 0 {
			r.shiftTimes(r.batch.capture.shift)
		}
		close(r.ready)
	}
}

// shiftTimes moves every time in the batch onto the common clock. The buffer is ours.
func (r *rows) shiftTimes(by int64) {
	for i, c := range r.batch.kind.Columns() {
		if c.Type == schema.I64 && !c.Amount && r.rec.Column(i).DataType().ID() == arrow.INT64 {
			for j, t := range i64(r.rec, i) {
				if t != event.None {
					i64(r.rec, i)[j] = t + by
				}
			}
		}
	}
}

func (r *rows) release() {
	if r.rec != nil {
		r.rec.Release()
	}
	if r.buf == nil {
		return
	}
	select {
	case r.spare <- r.buf:
	default:
	}
}

func consume(ctx context.Context, ordered <-chan *rows, visit func(*rows) error) error {
	for r := range ordered {
		select {
		case <-r.ready:
		case <-ctx.Done():
			<-r.ready
			r.release()
			return ctx.Err()
		}
		err := ctx.Err()
		switch {
		case err != nil:
		case r.err != nil:
			r.batch.bad = true
			r.batch.capture.reason("%s: batch of %d rows at %d: %v", r.batch.file.name, r.batch.rows, r.batch.offset, r.err)
		case r.rec.NumRows() != r.batch.rows:
			r.batch.bad = true
			r.batch.capture.reason("%s: batch at %d holds %d rows, the journal says %d", r.batch.file.name, r.batch.offset, r.rec.NumRows(), r.batch.rows)
		default:
			err = visit(r)
		}
		if !r.held {
			r.release()
		}
		if err != nil {
			return fmt.Errorf("analyze: %w", err)
		}
	}
	return nil
}
