package schema

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"leveret/capture/event"
)

// What we write by hand is read by Arrow's own reader, as file and as stream, and by ours; all three agree.
func TestArrowReadsWhatWeWrite(t *testing.T) {
	for _, k := range Kinds {
		for _, c := range compressions {
			t.Run(k.String()+"/"+c.String(), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer mem.AssertSize(t, 0)
				f := buildFile(t, c, k, 3, sample[k], sample[k])
				r, err := ipc.NewFileReader(bytes.NewReader(f), ipc.WithAllocator(mem))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if !r.Schema().Equal(Arrow(k, "run-1", 777)) || !r.Schema().Metadata().Equal(Arrow(k, "run-1", 777).Metadata()) {
					t.Errorf("schema of the file: %v", r.Schema())
				}
				if r.NumRecords() != 2 {
					t.Fatalf("%d records, 2 written", r.NumRecords())
				}
				s, err := ipc.NewReader(bytes.NewReader(f[len(FileMagic):]), ipc.WithAllocator(mem))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Release()
				head, at, err := ParseHead(f)
				if err != nil {
					t.Fatal(err)
				}
				d := NewDecoder(head, mem)
				for i := range r.NumRecords() {
					theirs, err := r.Record(i)
					if err != nil {
						t.Fatal(err)
					}
					if !s.Next() || !array.RecordEqual(s.Record(), theirs) {
						t.Errorf("as a stream: %v, %v", s.Err(), s.Record())
					}
					x, err := Measure(f[at:])
					if err != nil || x.End {
						t.Fatal(x, err)
					}
					ours, err := d.Decode(f[at : at+x.Length])
					if err != nil {
						t.Fatal(err)
					}
					if !array.RecordEqual(ours, theirs) || !ours.Schema().Equal(theirs.Schema()) {
						t.Errorf("ours %v\ntheirs %v", ours, theirs)
					}
					ours.Release()
					at += x.Length
				}
				if s.Next() || s.Err() != nil {
					t.Errorf("stream goes on behind its end: %v", s.Err())
				}
				if x, err := Measure(f[at:]); err != nil || !x.End {
					t.Errorf("end of stream: %+v, %v", x, err)
				}
			})
		}
	}
}

func decodeSample(t *testing.T, k Kind, c Compression) arrow.Record {
	t.Helper()
	msg, b := encode(t, c, k, 3, sample[k])
	if got := [2]int64{b.MinTime, b.MaxTime}; got != sampleTimes[k] {
		t.Errorf("%s: times %v, want %v", k, got, sampleTimes[k])
	}
	if computed, carried, err := Checksum(msg); err != nil || computed != carried || carried != b.Checksum {
		t.Errorf("%s: checksum %08x, carried %08x, told %08x, %v", k, computed, carried, b.Checksum, err)
	}
	rec, err := NewDecoder(Head{Kind: k, Capture: "x"}, memory.DefaultAllocator).Decode(msg)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A decoder of one column gives that column, and of the others their number of rows.
func TestDecodeOnly(t *testing.T) {
	for _, c := range compressions {
		for _, k := range Kinds {
			if sample[k] == nil {
				continue
			}
			msg, _ := encode(t, c, k, 3, sample[k])
			whole := decodeSample(t, k, c)
			for only := range k.Columns() {
				d := NewDecoder(Head{Kind: k, Capture: "x"}, memory.DefaultAllocator)
				d.Only(only)
				rec, err := d.Decode(msg)
				if err != nil {
					t.Fatal(err)
				}
				for i, column := range rec.Columns() {
					if i == only && !array.Equal(column, whole.Column(i)) || i != only && (column.DataType().ID() != arrow.NULL || column.Len() != 3) {
						t.Errorf("%s, %s, only column %d: column %d is %v", c, k, only, i, column)
					}
				}
				rec.Release()
			}
		}
	}
}

// Nulls are told twice: by Arrow's bits and by the value in their slot.
func TestNulls(t *testing.T) {
	for _, c := range compressions {
		sends := decodeSample(t, Sends, c)
		due, sent := sends.Column(SendsDue).(*array.Int64), sends.Column(SendsSent).(*array.Int64)
		if due.String() != "[(null) 50 (null)]" || sent.String() != "[100 (null) 101]" {
			t.Errorf("%s: due %v, sent %v", c, due, sent)
		}
		if v := due.Int64Values(); v[0] != event.None || v[1] != 50 || v[2] != event.None {
			t.Errorf("%s: slots of due: %v", c, v)
		}
		conns := decodeSample(t, Connections, c)
		producer, text := conns.Column(ConnectionsProducer).(*array.Uint32), conns.Column(ConnectionsText).(*array.String)
		if producer.String() != "[(null) 0 (null)]" || producer.Uint32Values()[0] != event.NoLane {
			t.Errorf("%s: producer %v", c, producer)
		}
		if text.Value(0) != "" || text.Value(1) != "" || text.Value(2) != "für 1" {
			t.Errorf("%s: text %v", c, text)
		}
		for _, k := range []Kind{Writes, Settlements, Deliveries, Acks} {
			decodeSample(t, k, c)
		}
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	for _, c := range compressions {
		e := NewBatchEncoder(c)
		const rows = 1 << 10
		values := make([][]byte, 0, 6)
		for _, col := range Sends.Columns() {
			values = append(values, make([]byte, rows*col.Type.Width()))
		}
		if _, err := e.Encode(Sends, rows, values); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { e.Encode(Sends, rows, values) }); n > 0 && !raceEnabled {
			t.Errorf("%s: %v allocations a batch", c, n)
		}
	}
}

// Every flipped bit of a message is found before anything looks inside.
func TestDecodeFindsEveryFlippedBit(t *testing.T) {
	for _, c := range compressions {
		msg, _ := encode(t, c, Sends, 3, sample[Sends])
		d := NewDecoder(Head{Kind: Sends}, memory.DefaultAllocator)
		for i := range msg {
			for bit := range 8 {
				msg[i] ^= 1 << bit
				if rec, err := d.Decode(msg); err == nil {
					t.Fatalf("%s: flip of bit %d of byte %d of %d: %v", c, bit, i, len(msg), rec)
				} else if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
					t.Fatalf("%s: byte %d: %v", c, i, err)
				}
				msg[i] ^= 1 << bit
			}
		}
		for i := range msg {
			if _, err := d.Decode(msg[:i]); err == nil {
				t.Fatalf("%s: cut at %d of %d: no error", c, i, len(msg))
			}
		}
		if _, err := d.Decode(msg); err != nil {
			t.Errorf("%s: whole again: %v", c, err)
		}
	}
}

// Also with a checksum that holds, no metadata leads out of the message.
func TestDecodeBelievesNoMetadata(t *testing.T) {
	for _, k := range Kinds {
		for _, c := range compressions {
			whole, _ := encode(t, c, k, 3, sample[k])
			d := NewDecoder(Head{Kind: k}, memory.DefaultAllocator)
			for i := range whole {
				for _, v := range []byte{0x00, 0x01, 0x7F, 0x80, 0xFF} {
					msg := bytes.Clone(whole)
					msg[i] = v
					if !reseal(msg) {
						continue
					}
					if rec, err := d.Decode(msg); err == nil {
						touch(rec)
						rec.Release()
					}
				}
			}
		}
	}
}

// touch reads every value of a record: what lies outside a buffer would crash.
func touch(rec arrow.Record) {
	for i := range int(rec.NumCols()) {
		col := rec.Column(i)
		for j := range col.Len() {
			_ = col.ValueStr(j)
		}
	}
}

func TestDecodeCopiesWhatIsNotAligned(t *testing.T) {
	msg, _ := encode(t, None, Writes, 3, sample[Writes])
	shifted := append(make([]byte, 1, len(msg)+1), msg...)[1:]
	rec, err := NewDecoder(Head{Kind: Writes}, memory.DefaultAllocator).Decode(shifted)
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.Column(WritesSent).(*array.Int64).Int64Values(); got[0] != 100 || got[2] != 101 {
		t.Errorf("sent %v", got)
	}
}

func TestDecodeRefusesAnotherKind(t *testing.T) {
	msg, _ := encode(t, None, Writes, 3, sample[Writes])
	for _, k := range Kinds {
		if _, err := NewDecoder(Head{Kind: k}, memory.DefaultAllocator).Decode(msg); k != Writes && k != Sends && err == nil {
			t.Errorf("a batch of writes passes as %s", k)
		}
	}
	head := FileHead(Writes, "x", 1)[len(FileMagic):]
	if _, err := NewDecoder(Head{Kind: Writes}, memory.DefaultAllocator).Decode(head); !errors.Is(err, ErrDamaged) {
		t.Errorf("a schema message passes as a batch: %v", err)
	}
}

func TestEncodeRefusesTooMuch(t *testing.T) {
	rows := MaxBatchRows
	values := [][]byte{make([]byte, 8*rows), make([]byte, 4*rows), make([]byte, rows), make([]byte, 4*rows), make([]byte, 4*rows),
		make([]byte, 2*rows), make([]byte, 4*(rows+1)), make([]byte, MaxBatchBytes)}
	if _, err := NewBatchEncoder(None).Encode(Connections, rows, values); err == nil {
		t.Error("a batch above the limit passes")
	}
}

func FuzzDecode(f *testing.F) {
	for _, k := range Kinds {
		for _, c := range compressions {
			msg, _ := encode(f, c, k, 3, sample[k])
			f.Add(byte(k), msg)
		}
	}
	var decoders [lastKind + 1]*Decoder
	for _, k := range Kinds {
		decoders[k] = NewDecoder(Head{Kind: k}, memory.DefaultAllocator)
	}
	f.Fuzz(func(t *testing.T, kind byte, msg []byte) {
		k := Kind(kind)
		if !k.Valid() {
			return
		}
		d := decoders[k]
		if rec, err := d.Decode(msg); err == nil {
			touch(rec)
		}
		msg = bytes.Clone(msg)
		if reseal(msg) {
			if rec, err := d.Decode(msg); err == nil {
				touch(rec)
			}
		}
		Measure(msg)
		ParseHead(append([]byte(FileMagic), msg...))
	})
}
