// Package export writes tables as CSV, JSON lines or Parquet. It is the one place that knows Parquet.
//
// What flows in are blocks of columns; what flows out are bytes, block by block: nothing but one row group of Parquet is
// kept. Times and sizes are whole numbers whose unit stands in the column's name, in every format, so that a reader gets
// to the nanosecond what was recorded. What is missing is empty (CSV) or null, never 0.
//
//	w, err := export.New("parquet", file, columns)
//	for each block { w.Write(block) }
//	w.Close()
package export

import (
	"fmt"
	"io"
)

// Kind says what the values of a column are.
type Kind uint8

// Kinds of columns.
const (
	Int  Kind = iota // int64
	Flag             // 0 or 1: false or true
	Text             // UTF-8
)

// Column is one column of a table.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool
}

// Values are the values of a column in a block: Numbers, or Texts of a Text column; Missing of a nullable column says
// which of them are null. Their lengths are the block's rows.
type Values struct {
	Numbers []int64
	Texts   []string
	Missing []bool
}

// Block holds some rows of a table.
type Block struct {
	Columns []Column
	Rows    int
	Values  []Values // by column
}

// NewBlock makes an empty block.
func NewBlock(columns []Column) *Block {
	return &Block{Columns: columns, Values: make([]Values, len(columns))}
}

// Number appends a value to an Int or Flag column. Each column gets one value a row; then Rows is raised.
func (b *Block) Number(column int, n int64) {
	v := &b.Values[column]
	v.Numbers = append(v.Numbers, n)
	if b.Columns[column].Nullable {
		v.Missing = append(v.Missing, false)
	}
}

// Bool appends a value to a Flag column.
func (b *Block) Bool(column int, yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	b.Number(column, n)
}

// Text appends a value to a Text column.
func (b *Block) Text(column int, s string) {
	v := &b.Values[column]
	v.Texts = append(v.Texts, s)
	if b.Columns[column].Nullable {
		v.Missing = append(v.Missing, false)
	}
}

// Null appends a null to a nullable column.
func (b *Block) Null(column int) {
	v := &b.Values[column]
	if b.Columns[column].Kind == Text {
		v.Texts = append(v.Texts, "")
	} else {
		v.Numbers = append(v.Numbers, 0)
	}
	v.Missing = append(v.Missing, true)
}

// Numbers appends values to an Int or Flag column; in a nullable one those equal to null are null.
func (b *Block) Numbers(column int, values []int64, null int64) {
	v := &b.Values[column]
	v.Numbers = append(v.Numbers, values...)
	if b.Columns[column].Nullable {
		for _, n := range values {
			v.Missing = append(v.Missing, n == null)
		}
	}
}

// Repeat appends a text n times to a Text column.
func (b *Block) Repeat(column int, s string, n int) {
	for range n {
		b.Text(column, s)
	}
}

// Nulls appends n nulls to a nullable column.
func (b *Block) Nulls(column, n int) {
	for range n {
		b.Null(column)
	}
}

// Reset empties the block; its memory is used again.
func (b *Block) Reset() {
	b.Rows = 0
	for i := range b.Values {
		v := &b.Values[i]
		clear(v.Texts) // names of queues must not be kept alive
		v.Numbers, v.Texts, v.Missing = v.Numbers[:0], v.Texts[:0], v.Missing[:0]
	}
}

// null tells whether a value is missing.
func (v *Values) null(row int) bool { return len(v.Missing) > 0 && v.Missing[row] }

// Writer writes a table. A block is the caller's again when Write returns. Close writes what is kept and the end of the
// table; it does not close the file. After an error nothing more may be written.
type Writer interface {
	Write(b *Block) error
	Close() error
}

// Formats that New knows.
var Formats = []string{"csv", "jsonl", "parquet"}

// New begins a table.
func New(format string, to io.Writer, columns []Column) (Writer, error) {
	switch format {
	case "csv":
		return newCSV(to, columns), nil
	case "jsonl":
		return newJSONLines(to, columns), nil
	case "parquet":
		return newParquet(to, columns)
	}
	return nil, fmt.Errorf("format %q is none of %v", format, Formats)
}
