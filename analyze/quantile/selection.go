package quantile

import (
	"fmt"
	"math/bits"
	"slices"
)

// refineBits: a bucket too full for the budget is first counted in 4096 parts (16 KiB), and only the parts that hold a
// wanted rank are looked at in the next showing.
const refineBits = 12

// Selection finds the exact values at given ranks, from further showings of the values that a Histogram counted.
// Not safe for concurrent use.
type Selection struct {
	ranks   []uint64
	values  []int64
	solved  []bool
	targets []target // unsolved, by rising value, disjoint
	index   [blocks]*block
}

// target is a range of values that holds wanted ranks.
type target struct {
	low    int64
	width  uint64 // a power of two
	count  uint64 // values in the range
	before uint64 // values below it
	from   int    // ranks[from:to] are in it
	to     int

	mode  mode
	shift uint     // counting: log2 of the values a cell stands for
	cells []uint32 // counting
	kept  []uint32 // keeping: value - low
}

type mode uint8

const (
	idle mode = iota
	counting
	keeping
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
	s.index = h.blocks
	s.reindex()
	return s
}

// add puts a target on the list, or solves it where it holds a single value.
func (s *Selection) add(t target) {
	if t.width > 1 {
		s.targets = append(s.targets, t)
		return
	}
	for r := t.from; r < t.to; r++ {
		s.solve(r, t.low)
	}
}

func (s *Selection) solve(rank int, v int64) { s.values[rank], s.solved[rank] = v, true }

// Open prepares for one showing of all values and returns the bytes it took for it, 0 when every rank is found and no
// showing is needed. It keeps to the budget, except that it always takes the 16 KiB without which nothing would be
// found; what did not fit is left to a later showing.
func (s *Selection) Open(budget int64) (bytes int64) {
	for i := range s.targets {
		bytes += s.targets[i].open(budget-bytes, bytes == 0)
	}
	s.reindex()
	return bytes
}

// open chooses the cheapest way to learn about a target that fits the budget.
func (t *target) open(budget int64, must bool) int64 {
	const cell = 4
	exact, keep, refine := int64(1)<<62, int64(1)<<62, int64(cell<<refineBits)
	if t.width <= 1<<32 { // what is kept is 32 bits of difference
		exact, keep = int64(t.width*cell), int64(t.count*cell)
	}
	switch {
	case exact <= keep && exact <= budget:
		t.mode, t.shift, t.cells = counting, 0, make([]uint32, t.width)
		return exact
	case keep < exact && keep <= budget:
		t.mode, t.kept = keeping, make([]uint32, 0, t.count)
		return keep
	case refine <= budget || must:
		t.shift = uint(max(bits.Len64(t.width)-1-refineBits, 0))
		t.mode, t.cells = counting, make([]uint32, t.width>>t.shift)
		return int64(len(t.cells)) * cell
	}
	t.mode = idle
	return 0
}

// reindex makes index lead from the bucket of a value to the first open target in it (its place + 1).
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
func (s *Selection) Add(v int64) {
	b, i := locate(v)
	if p := s.index[b]; p != nil && p[i] != 0 {
		s.put(int(p[i])-1, v)
	}
}

func (s *Selection) put(n int, v int64) {
	for ; n < len(s.targets) && s.targets[n].low <= v; n++ {
		t := &s.targets[n]
		off := uint64(v) - uint64(t.low)
		if off >= t.width {
			continue
		}
		switch t.mode {
		case counting:
			t.cells[off>>t.shift]++
		case keeping:
			if len(t.kept) < cap(t.kept) {
				t.kept = append(t.kept, uint32(off))
			} else {
				t.count++ // more than the first time: Close says so
			}
		}
		return
	}
}

// Close ends a showing and notes what it found. It fails where the values were not those that the histogram counted.
func (s *Selection) Close() error {
	old := s.targets
	s.targets = nil
	for i := range old {
		t := &old[i]
		if t.mode == idle {
			s.targets = append(s.targets, *t)
			continue
		}
		if n := t.seen(); n != t.count {
			return fmt.Errorf("quantile: %d values from %d to %d at the first reading, %d at the second", t.count, t.low, t.low+int64(t.width-1), n)
		}
		if t.mode == keeping {
			s.fromKept(t)
		} else {
			s.fromCells(t)
		}
	}
	return nil
}

func (t *target) seen() (n uint64) {
	if t.mode == keeping {
		return uint64(len(t.kept))
	}
	for _, c := range t.cells {
		n += uint64(c)
	}
	return n
}

func (s *Selection) fromKept(t *target) {
	places := make([]int, 0, t.to-t.from)
	for _, r := range s.ranks[t.from:t.to] {
		places = append(places, int(r-t.before)-1)
	}
	arrange(t.kept, places)
	for i, p := range places {
		s.solve(t.from+i, t.low+int64(t.kept[p]))
	}
}

// fromCells solves the ranks, or, where a cell stands for several values, makes a target of each cell that holds one.
func (s *Selection) fromCells(t *target) {
	next, below := t.from, t.before
	for i, c := range t.cells {
		part := target{count: uint64(c), before: below, from: next, low: t.low + int64(uint64(i)<<t.shift), width: 1 << t.shift}
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

// Value at the i-th of the ranks; ok is false until it is found.
func (s *Selection) Value(i int) (v int64, ok bool) { return s.values[i], s.solved[i] }

// arrange reorders values so that those at the given places (rising) are the ones that sorting would put there.
func arrange(values []uint32, places []int) {
	arrangeWithin(values, 0, places, 2*bits.Len(uint(len(values))))
}

// arrangeWithin does it for places counted from offset. Each step parts the values into less than, equal to and greater than a pivot;
// after too many steps (a hostile order) it sorts.
func arrangeWithin(v []uint32, offset int, places []int, steps int) {
	for len(places) > 0 && len(v) > 1 {
		if steps--; steps < 0 || len(v) <= 32 {
			slices.Sort(v)
			return
		}
		less, greater := partition(v, medianOfThree(v[0], v[len(v)/2], v[len(v)-1]))
		lo, _ := slices.BinarySearch(places, offset+less)
		hi, _ := slices.BinarySearch(places, offset+greater)
		arrangeWithin(v[:less], offset, places[:lo], steps)
		v, offset, places = v[greater:], offset+greater, places[hi:]
	}
}

// partition orders v as less, equal, greater than pivot and returns where equal and greater begin.
func partition(v []uint32, pivot uint32) (less, greater int) {
	greater = len(v)
	for i := 0; i < greater; {
		switch x := v[i]; {
		case x < pivot:
			v[i], v[less] = v[less], x
			less++
			i++
		case x > pivot:
			greater--
			v[i], v[greater] = v[greater], x
		default:
			i++
		}
	}
	return less, greater
}

func medianOfThree(a, b, c uint32) uint32 {
	if a > b {
		a, b = b, a
	}
	return max(a, min(b, c))
}
