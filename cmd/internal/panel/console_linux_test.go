package panel

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"leveret/cmd/internal/panel/terminaltest"
)

// onTerminal is a console and what its terminal was sent.
func onTerminal(t *testing.T) (*Console, *terminaltest.Terminal) {
	t.Helper()
	p := terminaltest.Open(t, 20, 10)
	return NewConsole(p.Slave), p
}

func mustBeOn(t *testing.T, p *terminaltest.Terminal, want string) {
	t.Helper()
	p.Slave.WriteString("\x1b[0m.") // so that everything before it has come
	p.Await(t, "\x1b[0m.")
	s := terminaltest.NewScreen(20, 10)
	s.Write(strings.TrimSuffix(p.Text(), "\x1b[0m."))
	if got := s.String(); got != want {
		t.Errorf("the screen is\n%s\nwant\n%s\n%q", got, want, p.Text())
	}
}

func TestWhatIsWrittenAppearsAboveThePanel(t *testing.T) {
	c, p := onTerminal(t)
	fmt.Fprintln(c, "before")
	c.show([]string{"one", "two"}, []int{3, 3})
	fmt.Fprintln(c, "meanwhile")
	c.show([]string{"ONE", "TWO", "THREE"}, []int{3, 3, 5})
	fmt.Fprint(c, "no end")
	fmt.Fprintln(c, " of a line")
	c.show([]string{"last"}, []int{4})
	c.leave()
	fmt.Fprintln(c, "after")
	c.show([]string{"again"}, []int{5})
	mustBeOn(t, p, "before\nmeanwhile\nno end\n of a line\nlast\nafter\nagain\n\n")
}

// Two lines of 15 columns take two rows each where there are only 10: the panel begins five rows above the cursor.
func TestPanelOnATerminalThatHasBecomeNarrower(t *testing.T) {
	c, p := onTerminal(t)
	long := strings.Repeat("x", 15)
	c.show([]string{long, "short", long}, []int{15, 5, 15})
	p.Resize(t, 10, 10)
	c.show([]string{"y"}, []int{1})
	p.Await(t, "y")
	if text := p.Text(); !strings.Contains(text, "\r\x1b[5Ay\x1b[K") {
		t.Errorf("%q", text)
	}
}

// Where writing fails there is no panel any more, and nobody is kept.
func TestConsoleWithoutTerminal(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	c := NewConsole(write)
	c.show([]string{"one"}, []int{3})
	if !c.gone || c.block != nil {
		t.Errorf("%+v", c)
	}
	write.Close()
	c.show([]string{"two"}, []int{3})
	if _, err := c.Write([]byte("three")); err == nil {
		t.Error("no error from a closed file")
	}
}
