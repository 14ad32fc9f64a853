package schema

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"leveret/capture/manifest"
)

// Keys of the metadata that the schema of every file carries; part of the format.
const (
	MetaFormat  = "leveret_format"  // manifest.FormatVersion, decimal
	MetaKind    = "leveret_kind"    // the kind's name
	MetaCapture = "leveret_capture" // the capture's ID
	MetaTag     = "leveret_tag"     // the run tag, decimal
)

var arrowTypes = [...]arrow.DataType{
	U8:   arrow.PrimitiveTypes.Uint8,
	U16:  arrow.PrimitiveTypes.Uint16,
	U32:  arrow.PrimitiveTypes.Uint32,
	U64:  arrow.PrimitiveTypes.Uint64,
	I64:  arrow.PrimitiveTypes.Int64,
	Text: arrow.BinaryTypes.String,
}

// Arrow returns the schema of a kind's files in the capture named id with the given run tag.
func Arrow(k Kind, id string, tag uint16) *arrow.Schema {
	md := arrow.MetadataFrom(map[string]string{
		MetaFormat:  strconv.Itoa(manifest.FormatVersion),
		MetaKind:    k.String(),
		MetaCapture: id,
		MetaTag:     strconv.Itoa(int(tag)),
	})
	return arrow.NewSchema(fields(k), &md)
}

func fields(k Kind) []arrow.Field {
	cols := k.Columns()
	fs := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fs[i] = arrow.Field{Name: c.Name, Type: arrowTypes[c.Type], Nullable: c.Nullable}
	}
	return fs
}
