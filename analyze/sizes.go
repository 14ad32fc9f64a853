package analyze

import (
	"fmt"
	"math/bits"
	"slices"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// messageSizes knows how large each message is, and divides the messages by that: a group for each size, or, where the plan has
// more than sizeGroups of them, for each power of two and what lies above it.
//
// Kept are the changes of size, for sizes that a producer takes in turn those that depart from the plan: a few a producer.
type messageSizes struct {
	of      [][]*producerSizes // by capture and producer
	octaves bool
	sizes   []int64 // by key, in the order in which they were seen; of octaves the least of each
	counts  []int64 // messages, by key

	// The messages of the answer at hand.
	at    *producerSizes // nil: of an unknown producer, and then all are of one size
	first uint64
	size  int64 // -1: unknown
}

// unknownSize is that of a message of which no row tells.
const unknownSize = -1

// otherSizes is the key of sizes beyond the first sizeGroups - 1, where the plan did not tell of so many.
const otherSizes = sizeGroups - 1

// sizeGroups is the most groups that there are; powers of two are 33.
const sizeGroups = 64

// producerSizes are the sizes of one producer's messages.
type producerSizes struct {
	planned []int64 // that the messages have in turn, as the plan says
	changes []sizeChange
	last    int    // the change that was looked up last
	next    uint64 // sequence behind the last message
}

// sizeChange: from a sequence on messages have a size; asPlanned: that of the plan.
type sizeChange struct {
	first uint64
	size  int64
}

const asPlanned = -2

func newMessageSizes(captures []*source) *messageSizes {
	s := &messageSizes{}
	known := map[int64]bool{}
	for _, c := range captures {
		var of []*producerSizes
		var pool []int64 // of all producers: there may be as many bodies as those
		for _, b := range c.manifest.Bodies {
			pool = append(pool, int64(b.SizeBytes))
		}
		for i := range c.manifest.Producers {
			p := &producerSizes{planned: plannedSizes(&c.manifest.Producers[i], pool)}
			for _, n := range p.planned {
				known[n] = true
			}
			for _, stage := range c.manifest.Producers[i].Sizes {
				known[int64(stage.Bytes)] = true
			}
			of = append(of, p)
		}
		s.of = append(s.of, of)
	}
	s.octaves = len(known) > sizeGroups
	if s.octaves {
		for k := range 33 { // 0, 1, 2 to 3, ...: sizes have 32 bits
			s.sizes = append(s.sizes, int64(1)<<k>>1)
		}
		s.counts = make([]int64, len(s.sizes))
	}
	return s
}

// plannedSizes are those that the messages of a producer take in turn. Where they change with the time, rows tell.
func plannedSizes(p *manifest.Producer, pool []int64) []int64 {
	if !p.PooledBodies || len(pool) == 0 {
		return []int64{int64(p.Size)}
	}
	return pool
}

// add notes the sizes of messages, and counts those that were sent.
func (s *messageSizes) add(r *integrity.SendRows, sizes []uint32) {
	for i, n := range sizes {
		again := false // a message that was sent before
		if of := s.of[r.Capture]; int(r.Producer[i]) < len(of) {
			again = !of[r.Producer[i]].add(r.Seq[i], int64(n))
		}
		if r.Sent[i] != event.None && !again {
			s.counts[s.keyOf(int64(n))]++
		}
	}
}

// received counts deliveries, where no producer was recorded.
func (s *messageSizes) received(sizes []uint32) {
	for _, n := range sizes {
		s.counts[s.keyOf(int64(n))]++
	}
}

func (p *producerSizes) inTurn(seq uint64) int64 { return p.planned[seq%uint64(len(p.planned))] }

// add notes the size of a message; false: it had one. Rows of a producer come in order, but for those of messages sent again.
func (p *producerSizes) add(seq uint64, size int64) bool {
	if seq < p.next {
		return false
	}
	p.next = seq + 1
	now := int64(asPlanned)
	if n := len(p.changes); n > 0 {
		now = p.changes[n-1].size
	}
	if now == size || now == asPlanned && p.inTurn(seq) == size {
		return true
	}
	if p.inTurn(seq) == size {
		size = asPlanned
	}
	p.changes = append(p.changes, sizeChange{seq, size})
	return true
}

// size of a message.
func (p *producerSizes) size(seq uint64) int64 {
	if i := p.last; i >= len(p.changes) || p.changes[i].first > seq || i+1 < len(p.changes) && p.changes[i+1].first <= seq {
		i, _ = slices.BinarySearchFunc(p.changes, seq, func(c sizeChange, seq uint64) int {
			if c.first <= seq {
				return -1
			}
			return 1
		})
		if p.last = i - 1; p.last < 0 {
			p.last = 0
			return p.inTurn(seq)
		}
	}
	if size := p.changes[p.last].size; size != asPlanned {
		return size
	}
	return p.inTurn(seq)
}

// begin says of whom the next answer is.
func (s *messageSizes) begin(p integrity.Party) {
	s.at, s.first, s.size = nil, p.Seq, unknownSize
	if p.Producer >= 0 && p.Producer < len(s.of[p.Capture]) {
		s.at = s.of[p.Capture][p.Producer]
	}
}

// key of the i-th message of an answer; -1 where its size is unknown.
func (s *messageSizes) key(i int) int {
	size := s.size
	if s.at != nil {
		size = s.at.size(s.first + uint64(i))
	}
	if size == unknownSize {
		return -1
	}
	return s.keyOf(size)
}

// keyOf is the group of a size; made where it is new.
func (s *messageSizes) keyOf(size int64) int {
	if s.octaves {
		return bits.Len32(uint32(size))
	}
	k := slices.Index(s.sizes[:min(len(s.sizes), otherSizes)], size)
	if k < 0 {
		if k = len(s.sizes); k > otherSizes {
			return otherSizes
		}
		s.sizes, s.counts = append(s.sizes, size), append(s.counts, 0)
	}
	return k
}

// members are the groups with messages, by rising size.
func (s *messageSizes) members() (all []member) {
	for k, size := range s.sizes {
		m := member{k, result.Plural(size, "byte"), s.counts[k]}
		switch {
		case s.octaves && k > 1:
			m.name = fmt.Sprintf("%s to %s bytes", result.Group(size), result.Group(2*size-1))
		case k == otherSizes:
			m.name = "other sizes"
		}
		if s.counts[k] > 0 {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b member) int {
		if a.key == otherSizes && !s.octaves || b.key == otherSizes && !s.octaves {
			return a.key - b.key
		}
		return int(s.sizes[a.key] - s.sizes[b.key])
	})
	return all
}
