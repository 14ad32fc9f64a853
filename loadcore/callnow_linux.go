//go:build !race

package loadcore

import (
	"syscall"
	"unsafe"
)

// Read and write calls on descriptors that never wait, without telling Go's scheduler of them. It would hand the processor to
// another thread and, after each time that the process was idle, wake its watcher (sysmon), which is worth it for a call that
// may take long. These copy at most a buffer: with a broker that sends little at a time the watcher's wake-ups came to a third
// of the process's time.

func readNow(fd int, p []byte) (int, error) { return callNow(syscall.SYS_READ, fd, p) }

func writeNow(fd int, p []byte) (int, error) { return callNow(syscall.SYS_WRITE, fd, p) }

// callNow returns -1 with an error, as package syscall does. p is not empty.
func callNow(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
