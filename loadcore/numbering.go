package loadcore

import (
	"sync"
	"sync/atomic"

	"leveret/capture/event"
)

// numbering says which messages the tags of a window are, where a producer's messages do not follow each other on its channel:
// slots that were not sent have a number and no tag, and what is sent again has a number from before.
//
//	tag       1 2 3 4 | 5 6 7 | 8 9 ...
//	message   0 1 2 3 | 9 10 11 | 4 5 ...
//
// Tags before the first jump are as the window has them. The producer adds jumps before it publishes; the reader translates what
// a read call has settled, and forgets jumps that lie behind. There are never more than open messages, and one.
type numbering struct {
	jumped atomic.Bool
	mu     sync.Mutex // guards the following
	jumps  []jump     // by rising tag
	spare  []event.SettledRun
}

// jump: from tag on messages count from seq.
type jump struct{ tag, seq uint64 }

// jump has the next message that is published be message seq.
func (w *window) jump(seq uint64) {
	n, head := &w.numbering, w.head.Load()
	n.mu.Lock()
	if k := len(n.jumps); k > 0 && n.jumps[k-1].tag == head {
		n.jumps[k-1].seq = seq
	} else {
		n.jumps = append(n.jumps, jump{head, seq})
	}
	n.mu.Unlock()
	n.jumped.Store(true)
}

// translate gives runs, as settle made them, the numbers of their messages, and returns them in place of runs, whose memory it
// keeps. Of a read call's runs those of returned messages have theirs already.
func (w *window) translate(runs []event.SettledRun) []event.SettledRun {
	n := &w.numbering
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.spare[:0]
	for _, r := range runs {
		if r.Kind == event.Return {
			out = append(out, r)
			continue
		}
		for tag := r.First - w.base + 1; r.N > 0; {
			first, left := n.at(w.base, tag)
			part := r
			part.First, part.N = first, uint32(min(uint64(r.N), left))
			out = append(out, part)
			r.N -= part.N
			tag += uint64(part.N)
		}
	}
	n.spare = runs
	for len(n.jumps) > 1 && n.jumps[1].tag <= w.tail {
		n.jumps = append(n.jumps[:0], n.jumps[1:]...)
	}
	return out
}

// at is the message of a tag, and for how many tags from there on messages follow each other.
func (n *numbering) at(base, tag uint64) (seq, left uint64) {
	seq, left = base+tag-1, 1<<63
	for _, j := range n.jumps {
		if j.tag > tag {
			return seq, j.tag - tag
		}
		seq = j.seq + tag - j.tag
	}
	return seq, left
}
