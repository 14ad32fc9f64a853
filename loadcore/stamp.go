package loadcore

import (
	"encoding/binary"
	"hash/crc32"

	"leveret/capture/event"
)

// The stamp is the beginning of every body; part of the format. All numbers are big endian.
//
//	0                              8          12         16             24
//	+------------------------------+----------+----------+--------------+---------
//	| tag 12 | producer 16 | seq 36 | CRC-32C  | zero     | due          | zero ...
//	+------------------------------+----------+----------+--------------+---------
//
// The checksum covers the whole body but its own four bytes. Bytes 12 and on are there as far as the body is long enough;
// the due time (int64, nanoseconds since the Unix epoch; event.None in closed loop) only where all of its 8 bytes fit.
const (
	StampSize    = 12 // bytes; the least size of a body
	StampDueSize = 24 // bytes; bodies from this size on carry the due time

	stampSum = 8  // offset of the checksum
	stampDue = 16 // offset of the due time

	seqShift = event.SequenceBits
	tagShift = event.SequenceBits + event.ProducerBits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Stamp is the identity that a message carries.
type Stamp struct {
	Tag      uint16 // at most event.MaxTag
	Producer uint16
	Seq      uint64 // at most event.MaxSequence
	Due      int64  // event.None where the body carries none
}

func (s Stamp) identity() uint64 {
	return uint64(s.Tag)<<tagShift | uint64(s.Producer)<<seqShift | s.Seq
}

func (s *Stamp) setIdentity(id uint64) {
	s.Tag = uint16(id >> tagShift)
	s.Producer = uint16(id >> seqShift)
	s.Seq = id & event.MaxSequence
}

// PutStamp stamps a whole body of at least StampSize bytes, whatever it holds behind the stamp. The producers' own way is
// the template in stamper.go, which comes to the same bytes.
func PutStamp(body []byte, s Stamp) {
	binary.BigEndian.PutUint64(body, s.identity())
	if len(body) >= StampDueSize {
		clear(body[StampSize:stampDue])
		binary.BigEndian.PutUint64(body[stampDue:], uint64(s.Due))
	}
	sum := crc32.Update(0, castagnoli, body[:stampSum])
	binary.BigEndian.PutUint32(body[stampSum:], crc32.Update(sum, castagnoli, body[StampSize:]))
}

// ReadStamp checks a whole body. Of a corrupt one the identity is only what it claims, and the due time is None; one that
// is too short has neither.
func ReadStamp(body []byte) (Stamp, event.Body) {
	if len(body) < StampSize {
		return Stamp{Due: event.None}, event.Unstamped
	}
	sum := crc32.Update(0, castagnoli, body[:stampSum])
	if len(body) > StampSize {
		sum = crc32.Update(sum, castagnoli, body[StampSize:])
	}
	return readStamp(body[:min(len(body), StampDueSize)], sum)
}

// readStamp takes the first bytes of a body, StampDueSize of them if it has so many, and the checksum of all of it.
func readStamp(head []byte, sum uint32) (s Stamp, b event.Body) {
	s.Due = event.None
	s.setIdentity(binary.BigEndian.Uint64(head))
	if binary.BigEndian.Uint32(head[stampSum:]) != sum {
		return s, event.Corrupt
	}
	if len(head) >= StampDueSize {
		s.Due = int64(binary.BigEndian.Uint64(head[stampDue:]))
	}
	return s, event.Intact
}

// bodyCheck checks a body that comes in pieces; it keeps the first StampDueSize bytes and no others.
type bodyCheck struct {
	n    uint64 // bytes taken
	sum  uint32
	head [StampDueSize]byte
}

func (c *bodyCheck) reset() { c.n, c.sum = 0, 0 }

func (c *bodyCheck) add(piece []byte) {
	if c.n < StampDueSize {
		k := copy(c.head[c.n:], piece)
		c.n += uint64(k)
		piece = piece[k:]
		if c.n < StampDueSize || len(piece) == 0 {
			return
		}
	}
	if c.n == StampDueSize { // the first bytes behind the head: now the head's sum is due
		c.sum = c.headSum()
	}
	c.sum = crc32.Update(c.sum, castagnoli, piece)
	c.n += uint64(len(piece))
}

func (c *bodyCheck) headSum() uint32 {
	sum := crc32.Update(0, castagnoli, c.head[:stampSum])
	return crc32.Update(sum, castagnoli, c.head[StampSize:max(StampSize, min(c.n, StampDueSize))])
}

// done ends the body.
func (c *bodyCheck) done() (Stamp, event.Body) {
	if c.n < StampSize {
		return Stamp{Due: event.None}, event.Unstamped
	}
	if c.n <= StampDueSize {
		c.sum = c.headSum()
	}
	return readStamp(c.head[:min(c.n, StampDueSize)], c.sum)
}
