//go:build !unix && !windows

package loadcore

// cpuTime is 0: the standard library cannot ask this system.
func cpuTime() int64 { return 0 }
