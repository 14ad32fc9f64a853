package capture

import (
	"context"
	"fmt"
	"time"

	"leveret/capture/schema"
)

// Reserve waits until the disk has caught up so far that rows more sends, their batches and all settlements that are
// still to come for messages sent find room. Call it before the write with the number of messages, and Sends afterwards
// for as many (with Sent event.None for those that could not be written). It fails with the recording's error, with ctx's,
// or when it has waited for StallTimeout, which is the recording's error from then on.
//
// It cannot deadlock, however many messages wait for their confirms: rows that are reserved hold no block, and once
// the disk has taken all full blocks Reserve lets pass, since then it is not the disk that publishing would wait for.
// Where the windows of all producers are larger than the blocks, room for every settlement can't be had; half of the
// blocks are kept free for them then.
func (w *Writer) Reserve(ctx context.Context, rows int) error {
	if err := w.Err(); err != nil {
		return err
	}
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	if w.fits(rows) {
		w.accounts.grant(rows)
		return nil
	}
	return w.wait(ctx, func() bool {
		if !w.fits(rows) {
			return false
		}
		w.accounts.grant(rows)
		return true
	})
}

// TryReserve is Reserve where nothing has to be waited for, which is so nearly always; else it is false and reserves nothing.
func (w *Writer) TryReserve(rows int) bool {
	if w.Err() != nil {
		return false
	}
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	if !w.fits(rows) {
		return false
	}
	w.accounts.grant(rows)
	return true
}

// fits tells whether rows more messages may be sent. pools.mu is held.
func (w *Writer) fits(rows int) bool {
	p := &w.pools
	granted := w.accounts.granted.Load() + int64(rows)
	most := p.limit[schema.Sends] - p.shards // what is available when the disk has caught up; the same for all kinds here
	need := min(p.blocksFor(schema.Sends, granted), most)
	if p.available(schema.Sends) < need || p.available(schema.Writes) < need {
		return false
	}
	need = p.blocksFor(schema.Settlements, w.accounts.outstanding.Load()+granted)
	if need > most {
		need = (most + 1) / 2
	}
	return p.available(schema.Settlements) >= need
}

// blocksFor is how many blocks rows may take: each shard but one may begin another for a few of them.
func (p *pools) blocksFor(k schema.Kind, rows int64) int {
	size := int64(p.rows[k])
	return int(min((rows+size-1)/size, int64(p.limit[k]))) + p.shards - 1
}

// Congested tells that deliveries outrun the disk: consumers should withhold their acks, or pause reading where acks are
// automatic, until it is false again.
func (w *Writer) Congested() bool { return w.pools.congested.Load() }

// take returns a free block of a kind, made if need be. It waits where there is none; nil: there will be none, because
// the recording has failed or ended.
func (w *Writer) take(k schema.Kind) *block {
	if w.closing.Load() {
		return nil
	}
	p := &w.pools
	p.mu.Lock()
	b, missing := p.get(k)
	if b == nil && !missing {
		w.wait(context.Background(), func() bool { // its error is the recording's
			b, missing = p.get(k)
			return b != nil || missing
		})
	}
	p.judge(k)
	p.mu.Unlock()
	if missing {
		b = newBlock(k, p.rows[k])
	}
	return b
}

// wait waits until ready. pools.mu is held when it is called, when it returns, and when it calls ready.
func (w *Writer) wait(ctx context.Context, ready func() bool) error {
	p := &w.pools
	if w.Err() != nil {
		return w.Err()
	}
	p.stalls.begin(w.clock.Now())
	defer func() { p.stalls.end(w.clock.Now()) }()
	timeout := time.NewTimer(w.options.StallTimeout)
	defer timeout.Stop()
	for {
		wake := p.wake
		p.mu.Unlock()
		var err error
		select {
		case <-wake:
		case <-ctx.Done():
			err = fmt.Errorf("recording into %s: waiting for the disk: %w", w.dir, context.Cause(ctx))
		case <-timeout.C:
			w.fail(fmt.Errorf("the disk has not followed for %v: more memory for the recorder, a faster disk or a lower rate would help", w.options.StallTimeout))
		}
		p.mu.Lock()
		if err == nil {
			err = w.Err()
		}
		if err != nil {
			return err
		}
		if ready() {
			return nil
		}
	}
}
