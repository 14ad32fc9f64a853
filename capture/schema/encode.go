package schema

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

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

// BatchEncoder makes record batches of one kind. Nothing is allocated once its buffers have grown to the largest batch.
// Not safe for concurrent use.
type BatchEncoder struct {
	kind        Kind
	compression Compression
	shrink      compressor
	fb          *flatbuffers.Builder
	nulls       []int
	spans       [][2]int // buffers of the message: offset in the body, length without padding
	validity    [][]byte // a scratch bitmap a column
	batch       Batch
}

// NewBatchEncoder makes an encoder. Its scratch memory is at most EncoderMemory.
func NewBatchEncoder(k Kind, c Compression) *BatchEncoder {
	return &BatchEncoder{
		kind: k, compression: c,
		fb:       flatbuffers.NewBuilder(1024),
		nulls:    make([]int, len(k.Columns())),
		validity: make([][]byte, len(k.Columns())),
	}
}

var padding [8]byte

// Encode makes a batch of rows rows, 1 to MaxBatchRows. values holds the bytes of each column's values, little endian,
// in the kind's order; a Text column takes two of them, rows+1 offsets as int32 from 0, then the text. A nullable
// column's nulls are told by their slots (Column). The batch refers to values where they are not compressed.
func (e *BatchEncoder) Encode(rows int, values [][]byte) (*Batch, error) {
	cols := e.kind.Columns()
	b := &e.batch
	b.Parts, e.spans = append(b.Parts[:0], nil), e.spans[:0]
	b.Length = 0
	e.shrink.reset()
	next := 0
	for i, c := range cols {
		e.nulls[i] = 0
		if c.Nullable {
			e.validity[i], e.nulls[i] = bitmap(e.validity[i], c.Type, values[next], rows)
		}
		valid := e.validity[i]
		if e.nulls[i] == 0 {
			valid = nil
		}
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
	body := b.Length
	if body > MaxBatchBytes-MaxMetadataBytes {
		return nil, fmt.Errorf("batch of %d %s rows: %d bytes, at most %d allowed", rows, e.kind, body, MaxBatchBytes-MaxMetadataBytes)
	}
	b.MinTime, b.MaxTime = e.timeRange(rows, values)
	head := e.metadata(rows, body)
	b.Parts[0] = head
	b.Metadata = int32(len(head))
	b.Length += int64(len(head))
	b.Checksum = seal(head, b.Parts[1:])
	return b, nil
}

// add puts one buffer behind the body.
func (e *BatchEncoder) add(buf []byte) error {
	b := &e.batch
	if len(buf) > 0 && e.compression != None {
		var err error
		if buf, err = e.shrink.compress(e.compression, buf); err != nil {
			return err
		}
	}
	e.spans = append(e.spans, [2]int{int(b.Length), len(buf)})
	if len(buf) == 0 {
		return nil
	}
	b.Parts = append(b.Parts, buf)
	b.Length += int64(len(buf))
	if pad := -len(buf) & 7; pad > 0 {
		b.Parts = append(b.Parts, padding[:pad])
		b.Length += int64(pad)
	}
	return nil
}

// bitmap fills dst with the validity bits of a column and counts its nulls.
func bitmap(dst []byte, t Type, values []byte, rows int) ([]byte, int) {
	n := (rows + 7) / 8
	if cap(dst) < n {
		dst = make([]byte, n, max(n, 2*cap(dst)))
	}
	dst = dst[:n]
	valid := 0
	for i := range dst {
		var x byte
		last := min(8, rows-8*i)
		if t == I64 {
			for j, v := range as[int64](values)[8*i : 8*i+last] {
				if v != event.None {
					x |= 1 << j
				}
			}
		} else {
			for j, v := range as[uint32](values)[8*i : 8*i+last] {
				if v != event.NoLane {
					x |= 1 << j
				}
			}
		}
		valid += bits.OnesCount8(x)
		dst[i] = x
	}
	return dst, rows - valid
}

// timeRange bounds the times of all rows, as Kind.TimeColumn defines them.
func (e *BatchEncoder) timeRange(rows int, values [][]byte) (least, most int64) {
	column, otherwise := e.kind.TimeColumn() // no kind has Text before it, so that column and position in values agree
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
	return finishMessage(fb, headerRecordBatch, fb.EndObject(), body)
}

// prependPair adds one FieldNode or Buffer, which are two int64 each.
func prependPair(fb *flatbuffers.Builder, first, second int64) {
	fb.Prep(8, structSize)
	fb.PrependInt64(second)
	fb.PrependInt64(first)
}

// finishMessage wraps header into a Message and appends what encapsulates it; the checksum is still to be put in. The
// bytes belong to fb.
func finishMessage(fb *flatbuffers.Builder, headerType byte, header flatbuffers.UOffsetT, body int64) []byte {
	fb.StartObject(5)
	fb.PrependInt16Slot(messageVersion, metadataV5, 0)
	fb.PrependByteSlot(messageHeaderType, headerType, 0)
	fb.PrependUOffsetTSlot(messageHeader, header, 0)
	fb.PrependInt64Slot(messageBodyLength, body, 0)
	fb.Finish(fb.EndObject())
	return encapsulate(fb.FinishedBytes())
}

func encapsulate(meta []byte) []byte {
	size := (len(meta)+7)&^7 + trailerSize
	b := make([]byte, prefixSize+size)
	binary.LittleEndian.PutUint32(b, continuation)
	binary.LittleEndian.PutUint32(b[4:], uint32(size))
	copy(b[prefixSize:], meta)
	copy(b[len(b)-trailerSize:], TrailerMagic)
	return b
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
