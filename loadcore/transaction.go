package loadcore

import (
	"fmt"
	"sync/atomic"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// transaction follows the publisher transactions of one channel: data plane. The producer publishes up to size messages,
// sends tx.commit behind them and publishes no more before tx.commit-ok has come.
//
//	producer: publish ... publish, commit --> committing --> reader: commit-ok, recorded --> producer: publish ...
//
// While committing is set runs and open belong to the connection's reader, else to the producer.
type transaction struct {
	size  int
	frame []byte // tx.commit

	runs       []event.SettledRun // the messages of the transaction; gaps are slots that were not sent
	dues       []int64            // their due times, where they may have to be sent again
	open       int                // their number
	committing atomic.Bool

	answered    bool         // commit-ok has come in this read call; the reader's
	uncommitted atomic.Int64 // messages published and not committed
	commits     atomic.Uint64
}

// room is how many more messages the transaction takes; none while its commit is under way.
func (t *transaction) room() int {
	if t.committing.Load() {
		return 0
	}
	return t.size - t.open
}

// sent adds n messages that were published.
func (t *transaction) sent(first uint64, n int) {
	t.open += n
	t.uncommitted.Add(int64(n))
	if k := len(t.runs); k > 0 && t.runs[k-1].First+uint64(t.runs[k-1].N) == first {
		t.runs[k-1].N += uint32(n)
		return
	}
	t.runs = append(t.runs, event.SettledRun{First: first, N: uint32(n), Kind: event.Commit})
}

// commit ends the transaction that is open. The answer comes to the reader.
func (p *producer) commit() {
	p.tx.committing.Store(true)
	p.ch.post(p.tx.frame) // on a channel that is gone nothing is answered any more, and the producer is halted
}

// commitTail commits what a producer that has ended has left.
func (p *producer) commitTail() {
	if p.tx != nil && !p.halted.Load() && !p.tx.committing.Load() && p.tx.open > 0 {
		p.commit()
	}
}

// committed takes tx.commit-ok.
func (p *producer) committed() error {
	t := p.tx
	if t == nil || !t.committing.Load() || t.answered {
		return fmt.Errorf("the broker sent tx.commit-ok on channel %d, where nothing was to be committed", p.ch.number)
	}
	t.answered = true
	c := &p.confirms
	for _, r := range t.runs {
		r.FrameMessages = uint32(t.open)
		c.batch.Runs = append(c.batch.Runs, r)
	}
	c.committed += int64(t.open)
	p.touch()
	return nil
}

// release lets the producer begin the next transaction, once the end of the last is counted.
func (t *transaction) release() {
	if !t.answered {
		return
	}
	t.answered = false
	t.uncommitted.Add(-int64(t.open))
	t.commits.Add(1)
	t.runs, t.dues, t.open = t.runs[:0], t.dues[:0], 0
	t.committing.Store(false)
}

// checkTransactions refuses what a broker would.
func checkTransactions(s *manifest.Producer) error {
	switch {
	case s.TxSize < 0 || s.TxSize > maxWindow:
		return fmt.Errorf("--ptxsize=%d: want 0 (no transactions) to %d", s.TxSize, maxWindow)
	case s.TxSize > 0 && s.Confirm > 0:
		return fmt.Errorf("--ptxsize=%d with --confirm=%d: a channel has either transactions or confirms, brokers refuse both together; give one of them", s.TxSize, s.Confirm)
	}
	return nil
}
