package schema

import (
	"encoding/binary"
	"math/bits"
)

// Why an encoder of our own: a general LZ4 encoder looks for matches through a hash table, byte by byte, and costs 20 to
// 40 ns a row here. In a column of fixed width the match is known beforehand: what changes from row to row are the low
// bytes, so that the bytes one value back are nearly always the best match. Comparing with them, eight at a time, gives
// the same size in a fifth of the time (FORMAT.md has the figures). What comes out is plain LZ4.

// Rules of the LZ4 block format (lz4_Block_format.md): a match has at least 4 bytes, the last begins at least 12 bytes
// before the end of the block, and the last 5 bytes are literals.
const (
	lz4MinMatch     = 4
	lz4MatchMargin  = 12
	lz4LastLiterals = 5

	lz4BlockSize     = 256 << 10 // of the frame: a whole column of a block of the recorder
	lz4BlockSizeCode = 5 << 4
	// Header checksum: second byte of xxh32 of the two bytes before, which are always the same.
	lz4HeaderCheck = 0xFB
)

// lz4Bound is the most bytes that appendLZ4 may need for n, with room for the encoder's wide copies.
func lz4Bound(n int) int {
	blocks := (n + lz4BlockSize - 1) / lz4BlockSize
	return 7 + 4 + n + n/255 + blocks*(4+16) + 32
}

// appendLZ4 appends src as one LZ4 frame; stride is the width of its values in bytes, 1 to 8. dst must have room for
// lz4Bound(len(src)) more bytes.
func appendLZ4(dst, src []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	dst = append(dst, lz4Version|lz4Independent, lz4BlockSizeCode, lz4HeaderCheck)
	for len(src) > 0 {
		block := src[:min(len(src), lz4BlockSize)]
		src = src[len(block):]
		at := len(dst)
		dst = appendBlock(append(dst, 0, 0, 0, 0), block)
		size := len(dst) - at - 4
		if size >= len(block) {
			dst = append(dst[:at+4], block...)
			size = len(block) | lz4RawBlock
		}
		binary.LittleEndian.PutUint32(dst[at:], uint32(size))
	}
	return append(dst, 0, 0, 0, 0)
}

// appendBlock appends src as one LZ4 block whose matches all lie 8 bytes back.
//
// Words of 8 bytes are compared with the ones before them. Where they differ, the bytes up to the highest that differs
// are literals, and the equal ones above begin the next match, which goes on through equal words into the low bytes of
// the next one that differs:
//
//	words     05 00 00 00 00 00 00 00 | 06 00 00 00 00 00 00 00 | 06 00 00 00 00 00 00 00 | 07 00 ...
//	sequence                            ^^ literal, then a match of 7 + 8 bytes             ^^ next literal
func appendBlock(dst, src []byte) []byte {
	out, o := dst[:cap(dst)], len(dst) // lz4Bound has made sure of the room
	anchor := 0                        // src before it has been written
	match := 8                         // where the equal bytes begin that run up to pos
	pos := 8
	stop := len(src) - lz4MatchMargin - 8
	for pos <= stop {
		w := src[pos-8 : pos+8 : pos+8]
		diff := binary.LittleEndian.Uint64(w[8:]) ^ binary.LittleEndian.Uint64(w)
		if diff == 0 {
			pos = skipEqual(src, pos+8, stop)
			continue
		}
		end := pos + bits.TrailingZeros64(diff)>>3
		if n, literals := end-match, match-anchor; n >= lz4MinMatch {
			if literals <= 8 && n < 15+lz4MinMatch {
				// Nearly all: a token, up to 8 literals (8 are copied, the margin lies behind them), the offset.
				q := out[o : o+11 : o+11]
				q[0] = byte(literals<<4 | (n - lz4MinMatch))
				binary.LittleEndian.PutUint64(q[1:], binary.LittleEndian.Uint64(src[anchor:]))
				binary.LittleEndian.PutUint16(q[1+literals:], 8)
				o += 3 + literals
			} else {
				o = len(appendSequence(out[:o], src, anchor, match, n))
			}
			anchor = end
		}
		match = pos + 8 - bits.LeadingZeros64(diff)>>3
		pos += 8
	}
	if pos-match >= lz4MinMatch {
		o = len(appendSequence(out[:o], src, anchor, match, pos-match))
		anchor = pos
	}
	return appendLiterals(out[:o], src[anchor:])
}

// skipEqual goes on from pos, 32 bytes at a time, while each word equals the one before it.
func skipEqual(src []byte, pos, stop int) int {
	for pos+24 <= stop {
		w := src[pos-8 : pos+32 : pos+32]
		a := binary.LittleEndian.Uint64(w)
		b := binary.LittleEndian.Uint64(w[8:])
		c := binary.LittleEndian.Uint64(w[16:])
		d := binary.LittleEndian.Uint64(w[24:])
		e := binary.LittleEndian.Uint64(w[32:])
		if (a^b)|(b^c)|(c^d)|(d^e) != 0 {
			break
		}
		pos += 32
	}
	return pos
}

// appendSequence appends the literals src[anchor:match] and a match of n bytes.
func appendSequence(dst, src []byte, anchor, match, n int) []byte {
	literals := match - anchor
	n -= lz4MinMatch
	dst = append(dst, byte(min(literals, 15)<<4|min(n, 15)))
	if literals >= 15 {
		dst = appendLength(dst, literals-15)
	}
	dst = append(dst, src[anchor:match]...)
	dst = append(dst, 8, 0)
	if n >= 15 {
		dst = appendLength(dst, n-15)
	}
	return dst
}

func appendLiterals(dst, literals []byte) []byte {
	n := len(literals)
	dst = append(dst, byte(min(n, 15)<<4))
	if n >= 15 {
		dst = appendLength(dst, n-15)
	}
	return append(dst, literals...)
}

func appendLength(dst []byte, n int) []byte {
	for ; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
