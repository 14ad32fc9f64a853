package loadcore

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentMeter asks the system how many bytes of a connection are still in its socket: written by us and not acknowledged by
// the peer's system.
type unsentMeter struct {
	conns []syscall.RawConn
	ask   func(fd uintptr) // once, so that asking allocates nothing
	bytes int
	err   error
}

// add takes a connection on.
func (m *unsentMeter) add(c net.Conn) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		m.conns = append(m.conns, raw)
	}
}

// most is the largest figure of all connections; ok is false where none tells.
func (m *unsentMeter) most() (bytes int64, ok bool) {
	if m.ask == nil {
		m.ask = func(fd uintptr) { m.bytes, m.err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }
	}
	for _, c := range m.conns {
		if c.Control(m.ask) == nil && m.err == nil {
			bytes, ok = max(bytes, int64(m.bytes)), true
		}
	}
	return bytes, ok
}
