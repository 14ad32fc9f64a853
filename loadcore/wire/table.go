package wire

import (
	"encoding/binary"
	"math"
	"strconv"
)

// MaxTableDepth is how many tables and arrays may stand inside each other, the outermost table not counted. Peers that
// nest deeper mean harm; RabbitMQ's own arguments need two.
const MaxTableDepth = 32

// Table is a field table: pairs in the order of the wire, so that the same table is always the same bytes. Tables that
// were read own their memory; empty tables, arrays and byte strings are read as nil ones of their type.
type Table []Field

// Field is one pair of a table. Value holds one of these Go types, each for one AMQP type in RabbitMQ's reading of the
// type letters (AMQP 0-9-1 section 4.2.5.5 with RabbitMQ's errata):
//
//	bool t     int8  b   uint8  B   int16 s   uint16 u   int32 I   uint32 i   int64 l   float32 f   float64 d
//	Decimal D  string S  []byte x   []any A   Timestamp T   Table F   nil V
type Field struct {
	Key   string // a short string
	Value any
}

// Decimal is Value divided by ten to the power of Scale.
type Decimal struct {
	Scale uint8
	Value int32
}

// Timestamp is a time in seconds since the Unix epoch.
type Timestamp uint64

// Get returns the value of the first field named key.
func (t Table) Get(key string) (any, bool) {
	for i := range t {
		if t[i].Key == key {
			return t[i].Value, true
		}
	}
	return nil, false
}

// Int returns the value of the first field named key if it is an integer of any width, as senders choose it freely.
func (t Table) Int(key string) (int64, bool) {
	v, _ := t.Get(key)
	return Integer(v)
}

// Integer returns a table value as an int64 if it is an integer of any width.
func Integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// CheckTable returns an error if t cannot be sent: a key over 255 bytes (*LengthError), a value of another type than
// Field lists or nesting deeper than MaxTableDepth (*ValueError). what names the table for the error.
func CheckTable(what string, t Table) error { return checkTable(what, t, 0) }

func checkTable(what string, t Table, depth int) error {
	if depth > MaxTableDepth {
		return &ValueError{What: what + ": nested too deeply", Value: t}
	}
	for i := range t {
		if err := CheckShortString(what+": key", t[i].Key); err != nil {
			return err
		}
		if err := checkValue(what+": "+t[i].Key, t[i].Value, depth); err != nil {
			return err
		}
	}
	return nil
}

func checkValue(what string, v any, depth int) error {
	switch v := v.(type) {
	case nil, bool, int8, uint8, int16, uint16, int32, uint32, int64, float32, float64, Decimal, Timestamp, string, []byte:
		return nil
	case Table:
		return checkTable(what, v, depth+1)
	case []any:
		if depth+1 > MaxTableDepth {
			return &ValueError{What: what + ": nested too deeply", Value: v}
		}
		for i := range v {
			if err := checkValue(what+"["+strconv.Itoa(i)+"]", v[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return &ValueError{What: what, Value: v}
}

// AppendTable appends a field table with its length. t has passed CheckTable, or is known to be good; else it panics.
func AppendTable(dst []byte, t Table) []byte {
	dst, start := beginLong(dst)
	for i := range t {
		dst = appendShort(dst, t[i].Key)
		dst = appendValue(dst, t[i].Value)
	}
	return endLong(dst, start)
}

func appendValue(dst []byte, v any) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case nil:
		return append(dst, 'V')
	case bool:
		return appendBool(append(dst, 't'), v)
	case int8:
		return append(dst, 'b', byte(v))
	case uint8:
		return append(dst, 'B', v)
	case int16:
		return be.AppendUint16(append(dst, 's'), uint16(v))
	case uint16:
		return be.AppendUint16(append(dst, 'u'), v)
	case int32:
		return be.AppendUint32(append(dst, 'I'), uint32(v))
	case uint32:
		return be.AppendUint32(append(dst, 'i'), v)
	case int64:
		return be.AppendUint64(append(dst, 'l'), uint64(v))
	case float32:
		return be.AppendUint32(append(dst, 'f'), math.Float32bits(v))
	case float64:
		return be.AppendUint64(append(dst, 'd'), math.Float64bits(v))
	case Decimal:
		return be.AppendUint32(append(dst, 'D', v.Scale), uint32(v.Value))
	case Timestamp:
		return be.AppendUint64(append(dst, 'T'), uint64(v))
	case string:
		return appendLong(append(dst, 'S'), v)
	case []byte:
		return appendLong(append(dst, 'x'), v)
	case Table:
		return AppendTable(append(dst, 'F'), v)
	case []any:
		dst, start := beginLong(append(dst, 'A'))
		for i := range v {
			dst = appendValue(dst, v[i])
		}
		return endLong(dst, start)
	}
	panic((&ValueError{What: "unchecked field", Value: v}).Error() + ": call CheckTable, CheckMethod or CheckProperties first")
}

// beginLong reserves the 32-bit length of what follows; endLong patches it.
func beginLong(dst []byte) ([]byte, int) {
	dst = append(dst, 0, 0, 0, 0)
	return dst, len(dst)
}

func endLong(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return dst
}

// ParseTable reads a field table that makes up the whole of buf, its 32-bit length included. The error is a *SyntaxError.
func ParseTable(buf []byte) (Table, error) {
	r := reader{buf: buf}
	t := r.table(0)
	if !r.whole() {
		return nil, r.newSyntaxError("field table")
	}
	return t, nil
}

// table reads a table with its length. Memory grows with the bytes that are there, never by a length that is claimed:
// at most some 20 times the bytes, for a table of empty keys without values.
func (r *reader) table(depth int) Table {
	in := r.inside(depth)
	var t Table
	for in.off < len(in.buf) {
		key := string(in.short())
		value := in.value(depth)
		if in.bad {
			break
		}
		t = append(t, Field{Key: key, Value: value})
	}
	r.adopt(&in)
	return t
}

func (r *reader) array(depth int) []any {
	in := r.inside(depth)
	var values []any
	for in.off < len(in.buf) {
		value := in.value(depth)
		if in.bad {
			break
		}
		values = append(values, value)
	}
	r.adopt(&in)
	return values
}

// inside returns a reader that ends where the table or array at r ends, with r's offsets, or an empty one after a fault.
// adopt takes over where that one stopped.
func (r *reader) inside(depth int) reader {
	if depth > MaxTableDepth {
		r.missBecause("tables and arrays nested more than " + strconv.Itoa(MaxTableDepth) + " deep")
		return reader{}
	}
	body := r.long()
	if r.bad {
		return reader{}
	}
	return reader{buf: r.buf[:r.off], off: r.off - len(body)}
}

func (r *reader) adopt(in *reader) {
	if in.bad && !r.bad {
		r.off = in.off
		r.reason = in.reason
		r.miss()
	}
}

func (r *reader) value(depth int) any {
	at := r.off
	switch letter := r.u8(); letter {
	case 'V':
		return nil
	case 't':
		return r.u8() != 0
	case 'b':
		return int8(r.u8())
	case 'B':
		return r.u8()
	case 's':
		return int16(r.u16())
	case 'u':
		return r.u16()
	case 'I':
		return int32(r.u32())
	case 'i':
		return r.u32()
	case 'l':
		return int64(r.u64())
	case 'f':
		return math.Float32frombits(r.u32())
	case 'd':
		return math.Float64frombits(r.u64())
	case 'D':
		return Decimal{Scale: r.u8(), Value: int32(r.u32())}
	case 'T':
		return Timestamp(r.u64())
	case 'S':
		return string(r.long())
	case 'x':
		return append([]byte(nil), r.long()...)
	case 'F':
		return r.table(depth + 1)
	case 'A':
		return r.array(depth + 1)
	default:
		r.off = at
		r.missBecause("unknown field type " + strconv.QuoteRune(rune(letter)))
		return nil
	}
}
