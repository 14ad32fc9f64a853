package panel

import (
	"bytes"
	"io"

	"github.com/rivo/uniseg"
)

// Status is one line at the end of a terminal, replaced as it changes; elsewhere it shows nothing. What is written to the same
// console meanwhile appears above it.
type Status struct {
	console *Console // nil: nowhere
}

// NewStatus is a status on w, which shows itself where w is a Console on a terminal and quiet is not asked for.
func NewStatus(w io.Writer, quiet bool) *Status {
	c, ok := w.(*Console)
	if quiet || !ok || !isTerminal(w) {
		return &Status{}
	}
	return &Status{c}
}

// Shows reports whether there is a terminal to show it on.
func (s *Status) Shows() bool { return s.console != nil }

// Show replaces the line; "" takes it away. What the terminal has no room for is cut.
func (s *Status) Show(text string) {
	if s.console == nil {
		return
	}
	if text == "" {
		s.console.clear()
		return
	}
	width, _ := terminalSize(s.console.file)
	cut, columns := 0, 0
	for g := uniseg.NewGraphemes(text); g.Next() && columns+g.Width() < width; {
		columns += g.Width()
		_, cut = g.Positions()
	}
	s.console.show([]string{text[:cut]}, []int{columns})
}

// clear takes the panel away, as if it had never been there.
func (c *Console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.block == nil || c.gone {
		return
	}
	width, _ := terminalSize(c.file)
	var out bytes.Buffer
	c.goUp(&out, width)
	out.WriteString("\x1b[J")
	c.block, c.columns = nil, nil
	if _, err := c.file.Write(out.Bytes()); err != nil {
		c.gone = true
	}
}
