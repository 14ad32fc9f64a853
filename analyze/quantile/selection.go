package quantile

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// refineBits: a bucket too full for the memory is first counted in 4096 parts (16 KiB), and only the parts that hold a
// wanted rank are looked at in the next showing.
const refineBits = 12

// Memory is what all selections of one showing have together. Not safe for concurrent use.
type Memory struct {
	left  int64
	taken bool // something was taken: the showing finds something
}

// NewMemory is so many bytes.
func NewMemory(bytes int64) *Memory { return &Memory{left: bytes} }

// fits tells whether so many bytes are left.
func (m *Memory) fits(bytes int64) bool { return bytes <= m.left }

func (m *Memory) take(bytes int64) { m.left, m.taken = m.left-bytes, true }

// Selection finds the exact values at given ranks, from further showings of the values that a Histogram counted.
// Not safe for concurrent use.
type Selection struct {
	ranks   []uint64
	values  []int64
	solved  []bool
	targets []target // unsolved, by rising value, disjoint
	next    []target // those of the next showing
	index   [blocks]*block
	memory  *Memory // of the showing
}

// target is a range of values that holds wanted ranks.
type target struct {
	low    int64
	width  uint64 // a power of two
	count  uint64 // values in the range
	before uint64 // values below it
	from   int    // ranks[from:to] are in it
	to     int

	// Of the showing: memory is taken when the first value comes and given back when the last has come, as values of one span of
	// time mostly come together.
	mode  mode
	seen  uint64
	bytes int64
	shift uint     // counting: log2 of the values a cell stands for
	cells []uint32 // counting
	kept  []uint32 // keeping: value - low
}

type mode uint8

const (
	waiting mode = iota // no value has come
	counting
	keeping
	passed // there was no memory left
	found  // all values have come
)

// Select prepares the search for the values at the given ranks: counted from 1, rising (equal ones are allowed), none
// above h.Count. It takes h over, whose memory it uses again: h must not be used after.
func Select(h *Histogram, ranks []uint64) *Selection {
	s := &Selection{ranks: ranks, values: make([]int64, len(ranks)), solved: make([]bool, len(ranks))}
	next, below := 0, uint64(0)
	h.ascending(func(b, i uint, count uint64) {
		if next == len(ranks) {
			return
		}
		t := target{count: count, before: below, from: next}
		below += count
		for next < len(ranks) && ranks[next] <= below {
			next++
		}
		if t.to = next; t.from < t.to {
			t.low, t.width = bounds(b, i)
			s.add(t)
		}
	})
	s.targets, s.next = s.next, nil
	s.index = h.blocks
	return s
}

// Refine narrows the search by what f counted of the same values. It comes before the first showing.
func (s *Selection) Refine(f *Fine) {
	for i := range s.targets {
		t := &s.targets[i]
		cells, shift := f.within(t.low)
		if sum(cells) != t.count { // none, or not all
			s.add(*t)
			continue
		}
		s.divide(t, cells, shift)
	}
	s.targets, s.next = s.next, nil
}

// add puts a target on the list of the next showing, or solves it where it holds a single value.
func (s *Selection) add(t target) {
	if t.width > 1 {
		s.next = append(s.next, t)
		return
	}
	for r := t.from; r < t.to; r++ {
		s.solve(r, t.low)
	}
}

func (s *Selection) solve(rank int, v int64) { s.values[rank], s.solved[rank] = v, true }

// Open prepares for one showing of all values, and tells whether one is needed: whether there are ranks left to find. It keeps to
// the memory, except that the first of all selections to see a value always takes the 16 KiB without which nothing would be found;
// what does not fit is left to a later showing.
func (s *Selection) Open(m *Memory) bool {
	s.memory = m
	s.reindex()
	return len(s.targets) > 0
}

// take chooses the cheapest way to learn about a target that fits the memory.
func (t *target) take(m *Memory) {
	const cell = 4
	exact, keep, refine := int64(1)<<62, int64(1)<<62, int64(cell<<refineBits)
	if t.width <= 1<<32 { // what is kept is 32 bits of difference
		exact, keep = int64(t.width*cell), int64(t.count*cell)
	}
	switch {
	case exact <= keep && m.fits(exact):
		t.mode, t.shift, t.bytes, t.cells = counting, 0, exact, make([]uint32, t.width)
	case keep < exact && m.fits(keep):
		t.mode, t.bytes, t.kept = keeping, keep, make([]uint32, 0, t.count)
	case m.fits(refine) || !m.taken:
		t.shift = uint(max(bits.Len64(t.width)-1-refineBits, 0))
		t.mode, t.cells = counting, make([]uint32, t.width>>t.shift)
		t.bytes = int64(len(t.cells)) * cell
	default:
		t.mode = passed
		return
	}
	m.take(t.bytes)
}

// reindex makes index lead from the bucket of a value to the first target in it (its place + 1).
func (s *Selection) reindex() {
	var used [blocks]bool
	for b := range s.index {
		if s.index[b] != nil {
			clear(s.index[b][:])
		}
	}
	for n := range s.targets {
		b, i := locate(s.targets[n].low)
		used[b] = true
		if s.index[b][i] == 0 {
			s.index[b][i] = uint32(n) + 1
		}
	}
	for b := range s.index {
		if !used[b] {
			s.index[b] = nil
		}
	}
}

// Add shows one value.
func (s *Selection) Add(v int64) { s.AddN(v, 1) }

// AddN shows a value n times.
func (s *Selection) AddN(v int64, n uint32) {
	b, i := locate(v)
	if p := s.index[b]; p != nil && p[i] != 0 {
		s.put(int(p[i])-1, v, n)
	}
}

// put shows a value so many times to the target that holds it, if one does: the n-th or a later one.
func (s *Selection) put(n int, v int64, times uint32) {
	if end := len(s.targets); n+1 < end && s.targets[n+1].low <= v {
		for n+1 < end { // the last that begins at v or below
			if middle := int(uint(n+end) / 2); s.targets[middle].low <= v {
				n = middle
			} else {
				end = middle
			}
		}
	}
	t := &s.targets[n]
	off := uint64(v) - uint64(t.low)
	if off >= t.width { // also where v lies below: both are in one bucket
		return
	}
	if t.mode == waiting {
		t.take(s.memory)
	}
	t.seen += uint64(times)
	switch {
	case t.seen > t.count || t.mode == passed: // more than the first time: Close says so
		return
	case t.mode == counting:
		t.cells[off>>t.shift] += times
	case t.mode == keeping:
		for range times {
			t.kept = append(t.kept, uint32(off))
		}
	}
	if t.seen == t.count {
		s.settle(t)
	}
}

// settle finds what the values of a target tell, when all have come, and gives back its memory.
func (s *Selection) settle(t *target) {
	if t.mode == keeping {
		s.fromKept(t)
	} else {
		s.divide(t, t.cells, t.shift)
	}
	s.memory.left += t.bytes
	t.mode, t.cells, t.kept, t.bytes = found, nil, nil, 0
}

// Close ends a showing. It fails where the values were not those that the histogram counted.
func (s *Selection) Close() error {
	for i := range s.targets {
		t := &s.targets[i]
		if t.seen != t.count {
			return fmt.Errorf("quantile: %d values from %d to %d at the first reading, %d at the second", t.count, t.low, t.low+int64(t.width-1), t.seen)
		}
		if t.mode == passed {
			t.mode, t.seen = waiting, 0
			s.next = append(s.next, *t)
		}
	}
	slices.SortFunc(s.next, func(a, b target) int { return cmp.Compare(a.low, b.low) })
	s.targets, s.next, s.memory = s.next, nil, nil
	return nil
}

// fromKept solves the ranks: it looks for the few parts of the values that hold them, and into those.
func (s *Selection) fromKept(t *target) {
	low := slices.Min(t.kept)
	shift := max(bits.Len32(slices.Max(t.kept)-low)-refineBits, 0)
	cells := make([]uint32, 1<<refineBits)
	for _, v := range t.kept {
		cells[(v-low)>>shift]++
	}
	parts := *t
	parts.low += int64(low)
	inner := Selection{ranks: s.ranks, values: s.values, solved: s.solved}
	inner.divide(&parts, cells, uint(shift))
	clear(cells) // now: which part a cell is, + 1
	for n := range inner.next {
		p := &inner.next[n]
		cells[uint64(p.low-parts.low)>>shift] = uint32(n) + 1
		p.kept = make([]uint32, 0, p.count)
	}
	for _, v := range t.kept {
		if n := cells[(v-low)>>shift]; n > 0 {
			p := &inner.next[n-1]
			p.kept = append(p.kept, v)
		}
	}
	for n := range inner.next {
		p := &inner.next[n]
		places := make([]int, 0, p.to-p.from)
		for _, r := range s.ranks[p.from:p.to] {
			places = append(places, int(r-p.before)-1)
		}
		arrange(p.kept, places)
		for i, place := range places {
			s.solve(p.from+i, t.low+int64(p.kept[place]))
		}
	}
}

// divide solves ranks by the counts of a target's parts, each of 1 << shift values: where that is one, its ranks are found, else
// a part that holds some becomes a target of the next showing.
func (s *Selection) divide(t *target, cells []uint32, shift uint) {
	next, below := t.from, t.before
	for i, c := range cells {
		part := target{count: uint64(c), before: below, from: next, low: t.low + int64(uint64(i)<<shift), width: 1 << shift}
		below += uint64(c)
		for next < t.to && s.ranks[next] <= below {
			next++
		}
		if part.to = next; part.from < part.to {
			s.add(part)
		}
		if next == t.to {
			return
		}
	}
}

func sum(cells []uint32) (n uint64) {
	for _, c := range cells {
		n += uint64(c)
	}
	return n
}

// Value at the i-th of the ranks; ok is false until it is found.
func (s *Selection) Value(i int) (v int64, ok bool) { return s.values[i], s.solved[i] }
