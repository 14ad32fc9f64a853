package loadcore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// churnLink is an open connection for requests of the control plane: one at a time on each channel, on several channels at
// once. One goroutine reads it; what is not an answer is passed over, messages of consumers among it. Heartbeats are sent, and a peer
// that has been silent for twice as long as was agreed is lost.
type churnLink struct {
	clock *event.Clock
	link  *link
	ended chan struct{} // closed when it can be used no more
	read  sync.WaitGroup

	writing sync.Mutex // guards writes to the socket

	mu sync.Mutex // guards the following
	// waiting are the requests without an answer, by channel; closed what the broker has closed and nobody has learned yet.
	waiting map[uint16]*churnCall
	closed  map[uint16]loss
	why     error // the end; nil before
	next    uint16
	free    []uint16 // channel numbers that were used
	beats   *time.Timer
}

type churnCall struct {
	want   wire.MethodID
	answer chan churnAnswer // has room for one
}

type churnAnswer struct {
	m   wire.Method
	at  int64 // clock after the read call that brought it
	err error // a loss where the broker refused
}

// errChurnTimeout: no answer in time.
var errChurnTimeout = errors.New("no answer in time")

// newChurnLink takes over a link whose handshake is done.
func newChurnLink(clock *event.Clock, l *link) *churnLink {
	c := &churnLink{clock: clock, link: l, ended: make(chan struct{}), waiting: map[uint16]*churnCall{}, closed: map[uint16]loss{}}
	if s := time.Duration(l.limits.Heartbeat) * time.Second; s > 0 {
		c.mu.Lock()
		c.beats = time.AfterFunc(s/2, func() { c.beat(s / 2) })
		c.mu.Unlock()
	}
	c.read.Go(c.readLoop)
	return c
}

// beat sends a heartbeat, and the next one later.
func (c *churnLink) beat(every time.Duration) {
	if err := c.write(wire.AppendHeartbeat(nil), every); err != nil {
		c.writeFailed(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		c.beats.Reset(every)
	}
}

// write sends frames whole, within a time.
func (c *churnLink) write(frames []byte, within time.Duration) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.link.sock.SetWriteDeadline(time.Now().Add(within))
	_, err := c.link.sock.Write(frames)
	return err
}

// channel is the number of a channel that is not in use; false where the broker allows no more.
func (c *churnLink) channel() (uint16, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		number := c.free[n-1]
		c.free = c.free[:n-1]
		return number, true
	}
	limit := c.link.limits.ChannelMax
	if limit == 0 {
		limit = maxChannels
	}
	if c.next == limit {
		return 0, false
	}
	c.next++
	return c.next, true
}

// release gives the number of a channel back that both sides have closed.
func (c *churnLink) release(number uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.closed, number)
	c.free = append(c.free, number)
}

// call sends one request and waits for its answer, which has to be want. at is the clock when that had been read. The error is a loss
// with the broker's code where it refused, errChurnTimeout, ctx's, or why the connection ended.
func (c *churnLink) call(ctx context.Context, channel uint16, m wire.Method, want wire.MethodID, within time.Duration) (reply wire.Method, at int64, err error) {
	if err := wire.CheckMethod(m, c.link.limits.FrameMax); err != nil {
		return nil, c.clock.Now(), err
	}
	call := &churnCall{want: want, answer: make(chan churnAnswer, 1)}
	c.mu.Lock()
	refused, wasClosed := c.closed[channel]
	delete(c.closed, channel)
	switch {
	case c.why != nil:
		err = c.why
	case wasClosed:
		err = refused
	default:
		c.waiting[channel] = call
	}
	c.mu.Unlock()
	if err != nil {
		return nil, c.clock.Now(), err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	if err := c.write(wire.AppendMethod(nil, channel, m), within); err != nil {
		c.writeFailed(err)
	}
	select {
	case a := <-call.answer:
		return a.m, a.at, a.err
	case <-timer.C:
		err = errChurnTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.mu.Lock()
	if c.waiting[channel] == call {
		delete(c.waiting, channel)
	}
	c.mu.Unlock()
	select {
	case a := <-call.answer: // it came at the very last moment
		return a.m, a.at, a.err
	default:
		return nil, c.clock.Now(), err
	}
}

// writeFailed gives the reader time to find the broker's reason, which it gives before it closes the socket.
func (c *churnLink) writeFailed(err error) {
	select {
	case <-c.ended:
	case <-time.After(lastWords):
		c.end(err)
	}
}

// end closes the socket and tells all who wait why. The first reason counts.
func (c *churnLink) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return
	}
	if _, ok := why.(loss); !ok {
		why = loss{text: innermost(why)}
	}
	c.why = why
	if c.beats != nil {
		c.beats.Stop()
	}
	c.link.tcp.Close()
	at := c.clock.Now()
	for channel, call := range c.waiting {
		call.answer <- churnAnswer{at: at, err: why}
		delete(c.waiting, channel)
	}
	close(c.ended)
}

// alive tells whether the connection can be used.
func (c *churnLink) alive() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

func (c *churnLink) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// churnReadBuffer is what a connection reads into at first; a longer frame, of at most the negotiated frame_max, makes it grow.
const churnReadBuffer = 1 << 10

func (c *churnLink) readLoop() {
	buf := append(make([]byte, 0, max(churnReadBuffer, len(c.link.ahead))), c.link.ahead...)
	c.link.ahead = nil
	silence := 2 * time.Duration(c.link.limits.Heartbeat) * time.Second
	for at := c.clock.Now(); ; at = c.clock.Now() {
		rest, err := c.take(buf, at)
		if err != nil {
			c.end(err)
			return
		}
		buf = append(buf[:0], rest...)
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		if silence > 0 {
			c.link.sock.SetReadDeadline(time.Now().Add(silence))
		}
		n, err := c.link.sock.Read(buf[len(buf):cap(buf)])
		if buf = buf[:len(buf)+n]; n > 0 {
			continue
		}
		switch {
		case err == nil:
			err = io.ErrNoProgress
		case isTimeout(err):
			err = loss{text: fmt.Sprintf("nothing came from the broker for %v, not even a heartbeat", silence)}
		case isClosed(err):
			err = loss{text: "the broker closed the socket"}
		}
		c.end(err)
		return
	}
}

// take handles the frames at the front of buf and returns the rest of it.
func (c *churnLink) take(buf []byte, at int64) (rest []byte, err error) {
	for {
		f, n, err := wire.NextFrame(buf, c.link.limits.FrameMax)
		if err != nil || n == 0 {
			return buf, err
		}
		buf = buf[n:]
		if f.Type != wire.FrameMethod {
			continue
		}
		id, _, err := wire.PeekMethod(f.Payload)
		if err == nil && id == wire.BasicDeliverID {
			continue
		}
		m, err := wire.ParseMethod(f.Payload)
		if err == nil {
			err = c.method(f.Channel, m, at)
		}
		if err != nil {
			return nil, err
		}
	}
}

// method hands an answer over; the error ends the connection.
func (c *churnLink) method(channel uint16, m wire.Method, at int64) error {
	switch m := m.(type) {
	case *wire.ConnectionClose:
		c.write(wire.AppendMethod(nil, 0, &wire.ConnectionCloseOk{}), time.Second) // a courtesy
		return loss{code: uint16(m.ReplyCode), text: m.ReplyText}
	case *wire.ChannelClose:
		if err := c.write(wire.AppendMethod(nil, channel, &wire.ChannelCloseOk{}), lastWords); err != nil {
			return err
		}
		c.refuse(channel, at, loss{code: uint16(m.ReplyCode), text: m.ReplyText})
		return nil
	}
	c.answer(channel, at, m)
	return nil
}

// answer wakes who waits on the channel for this method.
func (c *churnLink) answer(channel uint16, at int64, m wire.Method) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.waiting[channel]; call != nil && call.want == m.ID() {
		delete(c.waiting, channel)
		call.answer <- churnAnswer{m: m, at: at}
	}
}

// refuse tells who waits on a channel that the broker has closed it, else who uses it next.
func (c *churnLink) refuse(channel uint16, at int64, why loss) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.waiting[channel]
	if call == nil {
		c.closed[channel] = why
		return
	}
	delete(c.waiting, channel)
	call.answer <- churnAnswer{at: at, err: why}
}

// close says goodbye; the socket is closed whatever the answer. at is when that came.
func (c *churnLink) close(ctx context.Context, within time.Duration) (at int64, err error) {
	m := &wire.ConnectionClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}
	_, at, err = c.call(ctx, 0, m, wire.ConnectionCloseOkID, within)
	c.end(loss{text: "connection closed"})
	c.read.Wait()
	return at, err
}

// abandon closes the socket without a word.
func (c *churnLink) abandon() {
	c.end(loss{text: "connection given up"})
	c.read.Wait()
}
