//go:build !unix

package loadcore

// receiver has no implementation here: each connection of the shared drive has a reader and a buffer of its own.
type receiver struct {
	wait   bool
	borrow func() []byte
	giveUp func()
}

func (*receiver) receive(*conn) (int, error) { return 0, nil }

func (*conn) canWait() bool { return false }
