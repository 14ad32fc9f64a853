package loadcore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"leveret/loadcore/wire"
)

// The reading end of a connection: data plane. Nothing here allocates per message.
//
// Bytes are read into one buffer and taken from it in place. Only a frame of method or header that is cut off at the end is
// moved to the front; a body frame is consumed as far as it is there (streaming), so that large bodies are neither copied
// nor buffered.

// Read buffer sizes in bytes. It begins small, for connections that have little to say, and doubles when a read fills it.
const (
	readBufferMin = 16 << 10
	readBufferMax = 256 << 10
)

// inbound is what has been read. buf[start:end] is not taken yet.
type inbound struct {
	buf        []byte
	start, end int
	filled     bool   // the last read filled the buffer: the next one shall have more room
	kept       []byte // what buf lies in between two reads of the shared drive
	got        int    // bytes that the last read brought
	need       int    // whole length of the frame that is cut off; 0 if unknown

	// A body frame that is taken while it arrives.
	streaming bool
	channel   *channel
	left      int // payload bytes still to come; then the end octet
}

// readLoop reads until the connection ends.
func (c *conn) readLoop() {
	defer c.readers.Done()
	c.prepareReceiver()
	c.prepareRests()
	defer c.rests.end()
	c.pin()
	for {
		err := c.fill()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Poked. Reset the deadline first, then look at the flag: see poke.
			c.link.sock.SetReadDeadline(time.Time{})
			if c.chores.Swap(false) {
				c.chore()
			}
			continue
		}
		if err == nil {
			c.at = c.eng.clock.Now()
			err = c.take()
			if unasked := c.finishRead(); err == nil {
				err = unasked
			}
		}
		if err != nil {
			c.readEnded(err)
			return
		}
		if c.throttle != nil {
			c.awaitWork(c.in.got)
		}
		c.rests.after(c.eng.clock, c.at, c.in.got)
	}
}

func (c *conn) prepareReceiver() {
	if c.canWait() {
		c.receiver = receiver{wait: true, borrow: func() []byte { return c.throttle.limit(c.in.buf[c.in.end:]) }, giveUp: func() {}}
	}
}

func (c *conn) readEnded(err error) {
	switch {
	case err == errClosed:
		c.end()
		return
	case errors.Is(err, io.EOF) && (c.in.start < c.in.end || c.in.streaming):
		err = errors.New("the broker closed the socket in the middle of a frame")
	case errors.Is(err, io.EOF):
		err = errors.New("the broker closed the socket without connection.close")
	}
	c.fail(err)
}

// fill is the one read call. It makes room first.
func (c *conn) fill() error {
	in := &c.in
	if in.start == in.end {
		in.start, in.end = 0, 0
	}
	if want := in.wanted(); want > len(in.buf) {
		bigger := make([]byte, want)
		in.end = copy(bigger, in.buf[in.start:in.end])
		in.start, in.buf = 0, bigger
	} else if in.start > 0 { // the rest of a frame, short: bodies are streamed
		in.end = copy(in.buf, in.buf[in.start:in.end])
		in.start = 0
	}
	c.reading.Store(true)
	n, err := c.read()
	c.reading.Store(false)
	in.end += n
	in.got = n
	in.filled = in.end == len(in.buf)
	if n > 0 {
		c.reads.Add(1)
		c.seen.bytes.add(int64(n))
		return nil // an error comes again with the next call
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// read is one read call of a dedicated connection: by itself where the socket allows that, see readNow.
func (c *conn) read() (int, error) {
	if c.receiver.borrow == nil {
		return c.link.sock.Read(c.throttle.limit(c.in.buf[c.in.end:]))
	}
	return c.receiver.receive(c)
}

// wanted is how large the buffer has to be for the next read. A cut-off frame is never over frame-max, which bounds it.
func (in *inbound) wanted() int {
	size := max(len(in.buf), readBufferMin)
	if in.filled && size < readBufferMax {
		size *= 2
	}
	return max(size, in.need)
}

// take handles everything in the buffer that is whole, and bodies as far as they are there.
func (c *conn) take() error {
	in := &c.in
	in.need = 0
	for {
		if in.streaming {
			done, err := c.stream()
			if !done || err != nil {
				return err
			}
		}
		buf := in.buf[in.start:in.end]
		f, n, err := wire.NextFrame(buf, c.link.limits.FrameMax)
		if err != nil {
			return err
		}
		if n == 0 {
			begun, err := c.beginStream(buf)
			if !begun {
				return err
			}
			continue
		}
		in.start += n
		if err := c.frame(f); err != nil {
			return err
		}
	}
}

// lane is the channel of a number, nil if it was never opened.
func (c *conn) lane(number int) *channel {
	if number >= len(c.lanes) {
		return nil
	}
	return c.lanes[number].Load()
}

func notOpen(number int) error {
	return fmt.Errorf("the broker sent a frame on channel %d, which is not open", number)
}

// onChannel adds the channel to an error of the codec, which does not know it.
func onChannel(ch *channel, err error) error {
	var syntax *wire.SyntaxError
	var unknown *wire.UnknownMethodError
	if errors.As(err, &syntax) || errors.As(err, &unknown) {
		return fmt.Errorf("frame on channel %d: %w", ch.number, err)
	}
	return err
}

// frame handles one whole frame.
func (c *conn) frame(f wire.Frame) error {
	ch := c.lane(int(f.Channel))
	if ch == nil {
		return notOpen(int(f.Channel))
	}
	switch f.Type {
	case wire.FrameMethod:
		err := c.method(ch, f.Payload)
		if err != nil {
			return onChannel(ch, err)
		}
		return nil
	case wire.FrameHeader:
		h, err := wire.ParseHeader(f.Payload)
		if err != nil {
			return onChannel(ch, err)
		}
		return ch.header(h.BodySize, h.RawProperties)
	case wire.FrameBody:
		return ch.body(f.Payload)
	}
	return nil // a heartbeat: having come is all it is for
}

func (c *conn) method(ch *channel, payload []byte) error {
	id, args, err := wire.PeekMethod(payload)
	if err != nil {
		return err
	}
	if ch.content.expects != contentNone && ch.number != 0 {
		return fmt.Errorf("the broker sent %s on channel %d in the middle of a message", id, ch.number)
	}
	switch id {
	case wire.BasicDeliverID:
		if ch.consumer != nil {
			return ch.consumer.deliver(args)
		}
	case wire.BasicAckID, wire.BasicNackID:
		if ch.producer != nil {
			return ch.producer.settled(id, args)
		}
	case wire.BasicReturnID:
		if ch.producer != nil {
			return ch.producer.returned(args)
		}
	case wire.BasicGetOkID:
		if ch.consumer != nil {
			return ch.consumer.got(args)
		}
	case wire.BasicGetEmptyID:
		if ch.consumer != nil {
			return ch.consumer.gotNone()
		}
	case wire.TxCommitOkID:
		switch {
		case ch.producer != nil:
			return ch.producer.committed()
		case ch.consumer != nil && ch.consumer.tx != nil && ch.consumer.tx.committing:
			ch.consumer.commitConfirmed()
			return nil
		}
	default:
		return c.control(ch, payload)
	}
	return fmt.Errorf("the broker sent %s on channel %d, which is not of that kind", id, ch.number)
}

// beginStream starts on a body frame whose head is there and whose end is not. false: wait for more.
func (c *conn) beginStream(buf []byte) (bool, error) {
	size, ok := wire.FrameSize(buf)
	if !ok {
		return false, nil
	}
	if buf[0] != wire.FrameBody {
		c.in.need = size
		return false, nil
	}
	const head = wire.FrameOverhead - 1
	number := int(buf[1])<<8 | int(buf[2])
	ch := c.lane(number)
	if ch == nil {
		return false, notOpen(number)
	}
	c.in.streaming, c.in.channel, c.in.left = true, ch, size-wire.FrameOverhead
	c.in.start += head
	return true, nil
}

// stream takes what is there of the body frame that is arriving; done once its end octet is taken.
func (c *conn) stream() (done bool, err error) {
	in := &c.in
	if n := min(in.left, in.end-in.start); n > 0 {
		piece := in.buf[in.start : in.start+n : in.start+n]
		in.start += n
		in.left -= n
		if err := in.channel.body(piece); err != nil {
			return false, err
		}
	}
	if in.left > 0 || in.start == in.end {
		return false, nil
	}
	if in.buf[in.start] != wire.FrameEnd {
		return false, fmt.Errorf("a body frame on channel %d does not end with %#02x", in.channel.number, wire.FrameEnd)
	}
	in.start++
	in.streaming, in.channel = false, nil
	return true, nil
}
