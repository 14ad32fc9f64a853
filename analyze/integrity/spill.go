package integrity

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"
)

// column is one time of each message of a page: a fixed number of int64 values, either in memory or in the pager's
// file. The zero value holds nothing.
type column struct {
	data    []int64 // nil: not in memory
	slot    int64   // place in the file + 1; 0: none
	dirty   bool    // changed since it was written to slot
	touched bool    // used since the pager last looked for something to write out
}

func (c *column) exists() bool { return c.data != nil || c.slot != 0 }

// pager holds columns in bounded memory: what has not been used for longest is written to a temporary file and read
// again when it is wanted. Messages are consumed nearly in the order in which they were sent, so even a run that was
// published whole before any of it was consumed writes and reads each column once. Not safe for concurrent use.
type pager struct {
	size  int // values in a column
	limit int // columns in memory

	inUse    [pinned]*column
	next     int       // place in inUse
	resident []*column // those in memory, oldest first; holds ones that were dropped since
	live     int       // of resident, not dropped
	spare    [][]int64

	dir      string
	announce func(string)
	file     *os.File
	free     []int64 // slots
	slots    int64   // ever used
	err      error   // the first failure; sticky
}

// One call uses at most three columns at a time (sent, due, and an early answer); the last ones used are never written
// out, so that their values stay where they are.
const (
	pinned     = 4
	minColumns = 64 // more than the pinned ones, so that there is always another
)

func newPager(size int, budget int64, dir string, announce func(string)) *pager {
	return &pager{size: size, limit: max(int(budget/int64(size*8)), minColumns), dir: dir, announce: announce}
}

// create gives c memory, every value fill.
func (p *pager) create(c *column, fill int64) {
	p.admit(c)
	for i := range c.data {
		c.data[i] = fill
	}
	c.dirty = true
}

// load brings c into memory and returns its values, valid until pinned other columns were loaded or created, or c was dropped.
func (p *pager) load(c *column) []int64 {
	p.use(c)
	if c.data == nil {
		p.admit(c)
		if err := p.read(c); err != nil && p.err == nil {
			p.err = fmt.Errorf("temporary file: %s: read: %w", p.file.Name(), err)
		}
		c.dirty = false
	}
	return c.data
}

// use keeps c from being written out for a while.
func (p *pager) use(c *column) {
	c.touched = true
	if p.inUse[(p.next+pinned-1)%pinned] != c {
		p.inUse[p.next] = c
		p.next = (p.next + 1) % pinned
	}
}

// drop forgets a column.
func (p *pager) drop(c *column) {
	if c.slot != 0 {
		p.free = append(p.free, c.slot)
	}
	if c.data != nil {
		p.spare = append(p.spare, c.data)
		p.live--
	}
	*c = column{}
}

// admit finds memory for c.
func (p *pager) admit(c *column) {
	for p.live >= p.limit {
		p.evict()
	}
	if n := len(p.spare); n > 0 {
		c.data, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		c.data = make([]int64, p.size)
	}
	p.use(c)
	p.live++
	p.compact()
	p.resident = append(p.resident, c)
}

// compact takes dropped columns off the list when they have become the greater part of it.
func (p *pager) compact() {
	if len(p.resident) < 2*p.live+1024 {
		return
	}
	kept := p.resident[:0]
	for _, c := range p.resident {
		if c.data != nil {
			kept = append(kept, c)
		}
	}
	clear(p.resident[len(kept):])
	p.resident = kept
}

// evict writes out the oldest column that was not used since it was last looked at.
func (p *pager) evict() {
	for {
		c := p.resident[0]
		p.resident = p.resident[1:]
		if c.data == nil {
			continue
		}
		if c.touched || c == p.inUse[0] || c == p.inUse[1] || c == p.inUse[2] || c == p.inUse[3] {
			c.touched = false
			p.resident = append(p.resident, c)
			continue
		}
		if c.dirty {
			if err := p.write(c); err != nil && p.err == nil {
				p.err = err
			}
		}
		p.spare = append(p.spare, c.data)
		c.data = nil
		p.live--
		return
	}
}

func (p *pager) write(c *column) error {
	if p.file == nil {
		f, err := os.CreateTemp(p.dir, "leveret-analyze-*")
		if err != nil {
			return fmt.Errorf("temporary file (--tmp): %w", err)
		}
		p.file = f
		os.Remove(f.Name()) // gone with the process, however it ends; where the system refuses, close removes it
		if p.announce != nil {
			p.announce(fmt.Sprintf("more messages are under way than %d MiB hold: writing their times to a temporary file in %s", int64(p.limit)*int64(p.size)>>17, filepath.Dir(f.Name())))
		}
	}
	if c.slot == 0 {
		if n := len(p.free); n > 0 {
			c.slot, p.free = p.free[n-1], p.free[:n-1]
		} else {
			p.slots++
			c.slot = p.slots
		}
	}
	if _, err := p.file.WriteAt(rawBytes(c.data), p.offset(c)); err != nil {
		return fmt.Errorf("temporary file: %s: write (--tmp names another place): %w", p.file.Name(), err)
	}
	c.dirty = false
	return nil
}

func (p *pager) read(c *column) error {
	_, err := p.file.ReadAt(rawBytes(c.data), p.offset(c))
	return err
}

func (p *pager) offset(c *column) int64 { return (c.slot - 1) * int64(p.size) * 8 }

// spilled is the size that the temporary file has reached, in bytes.
func (p *pager) spilled() int64 { return p.slots * int64(p.size) * 8 }

// close gives up the file and all memory. The columns are empty then.
func (p *pager) close() error {
	for _, c := range p.resident {
		*c = column{}
	}
	p.resident, p.spare, p.live = nil, nil, 0
	p.inUse = [pinned]*column{}
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
