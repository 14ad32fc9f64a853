package schema

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"leveret/capture/manifest"
)

// Head is what a file says about itself at its start.
type Head struct {
	Format  int // version
	Kind    Kind
	Capture string // ID
	Tag     uint16
}

// HeadBytes are enough bytes from the start of a file for ParseHead.
const HeadBytes = len(FileMagic) + prefixSize + MaxMetadataBytes

// Fields of Arrow's Schema, Field and KeyValue tables.
const (
	schemaFields   = 1
	schemaMetadata = 2

	fieldName     = 0
	fieldNullable = 1
	fieldTypeType = 2
	fieldType     = 3
	fieldChildren = 5

	keyValueKey   = 0
	keyValueValue = 1

	intBits   = 0
	intSigned = 1

	typeInt  = 2
	typeUtf8 = 5

	maxFields = 256 // what a reader is willing to look at
)

// ParseHead reads the start of a file: at least HeadBytes of it, or all. It returns where the first batch begins. The
// error is io.ErrUnexpectedEOF where the file ends too early, ErrForeign where it is no Arrow file or none of leveret's,
// ErrVersion where its format is not this program's (Head.Format is set then), ErrKind where its rows are of a kind that this
// program does not know, ErrDamaged where its checksum does not hold.
func ParseHead(b []byte) (Head, int64, error) {
	if len(b) < len(FileMagic) {
		return Head{}, 0, fmt.Errorf("file of %d bytes: no Arrow file: %w", len(b), io.ErrUnexpectedEOF)
	}
	if string(b[:len(FileMagic)]) != FileMagic {
		return Head{}, 0, fmt.Errorf("file begins with % x, not as an Arrow file: %w", b[:len(FileMagic)], ErrForeign)
	}
	rest := b[len(FileMagic):]
	x, err := Measure(rest)
	if err != nil {
		return Head{}, 0, fmt.Errorf("file's schema: %w", err)
	}
	if x.End || x.Length > int64(len(rest)) {
		return Head{}, 0, fmt.Errorf("file's schema: %d of %d bytes: %w", len(rest), x.Length, io.ErrUnexpectedEOF)
	}
	msg := rest[:x.Length]
	meta, _, err := verify(msg)
	if errors.Is(err, ErrForeign) {
		meta = msg[prefixSize:] // say what it lacks
	} else if err != nil {
		return Head{}, 0, fmt.Errorf("file's schema: %w", err)
	}
	h, err := parseSchema(meta)
	return h, int64(len(FileMagic)) + x.Length, err
}

// parseSchema reads a schema message and judges it: version first, then kind, then columns.
func parseSchema(meta []byte) (Head, error) {
	f := &flat{b: meta}
	m := f.root()
	s, ok := m.sub(messageHeader)
	if f.bad || !ok || m.u8(messageHeaderType, 0) != headerSchema {
		return Head{}, fmt.Errorf("file's schema: first message is none: %w", ErrDamaged)
	}
	md := map[string]string{}
	s.tables(schemaMetadata, maxFields, func(kv table) { md[kv.str(keyValueKey)] = kv.str(keyValueValue) })
	if f.bad {
		return Head{}, fmt.Errorf("file's schema: %w", ErrDamaged)
	}
	format, err := strconv.Atoi(md[MetaFormat])
	if err != nil {
		return Head{}, fmt.Errorf("file's schema: no %s in its metadata: %w", MetaFormat, ErrForeign)
	}
	h := Head{Format: format, Capture: md[MetaCapture]}
	if format != manifest.FormatVersion {
		return h, fmt.Errorf("file's schema: format version %d, this program knows %d: %w", format, manifest.FormatVersion, ErrVersion)
	}
	if h.Kind, ok = KindNamed(md[MetaKind]); !ok {
		return h, fmt.Errorf("file's schema: kind %q: %w", md[MetaKind], ErrKind)
	}
	tag, err := strconv.ParseUint(md[MetaTag], 10, 16)
	if err != nil {
		return h, fmt.Errorf("file's schema: %s is %q: %w", MetaTag, md[MetaTag], ErrForeign)
	}
	h.Tag = uint16(tag)
	return h, checkFields(f, s, h.Kind)
}

// checkFields holds the columns of a file against those of its kind. Columns behind them are of a later minor version
// and ignored.
func checkFields(f *flat, s table, k Kind) error {
	i, cols := 0, k.Columns()
	var err error
	s.tables(schemaFields, maxFields, func(t table) {
		if i < len(cols) && err == nil {
			c := cols[i]
			if got := describe(t); got != c.describe() {
				err = fmt.Errorf("file's schema: column %d is %s, %s have %s there: %w", i, got, k, c.describe(), ErrForeign)
			}
		}
		i++
	})
	switch {
	case f.bad:
		return fmt.Errorf("file's schema: %w", ErrDamaged)
	case err == nil && i < len(cols):
		return fmt.Errorf("file's schema: %d columns, %q is missing: %w", i, cols[i].Name, ErrForeign)
	}
	return err
}

func (c Column) describe() string {
	s := "utf8"
	switch c.Type {
	case I64:
		s = "int64"
	case U8, U16, U32, U64:
		s = "uint" + strconv.Itoa(8*c.Type.Width())
	}
	return withNull(strconv.Quote(c.Name)+" "+s, c.Nullable)
}

func describe(t table) string {
	s := fmt.Sprintf("Arrow type %d", t.u8(fieldTypeType, 0))
	switch t.u8(fieldTypeType, 0) {
	case typeInt:
		if x, ok := t.sub(fieldType); ok {
			s = "uint"
			if x.u8(intSigned, 0) != 0 {
				s = "int"
			}
			s += strconv.Itoa(x.i32(intBits))
		}
	case typeUtf8:
		s = "utf8"
	}
	return withNull(strconv.Quote(t.str(fieldName))+" "+s, t.u8(fieldNullable, 0) != 0)
}

func withNull(s string, nullable bool) string {
	if nullable {
		return s + " null"
	}
	return s
}
