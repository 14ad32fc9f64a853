package export

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// chunkBytes is how much text is collected before it is written.
const chunkBytes = 64 << 10

// lines collects rows of text.
type lines struct {
	to  io.Writer
	buf []byte
}

func (l *lines) flush(least int) error {
	if len(l.buf) == 0 || len(l.buf) < least {
		return nil
	}
	_, err := l.to.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// csvWriter writes RFC 4180: a header, lines that end in CR LF, quotes where a text needs them. A null is an empty field, an empty
// text a quoted one.
type csvWriter struct{ lines }

func newCSV(to io.Writer, columns []Column) *csvWriter {
	w := &csvWriter{lines{to: to}}
	for i, c := range columns {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, c.Name...)
	}
	w.buf = append(w.buf, "\r\n"...)
	return w
}

func (w *csvWriter) Write(b *Block) error {
	for row := range b.Rows {
		for i := range b.Values {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			if v := &b.Values[i]; !v.null(row) {
				w.buf = appendCSV(w.buf, b.Columns[i].Kind, v, row)
			}
		}
		w.buf = append(w.buf, "\r\n"...)
		if err := w.flush(chunkBytes); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) Close() error { return w.flush(0) }

func appendCSV(buf []byte, k Kind, v *Values, row int) []byte {
	if k != Text {
		return appendNumber(buf, k, v.Numbers[row])
	}
	s := v.Texts[row]
	if s != "" && !strings.ContainsAny(s, ",\"\r\n") {
		return append(buf, s...)
	}
	buf = append(buf, '"')
	buf = append(buf, strings.ReplaceAll(s, `"`, `""`)...)
	return append(buf, '"')
}

func appendNumber(buf []byte, k Kind, n int64) []byte {
	if k == Flag {
		return strconv.AppendBool(buf, n != 0)
	}
	return strconv.AppendInt(buf, n, 10)
}

// jsonWriter writes an object a line. Numbers are written whole: a reader whose numbers are floats loses the last digits of
// times.
type jsonWriter struct {
	lines
	keys   [][]byte          // `{"name":` of the first column, `,"name":` of the others
	quoted map[string][]byte // texts come again and again
}

// maxQuoted bounds the texts that are kept.
const maxQuoted = 1 << 16

func newJSONLines(to io.Writer, columns []Column) *jsonWriter {
	w := &jsonWriter{lines: lines{to: to}, quoted: map[string][]byte{}}
	for i, c := range columns {
		begin := byte(',')
		if i == 0 {
			begin = '{'
		}
		w.keys = append(w.keys, append(append([]byte{begin}, w.quote(c.Name)...), ':'))
	}
	return w
}

func (w *jsonWriter) Write(b *Block) error {
	for row := range b.Rows {
		for i := range b.Values {
			w.buf = append(w.buf, w.keys[i]...)
			switch v := &b.Values[i]; {
			case v.null(row):
				w.buf = append(w.buf, "null"...)
			case b.Columns[i].Kind == Text:
				w.buf = append(w.buf, w.quote(v.Texts[row])...)
			default:
				w.buf = appendNumber(w.buf, b.Columns[i].Kind, v.Numbers[row])
			}
		}
		w.buf = append(w.buf, "}\n"...)
		if err := w.flush(chunkBytes); err != nil {
			return err
		}
	}
	return nil
}

func (w *jsonWriter) Close() error { return w.flush(0) }

func (w *jsonWriter) quote(s string) []byte {
	if q, ok := w.quoted[s]; ok {
		return q
	}
	q, err := json.Marshal(s)
	if err != nil { // no string fails
		q = []byte("null")
	}
	if len(w.quoted) < maxQuoted {
		w.quoted[s] = q
	}
	return q
}
