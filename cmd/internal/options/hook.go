package options

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Hook is a command that is run at a time of the run.
type Hook struct {
	At      time.Duration // after load has begun
	Command string        // for the system's shell
}

// mostHooks and mostHookCommand (bytes) bound what is recorded of them.
const (
	mostHooks       = 100
	mostHookCommand = 800
)

func (r *Run) hookOption() *Option {
	return &Option{Name: "hook", Arg: "'TIME: COMMAND'", Group: groupRecord, value: hooks(&r.Hooks), Redact: timeOnly,
		Help: "run COMMAND in the system's shell TIME seconds after load has begun, such as '10: docker kill rabbit2'; when it began and ended, and its exit code, are marks in the capture, and of one that failed the first lines of what it wrote to standard error; what it writes goes to standard error, with --quiet nowhere; may be repeated. Passwords in URIs are left out of the marks, others are not: take them from files"}
}

// timeOnly leaves out what may be secret in a hook.
func timeOnly(s string) string {
	at, _, found := strings.Cut(s, ":")
	if _, err := parseSeconds(strings.TrimSpace(at)); err != nil || !found {
		return "..."
	}
	return strings.TrimSpace(at) + ": ..."
}

// hooks appends one hook.
func hooks(p *[]Hook) value {
	return value{func() string {
		var texts []string
		for _, h := range *p {
			texts = append(texts, h.At.String()+": ...")
		}
		return strings.Join(texts, ", ")
	}, func(s string) error {
		at, command, found := strings.Cut(s, ":")
		d, err := parseSeconds(strings.TrimSpace(at))
		command = strings.TrimSpace(command)
		switch {
		case !found || err != nil:
			return errors.New("must begin with a time after the beginning of the load, and a colon: '10: docker kill rabbit2'")
		case command == "" || strings.ContainsFunc(command, breaksLines):
			return errors.New("must have a command on one line behind the time")
		case len(command) > mostHookCommand:
			return fmt.Errorf("has a command of %d bytes, and at most %d are possible: put it into a script", len(command), mostHookCommand)
		}
		if *p = append(*p, Hook{At: d, Command: command}); len(*p) > mostHooks {
			return fmt.Errorf("at most %d hooks are possible", mostHooks)
		}
		return nil
	}, "hook"}
}
