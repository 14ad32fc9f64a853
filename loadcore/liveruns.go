package loadcore

import (
	"math/bits"
	"sync"

	"leveret/capture/event"
)

// liveProducer knows when the recent messages of one producer were sent: a ring of the batches it wrote, each with the
// sequence of its first message. A batch ends where the next one begins.
//
//	run:        oldest .............. newest
//	sequence:   first   first ...... first .. next-1 | next ...
//	overwritten                                        not recorded yet
//
// An answer may come before the batch is known, as a batch is recorded when its write call has returned: it is kept until
// then.
type liveProducer struct {
	mu    sync.Mutex // guards the following
	runs  []liveRun  // nil before the first batch
	added uint64     // runs in all: run i is at i & (len(runs)-1)
	next  uint64     // sequence behind the last run
	most  uint32     // runs that the ring shall hold, a power of two
	early []liveEarly

	// Where the last answers were found; the next ones are likely there or in the next run.
	hints [answers]uint64
}

// liveRun is a batch: when its messages, first and on, were sent; event.None if they were not.
type liveRun struct {
	first uint64
	sent  int64
}

// liveEarly is the answer to n messages from first on, at a time, for the histograms of a shard.
type liveEarly struct {
	first, n uint64
	at       int64
	shard    uint16
	kind     liveAnswer
}

// Bounds of the memory, over all producers.
const (
	liveRuns     = 1 << 21 // 16 bytes each
	liveRunsEach = 1 << 17 // of one producer, at most
	liveRunsMin  = 32      // of one producer, at least: 65,536 of them make liveRuns
	liveEarlyMax = 1 << 10 // answers kept for one producer; at most a quarter of its runs
)

// bound sets how much a producer may keep where there are so many.
func (p *liveProducer) bound(producers int) {
	share := max(liveRuns/max(producers, 1), liveRunsMin)
	p.most = min(liveRunsEach, uint32(1)<<(bits.Len(uint(share))-1))
}

// add takes a batch; batches come in the order of their sequences.
func (p *liveProducer) add(first uint64, n int, sent int64) {
	if p.runs == nil {
		p.runs = make([]liveRun, p.most)
	}
	p.runs[p.added&uint64(p.most-1)] = liveRun{first, sent}
	p.added++
	p.next = first + uint64(n)
}

func (p *liveProducer) run(i uint64) *liveRun { return &p.runs[i&uint64(p.most-1)] }

func (p *liveProducer) oldest() uint64 { return p.added - min(p.added, uint64(p.most)) }

// end is the sequence behind run i.
func (p *liveProducer) end(i uint64) uint64 {
	if i+1 == p.added {
		return p.next
	}
	return p.run(i + 1).first
}

// find counts answered messages and takes their latencies, run by run; those whose batch is not known yet when it is.
func (p *liveProducer) find(found *liveFound, a liveEarly) {
	hint := &p.hints[a.kind]
	for a.n > 0 {
		if a.first >= p.next {
			if !p.keep(a) {
				found.messages += int64(a.n)
				found.missed += int64(a.n)
			}
			return
		}
		oldest := p.run(p.oldest()).first
		if a.first < oldest {
			n := min(a.n, oldest-a.first)
			found.messages += int64(n)
			found.missed += int64(n)
			a.first, a.n = a.first+n, a.n-n
			continue
		}
		*hint = p.search(*hint, a.first)
		n := min(a.n, p.end(*hint)-a.first)
		if sent := p.run(*hint).sent; sent != event.None {
			found.add(a.at-sent, int64(n))
		}
		found.messages += int64(n)
		a.first, a.n = a.first+n, a.n-n
	}
}

// search returns the run that holds a sequence; there is one.
func (p *liveProducer) search(hint, seq uint64) uint64 {
	low, high := p.oldest(), p.added // it is in [low, high)
	for i := hint; i < hint+2; i++ {
		if low <= i && i < high && p.run(i).first <= seq && seq < p.end(i) {
			return i
		}
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; p.run(middle).first <= seq {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// keep keeps an answer until its batch is known; false if there is no room.
func (p *liveProducer) keep(a liveEarly) bool {
	if n := len(p.early); n > 0 {
		if last := &p.early[n-1]; last.at == a.at && last.shard == a.shard && last.kind == a.kind && last.first+last.n == a.first {
			last.n += a.n
			return true
		}
		if n >= min(liveEarlyMax, int(p.most/4)) {
			return false
		}
	}
	p.early = append(p.early, a)
	return true
}

// answer takes the latencies of the answers that were kept, as far as their batches are known by now.
func (p *liveProducer) answer(shards []liveShard) {
	if len(p.early) == 0 {
		return
	}
	kept := p.early
	p.early = p.early[:0] // find keeps again what is still too early; it never overtakes the reading
	for i := range kept {
		a := kept[i]
		found := liveFound{shard: &shards[a.shard], kind: a.kind}
		p.find(&found, a)
		found.flush()
	}
}
