package panel

import (
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// SpeaksUTF8 asks the locale as the C library would: the first of the three variables that is set decides.
func SpeaksUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// isTerminal tells whether w is a terminal on which text can be written over and colored.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	kind := os.Getenv("TERM")
	return kind != "dumb" && (kind != "" || runtime.GOOS == "windows")
}

// OnTerminal tells whether w is a terminal, of any kind.
func OnTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is the number of columns of the terminal that w is; 0 where it is none, or does not tell.
func Width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// terminalSize is the size of a terminal, and the usual one where it does not tell.
func terminalSize(f *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// Colored tells whether output to w is to have colors; no is the user's option, NO_COLOR the environment's.
func Colored(w io.Writer, no bool) bool {
	return isTerminal(w) && !no && os.Getenv("NO_COLOR") == ""
}
