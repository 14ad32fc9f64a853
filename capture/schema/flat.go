package schema

import "encoding/binary"

// flat reads a flatbuffer without trusting it: every position is checked against the buffer, and the first that lies
// outside makes all further reads zero. The generated readers of Arrow's Go module index without checks and panic.
type flat struct {
	b   []byte
	bad bool // sticky; judged once at the end
}

// at returns n bytes at pos, nil where they are not all there.
func (f *flat) at(pos, n int) []byte {
	if f.bad || pos < 0 || n < 0 || pos > len(f.b) || n > len(f.b)-pos {
		f.bad = true
		return nil
	}
	return f.b[pos : pos+n : pos+n]
}

func (f *flat) u16(pos int) int {
	if b := f.at(pos, 2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (f *flat) u32(pos int) int {
	if b := f.at(pos, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (f *flat) i64(pos int) int64 {
	if b := f.at(pos, 8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// table is one table: its fields are found through a vtable of 16-bit offsets.
type table struct {
	f           *flat
	pos         int
	vtable, end int // the vtable's first and first behind it
}

// root is the table that a buffer begins with.
func (f *flat) root() table { return f.table(f.u32(0)) }

func (f *flat) table(pos int) table {
	t := table{f: f, pos: pos}
	if b := f.at(pos, 4); b != nil {
		t.vtable = pos - int(int32(binary.LittleEndian.Uint32(b)))
		t.end = t.vtable + f.u16(t.vtable)
	}
	return t
}

// field returns the position of a field's value, 0 where the field has its default. No value lies at 0: the root's
// offset does.
func (t table) field(i int) int {
	slot := t.vtable + 4 + 2*i
	if t.f.bad || slot+2 > t.end {
		return 0
	}
	offset := t.f.u16(slot)
	if offset == 0 {
		return 0
	}
	return t.pos + offset
}

func (t table) u8(i int, otherwise byte) byte {
	if p := t.field(i); p != 0 {
		if b := t.f.at(p, 1); b != nil {
			return b[0]
		}
	}
	return otherwise
}

func (t table) i32(i int) int {
	if p := t.field(i); p != 0 {
		return int(int32(t.f.u32(p)))
	}
	return 0
}

func (t table) i64(i int) int64 {
	if p := t.field(i); p != 0 {
		return t.f.i64(p)
	}
	return 0
}

// sub is a table that a field refers to; false where the field is absent.
func (t table) sub(i int) (table, bool) {
	p := t.field(i)
	if p == 0 {
		return table{f: t.f}, false
	}
	return t.f.table(p + t.f.u32(p)), !t.f.bad
}

// vector returns where the elements of a field's vector begin and how many there are; all of them lie in the buffer.
func (t table) vector(i, size int) (pos, n int) {
	p := t.field(i)
	if p == 0 {
		return 0, 0
	}
	p += t.f.u32(p)
	n = t.f.u32(p)
	if n > len(t.f.b)/size || t.f.at(p+4, n*size) == nil {
		t.f.bad = true
		return 0, 0
	}
	return p + 4, n
}

func (t table) str(i int) string {
	p, n := t.vector(i, 1)
	return string(t.f.at(p, n))
}

// tables calls each for the tables of a vector of offsets, at most limit of them.
func (t table) tables(i, limit int, each func(table)) {
	p, n := t.vector(i, 4)
	if n > limit {
		t.f.bad = true
		return
	}
	for j := 0; j < n && !t.f.bad; j++ {
		q := p + 4*j
		each(t.f.table(q + t.f.u32(q)))
	}
}
