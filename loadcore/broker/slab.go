package broker

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// A slab is a block of memory that holds the messages of one publishing connection one behind the other. It is the unit
// of reference counting, of pooling and of the memory bound, so that none of the three costs anything per message. The
// price is that one message left unsettled keeps its whole slab: the bound therefore counts slabs, not messages.
//
// The connection that fills a slab writes a message's bytes and its entry in msgs before it hands the message to a
// queue under that queue's lock, and never touches them again; everybody else only reads. Both slices keep their length
// for life, so that filling a slab does not disturb readers.
type slab struct {
	refs atomic.Int32 // one per entry in a queue, an inbox or an unacked list, and one for the filling connection
	buf  []byte
	msgs []message
	cost int64 // bytes counted against the memory bound
}

// message says where in its slab a message lies: exchange, routing key, properties (as received: flags and list) and
// body, without gaps.
type message struct {
	off, props, body uint32 // props and body are lengths
	exchange, key    uint8  // lengths
	due              int64  // nanoseconds on the server's clock before which it stays in its queue (fault delay); 0: none
}

const (
	smallestSlab = 11 // log2 of bytes: 2 KiB, what a slow publisher keeps while it is connected
	largestFill  = 14 // log2 of bytes: 16 KiB, the largest slab that messages share
	largestSlab  = 20 // log2 of bytes: 1 MiB, the largest slab that is pooled
	ownSlab      = 1 << 12

	// bytesPerMessage sets how many messages a shared slab has room for: with 12-byte bodies and short keys a message
	// takes some 30 bytes, so for those the table runs out first, and for all others the bytes do.
	bytesPerMessage = 48

	// What a message costs beside its bytes: its place in the message table, which a slab always has, and its places in a
	// queue and in a list of unacked deliveries.
	tableCost   = 24
	messageCost = 24 + 48
)

// slabPools holds free slabs by log2 of their size. Pools, because slabs are filled by one connection and released by
// another, and a burst's slabs should go back to the garbage collector some time.
var slabPools [largestSlab + 1]sync.Pool

// takeSlab returns a slab with one reference, for at least size bytes of messages.
func takeSlab(m *memory, size, class int) *slab {
	if size > ownSlab {
		class = smallestSlab
	}
	class = max(class, bits.Len(uint(size-1)))
	var s *slab
	if class <= largestSlab {
		s, _ = slabPools[class].Get().(*slab)
		if s == nil {
			s = newSlab(class)
		}
	} else { // exact, not pooled
		s = &slab{buf: make([]byte, size), msgs: make([]message, 1)}
	}
	s.refs.Store(1)
	s.cost = int64(cap(s.buf)) + int64(len(s.msgs))*tableCost
	m.add(s.cost)
	return s
}

func newSlab(class int) *slab {
	n := 1
	if class <= largestFill {
		n = (1 << class) / bytesPerMessage
	}
	return &slab{buf: make([]byte, 1<<class), msgs: make([]message, n)}
}

// release gives back n references. With the last one the slab returns to its pool, so the caller holds no slices of it.
func (s *slab) release(m *memory, n int32) {
	if s.refs.Add(-n) != 0 {
		return
	}
	m.add(-s.cost)
	if class := bits.Len(uint(len(s.buf))) - 1; class <= largestSlab && len(s.buf) == 1<<class {
		slabPools[class].Put(s)
	}
}

// parts returns the slices of message i. They are valid while the caller holds a reference.
func (s *slab) parts(i uint32) (exchange, key, props, body []byte) {
	m := &s.msgs[i]
	b := s.buf[m.off:]
	exchange, b = b[:m.exchange], b[m.exchange:]
	key, b = b[:m.key], b[m.key:]
	props, b = b[:m.props], b[m.props:]
	return exchange, key, props, b[:m.body]
}

// size is the length in bytes of message i as it lies in the slab.
func (s *slab) size(i uint32) int {
	m := &s.msgs[i]
	return int(m.exchange) + int(m.key) + int(m.props) + int(m.body)
}

// entry is one message in one queue.
type entry struct {
	slab  *slab
	seq   uint64 // place in the queue, from 1; a message that is requeued goes back to it
	idx   uint32 // in slab.msgs
	flags uint32
}

const (
	flagRedelivered uint32 = 1 << iota
	flagDelayed            // its message has a due time
)

func (e *entry) redelivered() bool { return e.flags&flagRedelivered != 0 }

// filler is the slab that one connection fills. All methods are called by that connection's reader, under its lock.
type filler struct {
	mem   *memory
	slab  *slab
	used  int // bytes of slab.buf
	n     int // messages in slab.msgs
	class int // of the next slab; grows while slabs fill up faster than one a read
	fresh int // slabs taken since the last retire call
	// refs are references that entries made since the last settle hold, not yet counted in slab.refs. They have to be
	// counted before another goroutine can see such an entry.
	refs int32
}

// add stores one message and returns the entry for it, with no reference taken: see hold.
func (f *filler) add(exchange, key, props, body []byte) entry {
	size := len(exchange) + len(key) + len(props) + len(body)
	if f.slab == nil || f.used+size > len(f.slab.buf) || f.n == len(f.slab.msgs) {
		f.next(size)
	}
	s := f.slab
	m := &s.msgs[f.n]
	*m = message{
		off: uint32(f.used), props: uint32(len(props)), body: uint32(len(body)),
		exchange: uint8(len(exchange)), key: uint8(len(key)),
	}
	b := s.buf[f.used:]
	b = b[copy(b, exchange):]
	b = b[copy(b, key):]
	b = b[copy(b, props):]
	copy(b, body)
	f.used += size
	f.n++
	return entry{slab: s, idx: uint32(f.n - 1)}
}

// next puts the current slab away and takes one that has room for size bytes.
func (f *filler) next(size int) {
	f.drop()
	if f.class == 0 {
		f.class = smallestSlab
	}
	if f.fresh++; f.fresh > 1 && f.class < largestFill {
		f.class++
	}
	f.slab = takeSlab(f.mem, size, f.class)
	f.used, f.n = 0, 0
}

// hold counts n references of entries in the current slab.
func (f *filler) hold(n int) { f.refs += int32(n) }

// settle makes the counted references real. To be called before entries become visible to others.
func (f *filler) settle() {
	if f.refs != 0 {
		f.slab.refs.Add(f.refs)
		f.refs = 0
	}
	f.fresh = 0
}

// drop gives up the current slab.
func (f *filler) drop() {
	if f.slab == nil {
		return
	}
	more := int64(f.n) * messageCost // before the reference goes that keeps the slab
	f.slab.cost += more
	f.mem.add(more)
	// One addition for both: the connection's own reference goes, those of the entries come.
	if n := f.refs - 1; n > 0 {
		f.slab.refs.Add(n)
	} else if n < 0 {
		f.slab.release(f.mem, 1)
	}
	f.slab, f.refs = nil, 0
}

// releaser gives back references one at a time, but touches a slab's counter only once per run of entries of the same
// slab. Not for concurrent use; flush has to be called at the end.
type releaser struct {
	mem  *memory
	slab *slab
	n    int32
}

func (r *releaser) release(s *slab) {
	if s != r.slab {
		r.flush()
		r.slab = s
	}
	r.n++
}

func (r *releaser) flush() {
	if r.n != 0 {
		r.slab.release(r.mem, r.n)
	}
	r.slab, r.n = nil, 0
}

// clock is the server's monotonic clock: nanoseconds since it started, never 0.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) + 1 }
