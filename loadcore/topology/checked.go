package topology

import (
	"fmt"
	"net"

	"leveret/loadcore/wire"
)

// checked is a connection whose frames are read by our own codec before the library gets them: it makes room for whatever length it
// is told, which may be 2 GiB because of four bytes.
type checked struct {
	net.Conn
	buf  []byte
	good int   // buf[:good] is whole frames, to be taken
	err  error // what is behind them
}

// frameMost bounds a frame, in bytes: what is asked for in the handshake, and what frames in front of that may have.
const frameMost = wire.DefaultFrameMax

func (c *checked) Read(p []byte) (int, error) {
	for c.good == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.buf[:c.good])
	c.buf, c.good = c.buf[n:], c.good-n
	return n, nil
}

// fill reads once. What is no frame ends the connection, behind the frames before it.
func (c *checked) fill() {
	chunk := make([]byte, 4096)
	n, err := c.Conn.Read(chunk)
	c.buf = append(c.buf, chunk[:n]...)
	for {
		f, n, wrong := wire.NextFrame(c.buf[c.good:], frameMost)
		if wrong == nil && n > 0 {
			wrong = check(f)
		}
		if wrong != nil {
			c.err = wrong
			return
		}
		if n == 0 {
			break
		}
		c.good += n
	}
	c.err = err
}

// check reads what is in a frame.
func check(f wire.Frame) error {
	var err error
	switch f.Type {
	case wire.FrameMethod:
		_, err = wire.ParseMethod(f.Payload)
	case wire.FrameHeader:
		var h wire.Header
		if h, err = wire.ParseHeader(f.Payload); err == nil {
			_, err = wire.ParseProperties(h.RawProperties)
		}
	}
	if err != nil {
		return fmt.Errorf("frame on channel %d: %w", f.Channel, err)
	}
	return nil
}
