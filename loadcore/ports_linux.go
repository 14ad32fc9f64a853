package loadcore

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

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

// dialer connects from the source address, if one is given. The port is chosen when the peer is known: chosen before, it would
// be taken for all peers.
func dialer(source netip.Addr) *net.Dialer {
	d := new(net.Dialer)
	if source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
		d.Control = func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) {
				// Where a kernel does not know it, ports are fewer, and nothing else is wrong.
				_ = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
			})
		}
	}
	return d
}
