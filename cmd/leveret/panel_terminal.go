package main

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// isTerminal tells whether w is a terminal on which text can be written over and colored.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	kind := os.Getenv("TERM")
	return kind != "dumb" && (kind != "" || runtime.GOOS == "windows")
}

// terminalWidth is the number of columns of the terminal that w is; 0 where it is none, or does not tell.
func terminalWidth(w io.Writer) int {
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

// colored tells whether output to w is to have colors; no is the user's option, NO_COLOR the environment's.
func colored(w io.Writer, no bool) bool {
	return isTerminal(w) && !no && os.Getenv("NO_COLOR") == ""
}
