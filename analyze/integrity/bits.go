package integrity

import "math/bits"

// The functions below treat words as one row of bits, the lowest first.

func testBit(w []uint64, i int) bool { return w[i>>6]>>(i&63)&1 != 0 }
func setBit(w []uint64, i int)       { w[i>>6] |= 1 << (i & 63) }

// testIn is testBit of words that may be nil: no bit is set then.
func testIn(w []uint64, i int) bool { return w != nil && testBit(w, i) }

// spanMask is the part of word number w that the n bits from i on cover.
func spanMask(w, i, n int) uint64 {
	lo, hi := max(i-w<<6, 0), min(i+n-w<<6, 64)
	return ^uint64(0) >> (64 - (hi - lo)) << lo
}

// setSpan sets n bits (at least one) from i on.
func setSpan(words []uint64, i, n int) {
	for w := i >> 6; w <= (i+n-1)>>6; w++ {
		words[w] |= spanMask(w, i, n)
	}
}

// countSpan counts the bits that are set among the n from i on.
func countSpan(words []uint64, i, n int) int {
	c := 0
	for w := i >> 6; w <= (i+n-1)>>6; w++ {
		c += bits.OnesCount64(words[w] & spanMask(w, i, n))
	}
	return c
}
