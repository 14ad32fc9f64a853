package wire

import (
	"encoding/binary"
	"strconv"
)

// reader reads AMQP's primitive types from a buffer that nobody vouches for. It is sticky: after the first read that
// does not fit all reads return zero values, so callers read a whole structure and ask once, with done. A fault only
// sets fields and the error is built out of line (newSyntaxError), so that the bounds checks inline into the parsers.
type reader struct {
	buf    []byte
	off    int
	bad    bool   // a read did not fit; off is then the first fault's offset
	reason string // of the fault; "" for the usual one, that the data ends too early
	field  string // what was being read then, where the caller says so
}

const reasonShort = "ends too early"

// miss records a fault: it drops the rest, so that every later read that wants a byte fails and off stays where it is.
func (r *reader) miss() {
	r.bad = true
	r.buf = r.buf[:r.off]
}

func (r *reader) missBecause(reason string) {
	if !r.bad {
		r.reason = reason
		r.miss()
	}
}

func (r *reader) u8() byte {
	if r.off >= len(r.buf) {
		r.miss()
		return 0
	}
	v := r.buf[r.off]
	r.off++
	return v
}

func (r *reader) u16() uint16 {
	if len(r.buf)-r.off < 2 {
		r.miss()
		return 0
	}
	v := binary.BigEndian.Uint16(r.buf[r.off:])
	r.off += 2
	return v
}

func (r *reader) u32() uint32 {
	if len(r.buf)-r.off < 4 {
		r.miss()
		return 0
	}
	v := binary.BigEndian.Uint32(r.buf[r.off:])
	r.off += 4
	return v
}

func (r *reader) u64() uint64 {
	if len(r.buf)-r.off < 8 {
		r.miss()
		return 0
	}
	v := binary.BigEndian.Uint64(r.buf[r.off:])
	r.off += 8
	return v
}

// short reads a short string: one length octet, then at most 255 bytes. The result aliases the buffer: callers copy it.
func (r *reader) short() []byte { return r.take(uint64(r.u8())) }

// long reads a long string: a 32-bit length, then that many bytes. The length is compared with what is there before
// anything is sliced or allocated. The result aliases the buffer: callers copy it.
func (r *reader) long() []byte { return r.take(uint64(r.u32())) }

// take returns the next n bytes; n is 64 bits wide so that a claimed length cannot turn negative where int has 32.
func (r *reader) take(n uint64) []byte {
	if uint64(len(r.buf)-r.off) < n {
		r.miss()
		return nil
	}
	v := r.buf[r.off : r.off+int(n)]
	r.off += int(n)
	return v
}

// whole reports whether everything fitted and nothing is left over.
func (r *reader) whole() bool { return !r.bad && r.off == len(r.buf) }

// newSyntaxError describes why whole is false.
//
//go:noinline
func (r *reader) newSyntaxError(where string) error {
	e := &SyntaxError{Where: where, Field: r.field, Offset: r.off, Reason: r.reason}
	switch {
	case !r.bad:
		e.Field, e.Reason = "", "trailing bytes: "+strconv.Itoa(len(r.buf)-r.off)
	case r.reason == "":
		e.Reason = reasonShort
	}
	return e
}
