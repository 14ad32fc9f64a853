package schema

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"leveret/capture/event"
)

// Batch is one encapsulated record batch, ready to be written: Parts one behind the other. It is valid until the next
// Encode of its encoder, and as long as the columns that were encoded stay as they are.
type Batch struct {
	Parts    [][]byte
	Length   int64 // of all parts, bytes
	Metadata int32 // of it, prefix and metadata: what a footer calls metaDataLength
	Checksum uint32
	MinTime  int64
	MaxTime  int64
}

// BatchEncoder makes record batches. Nothing is allocated once its buffers have grown to the largest batch. Not safe for
// concurrent use.
type BatchEncoder struct {
	compression Compression
	shrink      compressor
	fb          *flatbuffers.Builder
	nulls       []int
	spans       [][2]int           // buffers of the message: offset in the body, length without padding
	validity    [maxColumns][]byte // scratch bitmaps, by column
	body        []byte             // scratch of a compressed one
	head        []byte             // scratch of prefix and metadata
	batch       Batch
}

// NewBatchEncoder makes an encoder. Its scratch memory is a little more than its largest batch where it compresses, else
// a few KiB.
func NewBatchEncoder(c Compression) *BatchEncoder {
	return &BatchEncoder{compression: c, fb: flatbuffers.NewBuilder(1024)}
}

var padding [8]byte

// Encode makes a batch of rows rows of kind k, 1 to MaxBatchRows. values holds the bytes of each column's values, little endian,
// in the kind's order; a Text column takes two of them, rows+1 offsets as int32 from 0, then the text. A nullable
// column's nulls are told by their slots (Column). The batch refers to values where they are not compressed.
func (e *BatchEncoder) Encode(k Kind, rows int, values [][]byte) (*Batch, error) {
	cols := k.Columns()
	b := &e.batch
	b.Parts, e.spans, e.body = append(b.Parts[:0], nil), e.spans[:0], e.body[:0]
	b.Length, e.nulls = 0, e.nulls[:0]
	next := 0
	for i, c := range cols {
		var valid []byte
		nulls := 0
		if c.Nullable {
			e.validity[i], nulls = bitmap(e.validity[i], c.Type, values[next], rows)
		}
		if nulls > 0 {
			valid = e.validity[i]
		}
		e.nulls = append(e.nulls, nulls)
		if err := e.add(valid); err != nil {
			return nil, err
		}
		for range buffersOf(c.Type) - 1 {
			if err := e.add(values[next]); err != nil {
				return nil, err
			}
			next++
		}
	}
	if e.compression != None {
		b.Parts = append(b.Parts, e.body)
	}
	body := b.Length
	if body > MaxBatchBytes-MaxMetadataBytes {
		return nil, fmt.Errorf("batch of %d %s rows: %d bytes, at most %d allowed", rows, k, body, MaxBatchBytes-MaxMetadataBytes)
	}
	b.MinTime, b.MaxTime = e.timeRange(k, rows, values)
	head := e.metadata(rows, body)
	b.Parts[0] = head
	b.Metadata = int32(len(head))
	b.Length += int64(len(head))
	b.Checksum = seal(head, b.Parts[1:])
	return b, nil
}

// add puts one buffer behind the body: as it is, or compressed into e.body. An empty one takes no room.
func (e *BatchEncoder) add(buf []byte) error {
	b := &e.batch
	if len(buf) == 0 {
		e.spans = append(e.spans, [2]int{int(b.Length), 0})
		return nil
	}
	if e.compression == None {
		e.spans = append(e.spans, [2]int{int(b.Length), len(buf)})
		pad := -len(buf) & 7
		b.Parts = append(b.Parts, buf, padding[:pad])
		b.Length += int64(len(buf) + pad)
		return nil
	}
	var err error
	if e.body, err = e.shrink.append(e.compression, e.body, buf); err != nil {
		return err
	}
	e.spans = append(e.spans, [2]int{int(b.Length), len(e.body) - int(b.Length)})
	e.body = append(e.body, padding[:-len(e.body)&7]...)
	b.Length = int64(len(e.body))
	return nil
}

// bitmap counts the nulls of a column and fills dst with its validity bits where there are some. Columns without nulls,
// and columns of nothing else, are what nearly all batches have, and cost one look at each value.
func bitmap(dst []byte, t Type, values []byte, rows int) ([]byte, int) {
	if t == I64 {
		return validity(dst, as[int64](values)[:rows], event.None)
	}
	return validity(dst, as[uint32](values)[:rows], event.NoLane)
}

func validity[T int64 | uint32](dst []byte, values []T, null T) ([]byte, int) {
	nulls := 0
	for _, v := range values {
		if v == null {
			nulls++
		}
	}
	if nulls == 0 {
		return dst, 0
	}
	n := (len(values) + 7) / 8
	dst = slices.Grow(dst[:0], n)[:n]
	clear(dst)
	if nulls < len(values) {
		for i, v := range values {
			if v != null {
				dst[i/8] |= 1 << (i % 8)
			}
		}
	}
	return dst, nulls
}

// timeRange bounds the times of all rows, as Kind.TimeColumn defines them.
func (e *BatchEncoder) timeRange(k Kind, rows int, values [][]byte) (least, most int64) {
	column, otherwise := k.TimeColumn() // no kind has Text before it, so that column and position in values agree
	times := as[int64](values[column])[:rows]
	least, most = times[0], times[0]
	if e.nulls[column] == 0 {
		for _, t := range times {
			least, most = min(least, t), max(most, t)
		}
		return least, most
	}
	instead := as[int64](values[otherwise])[:rows]
	first := true
	for i, t := range times {
		if t == event.None {
			t = instead[i]
		}
		if first {
			least, most, first = t, t, false
		}
		least, most = min(least, t), max(most, t)
	}
	return least, most
}

// metadata builds prefix, flatbuffer and an unsealed trailer.
func (e *BatchEncoder) metadata(rows int, body int64) []byte {
	fb := e.fb
	fb.Reset()
	var compression flatbuffers.UOffsetT
	if e.compression != None {
		fb.StartObject(2)
		codec := int8(codecLZ4)
		if e.compression == Zstd {
			codec = codecZstd
		}
		fb.PrependInt8Slot(compressionCodec, codec, 0)
		compression = fb.EndObject()
	}
	fb.StartVector(structSize, len(e.spans), 8)
	for i := len(e.spans) - 1; i >= 0; i-- {
		prependPair(fb, int64(e.spans[i][0]), int64(e.spans[i][1]))
	}
	buffers := fb.EndVector(len(e.spans))
	fb.StartVector(structSize, len(e.nulls), 8)
	for i := len(e.nulls) - 1; i >= 0; i-- {
		prependPair(fb, int64(rows), int64(e.nulls[i]))
	}
	nodes := fb.EndVector(len(e.nulls))
	fb.StartObject(5)
	fb.PrependInt64Slot(batchLength, int64(rows), 0)
	fb.PrependUOffsetTSlot(batchNodes, nodes, 0)
	fb.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	if compression != 0 {
		fb.PrependUOffsetTSlot(batchCompression, compression, 0)
	}
	e.head = finishMessage(e.head[:0], fb, headerRecordBatch, fb.EndObject(), body)
	return e.head
}

// prependPair adds one FieldNode or Buffer, which are two int64 each.
func prependPair(fb *flatbuffers.Builder, first, second int64) {
	fb.Prep(8, structSize)
	fb.PrependInt64(second)
	fb.PrependInt64(first)
}

// finishMessage wraps header into a Message and appends it to dst with what encapsulates it; the checksum is still to be
// put in.
func finishMessage(dst []byte, fb *flatbuffers.Builder, headerType byte, header flatbuffers.UOffsetT, body int64) []byte {
	fb.StartObject(5)
	fb.PrependInt16Slot(messageVersion, metadataV5, 0)
	fb.PrependByteSlot(messageHeaderType, headerType, 0)
	fb.PrependUOffsetTSlot(messageHeader, header, 0)
	fb.PrependInt64Slot(messageBodyLength, body, 0)
	fb.Finish(fb.EndObject())
	meta := fb.FinishedBytes()
	pad := -len(meta) & 7
	dst = binary.LittleEndian.AppendUint32(dst, continuation)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(meta)+pad+trailerSize))
	dst = append(dst, meta...)
	dst = append(dst, padding[:pad]...)
	dst = append(dst, TrailerMagic...)
	return append(dst, 0, 0, 0, 0)
}

// seal computes the checksum of a message and puts it into its trailer.
func seal(head []byte, body [][]byte) uint32 {
	crc := crc32.Checksum(head[:len(head)-4], castagnoli)
	for _, p := range body {
		crc = crc32.Update(crc, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(head[len(head)-4:], crc)
	return crc
}
