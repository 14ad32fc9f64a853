package capture

import (
	"sync/atomic"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// accounts tell how many rows are on their way to the recorder: what Reserve needs room for. They are estimates that can
// err for a while (a batch that was reserved and never written, a window that was lost with its connection), and bounded
// by what the plan allows, so that an error never grows into a brake.
type accounts struct {
	granted     atomic.Int64 // send rows that Reserve let pass and Sends has not brought yet
	outstanding atomic.Int64 // settlement rows that messages already sent may still lead to

	// Fixed when made.
	weights         []uint8 // settlement rows (confirm or commit, return) that one message leads to, by producer
	mostGranted     int64
	mostOutstanding int64
}

func newAccounts(producers []manifest.Producer) accounts {
	var mostGranted, mostOutstanding int64
	weights := make([]uint8, len(producers))
	for i, p := range producers {
		mostGranted += int64(p.Batch)
		// A transaction is one at a time: its commit is answered before the next begins.
		if answered := max(p.Confirm, p.TxSize); answered > 0 {
			weights[i]++
			if p.Mandatory {
				weights[i]++ // its return
			}
			mostOutstanding += int64(answered) * int64(weights[i])
		}
	}
	return accounts{weights: weights, mostGranted: mostGranted, mostOutstanding: mostOutstanding}
}

func (a *accounts) weight(producer uint16) int64 {
	if int(producer) < len(a.weights) {
		return int64(a.weights[producer])
	}
	return 0
}

func (a *accounts) grant(rows int) {
	move(&a.granted, int64(rows), max(a.mostGranted, int64(rows)))
}

// sent enters a batch that Sends has brought.
func (a *accounts) sent(s *event.Sends) {
	move(&a.granted, -int64(s.N), a.mostGranted)
	if weight := a.weight(s.Producer); weight > 0 && s.Sent != event.None {
		move(&a.outstanding, int64(s.N)*weight, a.mostOutstanding)
	}
}

// settled enters messages that were confirmed, committed or refused.
func (a *accounts) settled(producer uint16, messages int) {
	if weight := a.weight(producer); weight > 0 && messages > 0 {
		move(&a.outstanding, -int64(messages)*weight, a.mostOutstanding)
	}
}

// move adds n, within 0 and most.
func move(a *atomic.Int64, n, most int64) {
	for {
		old := a.Load()
		if a.CompareAndSwap(old, min(max(old+n, 0), most)) {
			return
		}
	}
}
