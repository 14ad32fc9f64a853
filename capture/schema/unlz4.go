package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Of the LZ4 frame format (lz4_Frame_format.md, version 1.6.x).
const (
	lz4Magic       = 0x184D2204
	lz4Version     = 0x40
	lz4Independent = 0x20
	lz4BlockSum    = 0x10
	lz4ContentSize = 0x08
	lz4DictID      = 0x01
	lz4RawBlock    = 1 << 31
)

// expandLZ4 fills dst from one LZ4 frame, ours or anybody's, and returns how much it filled. A frame's own checksums are
// passed over: the message's has been checked.
func expandLZ4(dst, src []byte) (int, error) {
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != lz4Magic || src[4]&0xC0 != lz4Version {
		return 0, errors.New("no frame")
	}
	flags, pos := src[4], 7
	if flags&lz4ContentSize != 0 {
		pos += 8
	}
	if flags&lz4DictID != 0 {
		return 0, errors.New("frame needs a dictionary")
	}
	filled := 0
	for {
		if len(src)-pos < 4 {
			return 0, errors.New("frame without its end")
		}
		size := binary.LittleEndian.Uint32(src[pos:])
		pos += 4
		if size == 0 {
			return filled, nil
		}
		raw := size&lz4RawBlock != 0
		size &^= lz4RawBlock
		if uint64(size) > uint64(len(src)-pos) {
			return 0, fmt.Errorf("block of %d bytes, %d left", size, len(src)-pos)
		}
		block := src[pos : pos+int(size)]
		pos += int(size)
		if flags&lz4BlockSum != 0 {
			pos += 4
		}
		first := 0 // what a block may refer back to
		if flags&lz4Independent != 0 {
			first = filled
		}
		var err error
		if !raw {
			filled, err = expandBlock(dst, filled, first, block)
		} else if len(block) > len(dst)-filled {
			err = errTooLong
		} else {
			filled += copy(dst[filled:], block)
		}
		if err != nil {
			return 0, err
		}
	}
}

var (
	errTooLong = errors.New("more than there is room for")
	errBlock   = errors.New("damaged block")
)

// expandBlock expands one block to dst[o:] and returns where it ended; it may refer to dst[first:].
//
// Why one of our own: of a column that counts every sequence is a literal and a match 8 bytes back, and a general decoder
// reads those 8 bytes again right after it has written the last of them, which stalls the processor each time. Here they
// stay in a register, and a sequence takes a third of the time.
func expandBlock(dst []byte, o, first int, src []byte) (int, error) {
	i := 0
	last := uint64(0) // the 8 bytes before o, where there are as many
	for i < len(src) {
		token := src[i]
		literals, n := int(token>>4), int(token&15)+lz4MinMatch
		const most = 8 + 24 // bytes that are written below, wanted or not
		if literals <= 8 && n < 15+lz4MinMatch && i+11 <= len(src) && o+most <= len(dst) && o+literals >= first+8 &&
			binary.LittleEndian.Uint16(src[i+1+literals:]) == 8 {
			v := binary.LittleEndian.Uint64(src[i+1:])
			binary.LittleEndian.PutUint64(dst[o:], v)
			o += literals
			last = last>>(8*literals) | v<<(64-8*literals)
			q := dst[o : o+24 : o+24]
			binary.LittleEndian.PutUint64(q, last)
			binary.LittleEndian.PutUint64(q[8:], last)
			binary.LittleEndian.PutUint64(q[16:], last)
			o += n
			last = bits.RotateLeft64(last, -8*n)
			i += 3 + literals
			if literals+n == 8 && literals <= 4 {
				o, i, last = expandAlike(dst, o, src, i, last, literals)
			}
			continue
		}
		var err error
		if o, i, err = expandSequence(dst, o, first, src, i); err != nil {
			return 0, err
		}
		if o >= 8 {
			last = binary.LittleEndian.Uint64(dst[o-8:])
		}
	}
	return o, nil
}

// expandAlike goes on while sequences are of a form: so many literals (1 to 4), which are the low bytes of a value, and a match of
// its other bytes. Nearly all of a column that counts are.
func expandAlike(dst []byte, o int, src []byte, i int, last uint64, literals int) (int, int, uint64) {
	low := uint64(1)<<(8*literals) - 1 // of a value
	token, offset := uint64(literals<<4|(8-literals-lz4MinMatch)), uint64(8)<<(8+8*literals)
	fixed := uint64(0xFF) | 0xFFFF<<(8+8*literals)             // of the bytes of a sequence
	for literals == 1 && len(src)-i > 16 && len(dst)-o >= 16 { // then two of them are 8 bytes
		w := binary.LittleEndian.Uint64(src[i:])
		if w&(fixed|fixed<<32) != (token|offset)|(token|offset)<<32 {
			break
		}
		q := dst[o : o+16 : o+16]
		binary.LittleEndian.PutUint64(q, last&^low|w>>8&low)
		last = last&^low | w>>40&low
		binary.LittleEndian.PutUint64(q[8:], last)
		o += 16
		i += 8
	}
	for len(src)-i > 3+literals+8 && len(dst)-o >= 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		if w&fixed != token|offset {
			break
		}
		last = last&^low | w>>8&low
		binary.LittleEndian.PutUint64(dst[o:], last)
		o += 8
		i += 3 + literals
	}
	return o, i, last
}

// expandSequence expands the sequence at src[i], whatever its form. It returns where the next ones begin.
func expandSequence(dst []byte, o, first int, src []byte, i int) (int, int, error) {
	token := src[i]
	literals, i, ok := length(src, i+1, int(token>>4))
	if !ok || literals > len(src)-i {
		return 0, 0, errBlock
	}
	if literals > len(dst)-o {
		return 0, 0, errTooLong
	}
	o += copy(dst[o:], src[i:i+literals])
	i += literals
	if i == len(src) { // the last sequence has no match
		return o, i, nil
	}
	if len(src)-i < 2 {
		return 0, 0, errBlock
	}
	offset := int(binary.LittleEndian.Uint16(src[i:]))
	n, i, ok := length(src, i+2, int(token&15))
	if !ok || offset == 0 || offset > o-first {
		return 0, 0, errBlock
	}
	n += lz4MinMatch
	if n > len(dst)-o {
		return 0, 0, errTooLong
	}
	from := o - offset
	for n > 0 { // what has been copied can be copied again: twice as much each time
		c := copy(dst[o:o+n], dst[from:o])
		o += c
		n -= c
	}
	return o, i, nil
}

// length reads the rest of a length whose first part, in the token, is n.
func length(src []byte, i, n int) (int, int, bool) {
	if n < 15 {
		return n, i, true
	}
	for i < len(src) && n < MaxBatchBytes {
		b := src[i]
		i++
		n += int(b)
		if b < 255 {
			return n, i, true
		}
	}
	return 0, 0, false
}
