package broker

import (
	"errors"
	"fmt"
	"time"

	"leveret/loadcore/wire"
)

// Why a connection's reader ended.
var (
	errPeer   = errors.New("the client went away")
	errClosed = errors.New("closed in agreement")
	errCut    = errors.New("cut (fault)")
	errKilled = errors.New("stopped by the broker")
)

// maxOut is how many bytes may wait to be written before the connection's input is left alone: a client that asks and does
// not read the answers cannot make the broker keep them all. What one frame can add comes on top.
const maxOut = 1 << 20

// read takes input until the connection ends, and returns why.
func (c *conn) read(buf *readBuffer) error {
	for {
		if err := c.waitForStall(); err != nil {
			return err
		}
		more, err := c.turn(buf)
		if err != nil {
			return err
		}
		if err := c.holdBack(); err != nil {
			return err
		}
		if more {
			continue
		}
		if err := buf.fill(c.nc); err != nil {
			return fmt.Errorf("%w: %w", errPeer, err)
		}
		c.reads.Add(1)
	}
}

// turn processes what is in the buffer, under the lock. more says that it stopped before the end, at a frame after which the
// connection has to wait for something.
func (c *conn) turn(buf *readBuffer) (more bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publishedNow = false
	in := buf.unread()
	used := 0
	for c.halt == 0 {
		n, problem := c.frame(in[used:])
		used += n
		if problem != nil {
			c.flush()
			c.fail(problem)
		} else if n == 0 {
			break
		}
	}
	buf.consume(used)
	c.flush()
	if len(c.out) > 0 {
		c.signal()
	}
	switch {
	case c.halt&haltCut != 0:
		return false, errCut
	case c.halt&haltClosed != 0:
		return false, errClosed
	}
	more = c.halt != 0
	c.halt = 0
	return more, nil
}

// halt says why a turn stopped before its input was used up.
type halt uint8

const (
	haltCut    halt = 1 << iota // fault: the connection is to be cut
	haltClosed                  // the closing handshake is complete
	haltWait                    // see holdBack and waitForStall
)

// frame processes the frame at the beginning of in and returns its length, with a publish that of the whole message if
// all of it is there. 0 and no error: the frame is not complete. An error closes the connection; what closes a channel only is
// dealt with here.
func (c *conn) frame(in []byte) (int, *amqpError) {
	f, n, err := wire.NextFrame(in, c.frameMax)
	switch {
	case err != nil && c.state == stateClosing:
		c.halt |= haltClosed // the stream is lost, and the client was told already
		return 0, nil
	case err != nil:
		return 0, frameError(in, err)
	case n == 0:
		return 0, nil
	case f.Channel == 0:
		return n, c.controlFrame(f)
	case c.state != stateRunning:
		return n, nil
	}
	ch, problem := c.channel(f)
	if problem != nil || ch == nil {
		return n, problem
	}
	more, problem := c.channelFrame(ch, f, in[n:])
	if problem != nil && !problem.hard {
		c.failChannel(ch, problem)
		problem = nil
	}
	return n + more, problem
}

// channel returns the frame's channel; nil if the frame is to be ignored because the channel is being closed.
func (c *conn) channel(f wire.Frame) (*channel, *amqpError) {
	ch := c.recent
	if ch == nil || ch.id != f.Channel {
		if ch = c.channels[f.Channel]; ch == nil {
			if len(c.channels) >= c.channelMax {
				return nil, hard(wire.ReplyNotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)", len(c.channels), c.channelMax)
			}
			ch = newChannel(c, f.Channel)
			c.channels[f.Channel] = ch
		}
		c.recent = ch
	}
	if ch.closing {
		return nil, c.closingFrame(ch, f)
	}
	return ch, nil
}

// closingFrame looks at a frame of a channel that the broker has closed: only the end of that matters.
func (c *conn) closingFrame(ch *channel, f wire.Frame) *amqpError {
	if f.Type != wire.FrameMethod {
		return nil
	}
	switch id, _, _ := wire.PeekMethod(f.Payload); id {
	case wire.ChannelCloseOkID:
		c.dropChannel(ch)
	case wire.ChannelCloseID: // both closed at once
		c.send(ch.id, &wire.ChannelCloseOk{})
	}
	return nil
}

func (c *conn) dropChannel(ch *channel) {
	delete(c.channels, ch.id)
	if c.recent == ch {
		c.recent = nil
	}
}

// channelFrame processes one frame of an open or opening channel; rest is the input behind it, of which more bytes are used.
func (c *conn) channelFrame(ch *channel, f wire.Frame, rest []byte) (more int, problem *amqpError) {
	if f.Type != wire.FrameMethod {
		return 0, c.contentFrame(ch, f)
	}
	if ch.content.stage != contentNone {
		return 0, ch.content.unexpected()
	}
	id, args, err := wire.PeekMethod(f.Payload)
	if err != nil {
		return 0, methodError(f.Payload, err)
	}
	if !ch.opened && id != wire.ChannelOpenID {
		return 0, hard(wire.ReplyChannelError, "expected 'channel.open'").by(id)
	}
	switch id {
	case wire.BasicPublishID:
		return c.publishFrame(ch, f, args, rest)
	case wire.BasicAckID, wire.BasicNackID, wire.BasicRejectID:
		return 0, c.settleFrame(ch, id, f, args)
	}
	c.flush()
	m, err := wire.ParseMethod(f.Payload)
	if err != nil {
		return 0, methodError(f.Payload, err)
	}
	problem = c.handle(ch, m).by(id)
	if len(c.out) > maxOut {
		c.halt |= haltWait
	}
	return 0, problem
}

// controlFrame processes one frame of channel 0.
func (c *conn) controlFrame(f wire.Frame) *amqpError {
	if f.Type == wire.FrameHeartbeat {
		return nil
	}
	if f.Type != wire.FrameMethod {
		if c.state == stateClosing {
			return nil
		}
		return unexpectedFrame(f)
	}
	m, err := wire.ParseMethod(f.Payload)
	if err != nil {
		if c.state == stateClosing {
			return nil
		}
		return methodError(f.Payload, err)
	}
	switch m := m.(type) {
	case *wire.ConnectionClose:
		c.flush()
		c.endChannels()
		c.send(0, &wire.ConnectionCloseOk{})
		c.halt |= haltClosed
	case *wire.ConnectionCloseOk:
		if c.state == stateClosing {
			c.halt |= haltClosed
			return nil
		}
		return c.unexpectedMethod(m)
	case *wire.ConnectionUpdateSecret:
		if c.state == stateRunning {
			return hard(wire.ReplyNotImplemented, "%s", m.ID()).by(m.ID())
		}
	default:
		return c.unexpectedMethod(m)
	}
	return nil
}

func (c *conn) unexpectedMethod(m wire.Method) *amqpError {
	if c.state == stateClosing {
		return nil
	}
	return hard(wire.ReplyChannelError, "unexpected method in connection state running").by(m.ID())
}

// flush hands over what this turn has collected: messages to their queues, confirms to the output, settlements to their
// queues. Called under the lock, before anything that depends on it and at the end of every turn.
func (c *conn) flush() {
	c.flushPublishes()
	c.flushSettlements()
}

// holdBack waits, outside the lock, as long as the connection is not to be read: too much output, an alarm.
func (c *conn) holdBack() error {
	if err := c.waitForSpace(); err != nil {
		return err
	}
	return c.waitForAlarm()
}

func (c *conn) waitForSpace() error {
	for {
		c.mu.Lock()
		full := len(c.out) > maxOut
		c.mu.Unlock()
		if !full {
			return nil
		}
		c.signal()
		c.paused.Store(true)
		select {
		case <-c.space: // the writer's deadline bounds this
		case <-c.writerDone:
			return errKilled
		}
		c.paused.Store(false)
	}
}

// waitForStall waits until the server reads again (fault stall). What came in just as the stall began stays unread, too.
func (c *conn) waitForStall() error {
	until := c.srv.stalled.Load()
	if until == 0 {
		return nil
	}
	c.paused.Store(true)
	defer c.paused.Store(false)
	for ; until != 0; until = c.srv.stalled.Load() {
		left := until - c.srv.clock.now()
		if left <= 0 {
			c.srv.stalled.CompareAndSwap(until, 0)
			continue
		}
		if !c.sleep(time.Duration(left)) {
			return errKilled
		}
	}
	return nil
}

func (c *conn) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.kill:
		return false
	}
}

// waitForAlarm blocks a connection that has published while an alarm is raised, after RabbitMQ's rule that those which do not
// publish are left alone. The client is told, if it can understand.
func (c *conn) waitForAlarm() error {
	if !c.srv.mem.alarmed() || !c.publishedNow {
		return nil
	}
	cleared := c.srv.mem.wait()
	if cleared == nil {
		return nil
	}
	c.tell(&wire.ConnectionBlocked{Reason: "low on memory"})
	c.paused.Store(true)
	defer c.paused.Store(false)
	for cleared != nil {
		select {
		case <-cleared:
		case <-c.kill:
			return errKilled
		}
		cleared = c.srv.mem.wait()
	}
	c.tell(&wire.ConnectionUnblocked{})
	return nil
}

func (c *conn) tell(m wire.Method) {
	if !c.tellBlocked {
		return
	}
	c.mu.Lock()
	if c.state == stateRunning {
		c.send(0, m)
	}
	c.mu.Unlock()
	c.signal()
}
