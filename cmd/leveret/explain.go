package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leveret/analyze"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
)

// explained makes of an error of an analysis what the user of a command can do something about.
func explained(command string, dirs []string, err error) error {
	var outside *analyze.WindowError
	var asked *analyze.AskedError
	switch {
	case errors.As(err, &outside) && command == "compare":
		return &options.UsageError{Command: command, Err: fmt.Errorf("--from, --to, --warmup: %s: %w", dirs[0], err)}
	case errors.As(err, &outside):
		return &options.UsageError{Command: command, Err: fmt.Errorf("--from, --to, --warmup: %w", err)}
	case errors.As(err, &asked):
		return &options.UsageError{Command: command, Err: asked}
	}
	for _, dir := range dirs {
		if several := notOneCapture(dir); several != nil {
			return several
		}
	}
	return err
}

// notOneCapture says of a directory that holds runs, and is the capture of none of them, what to give in its place; nil for another one.
func notOneCapture(dir string) error {
	if isCapture(dir) {
		return nil
	}
	if suite.IsSuite(dir) {
		return fmt.Errorf("%s is the directory of a suite and no capture: leveret analyze %s makes its tables, leveret compare %s compares its rows; or give one of the captures below it%s",
			dir, dir, dir, below(dir))
	}
	if index, err := readRepeats(dir); err != nil || index != nil {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s holds repeated runs and is no capture: leveret compare %s compares its variants; or give one of its captures%s", dir, dir, below(dir))
	}
	if names := below(dir); names != "" {
		return fmt.Errorf("%s is no capture, but there are some below it: give one of them%s", dir, names)
	}
	return nil
}

// below names the first captures below a directory, down to two levels: ", such as DIR/a, DIR/b"; "" where there are none.
func below(dir string) string {
	const shown, levels = 3, 2
	var found []string
	var look func(dir string, level int)
	look = func(dir string, level int) {
		entries, _ := os.ReadDir(dir) // whoever may not look there is told so by the command
		for _, e := range entries {
			switch path := filepath.Join(dir, e.Name()); {
			case !e.IsDir() || len(found) == shown:
			case isCapture(path):
				found = append(found, path)
			case level < levels:
				look(path, level+1)
			}
		}
	}
	look(dir, 1)
	if len(found) == 0 {
		return ""
	}
	return ", such as " + strings.Join(found, ", ")
}
