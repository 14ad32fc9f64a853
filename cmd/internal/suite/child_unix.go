//go:build unix

package suite

import (
	"os/exec"
	"syscall"
)

// apart gives the process a group of its own: the terminal's Ctrl-C is for the suite, which then stops its run.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
