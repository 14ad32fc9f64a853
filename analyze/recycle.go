package analyze

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// recycler is an Arrow allocator that gives out again what records have released. Decoding takes a buffer per column and batch;
// left to the garbage collector they were nine tenths of all that an analysis allocated, and made it mark its tables several
// hundred times. It holds at most what was in use at one time. Safe for concurrent use.
type recycler struct {
	mu   sync.Mutex
	free [recycledClasses][][]byte // by log2 of their size, from smallestRecycled on
}

const (
	smallestRecycled = 10 // 1 KiB; smaller ones are not worth the keeping
	recycledClasses  = 16 // to 32 MiB, more than a column of the largest batch
)

var _ memory.Allocator = (*recycler)(nil)

// Allocate returns a buffer at a multiple of 64, with anything in it: decoders write all of it.
func (r *recycler) Allocate(size int) []byte {
	class := max(bits.Len(uint(max(size, 1)-1)), smallestRecycled) - smallestRecycled
	if class >= recycledClasses {
		return memory.DefaultAllocator.Allocate(size)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free[class]) - 1; n >= 0 {
		b := r.free[class][n]
		r.free[class] = r.free[class][:n]
		return b[:size]
	}
	return memory.DefaultAllocator.Allocate(1 << (class + smallestRecycled))[:size]
}

// Reallocate returns a buffer of the size with what b has.
func (r *recycler) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	larger := r.Allocate(size)
	copy(larger, b)
	r.Free(b)
	return larger
}

// Free takes a buffer back.
func (r *recycler) Free(b []byte) {
	class := bits.Len(uint(cap(b))) - 1 - smallestRecycled
	if class < 0 || class >= recycledClasses || cap(b) != 1<<(class+smallestRecycled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free[class] = append(r.free[class], b)
}
