//go:build unix

package panel

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare makes a terminal ready for a panel; restore undoes it. Here a terminal is what it is.
func prepare(*os.File) (restore func(), ok bool) { return func() {}, true }

// inForeground tells whether this process may write over what is on the terminal: in the background it belongs to somebody
// else, mostly the shell.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// notifyContinued has c told when the process goes on after it was stopped: the screen is another one then.
func notifyContinued(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
