package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// MaxShortString is the most bytes that a short string can hold: names of exchanges, queues, vhosts and consumers,
// routing keys, most properties, keys of field tables.
const MaxShortString = 255

// CheckShortString returns a *LengthError if s does not fit a short string. what names it for the error. The functions
// that append do not return errors: whatever comes from outside has to pass here, or CheckMethod or CheckProperties,
// once, before it is encoded any number of times.
func CheckShortString(what, s string) error {
	if len(s) > MaxShortString {
		return &LengthError{What: what, Bytes: len(s), Limit: MaxShortString}
	}
	return nil
}

// ReplyText cuts a text for people to what a short string holds, at a character's boundary and with an ellipsis, as
// RabbitMQ does. The reply texts of close and return and the reason of blocked are cut this way when they are encoded.
func ReplyText(s string) string {
	if len(s) <= MaxShortString {
		return s
	}
	const room = MaxShortString - len("...")
	end := room
	for end > room-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// appendShort appends a short string. A longer one is a bug of the caller, who has not checked it: cut short it would
// publish to another queue, and written whole it would tear the stream.
func appendShort[T string | []byte](dst []byte, s T) []byte {
	if len(s) > MaxShortString {
		panicLength(len(s), MaxShortString)
	}
	dst = append(dst, byte(len(s)))
	return append(dst, s...)
}

func appendLong[T string | []byte](dst []byte, s T) []byte {
	if uint64(len(s)) > math.MaxUint32 {
		panicLength(len(s), math.MaxInt32)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

//go:noinline
func panicLength(n, limit int) {
	panic(fmt.Sprintf("wire: unchecked string of %d bytes, at most %d are possible: call CheckShortString, CheckMethod or CheckProperties first", n, limit))
}

func appendBool(dst []byte, v bool) []byte { return append(dst, bit(v, 0)) }

// bit returns v as the n-th bit of an octet.
func bit(v bool, n uint) byte {
	if v {
		return 1 << n
	}
	return 0
}
