package schema

import (
	"encoding/binary"
	"strconv"

	flatbuffers "github.com/google/flatbuffers/go"
	"leveret/capture/manifest"
)

// Fields of Arrow's Footer table, and the size of its Block struct: offset, metaDataLength and 4 bytes of padding, bodyLength.
const (
	footerVersion = 0
	footerSchema  = 1
	footerDicts   = 2
	footerBatches = 3

	blockSize = 24
)

// Block is one batch as the footer lists it.
type Block struct {
	Offset   int64 // of the message in the file
	Metadata int32 // Batch.Metadata
	Body     int64 // bytes behind it
}

// FileHead returns the bytes that a file begins with: magic and schema message. The ID must pass CheckID.
func FileHead(k Kind, id string, tag uint16) []byte {
	fb := flatbuffers.NewBuilder(2048)
	msg := finishMessage(nil, fb, headerSchema, buildSchema(fb, k, id, tag), 0)
	seal(msg, nil)
	return append([]byte(FileMagic), msg...)
}

// FileFoot returns the bytes that a file ends with: end-of-stream marker, footer, its length, magic.
func FileFoot(k Kind, id string, tag uint16, blocks []Block) []byte {
	fb := flatbuffers.NewBuilder(2048 + blockSize*len(blocks))
	s := buildSchema(fb, k, id, tag)
	fb.StartVector(blockSize, len(blocks), 8)
	for i := len(blocks) - 1; i >= 0; i-- {
		fb.Prep(8, blockSize)
		fb.PrependInt64(blocks[i].Body)
		fb.Pad(4)
		fb.PrependInt32(blocks[i].Metadata)
		fb.PrependInt64(blocks[i].Offset)
	}
	batches := fb.EndVector(len(blocks))
	fb.StartVector(blockSize, 0, 8)
	dicts := fb.EndVector(0)
	fb.StartObject(5)
	fb.PrependInt16Slot(footerVersion, metadataV5, 0)
	fb.PrependUOffsetTSlot(footerSchema, s, 0)
	fb.PrependUOffsetTSlot(footerDicts, dicts, 0)
	fb.PrependUOffsetTSlot(footerBatches, batches, 0)
	fb.Finish(fb.EndObject())

	footer := fb.FinishedBytes()
	b := binary.LittleEndian.AppendUint32(nil, continuation)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, FootMagic...)
}

func buildSchema(fb *flatbuffers.Builder, k Kind, id string, tag uint16) flatbuffers.UOffsetT {
	cols := k.Columns()
	fields := make([]flatbuffers.UOffsetT, len(cols))
	for i, c := range cols {
		fields[i] = buildField(fb, c)
	}
	fieldVector := offsets(fb, fields)
	md := offsets(fb, []flatbuffers.UOffsetT{
		keyValue(fb, MetaFormat, strconv.Itoa(manifest.FormatVersion)),
		keyValue(fb, MetaKind, k.String()),
		keyValue(fb, MetaCapture, id),
		keyValue(fb, MetaTag, strconv.Itoa(int(tag))),
	})
	fb.StartObject(4)
	fb.PrependUOffsetTSlot(schemaFields, fieldVector, 0)
	fb.PrependUOffsetTSlot(schemaMetadata, md, 0)
	return fb.EndObject()
}

func buildField(fb *flatbuffers.Builder, c Column) flatbuffers.UOffsetT {
	name := fb.CreateString(c.Name)
	children := offsets(fb, nil)
	typeType := byte(typeUtf8)
	if c.Type == Text {
		fb.StartObject(0)
	} else {
		typeType = typeInt
		fb.StartObject(2)
		fb.PrependInt32Slot(intBits, int32(8*c.Type.Width()), 0)
		fb.PrependBoolSlot(intSigned, c.Type == I64, false)
	}
	t := fb.EndObject()
	fb.StartObject(7)
	fb.PrependUOffsetTSlot(fieldName, name, 0)
	fb.PrependBoolSlot(fieldNullable, c.Nullable, false)
	fb.PrependByteSlot(fieldTypeType, typeType, 0)
	fb.PrependUOffsetTSlot(fieldType, t, 0)
	fb.PrependUOffsetTSlot(fieldChildren, children, 0)
	return fb.EndObject()
}

func keyValue(fb *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := fb.CreateString(key), fb.CreateString(value)
	fb.StartObject(2)
	fb.PrependUOffsetTSlot(keyValueKey, k, 0)
	fb.PrependUOffsetTSlot(keyValueValue, v, 0)
	return fb.EndObject()
}

func offsets(fb *flatbuffers.Builder, of []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	fb.StartVector(4, len(of), 4)
	for i := len(of) - 1; i >= 0; i-- {
		fb.PrependUOffsetT(of[i])
	}
	return fb.EndVector(len(of))
}
