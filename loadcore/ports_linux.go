package loadcore

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// localPorts is the range that the system takes local ports from.
func localPorts() (low, high int, known bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0, false
	}
	n, err := fmt.Sscan(string(text), &low, &high)
	return low, high, err == nil && n == 2 && low <= high
}

// choosePortLate has the system choose the local port when the peer is known: chosen when an address is bound, it would be taken
// for all peers.
func choosePortLate(fd uintptr) {
	// Where a kernel does not know it, ports are fewer, and nothing else is wrong.
	_ = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
}
