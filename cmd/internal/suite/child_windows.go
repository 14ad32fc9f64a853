package suite

import (
	"os/exec"
	"syscall"
)

// apart gives the process a group of its own: the console's Ctrl-C is for the suite, which then stops its run.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
