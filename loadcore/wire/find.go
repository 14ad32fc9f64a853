package wire

import "encoding/binary"

// HasHeaders tells of the properties of a content header (Header.RawProperties) whether there is a header table among them.
func HasHeaders(rawProps []byte) bool { return rawProps[0]&byte(FlagHeaders>>8) != 0 }

// FindHeader looks for the header named key among the properties of a content header (Header.RawProperties) and returns
// its value if that is a byte array or a long string. The value aliases rawProps, capped. It does not allocate, and reads
// no further than that header; ok is false where there is none, or what is in front of it cannot be read.
func FindHeader(rawProps []byte, key string) (value []byte, ok bool) {
	if !HasHeaders(rawProps) {
		return nil, false
	}
	rest := rawProps[2:]
	for _, flag := range [...]uint16{FlagContentType, FlagContentEncoding} { // all that may stand in front of the table
		if rawProps[0]&byte(flag>>8) != 0 {
			_, rest = cutShort(rest)
		}
	}
	table, _ := cutLong(rest)
	for len(table) > 0 {
		name, after := cutShort(table)
		if len(after) == 0 {
			return nil, false
		}
		letter := after[0]
		if string(name) == key {
			if letter != 'x' && letter != 'S' {
				return nil, false
			}
			value, after = cutLong(after[1:])
			return value, after != nil
		}
		table = skipValue(letter, after[1:])
	}
	return nil, false
}

// cutLong splits a long string from the front of b, both parts aliasing b. If it does not fit, both are nil.
func cutLong(b []byte) (s, rest []byte) {
	if len(b) < 4 {
		return nil, nil
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if n > uint64(len(b)-4) {
		return nil, nil
	}
	return b[4 : 4+n : 4+n], b[4+n:]
}

// skipValue returns what is behind a table value of the type that letter stands for; nil where that cannot be told.
func skipValue(letter byte, b []byte) []byte {
	size := 0
	switch letter {
	case 'V':
	case 't', 'b', 'B':
		size = 1
	case 's', 'u':
		size = 2
	case 'I', 'i', 'f':
		size = 4
	case 'D':
		size = 5
	case 'l', 'd', 'T':
		size = 8
	case 'S', 'x', 'F', 'A':
		_, rest := cutLong(b)
		return rest
	default:
		return nil
	}
	if len(b) < size {
		return nil
	}
	return b[size:]
}
