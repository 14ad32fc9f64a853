package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// CSV writes the result as a table of figures, one a line, for spreadsheets and data frames:
//
//	table,row,figure,value
//	counts,,sent,100000
//	latency,,delivery.service.p99_ns,2310475
//	intervals,3,received,99871
//
// It holds what the JSON form holds, under the same names: table is the outermost key, row the number (from 1) in a list, figure the
// keys below it, joined by dots. Units stand in the names (_ns, _msgs_per_s); numbers are exact. A figure that was not measured has
// an empty value. Lines end in a newline. The file is ASCII, and no field is a formula for a spreadsheet: one that would be, or that
// begins with an apostrophe, has an apostrophe in front. What is left of a field without it is the inside of a JSON string, but for
// its quotation marks, which CSV doubles: a backslash is \\, a line's end \n, other characters are \u and four hexadecimal digits.
func CSV(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		return err
	}
	return flatCSV(w, b.Bytes())
}

// flatCSV writes a JSON document that is an object as figures.
func flatCSV(w io.Writer, document []byte) error {
	var b bytes.Buffer
	f := &flattened{w: csv.NewWriter(&b), d: json.NewDecoder(bytes.NewReader(document))}
	f.d.UseNumber()
	err := f.w.Write([]string{"table", "row", "figure", "value"})
	if err == nil {
		err = f.value(nil)
	}
	f.w.Flush()
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write CSV report: %w", err)
	}
	return nil
}

// flattened goes through a document in its own order.
type flattened struct {
	w *csv.Writer
	d *json.Decoder
}

// value reads one value, whose keys and places in lists path has, and writes the figures in it.
func (f *flattened) value(path []any) error {
	token, err := f.d.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return f.figure(path, token)
	}
	for n := 1; f.d.More(); n++ {
		var at any = n
		if delim == '{' {
			if at, err = f.d.Token(); err != nil {
				return err
			}
		}
		if err := f.value(append(path[:len(path):len(path)], at)); err != nil {
			return err
		}
	}
	_, err = f.d.Token() // the end
	return err
}

// figure writes one line. A value of the document itself, such as the verdict, is in the table "run".
func (f *flattened) figure(path []any, token json.Token) error {
	table, row := "run", ""
	if len(path) > 1 {
		table = fmt.Sprint(path[0])
		path = path[1:]
	}
	if n, ok := path[0].(int); ok {
		row, path = strconv.Itoa(n), path[1:]
	}
	var keys []string
	for _, k := range path {
		keys = append(keys, fmt.Sprint(k))
	}
	if len(keys) == 0 { // a list of plain values
		keys = []string{"value"}
	}
	value := ""
	if token != nil {
		value = fmt.Sprint(token)
	}
	record := []string{table, row, strings.Join(keys, "."), value}
	for i, text := range record {
		record[i] = result.SheetCell(escaped(text))
	}
	return f.w.Write(record)
}

// escaped writes a text in ASCII so that it can be read back.
func escaped(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' || c == '\\' }) {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil { // no text fails
		return ""
	}
	inner := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte{'"'}), []byte("\"\n"))
	return unquoted.Replace(string(escapeNonASCII(inner)))
}

// unquoted makes of the inside of a JSON string that of a CSV field: quotation marks are CSV's to double. A backslash keeps its own.
var unquoted = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "\x7f", `\u007f`)
