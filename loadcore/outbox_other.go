//go:build !unix

package loadcore

import "net"

// tryWriter has no implementation here: posted frames are written by a goroutine that may wait.
type tryWriter struct{}

func newTryWriter(net.Conn) *tryWriter { return nil }

func (*tryWriter) write([]byte) (int, error) { return 0, nil }
