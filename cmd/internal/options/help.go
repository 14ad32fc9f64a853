package options

import (
	"fmt"
	"io"
	"strings"
)

// helpColumn is where the descriptions begin; helpWidth bounds the lines.
const (
	helpColumn = 30
	helpWidth  = 80
)

// Help writes the options under their headings, with defaults.
func (s *Set) Help(w io.Writer) {
	for _, group := range groupOrder {
		printed := false
		for _, o := range s.options {
			if o.Group != group {
				continue
			}
			if !printed {
				fmt.Fprintf(w, "\n%s\n", group)
				printed = true
			}
			s.helpEntry(w, s.head(o), o)
		}
	}
}

// head is an option as it is spelled, with its value.
func (s *Set) head(o *Option) string {
	head := "  --" + o.Name
	if s.oneDash && len(o.PerfTest) > 0 {
		head = "  -" + strings.Join(o.PerfTest, ", -") + ", --" + o.Name
	}
	if o.Short != "" {
		head = "  -" + o.Short + ", --" + o.Name
	}
	if o.Arg != "" {
		head += " " + o.Arg
	}
	if o.Bare != "" {
		head += "[=VALUE]"
	}
	return head
}

// helpEntry writes head and, beside it, what the option does.
func (s *Set) helpEntry(w io.Writer, head string, o *Option) {
	text := o.Help
	// What the text says of the default by itself is not repeated.
	if d := s.flags.Lookup(o.Name).DefValue; d != "" && d != "false" && o.Arg != "" && !strings.Contains(text, " "+d+": ") {
		text += " (default " + d + ")"
	}
	lines := wrap(text, helpWidth-helpColumn)
	if len(head) >= helpColumn {
		fmt.Fprintln(w, head)
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", helpColumn, head, line)
		head = ""
	}
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
