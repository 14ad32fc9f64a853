package result

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// SheetCell is a text, or a number written as one, as a field of a CSV file that spreadsheets open. What they would take for a
// formula gets an apostrophe in front, and so does what begins with one: whoever takes one apostrophe away from each field that
// begins with one has what stood there before. Numbers stay as they are, negative ones too.
func SheetCell(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if text == "" || !strings.ContainsRune("=+-@\t\r\n'＝＋－＠", first) || negative(text) {
		return text
	}
	return "'" + text
}

// negative tells whether a text is a number below zero.
func negative(text string) bool {
	if len(text) < 2 || text[0] != '-' || text[1] < '0' || text[1] > '9' {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
