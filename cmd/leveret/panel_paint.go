package main

import (
	"strings"

	"github.com/rivo/uniseg"
)

// paint turns a line into text of at most so many columns, with colors or without; it tells how many columns it has.
func (l *panelLine) paint(columns int, ascii, color bool) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range l.spans {
		text := cutText(s.text, columns-used, ascii)
		used += uniseg.StringWidth(text)
		if color && s.style != "" && strings.TrimSpace(text) != "" {
			text = "\x1b[" + s.style + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
		if text == "" && s.text != "" { // there is no room for anything more
			break
		}
	}
	return b.String(), used
}
