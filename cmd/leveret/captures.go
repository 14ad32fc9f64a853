package main

import (
	"fmt"

	"leveret/cmd/internal/options"
)

// capturesOf reads a command line that names captures beside options.
func capturesOf(set *options.Set, args []string) ([]string, error) {
	dirs, err := set.Parse(args)
	if err == nil && len(dirs) == 0 {
		err = mistake(set, "which capture? leveret %s CAPTURE..., a directory that leveret run recorded", set.Command())
	}
	return dirs, err
}

// mistake is an error of the command line of a set's command; what is wrong is said as by fmt.Errorf.
func mistake(set *options.Set, format string, args ...any) error {
	return &options.UsageError{Command: set.Command(), Err: fmt.Errorf(format, args...)}
}
