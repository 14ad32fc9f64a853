package loadcore

import (
	"encoding/binary"
	"hash/crc32"

	"leveret/capture/event"
)

// stamper patches the stamp of one producer into copies of one body whose other bytes are zero. It hashes only the bytes
// that change: what the constant rest does to the checksum is a fixed linear map of the checksum so far.
type stamper struct {
	identity uint64 // without the sequence
	hasDue   bool   // the due time changes from message to message
	rest     *constantSum
}

// newStamper makes the stamper for bodies of size bytes, at least StampSize. With timed the due times differ; without,
// every body of StampDueSize and more carries event.None.
func newStamper(tag, producer uint16, size int, timed bool) *stamper {
	s := &stamper{identity: Stamp{Tag: tag, Producer: producer}.identity()}
	switch {
	case size >= StampDueSize && timed:
		s.hasDue = true
		if size > StampDueSize {
			s.rest = newConstantSum(nil, uint64(size-StampDueSize))
		}
	case size >= StampDueSize:
		none := make([]byte, StampDueSize-StampSize)
		due := event.None
		binary.BigEndian.PutUint64(none[stampDue-StampSize:], uint64(due))
		s.rest = newConstantSum(none, uint64(size-StampDueSize))
	case size > StampSize:
		s.rest = newConstantSum(nil, uint64(size-StampSize))
	}
	return s
}

// body fills in what is constant in the first bytes of a body.
func (s *stamper) body(head []byte) {
	clear(head)
	if len(head) >= StampDueSize {
		due := event.None
		binary.BigEndian.PutUint64(head[stampDue:], uint64(due))
	}
}

// put patches the stamp into the first bytes of a body, at least StampSize of them, StampDueSize where it is timed.
func (s *stamper) put(head []byte, seq uint64, due int64) {
	binary.BigEndian.PutUint64(head, s.identity|seq)
	sum := crc32.Update(0, castagnoli, head[:stampSum])
	if s.hasDue {
		binary.BigEndian.PutUint64(head[stampDue:], uint64(due))
		sum = crc32.Update(sum, castagnoli, head[StampSize:StampDueSize])
	}
	if s.rest != nil {
		sum = s.rest.update(sum)
	}
	binary.BigEndian.PutUint32(head[stampSum:], sum)
}

// constantSum continues a CRC-32C over bytes that are always the same.
//
// The CRC register is a polynomial over GF(2): taking m bytes multiplies it by x^(8m), which is linear and does not depend
// on the bytes, and adds what the bytes alone would have come to. So for fixed bytes the new register is L(old) xor k, and L
// is applied by four table look-ups, whatever m is.
type constantSum struct {
	byByte [4][256]uint32
	k      uint32
}

// newConstantSum is for the bytes of prefix followed by zeros zero bytes.
func newConstantSum(prefix []byte, zeros uint64) *constantSum {
	step := zeroBytes(zeros + uint64(len(prefix)))
	c := new(constantSum)
	for i := range c.byByte {
		for b := range c.byByte[i] {
			c.byByte[i][b] = step.apply(uint32(b) << (8 * i))
		}
	}
	// crc32.Update complements the register before and after. ^Update(^0, p) is what p alone comes to.
	alone := ^crc32.Update(^uint32(0), castagnoli, prefix)
	tail := zeroBytes(zeros)
	c.k = tail.apply(alone)
	return c
}

func (c *constantSum) update(sum uint32) uint32 {
	r := ^sum
	return ^(c.byByte[0][byte(r)] ^ c.byByte[1][byte(r>>8)] ^ c.byByte[2][byte(r>>16)] ^ c.byByte[3][r>>24] ^ c.k)
}

// linear is a linear map of 32 bits: the images of the 32 single bits.
type linear [32]uint32

func (l *linear) apply(v uint32) uint32 {
	var out uint32
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 != 0 {
			out ^= l[i]
		}
	}
	return out
}

// after is the map that applies first and then l.
func (l *linear) after(first *linear) linear {
	var out linear
	for i := range out {
		out[i] = l.apply(first[i])
	}
	return out
}

// zeroBytes is what n zero bytes do to the CRC-32C register, by repeated squaring of what one does.
func zeroBytes(n uint64) linear {
	var result, power linear
	for i := range power {
		result[i] = 1 << i
		power[i] = ^crc32.Update(^(uint32(1) << i), castagnoli, []byte{0})
	}
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			result = power.after(&result)
		}
		power = power.after(&power)
	}
	return result
}
