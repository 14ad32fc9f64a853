package loadcore

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"leveret/capture/event"
)

// bitwiseCRC32C is the checksum by its definition (RFC 3720 appendix B.4): reflected polynomial 0x82F63B78, a bit at a time.
func bitwiseCRC32C(parts ...[]byte) uint32 {
	crc := ^uint32(0)
	for _, p := range parts {
		for _, b := range p {
			crc ^= uint32(b)
			for range 8 {
				if crc&1 != 0 {
					crc = crc>>1 ^ 0x82F63B78
				} else {
					crc >>= 1
				}
			}
		}
	}
	return ^crc
}

func TestStampLayout(t *testing.T) {
	// RFC 3720 appendix B.4: 32 bytes of zeros give AA 36 91 8A on the wire, which sends the least significant byte first.
	if got := bitwiseCRC32C(make([]byte, 32)); got != 0x8A9136AA {
		t.Fatalf("the reference checksum is wrong: %08x", got)
	}
	s := Stamp{Tag: 0xabc, Producer: 0x1234, Seq: 0x9_8765_4321, Due: 0x1122334455667788}
	for _, size := range []int{12, 13, 23, 24, 25, 64} {
		body := bytes.Repeat([]byte{0}, size)
		PutStamp(body, s)
		// tag 12 bits, producer 16 bits, sequence 36 bits
		if got := hex.EncodeToString(body[:8]); got != "abc1234987654321" {
			t.Errorf("size %d: identity %s", size, got)
		}
		want := bitwiseCRC32C(body[:8], body[12:])
		if got := uint32(body[8])<<24 | uint32(body[9])<<16 | uint32(body[10])<<8 | uint32(body[11]); got != want {
			t.Errorf("size %d: checksum %08x, want %08x", size, got, want)
		}
		wantDue := event.None
		if size >= 24 {
			wantDue = s.Due
			if got := hex.EncodeToString(body[12:24]); got != "000000001122334455667788" {
				t.Errorf("size %d: due %s", size, got)
			}
		}
		got, verdict := ReadStamp(body)
		if verdict != event.Intact || got != (Stamp{s.Tag, s.Producer, s.Seq, wantDue}) {
			t.Errorf("size %d: read %+v, %d", size, got, verdict)
		}
	}
}

// The producers' way to the checksum, which does not hash what is constant, comes to the same bytes.
func TestStamperAgreesWithPutStamp(t *testing.T) {
	for _, size := range []int{12, 13, 16, 23, 24, 25, 31, 1024, 131064, 1 << 20} {
		for _, timed := range []bool{false, true} {
			st := newStamper(0xfff, 0xffff, size, timed)
			got, want := make([]byte, size), make([]byte, size)
			st.body(got[:min(size, StampDueSize)])
			for range 50 {
				s := Stamp{Tag: 0xfff, Producer: 0xffff, Seq: rand.Uint64N(event.MaxSequence + 1), Due: event.None}
				if timed {
					s.Due = rand.Int64()
				}
				st.put(got[:min(size, StampDueSize)], s.Seq, s.Due)
				PutStamp(want, s)
				if !bytes.Equal(got, want) {
					t.Fatalf("size %d, timed %v: %x, want %x", size, timed, got[:12], want[:12])
				}
			}
		}
	}
}

func TestEveryFlippedBitIsCorrupt(t *testing.T) {
	for _, size := range []int{12, 24, 64} {
		body := make([]byte, size)
		PutStamp(body, Stamp{Tag: 1, Producer: 2, Seq: 3, Due: 4})
		for bit := range size * 8 {
			body[bit/8] ^= 1 << (bit % 8)
			if s, verdict := ReadStamp(body); verdict != event.Corrupt || s.Due != event.None {
				t.Errorf("size %d, bit %d flipped: %d, due %d", size, bit, verdict, s.Due)
			}
			body[bit/8] ^= 1 << (bit % 8)
		}
	}
	for size := range StampSize {
		if s, verdict := ReadStamp(make([]byte, size)); verdict != event.Unstamped || s != (Stamp{Due: event.None}) {
			t.Errorf("size %d: %d %+v", size, verdict, s)
		}
	}
}

// A body is judged alike however it is cut.
func TestBodyCheckInPieces(t *testing.T) {
	for size := range 70 {
		body := make([]byte, size)
		if size >= StampSize {
			for i := range body {
				body[i] = byte(i * 7) // not only zeros
			}
			PutStamp(body, Stamp{Tag: 5, Producer: 6, Seq: 7, Due: 8})
		}
		for _, damaged := range []bool{false, true} {
			if damaged && size > 0 {
				body[size-1] ^= 1
			}
			wantStamp, wantVerdict := ReadStamp(body)
			for first := range size + 1 {
				for second := first; second <= size; second++ {
					var c bodyCheck
					c.reset()
					for _, piece := range [][]byte{body[:first], body[first:second], body[second:]} {
						c.add(piece)
					}
					if s, verdict := c.done(); s != wantStamp || verdict != wantVerdict {
						t.Fatalf("size %d cut at %d and %d: %+v %d, want %+v %d", size, first, second, s, verdict, wantStamp, wantVerdict)
					}
				}
			}
		}
	}
}
