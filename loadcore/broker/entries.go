package broker

import "sync"

// entries is a double-ended queue of entries in blocks, so that it costs what it holds: a burst of millions leaves
// nothing behind once it is consumed. It is ordered by entry.seq. The zero value is empty.
type entries struct {
	head, tail *entryBlock
	n          int
}

type entryBlock struct {
	next       *entryBlock
	begin, end int // used part of e
	e          [entriesPerBlock]entry
}

// entriesPerBlock makes a block 3 KiB: what an idle queue keeps.
const entriesPerBlock = 128

var entryBlocks = sync.Pool{New: func() any { return new(entryBlock) }}

func (d *entries) pushBack(e entry) {
	b := d.tail
	if b == nil || b.end == entriesPerBlock {
		b = d.grow()
	}
	b.e[b.end] = e
	b.end++
	d.n++
}

// grow appends an empty block.
func (d *entries) grow() *entryBlock {
	b := entryBlocks.Get().(*entryBlock)
	b.next, b.begin, b.end = nil, 0, 0
	if d.tail == nil {
		d.head = b
	} else {
		d.tail.next = b
	}
	d.tail = b
	return b
}

// front is the first entry; nil if there is none. It is valid until the next change.
func (d *entries) front() *entry {
	if d.n == 0 {
		return nil
	}
	return &d.head.e[d.head.begin]
}

// popFront removes and returns the first entry. The queue must not be empty.
func (d *entries) popFront() entry {
	b := d.head
	e := b.e[b.begin]
	b.e[b.begin].slab = nil // the block may lie in a pool for long
	b.begin++
	d.n--
	if b.begin == b.end {
		d.shrink()
	}
	return e
}

// shrink removes the first block, which is empty, but keeps the last one for what comes next.
func (d *entries) shrink() {
	b := d.head
	if b.next == nil {
		b.begin, b.end = 0, 0
		return
	}
	d.head = b.next
	entryBlocks.Put(b)
}

// insert puts e at its place by seq, which is looked for from the front: requeued messages are older than nearly
// everything in the queue.
func (d *entries) insert(e entry) {
	d.pushFront(e)
	prev := d.front()
	for b, i := d.head, d.head.begin+1; ; i++ {
		if i == b.end {
			if b = b.next; b == nil {
				return
			}
			i = b.begin
		}
		if b.begin == b.end {
			return
		}
		next := &b.e[i]
		if next.seq > e.seq {
			return
		}
		*prev, *next = *next, *prev
		prev = next
	}
}

func (d *entries) pushFront(e entry) {
	b := d.head
	switch {
	case b == nil:
		b = d.grow()
		b.begin, b.end = entriesPerBlock, entriesPerBlock
	case b.begin == b.end:
		b.begin, b.end = entriesPerBlock, entriesPerBlock
	case b.begin == 0:
		b = entryBlocks.Get().(*entryBlock)
		b.next, b.begin, b.end = d.head, entriesPerBlock, entriesPerBlock
		d.head = b
	}
	b.begin--
	b.e[b.begin] = e
	d.n++
}

// clear empties the queue and gives every entry's reference back.
func (d *entries) clear(mem *memory) int {
	n := d.n
	r := releaser{mem: mem}
	for d.n > 0 {
		e := d.popFront()
		r.release(e.slab)
	}
	r.flush()
	if d.head != nil {
		entryBlocks.Put(d.head)
	}
	d.head, d.tail = nil, nil
	return n
}
