package capture

import (
	"unsafe"

	"leveret/capture/schema"
)

// Block sizes. 16 Ki rows of the widest kind are 736 KiB: they are still in the processor's cache when the flusher comes,
// and an Arrow batch of that size is far above what its metadata costs.
const (
	blockRows      = 16 << 10
	leastBlockRows = 1 << 10
	connectionRows = 512
	connectionText = 64 << 10 // bytes of text in a block of connection events
	selfRows       = 16       // more than come in a flush interval
	brokerRows     = 256      // more than one look at the management API brings of a kind
	churnRows      = 4096
)

// block holds the columns of up to capacity rows of one kind. One shard or the flusher owns it at a time, or the pool.
type block struct {
	slot     *slot // where it is filled
	rows     int
	capacity int
	text     int   // bytes of text, Connections only
	since    int64 // clock when the first row came
	columns  [][]byte
	values   [][]byte // scratch of filled
}

// newBlock allocates the columns of one block in one piece, each at a multiple of 64 bytes.
func newBlock(k schema.Kind, rows int) *block {
	b := &block{capacity: rows}
	var sizes []int
	total := 0
	add := func(n int) {
		sizes = append(sizes, n)
		total += roundUp(n)
	}
	for _, c := range k.Columns() {
		if c.Type == schema.Text {
			add(4 * (rows + 1))
			add(connectionText)
			continue
		}
		add(rows * c.Type.Width())
	}
	arena := make([]byte, total)
	for _, n := range sizes {
		b.columns = append(b.columns, arena[:n:n])
		arena = arena[roundUp(n):]
	}
	b.values = make([][]byte, len(b.columns))
	return b
}

// blockBytes is what newBlock allocates.
func blockBytes(k schema.Kind, rows int) int64 {
	total := 0
	for _, c := range k.Columns() {
		total += roundUp(rows * c.Type.Width())
		if c.Type == schema.Text {
			total += roundUp(4*(rows+1)) + roundUp(connectionText)
		}
	}
	return int64(total)
}

func roundUp(n int) int { return (n + 63) &^ 63 }

// column views n values of a column from row at on. T must have the column's width.
func column[T uint8 | uint16 | uint32 | uint64 | int64](b *block, column, at, n int) []T {
	c := b.columns[column]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c))), len(c)/int(unsafe.Sizeof(*new(T))))[at : at+n : at+n]
}

// filled returns the bytes of the rows that are there, as schema.BatchEncoder wants them; valid until the next call.
func (b *block) filled() [][]byte {
	i := 0
	for _, c := range b.slot.kind.Columns() {
		if c.Type == schema.Text {
			b.values[i] = b.columns[i][:4*(b.rows+1)]
			b.values[i+1] = b.columns[i+1][:b.text]
			i += 2
			continue
		}
		b.values[i] = b.columns[i][:b.rows*c.Type.Width()]
		i++
	}
	return b.values
}

// fill sets n values of a column from row at on to v. What is filled is copied behind itself: copying is several times
// faster than a loop.
func fill[T uint8 | uint16 | uint32 | uint64 | int64](b *block, col, at, n int, v T) {
	s := column[T](b, col, at, n)
	for i := range s[:min(n, 16)] {
		s[i] = v
	}
	for done := 16; done < n; done *= 2 {
		copy(s[done:], s[:done])
	}
}
