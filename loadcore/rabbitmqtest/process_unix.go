//go:build unix

package rabbitmqtest

import (
	"os"
	"os/exec"
	"syscall"
)

// ownSession makes the command the leader of a session and so of a process group: a Ctrl-C in the terminal reaches only
// the owner, and one kill reaches everything that the command started.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
func pause(p *os.Process) error     { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error    { return p.Signal(syscall.SIGCONT) }

// killGroup ends the process and what it started.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// platformError is nil where private nodes can be started.
func platformError() error { return nil }
