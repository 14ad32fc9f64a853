package panel

import (
	"io"
	"os"
	"runtime"
	"strconv"
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

// mostColumns bounds what COLUMNS may ask for.
const mostColumns = 1000

// Width is the number of columns of the terminal that w is; where it is none, or does not tell, that of the variable COLUMNS, 0
// without it.
func Width(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n <= 0 {
		return 0
	}
	return min(n, mostColumns)
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
