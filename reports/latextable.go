package reports

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// latexRoom is how wide a text of LaTeX's class article is at 10 pt, in points; no table is wider.
const latexRoom = 345

// latexText is how wide a text in a cell is before it is broken into lines, in points.
const latexText = 170

// latexSize is a size that a table can be set in: the command, how wide letters are beside those of 10 pt, half of the gap between
// columns in points, and how many rows a page has room for below a caption.
type latexSize struct {
	command    string
	share, gap float64
	rows       int
}

// latexSizes from the usual one down. The shares are those of the widths of cmr9 and cmr8 to cmr10.
var latexSizes = []latexSize{{"", 1, 6, 34}, {`\small`, 0.925, 4, 38}, {`\footnotesize`, 0.85, 3, 42}}

// widthsOfLetters are those of Computer Modern Roman at 10 pt (cmr10.tfm), in points, rounded up; no letter is wider than the last.
var widthsOfLetters = []struct {
	letters string
	points  float64
}{
	{".,:;!'|il[]", 2.78}, {"fj", 3.06}, {" -", 3.34}, {"I_", 3.62}, {"()tr", 3.93}, {"s", 3.95}, {"cez", 4.45}, {"?", 4.73},
	{"0123456789ago/*$\\^~\"{}", 5.01}, {"J", 5.15}, {"kqvxy", 5.28}, {"bdhnpuS", 5.56}, {"Z", 6.12}, {"L", 6.26}, {"F", 6.53}, {"EP", 6.81},
	{"B", 7.09}, {"CTw", 7.23}, {"R", 7.37}, {"AHNUVXY", 7.51}, {"D", 7.64}, {"KOQ&@+=<>", 7.78}, {"G", 7.85}, {"m%#", 8.34}, {"M", 9.17}, {"W", 10.28},
}

// widthOf a letter of ASCII, by its code.
var widthOf = func() (widths [utf8.RuneSelf]float64) {
	for i := range widths {
		widths[i] = widthsOfLetters[len(widthsOfLetters)-1].points
	}
	for _, w := range widthsOfLetters {
		for _, c := range w.letters {
			widths[c] = w.points
		}
	}
	return widths
}()

// latexWidth of a text at 10 pt, in points.
func latexWidth(text string) (points float64) {
	for _, c := range strings.ReplaceAll(text, ">=", ">") { // one sign
		points += widthOf[min(c, utf8.RuneSelf-1)]
	}
	return points
}

// latexWidth of the table in a size, in points.
func (t *table) latexWidth(size *latexSize) (points float64) {
	widths := make([]float64, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		if c.points == 0 {
			c.points = latexWidth(c.title())
			for _, s := range c.cells {
				c.points = math.Max(c.points, latexWidth(strings.TrimSpace(s)))
			}
		}
		if widths[i] = size.share * c.points; c.left {
			widths[i] = math.Min(widths[i], latexText)
		}
		points += widths[i] + 2*size.gap
	}
	t.eachGroup(func(from, to int) {
		room := 2 * size.gap * float64(to-from-1)
		for _, w := range widths[from:to] {
			room += w
		}
		points += math.Max(0, size.share*latexWidth(t.columns[from].group)-room)
	})
	return points
}

// latexParts are tables that fit a page, in one size: the columns stand side by side where a size allows it, and else follow each
// other behind the keys, in as few tables as there can be and about equally wide ones; so do rows of which there are more than a page
// has room for.
func (t *table) latexParts() (parts []*table, size *latexSize) {
	var pieces []*table
	for i := range latexSizes {
		if some := t.latexPieces(&latexSizes[i]); pieces == nil || len(some) < len(pieces) {
			pieces, size = some, &latexSizes[i]
		}
	}
	for _, piece := range pieces {
		for from := 0; from == 0 || from < t.rows(); from += size.rows {
			parts = append(parts, piece.between(from, min(from+size.rows, t.rows())))
		}
	}
	return parts, size
}

// latexPieces are the table's columns in tables that fit in a size.
func (t *table) latexPieces(size *latexSize) []*table {
	within := func(room float64) []*table {
		return t.pieces(func(x *table) bool { return x.latexWidth(size) <= room })
	}
	if t.latexWidth(size) <= latexRoom || len(t.columns) <= t.keys {
		return []*table{t}
	}
	pieces := within(latexRoom)
	for room := latexRoom * 0.95; room > latexRoom/4; room *= 0.95 { // narrower ones, as long as there are no more of them
		if narrower := within(room); len(narrower) == len(pieces) {
			pieces = narrower
		}
	}
	return pieces
}

// between is the table with the rows [from, to) alone.
func (t *table) between(from, to int) *table {
	part := *t
	part.columns = nil
	for _, c := range t.columns {
		c.cells = c.cells[from:to]
		part.columns = append(part.columns, c)
	}
	if part.titleRow = max(0, t.titleRow-from); t.titleRow >= to {
		part.title = ""
	}
	return &part
}

// latexCell is a text as a cell of a size; one that is too long is broken into lines of so many points.
func latexCell(text string, size *latexSize, room float64) string {
	if size.share*latexWidth(text) <= room {
		return escapeLaTeX(text)
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		words[i] = escapeLaTeX(word)
		if size.share*latexWidth(word) > room/2 {
			words[i] = latexWord(word, size, room/2)
		}
	}
	return fmt.Sprintf(`\parbox[t]{%.0fpt}{\raggedright %s\strut}`, room, strings.Join(words, " "))
}

// latexWord may be broken behind what parts names, and after so many points where there is no such place.
func latexWord(word string, size *latexSize, room float64) string {
	var b strings.Builder
	run := 0.0 // how wide what has no place to break at is
	for _, c := range word {
		b.WriteString(escapeLaTeX(string(c)))
		if run += size.share * latexWidth(string(c)); strings.ContainsRune("/._-,:;", c) || run > room {
			b.WriteString(`\allowbreak{}`)
			run = 0
		}
	}
	return b.String()
}
