package schema

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"leveret/capture/event"
)

func put[T any](vs ...T) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, vs)
	return b.Bytes()
}

func TestX(t *testing.T) {
	for _, c := range []Compression{None, LZ4, Zstd} {
		e := NewBatchEncoder(c)
		b, err := e.Encode(Sends, 3, [][]byte{put[uint16](1, 2, 3), put[uint64](4, 5, 6), put[int64](event.None, event.None, event.None), put[int64](7, event.None, 9), put[uint32](1, 1, 1), put[uint16](0, 0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		f := FileHead(Sends, "abc", 77)
		at := int64(len(f))
		blk := Block{Offset: at, Metadata: b.Metadata, Body: b.Length - int64(b.Metadata)}
		for _, p := range b.Parts {
			f = append(f, p...)
		}
		end := int64(len(f))
		f = append(f, FileFoot(Sends, "abc", 77, []Block{blk})...)
		r, err := ipc.NewFileReader(bytes.NewReader(f))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Record(0)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(rec)
		h, n, err := ParseHead(f)
		if err != nil || n != at {
			t.Fatal(h, n, err)
		}
		rec2, err := NewDecoder(h, memory.DefaultAllocator).Decode(f[at:end])
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordEqual(rec, rec2) || !rec.Schema().Equal(rec2.Schema()) {
			t.Fatal(rec, rec2)
		}
		t.Log(rec.Schema(), rec2.Schema())
	}
}
