package broker

import "sync"

// delivery is a message that a channel was given and has not settled yet.
type delivery struct {
	tag      uint64
	queue    *queue
	consumer *consumer // nil: basic.get
	entry    entry     // entry.slab is nil once it is settled out of order
}

// unackedList holds a channel's unsettled deliveries in the order of their tags. Tags are given in rising order, but not
// every tag is here: deliveries with automatic acks use up tags, too. Settling the oldest, and all up to a tag, is
// cheap; others are found by going through the blocks from the front.
type unackedList struct {
	head, tail *unackedBlock
	n          int
}

type unackedBlock struct {
	next       *unackedBlock
	begin, end int // used part of d
	live       int // of these, how many are not settled
	d          [deliveriesPerBlock]delivery
}

// deliveriesPerBlock bounds what one delivery that is never settled keeps: a block of 3 KiB.
const deliveriesPerBlock = 64

var unackedBlocks = sync.Pool{New: func() any { return new(unackedBlock) }}

func (u *unackedList) push(d delivery) {
	b := u.tail
	if b != nil && b.live == 0 { // all of it is settled
		b.begin, b.end = 0, 0
	}
	if b == nil || b.end == deliveriesPerBlock {
		b = unackedBlocks.Get().(*unackedBlock)
		b.next, b.begin, b.end, b.live = nil, 0, 0, 0
		if u.tail == nil {
			u.head = b
		} else {
			u.tail.next = b
		}
		u.tail = b
	}
	b.d[b.end] = d
	b.end++
	b.live++
	u.n++
}

// take settles the delivery with the given tag and returns it; ok is false if there is none.
func (u *unackedList) take(tag uint64) (d delivery, ok bool) {
	if u.n == 0 {
		return d, false
	}
	if b := u.head; b.d[b.begin].tag == tag { // nearly always; the first one is never a settled one
		return u.popFront(), true
	}
	var prev *unackedBlock
	for b := u.head; b != nil; prev, b = b, b.next {
		if b.begin == b.end || b.d[b.end-1].tag < tag {
			continue
		}
		i := b.find(tag)
		if i < 0 {
			return d, false
		}
		d = b.d[i]
		b.d[i] = delivery{tag: tag}
		b.live--
		u.n--
		if b.live == 0 && b != u.tail {
			u.unlink(prev, b)
		}
		u.trim()
		return d, true
	}
	return d, false
}

// find returns the index of the live delivery with this tag by bisection, -1 if there is none.
func (b *unackedBlock) find(tag uint64) int {
	low, high := b.begin, b.end
	for low < high {
		mid := (low + high) / 2
		if b.d[mid].tag < tag {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < b.end && b.d[low].tag == tag && b.d[low].entry.slab != nil {
		return low
	}
	return -1
}

// has reports whether a delivery with this tag is waiting to be settled.
func (u *unackedList) has(tag uint64) bool {
	for b := u.head; b != nil; b = b.next {
		if b.begin != b.end && b.d[b.end-1].tag >= tag {
			return b.find(tag) >= 0
		}
	}
	return false
}

// front is the oldest delivery; nil if there is none. It is valid until the next change.
func (u *unackedList) front() *delivery {
	if u.n == 0 {
		return nil
	}
	return &u.head.d[u.head.begin]
}

// popFront removes and returns the oldest delivery. The list must not be empty.
func (u *unackedList) popFront() delivery {
	b := u.head
	d := b.d[b.begin]
	b.d[b.begin] = delivery{}
	b.begin++
	b.live--
	u.n--
	u.trim()
	return d
}

// trim removes what is settled from the front.
func (u *unackedList) trim() {
	for b := u.head; b != nil; b = u.head {
		for b.begin < b.end && b.d[b.begin].entry.slab == nil {
			b.begin++
		}
		switch {
		case b.begin < b.end:
			return
		case b.next == nil:
			b.begin, b.end = 0, 0
			return
		}
		u.unlink(nil, b)
	}
}

// unlink removes the block b behind prev (nil: the first).
func (u *unackedList) unlink(prev, b *unackedBlock) {
	if prev == nil {
		u.head = b.next
	} else {
		prev.next = b.next
	}
	unackedBlocks.Put(b)
}

// free gives the last block back when the list is empty.
func (u *unackedList) free() {
	if u.n == 0 && u.head != nil {
		unackedBlocks.Put(u.head)
		u.head, u.tail = nil, nil
	}
}
