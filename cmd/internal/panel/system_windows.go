package panel

import (
	"os"

	"golang.org/x/sys/windows"
)

// prepare has the console understand escape sequences; restore undoes it. An old console does not.
func prepare(f *os.File) (restore func(), ok bool) {
	handle, mode := windows.Handle(f.Fd()), uint32(0)
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return nil, false
	}
	if err := windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, false
	}
	return func() { windows.SetConsoleMode(handle, mode) }, true
}

func inForeground(*os.File) bool { return true }

// notifyContinued: no process is ever stopped here.
func notifyContinued(chan<- os.Signal) {}
