package loadcore

import (
	"encoding/binary"
	"hash/crc32"

	"leveret/capture/event"
)

// The stamp of a message whose body is to stay as it is travels in a header of its own; part of the format. The header is
// named leveret and its value is a byte array (type x) of 20 bytes, big endian:
//
//	0                              8          12             20
//	+------------------------------+----------+--------------+
//	| tag 12 | producer 16 | seq 36 | CRC-32C  | due          |
//	+------------------------------+----------+--------------+
//
// The checksum covers, in this order, the whole body, bytes 0 to 7 and bytes 12 to 19 of the value. Due is as in the body
// stamp: int64, nanoseconds since the Unix epoch; event.None in closed loop. A byte array, as brokers hand it through
// unchanged also where they convert messages (streams), which they do not promise for texts that are no UTF-8; a reader
// takes the value as a long string (type S) all the same. The header may stand anywhere among others. A message that has
// it has no other stamp: the beginning of its body means nothing, and any size will do, also none.
//
// With --stamp perftest the body begins as PerfTest and omq write it, and is covered by the checksum like any other:
//
//	0          4              12
//	+----------+--------------+---------
//	| sequence | time         | zero ...
//	+----------+--------------+---------
//
// Sequence is the low 32 bits of the producer's message number, from 0. Time is an int64: wall clock nanoseconds since the
// Unix epoch, or milliseconds (--use-millis), when the message was made. Given bodies stay as they are; then the time
// travels in a header named timestamp, an int64 (type l), where PerfTest has it in that case.
const (
	StampHeaderName = "leveret"
	StampHeaderSize = 20 // bytes of the value

	headerStampSum = 8
	headerStampDue = 12

	perfTestSize   = 12 // bytes of the body
	perfTestHeader = "timestamp"
)

// putHeaderStamp writes the value of a stamp header. id is the stamp's identity, bodySum the CRC-32C of the whole body.
func putHeaderStamp(value []byte, id uint64, due int64, bodySum uint32) {
	_ = value[StampHeaderSize-1]
	binary.BigEndian.PutUint64(value, id)
	binary.BigEndian.PutUint64(value[headerStampDue:], uint64(due))
	binary.BigEndian.PutUint32(value[headerStampSum:], headerStampChecksum(value, bodySum))
}

func headerStampChecksum(value []byte, bodySum uint32) uint32 {
	sum := crc32.Update(bodySum, castagnoli, value[:headerStampSum])
	return crc32.Update(sum, castagnoli, value[headerStampDue:StampHeaderSize])
}

// readHeaderStamp reads the value of a stamp header of a message whose body has the CRC-32C bodySum. Of a corrupt one the
// identity is only what it claims, and the due time is None.
func readHeaderStamp(value []byte, bodySum uint32) (s Stamp, b event.Body) {
	s.Due = event.None
	s.setIdentity(binary.BigEndian.Uint64(value))
	if binary.BigEndian.Uint32(value[headerStampSum:]) != headerStampChecksum(value, bodySum) {
		return s, event.Corrupt
	}
	s.Due = int64(binary.BigEndian.Uint64(value[headerStampDue:]))
	return s, event.Intact
}
