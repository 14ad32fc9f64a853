package loadcore

import (
	"fmt"
	"net"

	"golang.org/x/sys/windows"

	"leveret/capture/manifest"
)

func setBuffers(fd uintptr, o TCPOptions) error {
	for _, b := range []struct {
		option string
		which  int
		bytes  int
	}{{"tcp-send-buffer-size", windows.SO_SNDBUF, o.SendBuffer}, {"tcp-receive-buffer-size", windows.SO_RCVBUF, o.ReceiveBuffer}} {
		if b.bytes == 0 {
			continue
		}
		if err := windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, b.which, b.bytes); err != nil {
			return fmt.Errorf("--%s=%d: %w", b.option, b.bytes, err)
		}
	}
	return nil
}

// socketOf asks the system what options a connection has; nil where it does not say.
func socketOf(c net.Conn) *manifest.Socket {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var send, receive, noDelay int
	var errs [3]error
	if raw.Control(func(fd uintptr) {
		send, errs[0] = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_SNDBUF)
		receive, errs[1] = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_RCVBUF)
		noDelay, errs[2] = windows.GetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, windows.TCP_NODELAY)
	}) != nil || errs != [3]error{} {
		return nil
	}
	return &manifest.Socket{SendBufferBytes: send, ReceiveBufferBytes: receive, NoDelay: noDelay != 0}
}
