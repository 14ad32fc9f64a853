package loadcore

import (
	"math/bits"
	"sync/atomic"

	"leveret/capture/event"
)

// window follows the publisher confirms of one channel. It is a ring of one bit a message, indexed by delivery tag.
//
//	tags    1 ... tail-1 | tail ........ head-1 | head ...
//	        all settled  | some settled (bit)   | not published
//
// The producer moves head, before it writes: a confirm can come back before the write call has returned. All else
// belongs to the connection's reader, which publishes tail and settled once per read for the producer to see. Tag t is
// message base+t-1 of the producer, unless it has jumped: then that has to be translated (numbering).
//
// Tags go on where the producer gets another channel, on which the broker counts from 1 again: its delivery tag d is tag
// shift+d. So an answer on the new channel can never meet a message of the old one (abandon).
type window struct {
	head    atomic.Uint64 // next tag to publish; the producer's
	_       [56]byte      // keep the two sides on cache lines of their own
	settled atomic.Uint64 // tags settled in all; the reader's, as is seenTail
	seen    atomic.Uint64 // tail
	_       [48]byte

	size uint64   // most tags unsettled at once
	mask uint64   // ring length - 1; a power of two of at least twice size, at least 64
	ring []uint64 // bit set: settled, while the tag is not below tail
	tail uint64   // lowest unsettled tag
	done uint64   // tags settled, not published yet

	base          uint64 // message number of tag 1
	shift         uint64 // tags of the channels before this one
	contradictory uint64 // settlements of tags that were settled already
	numbering     numbering
}

// newWindow makes a window of size messages (at least 1) for a channel whose first tag is message base.
func newWindow(size int, base uint64) *window {
	length := uint64(1) << bits.Len64(uint64(size)*2-1)
	length = max(length, 64)
	w := &window{size: uint64(size), mask: length - 1, ring: make([]uint64, length/64), tail: 1, base: base}
	w.head.Store(1)
	w.seen.Store(1)
	return w
}

// free is how many messages the producer may publish now. Only as many as size may be unsettled; and where the broker
// settles out of order and leaves one behind, none may be published that would need that one's place in the ring.
func (w *window) free() int {
	head := w.head.Load()
	open := head - 1 - w.settled.Load()
	span := head - w.seen.Load()
	if open >= w.size {
		return 0
	}
	return int(min(w.size-open, w.mask+1-span))
}

// open is how many published messages wait for their confirm, as far as the reader has published it.
func (w *window) open() int { return int(w.head.Load() - 1 - w.settled.Load()) }

// publish registers n messages. The producer calls it before the write call that carries them.
func (w *window) publish(n int) { w.head.Store(w.head.Load() + uint64(n)) }

// published counts what was published on this channel.
func (w *window) published() uint64 { return w.head.Load() - 1 - w.shift }

// withdraw takes back the last n of the messages registered: the write call that was to carry them failed before it had begun
// them, so that no confirm can come for them.
func (w *window) withdraw(n int) { w.head.Store(w.head.Load() - uint64(n)) }

// flush shows the producer what settle has done. The reader calls it once per read.
func (w *window) flush() {
	w.settled.Store(w.done)
	w.seen.Store(w.tail)
}

// verdicts of settle
type settleResult uint8

const (
	settledSome settleResult = iota
	settledAlready
	neverIssued
)

// settle takes one frame with the broker's delivery tag, and appends the runs of messages that it settles to runs. A tag that was
// settled before is counted as contradictory and frees nothing; a multiple one below tail likewise, as nothing up to it is open.
func (w *window) settle(runs []event.SettledRun, tag uint64, multiple bool, kind event.SettlementKind) ([]event.SettledRun, settleResult) {
	head := w.head.Load()
	if multiple && tag == 0 { // all that are outstanding
		tag = head - 1 - w.shift
	}
	if tag == 0 || tag > head-1-w.shift {
		return runs, neverIssued
	}
	tag += w.shift
	switch {
	case tag < w.tail:
		w.contradictory++
		return runs, settledAlready
	case !multiple:
		return w.settleOne(runs, tag, kind)
	}
	return w.settleUpTo(runs, tag, kind), settledSome
}

// settleUpTo settles everything that is open up to tag.
func (w *window) settleUpTo(runs []event.SettledRun, tag uint64, kind event.SettlementKind) []event.SettledRun {
	first, count := len(runs), uint64(0)
	for t := w.tail; t <= tag; {
		n := w.openRun(t, tag)
		if n == 0 {
			t++
			continue
		}
		runs = append(runs, event.SettledRun{First: w.base + t - 1, N: uint32(n), Kind: kind})
		count += n
		t += n
	}
	for i := first; i < len(runs); i++ {
		runs[i].FrameMessages = uint32(count)
	}
	w.done += count
	w.clearTo(tag + 1)
	return runs
}

// abandon ends the window's channel: what is open is in doubt, and in the runs that it returns; the next channel's first tag is
// that of the next message. For whoever owns both sides, as the channel is gone and the producer waits.
func (w *window) abandon() []event.SettledRun {
	runs := w.settleUpTo(nil, w.head.Load()-1, event.InDoubt)
	for i := range runs {
		runs[i].FrameMessages = 0
	}
	w.shift = w.head.Load() - 1
	w.flush()
	return runs
}

func (w *window) settleOne(runs []event.SettledRun, tag uint64, kind event.SettlementKind) ([]event.SettledRun, settleResult) {
	if w.isSettled(tag) {
		w.contradictory++
		return runs, settledAlready
	}
	w.done++
	if tag == w.tail {
		w.clearTo(tag + 1)
	} else {
		w.ring[(tag&w.mask)/64] |= 1 << (tag % 64)
	}
	// Frames that settle one message each, one after the other, are one run: what is recorded of each is the same.
	seq := w.base + tag - 1
	if n := len(runs); n > 0 {
		if last := &runs[n-1]; last.FrameMessages == 1 && last.Kind == kind && last.First+uint64(last.N) == seq {
			last.N++
			return runs, settledSome
		}
	}
	return append(runs, event.SettledRun{First: seq, N: 1, Kind: kind, FrameMessages: 1}), settledSome
}

func (w *window) isSettled(tag uint64) bool { return w.ring[(tag&w.mask)/64]&(1<<(tag%64)) != 0 }

// openRun counts the unsettled tags from t to at most last, up to the first settled one.
func (w *window) openRun(t, last uint64) uint64 {
	n := uint64(0)
	for t+n <= last {
		at := t + n
		word := w.ring[(at&w.mask)/64] >> (at % 64)
		left := 64 - at%64 // bits of this word from at on
		if word != 0 {
			n += uint64(bits.TrailingZeros64(word))
			break
		}
		n += left
	}
	return min(n, last+1-t)
}

// clearTo moves tail to tag and on over what was settled out of order, clearing the bits it passes.
func (w *window) clearTo(tag uint64) {
	for t := w.tail; t < tag; {
		word := (t & w.mask) / 64
		if w.ring[word] == 0 {
			t = (t | 63) + 1
			continue
		}
		end := min((t|63)+1, tag)
		for ; t < end; t++ {
			w.ring[word] &^= 1 << (t % 64)
		}
	}
	head := w.head.Load()
	for tag < head && w.isSettled(tag) {
		w.ring[(tag&w.mask)/64] &^= 1 << (tag % 64)
		tag++
	}
	w.tail = tag
}
