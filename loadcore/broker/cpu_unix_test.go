//go:build unix

package broker_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used so far, in user and system mode. Unlike the clock it hardly depends on what else
// the machine does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
