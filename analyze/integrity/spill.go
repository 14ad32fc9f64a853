package integrity

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"
)

// column is one time of each message of a page: a fixed number of int64 values, in the pager's memory, in its file, or in both.
// The zero value holds nothing. There are millions of columns: it is small, and has no pointers.
type column struct {
	frame uint32 // place in memory + 1; 0: not in memory
	slot  uint32 // place in the file + 1; 0: none
}

func (c *column) exists() bool { return c.frame != 0 || c.slot != 0 }

// pager holds columns in bounded memory: what has not been used for longest is written to a temporary file and read
// again when it is wanted. Messages are consumed nearly in the order in which they were sent, so even a run that was
// published whole before any of it was consumed writes and reads each column once. Not safe for concurrent use.
type pager struct {
	size  int // values in a column
	limit int // columns in memory

	frames []frame
	free   []uint32 // frames that hold nothing
	arena  []int64  // of frames to come
	hand   int      // the frame that is looked at next for something to write out
	inUse  [pinned]uint32
	next   int // place in inUse

	dir      string
	announce func(string)
	file     *os.File
	victims  []uint32
	buf      []int64  // what is written together
	spare    []uint32 // slots
	slots    uint32   // ever used
	err      error    // the first failure; sticky
}

// frame is the memory of one column.
type frame struct {
	data    []int64
	owner   *column // nil: free
	dirty   bool    // changed since it was written
	touched bool    // used since the hand last passed
}

// One call uses at most three columns at a time (sent, due, and an early answer); the last ones used are never written
// out, so that their values stay where they are.
const (
	pinned     = 4
	minColumns = 64 // more than the pinned ones, so that there is always another
	together   = 32 // columns that are written at a time, so that the system is not called for each; fewer than minColumns
)

func newPager(size int, budget int64, dir string, announce func(string)) *pager {
	return &pager{size: size, limit: max(int(budget/int64(size*8)), minColumns), dir: dir, announce: announce}
}

// create gives c memory, every value fill.
func (p *pager) create(c *column, fill int64) {
	p.claim(c)
	data := p.load(c)
	for i := range data {
		data[i] = fill
	}
}

// claim gives c memory with anything in it.
func (p *pager) claim(c *column) { p.admit(c).dirty = true }

// load brings c into memory and returns its values, valid until pinned other columns were loaded or created, or c was dropped.
func (p *pager) load(c *column) []int64 { return p.bring(c).data }

// change is load for values that are going to be written.
func (p *pager) change(c *column) []int64 {
	f := p.bring(c)
	f.dirty = true
	return f.data
}

func (p *pager) bring(c *column) *frame {
	if c.frame != 0 {
		p.use(c.frame)
		return &p.frames[c.frame-1]
	}
	f := p.admit(c)
	if _, err := p.file.ReadAt(rawBytes(f.data), p.offset(c.slot)); err != nil && p.err == nil {
		p.err = fmt.Errorf("temporary file: %s: read: %w", p.file.Name(), err)
	}
	f.dirty = false
	return f
}

// use keeps a frame from being written out for a while.
func (p *pager) use(n uint32) {
	p.frames[n-1].touched = true
	if p.inUse[(p.next+pinned-1)%pinned] != n {
		p.inUse[p.next] = n
		p.next = (p.next + 1) % pinned
	}
}

// drop forgets a column.
func (p *pager) drop(c *column) {
	if c.slot != 0 {
		p.spare = append(p.spare, c.slot)
	}
	if c.frame != 0 {
		p.release(c.frame)
	}
	*c = column{}
}

func (p *pager) release(n uint32) {
	p.frames[n-1].owner = nil
	p.free = append(p.free, n)
}

// live is how many columns are in memory.
func (p *pager) live() int { return len(p.frames) - len(p.free) }

// admit finds memory for c.
func (p *pager) admit(c *column) *frame {
	if len(p.free) == 0 && len(p.frames) < p.limit {
		if len(p.arena) == 0 {
			p.arena = make([]int64, p.size*min(minColumns, p.limit-len(p.frames)))
		}
		p.frames = append(p.frames, frame{data: p.arena[:p.size:p.size]})
		p.arena = p.arena[p.size:]
		p.free = append(p.free, uint32(len(p.frames)))
	}
	if len(p.free) == 0 {
		p.evict()
	}
	n := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.frames[n-1].owner, c.frame = c, n
	p.use(n)
	return &p.frames[n-1]
}

// evict frees the frames that the hand comes to and that were not used since it last passed, and writes out what changed in them.
func (p *pager) evict() {
	p.victims = p.victims[:0]
	for looked := 0; len(p.victims) == 0 || len(p.victims) < together && looked < len(p.frames); looked++ {
		f, n := &p.frames[p.hand], uint32(p.hand+1)
		p.hand = (p.hand + 1) % len(p.frames)
		switch {
		case f.owner == nil || n == p.inUse[0] || n == p.inUse[1] || n == p.inUse[2] || n == p.inUse[3]:
		case f.touched:
			f.touched = false
		default:
			p.victims = append(p.victims, n)
		}
	}
	if err := p.write(p.victims); err != nil && p.err == nil {
		p.err = err
	}
	for _, n := range slices.Backward(p.victims) { // the first is used again first
		p.frames[n-1].owner.frame = 0
		p.release(n)
	}
}

// write writes out frames, those next to each other in the file together.
func (p *pager) write(frames []uint32) error {
	if p.file == nil {
		if err := p.open(); err != nil {
			return err
		}
	}
	p.buf = p.buf[:0]
	first := uint32(0) // slot of buf
	for _, n := range frames {
		f := &p.frames[n-1]
		if !f.dirty {
			continue
		}
		f.dirty = false
		if f.owner.slot == 0 {
			f.owner.slot = p.slot()
		}
		if slot := f.owner.slot; slot != first+uint32(len(p.buf)/p.size) {
			if err := p.flush(first); err != nil {
				return err
			}
			first = slot
		}
		p.buf = append(p.buf, f.data...)
	}
	return p.flush(first)
}

// slot is a place in the file that is not in use.
func (p *pager) slot() uint32 {
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return s
	}
	p.slots++
	return p.slots
}

// flush writes buf, whose first column has a slot.
func (p *pager) flush(slot uint32) error {
	if len(p.buf) == 0 {
		return nil
	}
	_, err := p.file.WriteAt(rawBytes(p.buf), p.offset(slot))
	p.buf = p.buf[:0]
	if err != nil {
		return fmt.Errorf("temporary file: %s: write (--tmp names another place): %w", p.file.Name(), err)
	}
	return nil
}

func (p *pager) open() error {
	f, err := os.CreateTemp(p.dir, "leveret-analyze-*")
	if err != nil {
		return fmt.Errorf("temporary file (--tmp): %w", err)
	}
	p.file = f
	os.Remove(f.Name()) // gone with the process, however it ends; where the system refuses, close removes it
	if p.announce != nil {
		p.announce(fmt.Sprintf("more messages are under way than %d MiB hold: writing their times to a temporary file in %s", int64(p.limit)*int64(p.size)>>17, filepath.Dir(f.Name())))
	}
	return nil
}

func (p *pager) offset(slot uint32) int64 { return int64(slot-1) * int64(p.size) * 8 }

// spilled is the size that the temporary file has reached, in bytes.
func (p *pager) spilled() int64 { return int64(p.slots) * int64(p.size) * 8 }

// close gives up the file and all memory. The columns in memory are empty then.
func (p *pager) close() error {
	for i := range p.frames {
		if c := p.frames[i].owner; c != nil {
			*c = column{}
		}
	}
	p.frames, p.free, p.arena, p.buf = nil, nil, nil, nil
	p.inUse = [pinned]uint32{}
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	os.Remove(p.file.Name())
	p.file = nil
	return err
}

// rawBytes views numbers as the bytes that they are in memory: the file is read by this process only.
func rawBytes(v []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*8)
}
