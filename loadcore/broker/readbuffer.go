package broker

import "io"

// readBuffer is a connection's input: bytes are read behind what is left of the last read and taken from its front. It
// begins small, since most connections are idle most of the time, doubles while reads fill it, and shrinks again when they
// have used little of it for long.
type readBuffer struct {
	buf        []byte
	begin, end int
	max        int // length it never passes; room for the largest frame
	small      int // reads in a row that would have fit into half the buffer
}

const (
	smallestRead = 4 << 10
	largestRead  = 128 << 10 // unless a single frame needs more
	shrinkAfter  = 256       // reads
)

func newReadBuffer(frameMax int) *readBuffer {
	return &readBuffer{buf: make([]byte, smallestRead), max: max(largestRead, frameMax)}
}

// unread is what was read and not consumed. It is valid until the next fill.
func (b *readBuffer) unread() []byte { return b.buf[b.begin:b.end] }

func (b *readBuffer) consume(n int) { b.begin += n }

// fill reads once. What is left moves to the front; if that is the whole buffer, a frame is larger than the buffer, which
// then grows. The caller has made sure that no frame is larger than the buffer's bound.
func (b *readBuffer) fill(r io.Reader) error {
	left := b.end - b.begin
	size := len(b.buf)
	switch {
	case left > size/2 && size < b.max:
		size = min(2*size, b.max)
	case b.small >= shrinkAfter && left < size/4 && size > smallestRead:
		size /= 2
		b.small = 0
	}
	if size != len(b.buf) {
		grown := make([]byte, size)
		copy(grown, b.buf[b.begin:b.end])
		b.buf = grown
	} else if b.begin > 0 {
		copy(b.buf, b.buf[b.begin:b.end])
	}
	b.begin, b.end = 0, left
	if left == size {
		return errFull
	}
	n, err := r.Read(b.buf[left:])
	b.end += n
	b.note(n)
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		return io.ErrNoProgress
	}
	if err == io.EOF && left > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// note adapts the size for the next read.
func (b *readBuffer) note(n int) {
	switch {
	case b.end == len(b.buf) && len(b.buf) < b.max: // there was probably more
		grown := make([]byte, min(2*len(b.buf), b.max))
		copy(grown, b.buf[:b.end])
		b.buf = grown
		b.small = 0
	case n < len(b.buf)/2:
		b.small++
	default:
		b.small = 0
	}
}
