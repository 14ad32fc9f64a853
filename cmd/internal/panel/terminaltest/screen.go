// Package terminaltest gives tests a terminal: a pseudo terminal for a program to write to, and a screen that what was
// written can be looked at on.
package terminaltest

import (
	"strconv"
	"strings"
)

// Screen is as much of a terminal as the panel needs: what was written to it can be looked at. Wide characters are not known
// to it, and lines that are too long are broken as terminals do.
type Screen struct {
	columns, rows int
	lines         [][]rune // the last rows of them can be reached
	x, y          int      // y counts in lines
}

// NewScreen is an empty one.
func NewScreen(columns, rows int) *Screen {
	return &Screen{columns: columns, rows: rows, lines: make([][]rune, 1)}
}

// top is the line that the cursor cannot go above.
func (s *Screen) top() int { return max(0, len(s.lines)-s.rows) }

// Write shows text at the cursor, and does what its escape sequences ask for, as far as the panel uses them.
func (s *Screen) Write(text string) {
	for len(text) > 0 {
		if sequence, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(sequence, func(r rune) bool { return r >= '@' && r <= '~' })
			s.control(sequence[:end], sequence[end])
			text = sequence[end+1:]
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		text = text[len(string(r)):]
		s.put(r)
	}
}

func (s *Screen) put(r rune) {
	switch r {
	case '\r':
		s.x = 0
		return
	case '\n':
		s.down()
		return
	}
	if s.x == s.columns {
		s.x = 0
		s.down()
	}
	line := &s.lines[s.y]
	for len(*line) <= s.x {
		*line = append(*line, ' ')
	}
	(*line)[s.x] = r
	s.x++
}

func (s *Screen) down() {
	if s.y++; s.y == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *Screen) control(parameters string, final byte) {
	n, _ := strconv.Atoi(parameters)
	switch final {
	case 'A':
		s.y = max(s.top(), s.y-n)
	case 'K':
		s.clear()
	case 'J':
		s.clear()
		s.lines = s.lines[:s.y+1]
	}
}

// clear empties the rest of the line.
func (s *Screen) clear() {
	if line := &s.lines[s.y]; len(*line) > s.x {
		*line = (*line)[:s.x]
	}
}

func (s *Screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}
