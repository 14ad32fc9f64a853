package loadcore

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"syscall"
)

// TCPOptions are those of the sockets, below TLS where there is TLS. Sizes are asked for before the connection is made, so
// that they count for its window.
type TCPOptions struct {
	SendBuffer, ReceiveBuffer int  // bytes; 0: the system's, which it may let grow
	Delay                     bool // small writes may wait for acknowledgements (Nagle's algorithm)
}

// check: the system reads sizes as 32 bits.
func (o TCPOptions) check() error {
	for option, bytes := range map[string]int{"tcp-send-buffer-size": o.SendBuffer, "tcp-receive-buffer-size": o.ReceiveBuffer} {
		if bytes < 0 || bytes > math.MaxInt32 {
			return fmt.Errorf("--%s=%d: want 0 (the system's) to %d bytes", option, bytes, math.MaxInt32)
		}
	}
	return nil
}

// dialer connects from the source address, if one is given, with the socket's options.
func dialer(source netip.Addr, o TCPOptions) *net.Dialer {
	d := new(net.Dialer)
	if source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
	}
	d.Control = func(_, _ string, raw syscall.RawConn) error {
		var err error
		if e := raw.Control(func(fd uintptr) {
			if source.IsValid() {
				choosePortLate(fd)
			}
			err = setBuffers(fd, o)
		}); e != nil {
			return e
		}
		return err
	}
	return d
}

// setDelay is for an open connection: Go turns the delay off when it connects.
func (o TCPOptions) setDelay(c net.Conn) error {
	tcp, ok := c.(*net.TCPConn)
	if !ok || !o.Delay {
		return nil
	}
	if err := tcp.SetNoDelay(false); err != nil {
		return fmt.Errorf("--tcp-no-delay=false: %w", err)
	}
	return nil
}
