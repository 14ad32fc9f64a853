package export

import (
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// rowGroupRows is how many rows are kept and written together: readers skip and share the work by row groups, and DuckDB's own
// have as many (122,880). Twenty columns of them take some 25 MiB.
const rowGroupRows = 120 << 10

// parquetWriter writes row groups, compressed with zstd. Numbers are INT64, texts are
// encoded by dictionary.
type parquetWriter struct {
	columns []Column
	w       *file.Writer
	group   *Block
	scratch scratch
}

// scratch is memory for one column of a row group.
type scratch struct {
	levels  []int16 // 0: null, 1: a value
	numbers []int64
	flags   []bool
	texts   []parquet.ByteArray
}

func newParquet(to io.Writer, columns []Column) (w *parquetWriter, err error) {
	defer recoverTo(&err)
	fields := make(schema.FieldList, len(columns))
	properties := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("leveret"), parquet.WithDictionaryDefault(false),
	}
	for i, c := range columns {
		if fields[i], err = field(c); err != nil {
			return nil, err
		}
		if c.Kind == Text {
			properties = append(properties, parquet.WithDictionaryFor(c.Name, true), parquet.WithStatsFor(c.Name, false))
		}
	}
	root, err := schema.NewGroupNode("leveret", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	return &parquetWriter{
		columns: columns, group: NewBlock(columns),
		w: file.NewParquetWriter(to, root, file.WithWriterProps(parquet.NewWriterProperties(properties...))),
	}, nil
}

func field(c Column) (schema.Node, error) {
	repetition := parquet.Repetitions.Required
	if c.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	logical, physical := schema.NewIntLogicalType(64, true), parquet.Types.Int64
	switch c.Kind {
	case Flag:
		logical, physical = nil, parquet.Types.Boolean
	case Text:
		logical, physical = schema.StringLogicalType{}, parquet.Types.ByteArray
	}
	return schema.NewPrimitiveNodeLogical(c.Name, repetition, logical, physical, -1, -1)
}

// recoverTo makes an error of what the library panics with: it does where writing fails.
func recoverTo(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("parquet: %w", r)
	default:
		*err = fmt.Errorf("parquet: %v", r)
	}
}

func (w *parquetWriter) Write(b *Block) error {
	for i := range b.Values {
		to, from := &w.group.Values[i], &b.Values[i]
		to.Numbers = append(to.Numbers, from.Numbers...)
		to.Texts = append(to.Texts, from.Texts...)
		to.Missing = append(to.Missing, from.Missing...)
	}
	w.group.Rows += b.Rows
	if w.group.Rows < rowGroupRows {
		return nil
	}
	return w.writeGroup()
}

func (w *parquetWriter) writeGroup() (err error) {
	defer recoverTo(&err)
	group := w.w.AppendRowGroup()
	for i := range w.columns {
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := w.scratch.write(column, &w.group.Values[i], w.columns[i].Nullable); err != nil {
			return fmt.Errorf("column %s: %w", w.columns[i].Name, err)
		}
		if err := column.Close(); err != nil {
			return err
		}
	}
	w.group.Reset()
	return group.Close()
}

// write writes a column of a row group: the levels of all rows, and the values of those that are not null.
func (s *scratch) write(to file.ColumnChunkWriter, v *Values, nullable bool) (err error) {
	s.levels = s.levels[:0]
	if nullable {
		for _, missing := range v.Missing {
			level := int16(1)
			if missing {
				level = 0
			}
			s.levels = append(s.levels, level)
		}
	}
	switch to := to.(type) {
	case *file.Int64ColumnChunkWriter:
		s.numbers = s.numbers[:0]
		for i, n := range v.Numbers {
			if !v.null(i) {
				s.numbers = append(s.numbers, n)
			}
		}
		_, err = to.WriteBatch(s.numbers, s.definition(), nil)
	case *file.BooleanColumnChunkWriter:
		s.flags = s.flags[:0]
		for i, n := range v.Numbers {
			if !v.null(i) {
				s.flags = append(s.flags, n != 0)
			}
		}
		_, err = to.WriteBatch(s.flags, s.definition(), nil)
	case *file.ByteArrayColumnChunkWriter:
		s.texts = s.texts[:0]
		for i, t := range v.Texts {
			if !v.null(i) {
				s.texts = append(s.texts, unsafe.Slice(unsafe.StringData(t), len(t))) // the library only reads it
			}
		}
		_, err = to.WriteBatch(s.texts, s.definition(), nil)
	default:
		err = fmt.Errorf("unexpected type %T", to)
	}
	return err
}

func (s *scratch) definition() []int16 {
	if len(s.levels) == 0 {
		return nil
	}
	return s.levels
}

// Close writes the last row group and the footer. A table without rows is a file, too.
func (w *parquetWriter) Close() (err error) {
	defer recoverTo(&err)
	if w.group.Rows > 0 {
		if err := w.writeGroup(); err != nil {
			return err
		}
	}
	return w.w.FlushWithFooter()
}
