package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// everyType has a field of each type, with the bytes of its value as the specification and RabbitMQ's errata give them.
var everyType = []struct {
	key   string
	value any
	bytes string
}{
	{"t", true, "t\x01"},
	{"f", false, "t\x00"},
	{"b", int8(-2), "b\xfe"},
	{"B", uint8(254), "B\xfe"},
	{"s", int16(-2), "s\xff\xfe"},
	{"u", uint16(65534), "u\xff\xfe"},
	{"I", int32(-2), "I\xff\xff\xff\xfe"},
	{"i", uint32(4294967294), "i\xff\xff\xff\xfe"},
	{"l", int64(-2), "l\xff\xff\xff\xff\xff\xff\xff\xfe"},
	{"F", float32(1.5), "f\x3f\xc0\x00\x00"},
	{"d", float64(-2), "d\xc0\x00\x00\x00\x00\x00\x00\x00"},
	{"D", Decimal{Scale: 2, Value: 314}, "D\x02\x00\x00\x01\x3a"},
	{"S", "text", "S\x00\x00\x00\x04text"},
	{"x", []byte{0, 255}, "x\x00\x00\x00\x02\x00\xff"},
	{"T", Timestamp(1700000000), "T\x00\x00\x00\x00\x65\x53\xf1\x00"},
	{"A", []any{true, "a", nil}, "A\x00\x00\x00\x09t\x01S\x00\x00\x00\x01aV"},
	{"table", Table{{Key: "k", Value: uint8(1)}}, "F\x00\x00\x00\x04\x01kB\x01"},
	{"V", nil, "V"},
}

func everyTypeTable() (t Table, wire string) {
	for _, f := range everyType {
		t = append(t, Field{Key: f.key, Value: f.value})
		wire += string([]byte{byte(len(f.key))}) + f.key + f.bytes
	}
	return t, string(binary.BigEndian.AppendUint32(nil, uint32(len(wire)))) + wire
}

func TestTableOfEveryType(t *testing.T) {
	table, want := everyTypeTable()
	if err := CheckTable("headers", table); err != nil {
		t.Error(err)
	}
	if got := string(AppendTable([]byte("before"), table)); got != "before"+want {
		t.Errorf("written % x\nwant    % x", got[6:], want)
	}
	got, err := ParseTable([]byte(want))
	if err != nil || !reflect.DeepEqual(got, table) {
		t.Errorf("read %#v, %v", got, err)
	}
	for _, f := range everyType {
		if v, ok := got.Get(f.key); !ok || !reflect.DeepEqual(v, f.value) {
			t.Errorf("Get(%q) = %#v, %v", f.key, v, ok)
		}
	}
	if v, ok := got.Get("missing"); ok || v != nil {
		t.Errorf("Get(missing) = %#v, %v", v, ok)
	}
}

func TestTableReadIsACopy(t *testing.T) {
	_, text := everyTypeTable()
	buf := []byte(text)
	got, err := ParseTable(buf)
	if err != nil {
		t.Fatal(err)
	}
	clear(buf)
	if want, _ := everyTypeTable(); !reflect.DeepEqual(got, want) {
		t.Errorf("overwriting the buffer changed the table: %#v", got)
	}
}

func TestTableCutAnywhereIsAnError(t *testing.T) {
	_, text := everyTypeTable()
	for i := range text {
		if got, err := ParseTable([]byte(text[:i])); err == nil {
			t.Errorf("%d of %d bytes were accepted: %#v", i, len(text), got)
		}
	}
}

func TestTableRefusesBytes(t *testing.T) {
	for _, c := range []struct{ name, bytes, text string }{
		{"length beyond the data", "\x00\x00\x00\x05\x01kB\x01", "offset 4: ends too early"},
		{"length of 4 GiB", "\xff\xff\xff\xff\x01kB\x01", "ends too early"},
		{"string of 4 GiB", "\x00\x00\x00\x07\x01kS\xff\xff\xff\xff", "offset 11: ends too early"},
		{"bytes of 2 GiB", "\x00\x00\x00\x07\x01kx\x80\x00\x00\x00", "offset 11: ends too early"},
		{"array of 4 GiB", "\x00\x00\x00\x07\x01kA\xff\xff\xff\xff", "offset 11: ends too early"},
		{"array that ends inside a value", "\x00\x00\x00\x09\x01kA\x00\x00\x00\x02I\x00", "offset 12: ends too early"},
		{"array longer than its table", "\x00\x00\x00\x07\x01kA\x00\x00\x00\x01V", "offset 11: ends too early"},
		{"key without value", "\x00\x00\x00\x02\x01k", "offset 6: ends too early"},
		{"unknown type", "\x00\x00\x00\x03\x01kZ", "offset 6: unknown field type 'Z'"},
		{"behind the table", "\x00\x00\x00\x00\x00", "offset 4: trailing bytes: 1"},
	} {
		got, err := ParseTable([]byte(c.bytes))
		var se *SyntaxError
		if got != nil || !errors.As(err, &se) || se.ReplyCode() != 502 || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %#v, %v, want %q", c.name, got, err, c.text)
		}
	}
}

// nested returns a table with n tables, or arrays, inside each other.
func nested(n int, array bool) Table {
	var inner any = true
	for range n - 1 {
		if array {
			inner = []any{inner}
		} else {
			inner = Table{{Value: inner}}
		}
	}
	if n == 0 {
		return Table{{Value: inner}}
	}
	if array {
		return Table{{Value: []any{inner}}}
	}
	return Table{{Value: Table{{Value: inner}}}}
}

func TestTableDepthIsLimited(t *testing.T) {
	for _, array := range []bool{false, true} {
		table := nested(MaxTableDepth, array)
		if err := CheckTable("t", table); err != nil {
			t.Errorf("array %v: %v", array, err)
		}
		if got, err := ParseTable(AppendTable(nil, table)); err != nil || !reflect.DeepEqual(got, table) {
			t.Errorf("array %v: at the limit: %v", array, err)
		}
		table = nested(MaxTableDepth+1, array)
		var ve *ValueError
		if err := CheckTable("t", table); !errors.As(err, &ve) {
			t.Errorf("array %v: over the limit CheckTable says %v", array, err)
		}
		if _, err := ParseTable(AppendTable(nil, table)); err == nil || !strings.Contains(err.Error(), "more than 32 deep") {
			t.Errorf("array %v: over the limit: %v", array, err)
		}
	}
	// A hostile table is refused at the limit, not followed to its bottom.
	deep := []byte{}
	for range 10000 {
		deep = append(binary.BigEndian.AppendUint32([]byte{'A'}, uint32(len(deep))), deep...)
	}
	deep = append([]byte{0}, deep...)
	if _, err := ParseTable(append(binary.BigEndian.AppendUint32(nil, uint32(len(deep))), deep...)); err == nil {
		t.Error("10000 nested arrays were accepted")
	}
}

func TestCheckTableNamesTheField(t *testing.T) {
	long := strings.Repeat("k", 256)
	for _, c := range []struct {
		table Table
		text  string
	}{
		{Table{{Key: "x-max-length", Value: 10}}, "arguments: x-max-length: a field table cannot hold a value of Go type int"},
		{Table{{Key: "a", Value: []any{true, Table{{Key: "b", Value: uint64(1)}}}}}, "arguments: a[1]: b: a field table cannot hold a value of Go type uint64"},
		{Table{{Key: long}}, "arguments: key: 256 bytes, at most 255 are possible"},
		{Table{{Key: "a", Value: Table{{Key: long}}}}, "arguments: a: key: 256 bytes"},
	} {
		if err := CheckTable("arguments", c.table); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
		if !panics(func() { AppendTable(nil, c.table) }) {
			t.Errorf("AppendTable wrote what CheckTable refuses: %q", c.text)
		}
	}
}

func TestTableInt(t *testing.T) {
	for _, v := range []any{int8(7), uint8(7), int16(7), uint16(7), int32(7), uint32(7), int64(7)} {
		if n, ok := (Table{{Key: "k", Value: v}}).Int("k"); n != 7 || !ok {
			t.Errorf("%T: %d, %v", v, n, ok)
		}
	}
	for _, v := range []any{"7", 7.0, true, nil, Decimal{Value: 7}} {
		if n, ok := (Table{{Key: "k", Value: v}}).Int("k"); n != 0 || ok {
			t.Errorf("%T: %d, %v", v, n, ok)
		}
	}
	if n, ok := (Table{{Key: "k", Value: uint32(math.MaxUint32)}}).Int("k"); n != 4294967295 || !ok {
		t.Errorf("uint32: %d, %v", n, ok)
	}
}

// Memory follows the bytes that are there: the worst table that fits a frame of 128 KiB.
func TestHostileTableMemory(t *testing.T) {
	body := []byte(strings.Repeat("\x00V", 65000)) // empty keys, no values
	got, err := ParseTable(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	if err != nil || len(got) != 65000 || cap(got) > 2*len(got) {
		t.Errorf("%d fields, capacity %d, %v", len(got), cap(got), err)
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
