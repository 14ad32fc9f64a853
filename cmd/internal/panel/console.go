package panel

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
)

// Console is where everything but results is written. On a terminal a panel may stand at its end: what is written meanwhile
// appears above it.
//
// The panel is a block of whole lines, and the cursor waits on the line below it. To change it the cursor goes up, writes
// all lines anew and clears what is left; all of that in one write. No mode of the terminal is changed, the cursor is not
// hidden, nothing is read: whatever ends the program, there is nothing to be restored, and Ctrl-C and Ctrl-Z are the
// terminal's. That is why no library does this: those that are made for it take the keyboard and the modes over.
type Console struct {
	file *os.File

	mu sync.Mutex
	// guards the following
	block   []string // the panel's lines as they stand on the screen; nil: there is none
	columns []int    // how many columns each of them has
	midLine bool     // what was written last did not end its line
	gone    bool     // the terminal cannot be written to any more: it shows nothing again
}

// NewConsole is a console on a file that stays the caller's to close.
func NewConsole(file *os.File) *Console { return &Console{file: file} }

// Fd is the descriptor of the file, for asking the system about the terminal.
func (c *Console) Fd() uintptr { return c.file.Fd() }

// Write writes above the panel, where there is one. The bytes are the caller's again when it returns.
func (c *Console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) > 0 {
		c.midLine = b[len(b)-1] != '\n'
	}
	if c.block == nil {
		return c.file.Write(b)
	}
	width, _ := terminalSize(c.file)
	var out bytes.Buffer
	c.goUp(&out, width)
	fmt.Fprintf(&out, "\x1b[J%s", b)
	c.paint(&out)
	if _, err := c.file.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// show replaces the panel's lines, whose widths are given too. Where writing fails, the terminal has gone, and there is no
// panel any more.
func (c *Console) show(lines []string, columns []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	width, _ := terminalSize(c.file)
	var out bytes.Buffer
	c.goUp(&out, width)
	c.block, c.columns = lines, columns
	c.paint(&out)
	if _, err := c.file.Write(out.Bytes()); err != nil {
		c.gone, c.block = true, nil
	}
}

// leave lets the panel stand as ordinary text: what is written next follows it, and a panel that is shown next is a new one.
func (c *Console) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.block, c.columns = nil, nil
}

// goUp moves the cursor to the beginning of the panel. A terminal that has become narrower has broken the lines that are
// too long for it; one that cuts them instead makes the panel eat some lines above it, and that is all.
func (c *Console) goUp(out *bytes.Buffer, width int) {
	rows := 0
	for _, n := range c.columns {
		rows += max(1, (n+width-1)/width)
	}
	out.WriteByte('\r')
	if rows > 0 {
		fmt.Fprintf(out, "\x1b[%dA", rows)
	}
}

// paint writes the panel's lines from where the cursor is.
func (c *Console) paint(out *bytes.Buffer) {
	if c.midLine {
		out.WriteString("\r\n")
		c.midLine = false
	}
	out.WriteString(strings.Join(c.block, "\x1b[K\r\n"))
	out.WriteString("\x1b[K\r\n\x1b[J")
}
