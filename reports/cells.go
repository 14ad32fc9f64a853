package reports

import (
	"strings"
	"unicode"
)

// elide shortens s to at most width cells, keeping both ends: long queue names differ in either.
func elide(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	r := []rune(s)
	head, tail := 0, len(r)
	room := width - 2
	for used := 0; head < tail; {
		if w := cells(string(r[head])); used+w <= (room+1)/2 {
			used += w
			head++
			continue
		}
		for used := 0; tail > head; tail-- {
			w := cells(string(r[tail-1]))
			if used+w > room/2 {
				break
			}
			used += w
		}
		break
	}
	return string(r[:head]) + ".." + string(r[tail:])
}

// wrap breaks text at blanks into lines of at most width cells; a word that is longer is broken where it must be.
// There is always at least one line.
func wrap(text string, width int) []string {
	width = max(width, 8)
	var lines []string
	current, used := "", 0
	for _, word := range strings.Fields(text) {
		w := cells(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, current)
			current, used = "", 0
		}
		for w > width {
			head := headOf(word, width)
			lines = append(lines, head)
			word = word[len(head):]
			w = cells(word)
		}
		if used > 0 {
			current += " "
			used++
		}
		current += word
		used += w
	}
	return append(lines, current)
}

// headOf is the longest start of s that takes at most width cells, and at least one character.
func headOf(s string, width int) string {
	used := 0
	for i, c := range s {
		if used += runeCells(c); used > width && i > 0 {
			return s[:i]
		}
	}
	return s
}

// cells is the width of s on a terminal.
func cells(s string) int {
	n := 0
	for _, c := range s {
		n += runeCells(c)
	}
	return n
}

// runeCells: combining marks take no cell, East Asian wide characters two (the blocks that matter of UAX 11).
func runeCells(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case c >= 0x1100 && c <= 0x115F, c >= 0x2E80 && c <= 0xA4CF, c >= 0xAC00 && c <= 0xD7A3, c >= 0xF900 && c <= 0xFAFF,
		c >= 0xFE30 && c <= 0xFE6F, c >= 0xFF00 && c <= 0xFF60, c >= 0xFFE0 && c <= 0xFFE6, c >= 0x1F300 && c <= 0x1FAFF, c >= 0x20000 && c <= 0x3FFFD:
		return 2
	}
	return 1
}

// pad fills s with blanks up to width cells, on the right.
func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-cells(s))) }

// padLeft fills s with blanks up to width cells, on the left.
func padLeft(s string, width int) string { return strings.Repeat(" ", max(0, width-cells(s))) + s }
