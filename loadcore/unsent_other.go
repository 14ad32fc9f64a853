//go:build !linux

package loadcore

import "net"

// unsentMeter: only Linux tells.
type unsentMeter struct{}

func (*unsentMeter) add(net.Conn) {}

func (*unsentMeter) most() (int64, bool) { return 0, false }
