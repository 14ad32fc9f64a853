package loadcore

import "encoding/binary"

// randomKeys are routing keys in the form of random UUIDs (version 4, RFC 9562): key n is a pure function of the run tag,
// seed, producer and n.
type randomKeys struct{ key uint64 }

// anyKey has the form of a random key.
const anyKey = "00000000-0000-4000-8000-000000000000"

func newRandomKeys(seed uint64, tag, producer uint16) randomKeys {
	return randomKeys{key: mix(seed ^ mix(uint64(tag)<<16|uint64(producer)) ^ golden)}
}

const hexDigits = "0123456789abcdef"

// put writes key n.
func (k randomKeys) put(dst []byte, n uint64) {
	_ = dst[len(anyKey)-1]
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], mix(k.key+(2*n+1)*golden))
	binary.BigEndian.PutUint64(b[8:], mix(k.key+(2*n+2)*golden))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	at := 0
	for i, v := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst[at] = '-'
			at++
		}
		dst[at], dst[at+1] = hexDigits[v>>4], hexDigits[v&15]
		at += 2
	}
}
