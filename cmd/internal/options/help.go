package options

import (
	"fmt"
	"io"
	"strings"
)

// helpColumn is where the descriptions begin; helpWidth bounds the lines.
const (
	helpColumn = 34
	helpWidth  = 100
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
			s.helpLine(w, o)
		}
	}
}

func (s *Set) helpLine(w io.Writer, o *Option) {
	head := "  --" + o.Name
	if o.Arg != "" {
		head += " " + o.Arg
	}
	text := o.Help
	if d := s.flags.Lookup(o.Name).DefValue; d != "" && d != "false" && o.Arg != "" {
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
