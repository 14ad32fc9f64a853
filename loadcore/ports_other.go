//go:build !linux

package loadcore

import (
	"net"
	"net/netip"
)

// localPorts are not known here: running out of them is seen when it happens.
func localPorts() (low, high int, known bool) { return 0, 0, false }

// dialer connects from the source address, if one is given.
func dialer(source netip.Addr) *net.Dialer {
	d := new(net.Dialer)
	if source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
	}
	return d
}
