package schema

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Fields of Arrow's RecordBatch and BodyCompression tables, and sizes of its structs.
const (
	batchLength      = 0
	batchNodes       = 1
	batchBuffers     = 2
	batchCompression = 3

	compressionCodec  = 0
	compressionMethod = 1

	structSize = 16 // FieldNode and Buffer: two int64 each
)

// Decoder makes records of verified batches of one kind. Not safe for concurrent use; several may work side by side.
type Decoder struct {
	kind   Kind
	schema *arrow.Schema
	mem    memory.Allocator
	expand expander
	left   []bool // columns that are left out; nil: none
}

// NewDecoder makes a decoder for the batches of a file with this head, which ParseHead has accepted. What compressed
// buffers need is taken from mem.
func NewDecoder(h Head, mem memory.Allocator) *Decoder {
	return &Decoder{kind: h.Kind, schema: Arrow(h.Kind, h.Capture, h.Tag), mem: mem}
}

// Only makes d leave out all columns but these: it takes no time for them. In the records they are arrays of Arrow's null type.
func (d *Decoder) Only(columns ...int) {
	fields := slices.Clone(d.schema.Fields())
	d.left = make([]bool, len(fields))
	for i := range fields {
		if !slices.Contains(columns, i) {
			d.left[i], fields[i].Type = true, arrow.Null
		}
	}
	d.schema = arrow.NewSchema(fields, nil)
}

// Decode returns the rows of one whole encapsulated record batch, its checksum checked first: Arrow and the decompressors
// see no byte that was not. Columns of uncompressed batches alias b, which must stay as it is until the record is
// released; keep b at a multiple of 8 in memory, or it is copied. A record has the columns of its kind, in their order,
// and at least one row. Errors are ErrDamaged or ErrForeign, for errors.Is; no input makes it panic, or take more memory
// than MaxBatchBytes.
func (d *Decoder) Decode(b []byte) (arrow.Record, error) {
	meta, body, err := verify(b)
	if err != nil {
		return nil, err
	}
	m, err := parseBatch(meta, body, d.kind)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(body)))%8 != 0 {
		m.body = append(make([]byte, 0, len(body)), body...)
	}
	return d.record(m)
}

// batch is a parsed record batch message: everything in it lies inside the body.
type batch struct {
	rows        int
	nulls       []int // by column
	buffers     [][2]int
	compression Compression
	body        []byte
}

// buffersOf counts the buffers of a column: validity, values, and for text its offsets.
func buffersOf(t Type) int {
	if t == Text {
		return 3
	}
	return 2
}

func parseBatch(meta, body []byte, k Kind) (*batch, error) {
	f := &flat{b: meta}
	root := f.root()
	rb, ok := root.sub(messageHeader)
	if f.bad || !ok || root.u8(messageHeaderType, 0) != headerRecordBatch {
		return nil, fmt.Errorf("record batch: other kind of message: %w", ErrDamaged)
	}
	rows := rb.i64(batchLength)
	nodes, nodeN := rb.vector(batchNodes, structSize)
	bufs, bufN := rb.vector(batchBuffers, structSize)
	cols := k.Columns()
	want := 0
	for _, c := range cols {
		want += buffersOf(c.Type)
	}
	if f.bad || rows < 1 || rows > MaxBatchRows || nodeN < len(cols) || bufN < want || root.i64(messageBodyLength) != int64(len(body)) {
		return nil, fmt.Errorf("record batch: %d rows, %d columns, %d buffers, %d bytes: %w", rows, nodeN, bufN, len(body), ErrDamaged)
	}
	m := &batch{rows: int(rows), body: body}
	for i := range cols {
		n, nulls := f.i64(nodes+structSize*i), f.i64(nodes+structSize*i+8)
		if n != rows || nulls < 0 || nulls > rows || (nulls > 0 && !cols[i].Nullable) {
			return nil, fmt.Errorf("record batch: column %s: %d of %d rows, %d null: %w", cols[i].Name, n, rows, nulls, ErrDamaged)
		}
		m.nulls = append(m.nulls, int(nulls))
	}
	for i := range want {
		at, n := f.i64(bufs+structSize*i), f.i64(bufs+structSize*i+8)
		if at < 0 || at%8 != 0 || n < 0 || at > int64(len(body)) || n > int64(len(body))-at {
			return nil, fmt.Errorf("record batch: buffer %d: %d bytes at %d of %d: %w", i, n, at, len(body), ErrDamaged)
		}
		m.buffers = append(m.buffers, [2]int{int(at), int(at + n)})
	}
	if c, ok := rb.sub(batchCompression); ok {
		m.compression = LZ4
		if c.u8(compressionCodec, codecLZ4) == codecZstd {
			m.compression = Zstd
		}
		if c.u8(compressionCodec, 0) > codecZstd || c.u8(compressionMethod, 0) != 0 {
			return nil, fmt.Errorf("record batch: unknown compression: %w", ErrDamaged)
		}
	}
	if f.bad {
		return nil, fmt.Errorf("record batch: metadata: %w", ErrDamaged)
	}
	return m, nil
}

func (d *Decoder) record(m *batch) (arrow.Record, error) {
	cols := d.kind.Columns()
	arrays := make([]arrow.Array, 0, len(cols))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	next := 0
	for i, c := range cols {
		if d.left != nil && d.left[i] {
			next += buffersOf(c.Type)
			arrays = append(arrays, array.NewNull(m.rows))
			continue
		}
		bufs, err := d.column(m, c, m.nulls[i], m.buffers[next:next+buffersOf(c.Type)])
		next += buffersOf(c.Type)
		if err != nil {
			release(bufs)
			return nil, fmt.Errorf("record batch: column %s: %w", c.Name, err)
		}
		data := array.NewData(arrowTypes[c.Type], m.rows, bufs, nil, m.nulls[i], 0)
		release(bufs) // data holds them
		arrays = append(arrays, array.MakeFromData(data))
		data.Release()
	}
	return array.NewRecord(d.schema, arrays, int64(m.rows)), nil
}

func release(bufs []*memory.Buffer) {
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
}

// column returns the buffers of one column, checked for their lengths.
func (d *Decoder) column(m *batch, c Column, nulls int, spans [][2]int) ([]*memory.Buffer, error) {
	bufs := make([]*memory.Buffer, len(spans))
	var err error
	if nulls > 0 {
		if bufs[0], err = d.buffer(m, spans[0], (m.rows+7)/8, (m.rows+7)/8); err != nil {
			return bufs, err
		}
	}
	if c.Type != Text {
		bufs[1], err = d.buffer(m, spans[1], m.rows*c.Type.Width(), m.rows*c.Type.Width())
		return bufs, err
	}
	if bufs[1], err = d.buffer(m, spans[1], 4*(m.rows+1), 4*(m.rows+1)); err != nil {
		return bufs, err
	}
	if bufs[2], err = d.buffer(m, spans[2], 0, m.rows*MaxTextBytes); err != nil {
		return bufs, err
	}
	return bufs, checkOffsets(bufs[1].Bytes(), bufs[2].Len())
}

// buffer returns the bytes of one buffer, expanded; they must be at least least and at most most bytes.
func (d *Decoder) buffer(m *batch, span [2]int, least, most int) (*memory.Buffer, error) {
	b := m.body[span[0]:span[1]:span[1]]
	if m.compression == None || len(b) == 0 {
		if len(b) < least || len(b) > most+7 { // a buffer's length may take in its padding
			return nil, fmt.Errorf("buffer of %d bytes, %d expected: %w", len(b), least, ErrDamaged)
		}
		return memory.NewBufferBytes(b[:min(len(b), most)]), nil
	}
	if len(b) < lengthSize {
		return nil, fmt.Errorf("compressed buffer of %d bytes: %w", len(b), ErrDamaged)
	}
	n := int64(binary.LittleEndian.Uint64(b))
	b = b[lengthSize:]
	if n == storedRaw {
		n = int64(len(b))
	} else if n >= 0 && n <= int64(most) && n >= int64(least) {
		buf := memory.NewResizableBuffer(d.mem)
		buf.Resize(int(n))
		if err := d.expand.expand(m.compression, buf.Bytes(), b); err != nil {
			buf.Release()
			return nil, err
		}
		return buf, nil
	}
	if n < int64(least) || n > int64(most) {
		return nil, fmt.Errorf("buffer of %d bytes, %d expected: %w", n, least, ErrDamaged)
	}
	return memory.NewBufferBytes(b), nil
}

// checkOffsets makes sure that every text lies in the data.
func checkOffsets(offsets []byte, size int) error {
	last := uint32(0)
	for i := 0; i+4 <= len(offsets); i += 4 {
		at := binary.LittleEndian.Uint32(offsets[i:])
		if at < last || int64(at) > int64(size) {
			return fmt.Errorf("text from %d to %d of %d bytes: %w", last, at, size, ErrDamaged)
		}
		last = at
	}
	return nil
}
