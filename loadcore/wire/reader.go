package wire

import (
	"encoding/binary"
	"strconv"
)

// reader reads AMQP's primitive types from a buffer that nobody vouches for. It is sticky: after the first read that
// does not fit all reads return zero values, so callers read a whole structure and ask once, with done. Building errors
// is kept out of line (miss, newSyntaxError) so that the bounds checks inline into the parsers.
type reader struct {
	buf    []byte
	off    int
	reason string // first fault; "" while there is none
	at     int    // its offset
	field  string // what was being read then, where the caller says so
}

const reasonShort = "ends too early"

// miss records the first fault and moves to the end, where every later read that wants a byte fails as well.
//
//go:noinline
func (r *reader) miss(reason string) {
	if r.reason == "" {
		r.reason, r.at = reason, r.off
	}
	r.off = len(r.buf)
}

func (r *reader) u8() byte {
	if r.off >= len(r.buf) {
		r.miss(reasonShort)
		return 0
	}
	v := r.buf[r.off]
	r.off++
	return v
}

func (r *reader) u16() uint16 {
	if len(r.buf)-r.off < 2 {
		r.miss(reasonShort)
		return 0
	}
	v := binary.BigEndian.Uint16(r.buf[r.off:])
	r.off += 2
	return v
}

func (r *reader) u32() uint32 {
	if len(r.buf)-r.off < 4 {
		r.miss(reasonShort)
		return 0
	}
	v := binary.BigEndian.Uint32(r.buf[r.off:])
	r.off += 4
	return v
}

func (r *reader) u64() uint64 {
	if len(r.buf)-r.off < 8 {
		r.miss(reasonShort)
		return 0
	}
	v := binary.BigEndian.Uint64(r.buf[r.off:])
	r.off += 8
	return v
}

// short reads a short string: one length octet, then at most 255 bytes. The result aliases the buffer, capped.
func (r *reader) short() []byte {
	n := int(r.u8())
	if len(r.buf)-r.off < n {
		r.miss(reasonShort)
		return nil
	}
	v := r.buf[r.off : r.off+n : r.off+n]
	r.off += n
	return v
}

// long reads a long string: a 32-bit length, then that many bytes. The length is compared with what is there before
// anything is sliced or allocated. The result aliases the buffer, capped.
func (r *reader) long() []byte {
	n := uint64(r.u32())
	if uint64(len(r.buf)-r.off) < n {
		r.miss(reasonShort)
		return nil
	}
	end := r.off + int(n)
	v := r.buf[r.off:end:end]
	r.off = end
	return v
}

// done returns nil if everything fitted and nothing is left over, else a *SyntaxError.
func (r *reader) done(id MethodID) error {
	if r.reason == "" && r.off == len(r.buf) {
		return nil
	}
	return r.newSyntaxError(id.String())
}

//go:noinline
func (r *reader) newSyntaxError(where string) error {
	if r.reason == "" {
		left := len(r.buf) - r.off
		r.field = ""
		if left == 1 {
			r.miss("1 byte too many")
		} else {
			r.miss(strconv.Itoa(left) + " bytes too many")
		}
	}
	return &SyntaxError{Where: where, Field: r.field, Offset: r.at, Reason: r.reason}
}
