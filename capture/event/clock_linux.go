package event

import (
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// monotonic reads CLOCK_MONOTONIC, the clock that all processes since boot share.
func monotonic() int64 {
	const clockMonotonic = 1 // clock_gettime(2)
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return ts.Nano()
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// wallError asks the kernel, which only knows where a daemon (chrony, ntpd, systemd-timesyncd) keeps telling it.
func wallError() int64 {
	const unsynchronized = 0x40 // STA_UNSYNC
	var t syscall.Timex         // modes 0: nothing is set
	if _, err := syscall.Adjtimex(&t); err != nil || t.Status&unsynchronized != 0 || t.Maxerror <= 0 {
		return 0
	}
	return int64(t.Maxerror) * 1000
}
