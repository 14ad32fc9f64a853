package loadcore

import "syscall"

// cpuTime is the user plus system time that the process has used, in nanoseconds.
func cpuTime() int64 {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return fileTime(kernel) + fileTime(user)
}

// fileTime is a span in a Filetime, which counts 100 ns.
func fileTime(f syscall.Filetime) int64 {
	return (int64(f.HighDateTime)<<32 | int64(f.LowDateTime)) * 100
}
