package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func TestParseHead(t *testing.T) {
	for _, k := range Kinds {
		b := FileHead(k, "20261130-111530-a1b2", 4095)
		h, n, err := ParseHead(append(b, "whatever follows"...))
		if err != nil || n != int64(len(b)) || n%8 != 0 || (h != Head{Format: 1, Kind: k, Capture: "20261130-111530-a1b2", Tag: 4095}) {
			t.Errorf("%s: %+v, batches at %d of %d, %v", k, h, n, len(b), err)
		}
	}
}

// foreign makes a file with Arrow's own writer.
func foreign(t *testing.T, s *arrow.Schema) []byte {
	t.Helper()
	path := t.TempDir() + "/f"
	f := &seeker{}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	if err != nil {
		t.Fatal(path, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Bytes()
}

type seeker struct{ bytes.Buffer }

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("not this one")
	}
	return int64(s.Len()), nil
}

// C061: times are whole nanoseconds, whose unit stands in the column's name. A file whose times have a unit or a zone of their own is
// refused by the column's name, not read in another unit.
func TestC061TimesOfAnotherUnit(t *testing.T) {
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		for _, zone := range []string{"", "UTC", "Europe/Berlin"} {
			ours := Arrow(Sends, "c", 1)
			meta, fields := ours.Metadata(), slices.Clone(ours.Fields())
			fields[SendsSent].Type = &arrow.TimestampType{Unit: unit, TimeZone: zone}
			_, _, err := ParseHead(foreign(t, arrow.NewSchema(fields, &meta)))
			if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), `"sent_ns"`) || !strings.Contains(err.Error(), "int64") {
				t.Errorf("%v %q: %v", unit, zone, err)
			}
		}
	}
}

func TestParseHeadNamesWhatIsWrong(t *testing.T) {
	good := FileHead(Sends, "c", 1)
	md := func(s *arrow.Schema, key, value string) *arrow.Schema {
		m := s.Metadata().ToMap()
		m[key] = value
		x := arrow.MetadataFrom(m)
		return arrow.NewSchema(s.Fields(), &x)
	}
	ours := Arrow(Sends, "c", 1)
	meta := ours.Metadata()
	short := arrow.NewSchema(ours.Fields()[:4], &meta)
	swapped := ours.Fields()
	swapped[0], swapped[1] = swapped[1], swapped[0]
	wide := append(ours.Fields(), arrow.Field{Name: "later", Type: arrow.PrimitiveTypes.Float64})
	flipped := bytes.Clone(good)
	flipped[40] ^= 1
	for _, c := range []struct {
		name  string
		file  []byte
		is    error
		names string // the message must have it
	}{
		{"empty file", nil, io.ErrUnexpectedEOF, "0 bytes"},
		{"eight bytes", good[:8], io.ErrUnexpectedEOF, ""},
		{"cut in the schema", good[:len(good)-1], io.ErrUnexpectedEOF, ""},
		{"no Arrow", []byte("PAR1 and so on, long enough"), ErrForeign, "50 41 52 31"},
		{"a stream", good[8:], ErrForeign, "ff ff ff ff"},
		{"flipped bit", flipped, ErrDamaged, "checksum"},
		{"somebody's", foreign(t, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}}, nil)), ErrForeign, "leveret_format"},
		{"newer", foreign(t, md(ours, MetaFormat, "2")), ErrVersion, "version 2, this program knows 1"},
		{"unknown kind", foreign(t, md(ours, MetaKind, "dreams")), ErrKind, `"dreams"`},
		{"no tag", foreign(t, md(ours, MetaTag, "70000")), ErrForeign, "70000"},
		{"missing columns", foreign(t, short), ErrForeign, `"size_bytes" is missing`},
		{"other order", foreign(t, arrow.NewSchema(swapped, &meta)), ErrForeign, `column 0 is "seq" uint64, sends have "producer" uint16`},
	} {
		_, _, err := ParseHead(c.file)
		if !errors.Is(err, c.is) || err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v; want %v naming %q", c.name, err, c.is, c.names)
		}
	}
	if h, _, err := ParseHead(foreign(t, md(ours, MetaFormat, "7"))); h.Format != 7 {
		t.Errorf("a newer version is not told: %+v, %v", h, err)
	}
	// Columns that a later version appends are no reason to refuse.
	if h, _, err := ParseHead(foreign(t, arrow.NewSchema(wide, &meta))); err != nil || h.Kind != Sends {
		t.Errorf("with a column more: %+v, %v", h, err)
	}
}

// A batch with columns behind the known ones is read without them.
func TestDecodePassesOverLaterColumns(t *testing.T) {
	ours := Arrow(Acks, "c", 1)
	meta := ours.Metadata()
	later := arrow.NewSchema(append(ours.Fields(), arrow.Field{Name: "later", Type: arrow.BinaryTypes.String}), &meta)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, later)
	defer rb.Release()
	if err := rb.UnmarshalJSON([]byte(`{"consumer":1,"at_ns":2,"delivery_tag":3,"messages":4,"multiple":1,"later":"x"}`)); err != nil {
		t.Fatal(err)
	}
	rec := rb.NewRecord()
	defer rec.Release()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(later))
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	stream := b.Bytes()
	x, err := Measure(stream) // the schema
	if err != nil {
		t.Fatal(err)
	}
	msg := stream[x.Length:]
	if x, err = Measure(msg); err != nil {
		t.Fatal(err)
	}
	msg = withTrailer(msg[:x.Length])
	got, err := NewDecoder(Head{Kind: Acks}, memory.DefaultAllocator).Decode(msg)
	if err != nil {
		t.Fatal(err)
	}
	if got.NumCols() != 5 || got.Column(AcksDeliveryTag).(*array.Uint64).Value(0) != 3 || got.Column(AcksMultiple).(*array.Uint8).Value(0) != 1 {
		t.Errorf("%v", got)
	}
}

// withTrailer makes one of our messages of somebody else's.
func withTrailer(msg []byte) []byte {
	size := binary.LittleEndian.Uint32(msg[4:])
	out := append([]byte(nil), msg[:prefixSize+size]...)
	binary.LittleEndian.PutUint32(out[4:], size+trailerSize)
	out = append(append(out, TrailerMagic...), 0, 0, 0, 0)
	out = append(out, msg[prefixSize+size:]...)
	if !reseal(out) {
		panic("no trailer")
	}
	return out
}
