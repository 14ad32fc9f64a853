//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

const shellName, shellFlag = "/bin/sh", "-c"

// endWhole gives a command a process group of its own, all of which ends when the command is cancelled: what a shell has
// started would go on otherwise.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
